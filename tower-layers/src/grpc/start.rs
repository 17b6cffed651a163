//! The start of a call's span, and what is known of the call by then.

use std::net::{IpAddr, SocketAddr};

use http::Uri;
use tracecast::Span;
use tracecast::conventions::Conventions;
use tracecast::keys::http::{network_peer_address, network_peer_port, server_address, server_port};
use tracecast::keys::rpc;

use crate::grpc::keys;
use crate::grpc::label::System;
use crate::grpc::method::Method;
use crate::origin::Origin;
use crate::side::Side;

/// The longest name of a host that is recorded.
const HOST: usize = 255;

/// Starts the span of a call.
pub(crate) fn start(side: Side, method: &Method, conventions: Conventions, origin: Origin<'_>) -> Span {
    let mut span = origin.start(method.span(side));
    if span.is_recording() {
        tell_method(&mut span, method, conventions);
    }
    span
}

fn tell_method(span: &mut Span, method: &Method, conventions: Conventions) {
    if conventions.old() {
        span.add(rpc::system, "grpc");
        span.add(rpc::service, method.service());
    }
    if !conventions.new() {
        return span.add(rpc::method, method.method());
    }
    span.add(keys::system, System::Grpc);
    span.add(rpc::method, if method.is_named() { method.full() } else { method.name() });
    if !method.is_named() {
        span.add(keys::method_original, method.full());
    }
}

/// Who is called, and who calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ends<'a> {
    pub(crate) server: Option<(&'a str, Option<u16>)>,
    pub(crate) peer: Option<SocketAddr>,
}

impl Ends<'_> {
    pub(crate) fn tell(&self, span: &mut Span) {
        if let Some((address, port)) = self.server {
            span.add(server_address, address);
            port.into_iter().for_each(|port| span.add(server_port, i64::from(port)));
        }
        if let Some(peer) = self.peer {
            match peer.ip() {
                IpAddr::V4(ip) => span.add(network_peer_address, dotted(ip.octets(), &mut [0; 16])),
                IpAddr::V6(ip) => span.add(network_peer_address, tracecast::display(&ip)),
            }
            span.add(network_peer_port, i64::from(peer.port()));
        }
    }
}

/// What `Ipv4Addr` displays, in a tenth of the instructions: every call has one.
fn dotted(octets: [u8; 4], text: &mut [u8; 16]) -> &str {
    let mut len = 0;
    for octet in octets {
        let (digits, digit_count) = DECIMAL[usize::from(octet)];
        // All four bytes, and the next ones over those that are too many.
        text[len..len + 4].copy_from_slice(&digits);
        len += digit_count;
    }
    // The last one has no dot behind it.
    std::str::from_utf8(&text[..len - 1]).unwrap_or_default()
}

/// Each octet with a dot behind it, and how many bytes that is.
static DECIMAL: [([u8; 4], usize); 256] = {
    let mut all = [([b'.'; 4], 0); 256];
    let mut octet = 0;
    while octet < 256 {
        let digits = [b'0' + (octet / 100) as u8, b'0' + (octet / 10 % 10) as u8, b'0' + (octet % 10) as u8];
        let skipped = (octet < 100) as usize + (octet < 10) as usize;
        let mut at = skipped;
        while at < 3 {
            all[octet].0[at - skipped] = digits[at];
            at += 1;
        }
        all[octet].1 = 4 - skipped;
        octet += 1;
    }
    all
};

/// Who is called, if the request names it.
pub(crate) fn server_of(uri: &Uri) -> Option<(&str, Option<u16>)> {
    let (mut host, port) = host_and_port(uri.authority()?.as_str());
    if host.starts_with('[') || host.ends_with(']') {
        host = host.trim_start_matches('[').trim_end_matches(']');
    }
    if host.len() > HOST {
        host = &host[..host.floor_char_boundary(HOST)];
    }
    (!host.is_empty()).then_some((host, port))
}

/// An authority without its user info, in one look from its end: that of `http` looks several times.
fn host_and_port(authority: &str) -> (&str, Option<u16>) {
    // Hardly anybody has any, and to look at all bytes alike is quicker than to stop at one.
    let has_user_info = authority.bytes().fold(false, |found, byte| found | (byte == b'@'));
    let text = if has_user_info { authority.rsplit('@').next().unwrap_or_default() } else { authority };
    let mut end = text.len();
    while end > 0 && text.as_bytes()[end - 1].is_ascii_digit() {
        end -= 1;
    }
    match text[..end].strip_suffix(':') {
        Some(host) => (host, port_of(&text.as_bytes()[end..])),
        None => (text, None),
    }
}

/// The number that these digits are.
fn port_of(digits: &[u8]) -> Option<u16> {
    let more = |number: u32, digit: &u8| (number * 10 + u32::from(digit - b'0')).min(u32::from(u16::MAX) + 1);
    let number = digits.iter().fold(0, more);
    if digits.is_empty() { None } else { u16::try_from(number).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(uri: &str, expected: Option<(&str, Option<u16>)>) {
        assert_eq!(server_of(&uri.parse().unwrap()), expected, "{uri}");
    }

    #[test]
    fn an_address_is_written_as_it_is_displayed() {
        for octet in 0..=u8::MAX {
            for octets in [[octet; 4], [127, 0, octet, 1], [octet, 99, 9, 109], [255, 255, 255, octet]] {
                assert_eq!(dotted(octets, &mut [0; 16]), std::net::Ipv4Addr::from(octets).to_string());
            }
        }
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
        check("http://a@b@store:1/a/b", Some(("store", Some(1))));
        let long = "x".repeat(1000);
        check(&format!("http://{long}:1/a/b"), Some((&long[..HOST], Some(1))));
    }
}
