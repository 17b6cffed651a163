//! URLs as spans record them: without passwords and without the values of queries.

use std::fmt::{self, Write as _};

use http::Uri;

/// The longest part of a URL that is recorded.
const LONGEST: usize = 1024;
/// The replacement for a secret.
const REDACTED: &str = "REDACTED";

/// Cuts a text to at most `LONGEST` bytes.
pub(crate) fn cut(text: &str) -> &str {
    crate::learnt::cut(text, LONGEST)
}

/// A query without its values. A part that is not `key=value` may be a secret and is replaced as a whole.
pub(crate) struct Query<'q>(pub(crate) &'q str);

impl fmt::Display for Query<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, pair) in cut(self.0).split('&').enumerate() {
            if at > 0 {
                f.write_char('&')?;
            }
            match pair.split_once('=') {
                Some((key, _)) => write!(f, "{key}={REDACTED}")?,
                None if pair.is_empty() => {}
                None => f.write_str(REDACTED)?,
            }
        }
        Ok(())
    }
}

/// A URL without the user's name and password and without the values of its query.
pub(crate) struct Full<'u>(pub(crate) &'u Uri);

impl fmt::Display for Full<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(scheme), Some(authority)) = (self.0.scheme_str(), self.0.authority()) {
            let server = authority.as_str().rsplit('@').next().unwrap_or_default();
            write!(f, "{scheme}://{}", cut(server))?;
        }
        f.write_str(cut(self.0.path()))?;
        match self.0.query() {
            Some(query) => write!(f, "?{}", Query(query)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(uri: &str, expected: &str) {
        assert_eq!(Full(&uri.parse().unwrap()).to_string(), expected);
    }

    #[test]
    fn user_info_is_removed_and_values_of_queries_are_too() {
        check("http://host/", "http://host/");
        check("https://user:secret@host:8443/a/b?token=x", "https://host:8443/a/b?token=REDACTED");
        check("http://a@b@host/", "http://host/");
        check("http://[::1]:80/?a=1&b=2&a=3", "http://[::1]:80/?a=REDACTED&b=REDACTED&a=REDACTED");
        check("http://host/p?", "http://host/p?");
        check("/p?a=1", "/p?a=REDACTED");
    }

    #[track_caller]
    fn check_query(query: &str, expected: &str) {
        assert_eq!(Query(query).to_string(), expected);
    }

    #[test]
    fn only_what_stands_before_an_equals_sign_is_a_key() {
        check_query("", "");
        check_query("a=", "a=REDACTED");
        check_query("a=1=2&b", "a=REDACTED&REDACTED");
        check_query("c2VjcmV0", "REDACTED");
        check_query("&a=1&&b=2", "&a=REDACTED&&b=REDACTED");
        check_query("=x", "=REDACTED");
    }

    #[test]
    fn endless_queries_are_cut() {
        let query = format!("{}=1", "é".repeat(5000));
        assert_eq!(Query(&query).to_string(), "REDACTED");
        assert!(Query(&"a=1&".repeat(5000)).to_string().len() < 16 * LONGEST);
    }
}
