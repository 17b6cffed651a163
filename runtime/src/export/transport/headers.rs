//! The headers of each request.

use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue, USER_AGENT};

use super::address;
use super::error::TargetError;
use super::rotating::{self, Rotating};
use crate::config::{HeaderSource, Otlp};

pub(super) const AGENT: &str = concat!("OTel-OTLP-Exporter-Rust/", env!("CARGO_PKG_VERSION"));

/// Headers that the protocol sets; with another value, receivers could not parse requests.
const RESERVED: [&str; 11] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "grpc-accept-encoding",
    "grpc-encoding",
    "grpc-timeout",
    "host",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// Makes the headers: the user's, and ours for names that the user does not set. Headers whose values change are
/// returned separately.
pub(super) fn build(target: &Otlp) -> Result<(HeaderMap, Vec<Rotating>), TargetError> {
    let (mut headers, mut rotated) = (HeaderMap::new(), Vec::new());
    for (place, (name, source)) in (1..).zip(&target.headers) {
        let parsed = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| TargetError::HeaderName(place))?;
        if RESERVED.contains(&parsed.as_str()) {
            return Err(TargetError::ReservedHeader(parsed.to_string()));
        }
        match source {
            HeaderSource::Fixed(secret) => {
                let value = rotating::sendable(secret).ok_or_else(|| TargetError::HeaderValue(parsed.to_string()))?;
                headers.append(parsed, value);
            }
            HeaderSource::File(path) => rotated.push(Rotating::from_file(parsed, path.clone())),
            HeaderSource::Callback(callback) => rotated.push(Rotating::from_callback(parsed, callback.clone())),
        }
    }
    if let Some(authorization) = address::authorization(&target.endpoint).as_ref().and_then(rotating::sendable) {
        headers.entry(AUTHORIZATION).or_insert(authorization);
    }
    headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(AGENT));
    Ok((headers, rotated))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::base::secret::Secret;
    use crate::config::{Compression, Endpoint, Protocol, TlsFiles};

    fn check(url: &str, headers: &[(&str, &str)], expected: &str) {
        let target = Otlp {
            protocol: Protocol::Grpc,
            endpoint: url.parse::<Endpoint>().unwrap().into(),
            headers: headers.iter().map(|(name, value)| (name.to_string(), Secret::new(*value).into())).collect(),
            proxy: None,
            compression: Compression::None,
            timeout: Duration::ZERO,
            tls: TlsFiles::default(),
        };
        let printed = match build(&target) {
            Ok((headers, _)) => {
                assert!(!format!("{headers:?}{target:?}").contains("sesame"));
                let print = |(name, value): (&HeaderName, &HeaderValue)| {
                    format!("{name}={}", String::from_utf8_lossy(value.as_bytes()).replace(AGENT, "ours"))
                };
                headers.iter().map(print).collect::<Vec<_>>().join(" ")
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(printed, expected);
    }

    #[test]
    fn headers_of_the_user_come_first() {
        check("http://h", &[], "user-agent=ours");
        check("http://h", &[("X-Key", " sesame ")], "x-key=sesame user-agent=ours");
        check("http://h", &[("user-agent", "mine")], "user-agent=mine");
        check("http://a:b@h", &[], "authorization=Basic YTpi user-agent=ours");
        check("http://a:b@h", &[("Authorization", "Bearer x")], "authorization=Bearer x user-agent=ours");
        check("http://h", &[("k", "1"), ("K", "2")], "k=1 k=2 user-agent=ours");
    }

    #[test]
    fn a_wrong_header_is_named_without_its_value() {
        check("http://h", &[("Bearer sesame", "x")], "header 1 has an invalid name; expected letters, digits and `-`");
        check(
            "http://h",
            &[("key", "ses\name")],
            "the value of header `key` is invalid; expected text without control characters",
        );
        check(
            "http://h",
            &[("Content-Type", "text/html")],
            "header `content-type` is reserved for the exporter; remove it",
        );
    }
}
