//! Addresses of receivers. User info and query may contain tokens, so they are never printed.

use std::fmt;
use std::str::FromStr;

use super::problem::Wrong;
use crate::base::secret::Secret;

/// The address of a receiver, such as `http://collector:4318/v1/traces`. It prints with `[secret]` in place of user
/// info and query.
///
/// ```
/// use tracecast::config::Endpoint;
///
/// let endpoint: Endpoint = "https://user:password@collector:4318/base".parse()?;
/// assert_eq!(endpoint.to_string(), "https://[secret]@collector:4318/base");
/// # Ok::<(), tracecast::config::EndpointError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    scheme: Option<Scheme>,
    user_info: Option<Secret>,
    host: String,
    port: Option<u16>,
    /// Empty, or with its leading slash.
    path: String,
    query: Option<Secret>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Http,
    Https,
}

impl Scheme {
    fn text(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }
}

impl Endpoint {
    /// Returns the host, without the brackets of an IPv6 address.
    pub(crate) fn host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// Returns the port, if the address has one.
    pub(crate) fn port(&self) -> Option<u16> {
        self.port
    }

    /// Returns the path; empty if the address has none.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns whether the connection is encrypted; `None` if the address has no scheme.
    pub(crate) fn is_tls(&self) -> Option<bool> {
        self.scheme.map(|scheme| scheme == Scheme::Https)
    }

    pub(super) fn has_scheme(&self) -> bool {
        self.scheme.is_some()
    }

    pub(super) fn with_scheme(self, scheme: Scheme) -> Self {
        Endpoint { scheme: Some(self.scheme.unwrap_or(scheme)), ..self }
    }

    pub(super) fn with_path(self, path: String) -> Self {
        Endpoint { path, ..self }
    }

    pub(super) fn without_path(self) -> Self {
        Endpoint { path: String::new(), query: None, ..self }
    }

    /// Returns host and port as they are written in a request.
    pub(crate) fn authority(&self) -> String {
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}{port}", self.host)
    }

    /// Returns user and password, which must be used in requests only.
    pub(crate) fn user_info(&self) -> Option<&Secret> {
        self.user_info.as_ref()
    }

    /// Returns the query, which must be used in requests only.
    pub(crate) fn query(&self) -> Option<&Secret> {
        self.query.as_ref()
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.scheme.map(|scheme| format!("{}://", scheme.text())).unwrap_or_default();
        let user_info = if self.user_info.is_some() { "[secret]@" } else { "" };
        let query = if self.query.is_some() { "?[secret]" } else { "" };
        write!(f, "{scheme}{user_info}{}{}{query}", self.authority(), self.path)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, EndpointError> {
        parse(text).map_err(EndpointError)
    }
}

/// The error of an invalid address. It does not show the address, which may hold a password.
///
/// ```
/// use tracecast::config::Endpoint;
///
/// let error = "ftp://collector".parse::<Endpoint>().unwrap_err();
/// assert!(error.to_string().contains("http://collector:4318"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointError(pub(super) Wrong);

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the endpoint {}; {}", self.0.complaint, self.0.help)
    }
}

impl std::error::Error for EndpointError {}

const ACCEPTED: &str = "an address such as http://collector:4318 or https://collector:4317";

/// Parses an address. A scheme is optional, because gRPC allows that.
pub(super) fn parse(text: &str) -> Result<Endpoint, Wrong> {
    let wrong = |complaint: &'static str| wrong(text, complaint);
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(wrong("contains white space"));
    }
    let (scheme, rest) = match text.split_once("://") {
        None => (None, text),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (Some(Scheme::Http), rest),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (Some(Scheme::Https), rest),
        Some(_) => return Err(wrong("has a scheme other than http and https")),
    };
    if rest.contains('#') {
        return Err(wrong("has a fragment"));
    }
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(Secret::new(query))),
        None => (rest, None),
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (user_info, host_and_port) = match authority.rsplit_once('@') {
        Some((user_info, host)) => (Some(Secret::new(user_info)), host),
        None => (None, authority),
    };
    let (host, port) = host_and_port_of(host_and_port).map_err(wrong)?;
    Ok(Endpoint { scheme, user_info, host: host.to_owned(), port, path: path.to_owned(), query })
}

/// Creates the error of an invalid address. The error shows the address only if it has neither user info nor query.
pub(super) fn wrong(text: &str, complaint: &'static str) -> Wrong {
    let wrong = Wrong::new(complaint, ACCEPTED);
    if text.contains(['@', '?']) { wrong.secret() } else { wrong }
}

fn host_and_port_of(text: &str) -> Result<(&str, Option<u16>), &'static str> {
    let after_address = text.rfind(']').map_or(0, |end| end + 1);
    let (host, port) = match text[after_address..].rfind(':') {
        Some(colon) => (&text[..after_address + colon], Some(&text[after_address + colon + 1..])),
        None => (text, None),
    };
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if address.unwrap_or(host).is_empty() {
        return Err("has no host");
    }
    // Only an IPv6 address in brackets may contain colons.
    if address.is_none() && host.contains(':') || address.unwrap_or(host).contains(['[', ']', '\\']) {
        return Err("has no valid host");
    }
    let port = match port {
        Some(port) => Some(port.parse().ok().filter(|port| *port > 0).ok_or("has no valid port")?),
        None => None,
    };
    Ok((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        let endpoint = parse("https://user:hunter2@[::1]:4318/a/b?key=hunter2").unwrap();
        assert_eq!((endpoint.host(), endpoint.port(), endpoint.path()), ("::1", Some(4318), "/a/b"));
        assert_eq!(endpoint.is_tls(), Some(true));
        assert_eq!(endpoint.authority(), "[::1]:4318");
        let secrets = [endpoint.user_info(), endpoint.query()].map(|secret| secret.unwrap().reveal());
        assert_eq!(secrets, ["user:hunter2", "key=hunter2"]);
        assert_eq!(format!("{endpoint} {endpoint:?}").matches("hunter2").count(), 0);
        assert_eq!(endpoint.to_string(), "https://[secret]@[::1]:4318/a/b?[secret]");
        assert_eq!(parse("collector:4317").unwrap().is_tls(), None);
        assert_eq!(parse("HTTP://collector").unwrap().to_string(), "http://collector");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let cases = [
            ("", "has no host"),
            ("ftp://x", "has a scheme other than http and https"),
            ("unix:///run/collector", "has a scheme other than http and https"),
            ("http://", "has no host"),
            ("http://:80", "has no host"),
            ("http://x:99999", "has no valid port"),
            ("http://x:0", "has no valid port"),
            ("http://x:port/", "has no valid port"),
            ("http://ann:secret@/", "has no host"),
            ("http://x:", "has no valid port"),
            ("http://a:b:80", "has no valid host"),
            ("http://[[]:80", "has no valid host"),
            ("http://[]:80", "has no host"),
            ("http://a b", "contains white space"),
            ("http://a#b", "has a fragment"),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text).unwrap_err().complaint, expected, "{text}");
        }
        assert!(parse("ftp://user:hunter2@x").unwrap_err().secret);
    }
}
