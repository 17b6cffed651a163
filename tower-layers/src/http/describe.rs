//! The attributes that describe a request.

use http::uri::Authority;
use http::{Request, header};
use tracecast::__layers::Start;
use tracecast::{Static, display};

use super::conventions;
use super::method::Verb;
use super::protocol::Protocol;
use super::url::{Full, Query, cut};
use crate::ends::Ends;
use crate::trust;

/// The longest name of a server, including its port.
const LONGEST: usize = 261;

/// Adds the attributes of both sides. `size` is the length of the request's body, if it is known.
pub(crate) fn request(span: &mut Start, request: &Request<()>, verb: Verb, size: Option<u64>) {
    span.add(conventions::request_method, Static(verb.text()));
    if verb == Verb::OTHER {
        span.add(conventions::method_original, cut(request.method().as_str()));
    }
    if let Some(size) = size.filter(|size| *size > 0) {
        span.add(conventions::request_size, size);
    }
}

/// Adds the attributes of a server. Callers can put anything into most of them.
pub(crate) fn served(span: &mut Start, request: &Request<()>, route: Option<&str>, protocol: Protocol) {
    if let Some(route) = route {
        span.add(conventions::route, cut(route));
    }
    span.add(conventions::url_scheme, Static(protocol.scheme()));
    span.add(conventions::url_path, cut(request.uri().path()));
    if let Some(query) = request.uri().query() {
        span.add(conventions::url_query, display(&Query(query)));
    }
    if let Some(version) = protocol.version() {
        span.add(conventions::protocol_version, Static(version));
    }
    let (server, peer) = (authority(request), trust::address(request.extensions()));
    Ends { server: server.as_ref().map(|server| address(server, protocol)), peer }.tell(span);
}

/// Adds the caller's `user-agent` header.
pub(crate) fn user_agent(span: &mut Start, request: &Request<()>) {
    if let Some(agent) = request.headers().get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()) {
        span.add(conventions::user_agent, cut(agent));
    }
}

/// Adds the attributes of a client.
pub(crate) fn called(span: &mut Start, request: &Request<()>, server: Option<&Authority>, protocol: Protocol) {
    if request.uri().authority().is_some() {
        span.add(conventions::url_full, display(&Full(request.uri())));
    }
    Ends { server: server.map(|server| address(server, protocol)), peer: None }.tell(span);
}

/// Returns the server, from the URL or else from the `host` header; `None` if it is missing, too long or invalid.
pub(crate) fn authority(request: &Request<()>) -> Option<Authority> {
    if let Some(authority) = request.uri().authority() {
        return (authority.as_str().len() <= LONGEST).then(|| authority.clone());
    }
    let host = request.headers().get(header::HOST).filter(|host| host.len() <= LONGEST)?;
    Authority::try_from(host.as_bytes()).ok()
}

fn address(server: &Authority, protocol: Protocol) -> (&str, Option<u16>) {
    (host(server), Some(server.port_u16().unwrap_or_else(|| protocol.port())))
}

/// Returns the server's name, or its IP address without brackets.
pub(crate) fn host(authority: &Authority) -> &str {
    authority.host().trim_start_matches('[').trim_end_matches(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(uri: &str, header: Option<&str>, expected: Option<(&str, Option<u16>)>) {
        let mut request = Request::builder().uri(uri);
        if let Some(header) = header {
            request = request.header("host", header);
        }
        let found = authority(&request.body(()).unwrap());
        assert_eq!(found.as_ref().map(|found| (host(found), found.port_u16())), expected, "{uri} {header:?}");
    }

    #[test]
    fn the_url_says_who_is_called_and_else_the_header() {
        check("http://user:secret@store.internal:8080/", Some("other"), Some(("store.internal", Some(8080))));
        check("/a", Some("store.internal"), Some(("store.internal", None)));
        check("/a", Some("[::1]:80"), Some(("::1", Some(80))));
        check("/a", None, None);
        check("/a", Some("what is this"), None);
        check("/a", Some(&"x".repeat(5000)), None);
    }
}
