//! Removes secrets from texts of a receiver, which may repeat parts of the request.

use super::address;
use crate::base::secret::Secret;
use crate::config::{HeaderSource, Otlp};

/// The minimum length of a secret: replacing shorter values would remove ordinary words.
const SHORTEST: usize = 4;

/// The maximum number of characters of a text.
const LONGEST: usize = 300;

/// The secrets that must not be shown.
pub(super) struct Secrets {
    /// The secrets in the target's settings.
    fixed: Vec<Secret>,
    /// The secrets in the settings, the present values of headers that change, and tokens in both, the longest first.
    /// Secrets below the minimum length are left out.
    all: Vec<Secret>,
}

impl Secrets {
    pub(super) fn new(target: &Otlp) -> Self {
        let mut fixed = address::secrets(&target.endpoint);
        fixed.extend(target.proxy.iter().flat_map(|proxy| address::secrets(proxy)));
        fixed.extend(target.headers.iter().filter_map(|(_, source)| match source {
            HeaderSource::Fixed(value) => Some(value.clone()),
            HeaderSource::File(_) | HeaderSource::Callback(_) => None,
        }));
        let mut secrets = Secrets { fixed, all: Vec::new() };
        secrets.update(&[]);
        secrets
    }

    /// Sets the present values of headers that change.
    pub(super) fn update(&mut self, rotating: &[Secret]) {
        let values = self.fixed.iter().chain(rotating);
        let mut secrets: Vec<Secret> = Vec::new();
        for value in values.filter(|value| value.reveal().len() >= SHORTEST) {
            secrets.push(value.clone());
            // The token of `Bearer token` may be repeated without its scheme.
            if let Some((_, token)) = value.reveal().trim().rsplit_once(' ')
                && token.len() >= SHORTEST
            {
                secrets.push(Secret::new(token));
            }
        }
        // A secret that contains another is replaced first; otherwise its rest would stay.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.reveal().len()));
        self.all = secrets;
    }

    /// Makes one line of bounded length without secrets.
    pub(super) fn apply(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.all {
            if text.contains(secret.reveal()) {
                text = text.replace(secret.reveal(), "[secret]");
            }
        }
        let line = text.replace(char::is_control, " ");
        let line = line.trim();
        match line.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::{Compression, Endpoint, Protocol, TlsFiles};

    fn check(text: &str, expected: &str) {
        let target = Otlp {
            protocol: Protocol::HttpProtobuf,
            endpoint: "http://ann:hun%40ter2@host/?key=querykey".parse::<Endpoint>().unwrap().into(),
            headers: vec![
                ("authorization".into(), Secret::new("Bearer sesame").into()),
                ("x-flag".into(), Secret::new("1").into()),
                ("x-long".into(), Secret::new("sesame-and-more").into()),
            ],
            proxy: None,
            compression: Compression::None,
            timeout: Duration::ZERO,
            tls: TlsFiles::default(),
        };
        let secrets = Secrets::new(&target);
        assert_eq!(secrets.apply(text), expected);
    }

    #[test]
    fn secrets_are_taken_out_of_texts() {
        check("bad token sesame", "bad token [secret]");
        check("bad `Bearer sesame`", "bad `[secret]`");
        check("bad sesame-and-more", "bad [secret]");
        check("password hun@ter2 or hun%40ter2", "password [secret] or [secret]");
        check("bad key querykey", "bad key [secret]");
        check("status 1", "status 1");
    }

    #[test]
    fn a_text_is_one_line_of_bounded_length() {
        check("two\r\nlines\0\n", "two  lines");
        check(&"é".repeat(1000), &format!("{}…", "é".repeat(300)));
    }
}
