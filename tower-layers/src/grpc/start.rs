//! Starts the span of a call, with the attributes known by then.

use http::Uri;
use tracecast::__layers::Start;
use tracecast::__layers::conventions::Conventions;
use tracecast::keys::rpc;
use tracecast::{Span, Static};

use crate::grpc::keys;
use crate::grpc::label::System;
use crate::grpc::method::Method;
use crate::learnt::cut;
use crate::origin::Origin;
use crate::side::Side;

/// The longest host name that is recorded.
const HOST: usize = 255;

/// Starts the span of a call. If it is recorded, it has the method and both ends of the connection.
#[inline]
pub(crate) fn start(
    side: Side,
    method: &Method,
    conventions: Conventions,
    origin: Origin<'_>,
    ends: impl FnOnce(&mut Start),
) -> Span {
    let mut span = origin.start(method.span(side));
    span.add_all(|span| {
        tell_method(span, method, conventions);
        ends(span);
    });
    span
}

#[inline]
fn tell_method(span: &mut Start, method: &Method, conventions: Conventions) {
    if conventions.old() {
        span.add(rpc::system, Static("grpc"));
        method.tell_service(span);
    }
    if !conventions.stable() {
        return method.tell_method(span);
    }
    tell_stable(span, method);
}

#[cold]
fn tell_stable(span: &mut Start, method: &Method) {
    span.add(keys::system, System::Grpc);
    span.add(rpc::method, if method.is_named() { method.full() } else { method.name() });
    if !method.is_named() {
        span.add(keys::method_original, method.full());
    }
}

/// Returns the server that the request names, with its port.
pub(crate) fn server_of(uri: &Uri) -> Option<(&str, Option<u16>)> {
    let (mut host, port) = host_and_port(uri.authority()?.as_str());
    if matches!(host.as_bytes(), [b'[', ..] | [.., b']']) {
        host = host.trim_start_matches('[').trim_end_matches(']');
    }
    if host.len() > HOST {
        host = cut(host, HOST);
    }
    (!host.is_empty()).then_some((host, port))
}

/// Splits an authority without its user info in one pass from its end; the methods of `http` make several.
fn host_and_port(authority: &str) -> (&str, Option<u16>) {
    let text =
        if has_user_info(authority.as_bytes()) { authority.rsplit('@').next().unwrap_or_default() } else { authority };
    let (mut rest, mut port, mut unit) = (text.as_bytes(), 0_u32, 1_u32);
    while let [before @ .., digit @ b'0'..=b'9'] = rest {
        port = port.wrapping_add(unit.wrapping_mul(u32::from(digit - b'0')));
        unit = unit.wrapping_mul(10);
        rest = before;
    }
    let [host @ .., b':'] = rest else { return (text, None) };
    let port = match text.len() - rest.len() {
        0 => None,
        // With so few digits the number cannot wrap.
        1..=9 => u16::try_from(port).ok(),
        _ => text[rest.len()..].parse().ok(),
    };
    (&text[..host.len()], port)
}

/// Returns whether an authority has user info. Most have none, so comparing eight bytes at a time beats stopping at the
/// first match.
#[inline]
fn has_user_info(authority: &[u8]) -> bool {
    let (words, _) = authority.as_chunks();
    match authority.last_chunk() {
        Some(last) => words.iter().any(|word| has_at(*word)) || has_at(*last),
        None => authority.contains(&b'@'),
    }
}

/// Returns whether one of the bytes is an `@`. XOR turns an `@` into zero, and subtracting one from a zero byte
/// borrows.
#[inline]
fn has_at(word: [u8; 8]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let word = u64::from_ne_bytes(word) ^ (ONES * b'@' as u64);
    word.wrapping_sub(ONES) & !word & (ONES << 7) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(uri: &str, expected: Option<(&str, Option<u16>)>) {
        assert_eq!(server_of(&uri.parse().unwrap()), expected, "{uri}");
    }

    #[test]
    fn the_server_is_named_without_secrets_and_brackets() {
        check("/store.v1.Store/Get", None);
        check("http://store.internal/a/b", Some(("store.internal", None)));
        check("https://user:secret@store.internal:8443/a/b", Some(("store.internal", Some(8443))));
        check("http://[::1]:50051/a/b", Some(("::1", Some(50051))));
        check("http://[::1]/a/b", Some(("::1", None)));
        check("http://10.0.0.1/a/b", Some(("10.0.0.1", None)));
        check("http://store:/a/b", Some(("store", None)));
        check("http://store:99999/a/b", Some(("store", None)));
        check("http://store:65535/a/b", Some(("store", Some(65535))));
        check("http://store:65536/a/b", Some(("store", None)));
        check("http://store:0000000000000000000000000080/a/b", Some(("store", Some(80))));
        check("http://store:4294967376/a/b", Some(("store", None)));
        check("http://a@b@store:1/a/b", Some(("store", Some(1))));
        let long = "x".repeat(1000);
        check(&format!("http://{long}:1/a/b"), Some((&long[..HOST], Some(1))));
    }
}
