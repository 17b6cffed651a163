//! The parts of an endpoint: the URI of requests, the header of its user info, and the secrets that must not be shown.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::http::Uri;

use super::error::TargetError;
use crate::base::percent::decoded;
use crate::base::secret::Secret;
use crate::config::Endpoint;

/// Makes the URI of requests, without user info. The error does not show the address, which may hold a password.
pub(super) fn uri(endpoint: &Endpoint) -> Result<Uri, TargetError> {
    let scheme = if is_tls(endpoint) { "https" } else { "http" };
    let query = endpoint.query().map(|query| format!("?{}", query.reveal())).unwrap_or_default();
    let text = format!("{scheme}://{}{}{query}", endpoint.authority(), endpoint.path());
    text.parse().map_err(|_| TargetError::Url)
}

/// True if the connection is encrypted, the default for endpoints without a scheme.
pub(super) fn is_tls(endpoint: &Endpoint) -> bool {
    endpoint.is_tls() != Some(false)
}

/// The port of the endpoint, or the default of its scheme.
pub(super) fn port(endpoint: &Endpoint) -> u16 {
    endpoint.port().unwrap_or(if is_tls(endpoint) { 443 } else { 80 })
}

/// Makes the value of an `Authorization` header from user info; `None` if there is none.
pub(super) fn authorization(endpoint: &Endpoint) -> Option<Secret> {
    endpoint.user_info().map(|user_info| basic(user_info.reveal()))
}

fn basic(user_info: &str) -> Secret {
    let (user, password) = user_info.split_once(':').unwrap_or((user_info, ""));
    let pair = [decoded(user, b'+').0, b":".to_vec(), decoded(password, b'+').0].concat();
    Secret::new(format!("Basic {}", BASE64_STANDARD.encode(pair)))
}

/// Lists the secrets that must not be shown: user info, and the values in the query.
pub(super) fn secrets(endpoint: &Endpoint) -> Vec<Secret> {
    let user_info = endpoint.user_info().map_or("", Secret::reveal);
    // A user name without a password is also a secret, because some receivers take a token in this place.
    let password = user_info.split_once(':').map_or(user_info, |(_, password)| password);
    let query = endpoint.query().map_or("", Secret::reveal);
    let values = query.split('&').filter_map(|pair| pair.split_once('=')).map(|(_, value)| value);
    let mut secrets = vec![Secret::new(user_info), basic(user_info)];
    for value in values.chain([password]) {
        secrets.push(Secret::new(value));
        secrets.push(Secret::new(String::from_utf8_lossy(&decoded(value, b'+').0)));
    }
    secrets.retain(|secret| !secret.reveal().is_empty());
    secrets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(text: &str) -> Endpoint {
        text.parse().unwrap()
    }

    #[test]
    fn an_endpoint_has_a_host_a_port_and_a_path() {
        let check = |text: &str, expected: &str| {
            let endpoint = endpoint(text);
            let uri = uri(&endpoint).unwrap();
            let path = uri.path_and_query().unwrap();
            let printed = format!("{} {} {} {path}", endpoint.host(), port(&endpoint), endpoint.authority());
            assert_eq!(printed, expected, "{text}");
        };
        check("http://collector:4318/v1/traces", "collector 4318 collector:4318 /v1/traces");
        check("HTTPS://collector", "collector 443 collector /");
        check("http://collector/a?b=c", "collector 80 collector /a?b=c");
        check("http://[::1]:4318", "::1 4318 [::1]:4318 /");
        check("http://[::1]/x", "::1 80 [::1] /x");
        check("http://ann:pass@collector:1/", "collector 1 collector:1 /");
        check("http://ann:p@ss@collector:1/", "collector 1 collector:1 /");
    }

    #[test]
    fn an_endpoint_that_http_cannot_carry_is_not_shown() {
        let expected = "the endpoint is not a URL; expected `http://host:port/path` or `https://host:port/path`";
        for text in ["http://ann:secret@<host>/", "http://h%zz/", "http://ann:secret@é/"] {
            assert_eq!(uri(&endpoint(text)).unwrap_err().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn user_info_becomes_a_header() {
        let check = |text: &str, header: Option<&str>| {
            let endpoint = endpoint(text);
            assert_eq!(authorization(&endpoint).as_ref().map(Secret::reveal), header, "{text}");
            assert!(uri(&endpoint).unwrap().to_string().starts_with("http://host/x"));
        };
        check("http://host/x", None);
        check("http://Aladdin:open%20sesame@host/x?q=1", Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
        check("http://token@host/x", Some("Basic dG9rZW46"));
        check("http://a:%zz%@host/x", Some("Basic YTolenol"));
    }
}
