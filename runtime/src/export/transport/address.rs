//! The parts of an endpoint's URL.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::http::Uri;
use hyper::http::uri::PathAndQuery;

use super::error::TargetError;
use crate::base::percent::decoded;
use crate::base::secret::Secret;

/// Where to connect to and what to ask for there.
pub(super) struct Address {
    pub(super) tls: bool,
    /// Without the brackets of an IPv6 address.
    pub(super) host: String,
    pub(super) port: u16,
    /// Host and port as they go into a request, without user info.
    pub(super) authority: String,
    pub(super) path: PathAndQuery,
    /// Scheme, host and port.
    pub(super) origin: Uri,
    /// The URL without user info and query, for people.
    pub(super) shown: String,
    /// User info, as the value of an `Authorization` header.
    pub(super) authorization: Option<Secret>,
    /// What must not be shown: user info and the values in the query.
    pub(super) secrets: Vec<Secret>,
}

/// Reads a URL. No error shows any of it, because a part may be a password.
pub(super) fn parse(url: &str) -> Result<Address, TargetError> {
    let (scheme, rest) = url.trim().split_once("://").ok_or(TargetError::Url("has no scheme"))?;
    let tls = match scheme.to_ascii_lowercase().as_str() {
        "http" => false,
        "https" => true,
        _ => return Err(TargetError::Url("has an unknown scheme")),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (user_info, authority) = match rest[..end].rsplit_once('@') {
        Some((user_info, authority)) => (Some(user_info), authority),
        None => (None, &rest[..end]),
    };
    let scheme = if tls { "https" } else { "http" };
    let uri: Uri =
        format!("{scheme}://{authority}{}", &rest[end..]).parse().map_err(|_| TargetError::Url("is not a URL"))?;
    let host = uri.host().map(|host| host.trim_start_matches('[').trim_end_matches(']'));
    let host = host.filter(|host| !host.is_empty()).ok_or(TargetError::Url("has no host"))?;
    let port = port(&uri, authority, tls)?;
    let path = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    let origin = format!("{scheme}://{authority}").parse().map_err(|_| TargetError::Url("is not a URL"))?;
    Ok(Address {
        tls,
        origin,
        host: host.to_owned(),
        port,
        authority: authority.to_owned(),
        shown: format!("{scheme}://{authority}{}", path.path()),
        authorization: user_info.map(basic),
        secrets: secrets(user_info, path.query()),
        path,
    })
}

fn port(uri: &Uri, authority: &str, tls: bool) -> Result<u16, TargetError> {
    let named = authority.rsplit_once(']').map_or(authority, |(_, after)| after).contains(':');
    match uri.port_u16() {
        Some(0) => Err(TargetError::Url("has port 0")),
        Some(port) => Ok(port),
        None if named => Err(TargetError::Url("has a port that is no number from 1 to 65535")),
        None if tls => Ok(443),
        None => Ok(80),
    }
}

fn basic(user_info: &str) -> Secret {
    let (user, password) = user_info.split_once(':').unwrap_or((user_info, ""));
    let pair = [decoded(user, b'+').0, b":".to_vec(), decoded(password, b'+').0].concat();
    Secret::new(format!("Basic {}", BASE64_STANDARD.encode(pair)))
}

fn secrets(user_info: Option<&str>, query: Option<&str>) -> Vec<Secret> {
    let user_info = user_info.unwrap_or_default();
    // A name alone, as some receivers take their token, is a secret too.
    let password = user_info.split_once(':').map_or(user_info, |(_, password)| password);
    let values = query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('=')).map(|(_, value)| value);
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

    fn check(url: &str, expected: &str) {
        let printed = match parse(url) {
            Ok(address) => format!("{} {} {} {}", address.host, address.port, address.authority, address.path),
            Err(error) => error.to_string(),
        };
        assert_eq!(printed, expected, "{url}");
    }

    #[test]
    fn a_url_has_a_host_a_port_and_a_path() {
        check("http://collector:4318/v1/traces", "collector 4318 collector:4318 /v1/traces");
        check("HTTPS://collector", "collector 443 collector /");
        check("http://collector/a?b=c#d", "collector 80 collector /a?b=c");
        check("http://[::1]:4318", "::1 4318 [::1]:4318 /");
        check("http://[::1]/x", "::1 80 [::1] /x");
        check(" http://ann:pass@collector:1/ ", "collector 1 collector:1 /");
        check("http://ann:p@ss@collector:1/", "collector 1 collector:1 /");
    }

    #[test]
    fn a_wrong_url_is_told_what_is_wrong_and_not_shown() {
        let check = |url: &str, what: &str| {
            let expected = "; expected `http://host:port/path` or `https://host:port/path`";
            check(url, &format!("the endpoint {what}{expected}"));
        };
        check("", "has no scheme");
        check("collector:4317", "has no scheme");
        check("unix:///run/collector", "has an unknown scheme");
        check("http://", "is not a URL");
        check("http://ann:secret@/", "is not a URL");
        check("http://collector:port/", "has a port that is no number from 1 to 65535");
        check("http://collector:0/", "has port 0");
        check("http://collector:70000/", "has a port that is no number from 1 to 65535");
        check("http://collector:/", "has a port that is no number from 1 to 65535");
        check("http://a b/", "is not a URL");
    }

    #[test]
    fn user_info_becomes_a_header() {
        let check = |url: &str, header: Option<&str>| {
            let address = parse(url).unwrap();
            assert_eq!(address.authorization.as_ref().map(Secret::reveal), header, "{url}");
            assert_eq!(address.shown, "http://host/x");
        };
        check("http://host/x", None);
        check("http://Aladdin:open%20sesame@host/x?q=1", Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
        check("http://token@host/x", Some("Basic dG9rZW46"));
        check("http://a:%zz%@host/x", Some("Basic YTolenol"));
    }
}
