//! The start of a call's span, and what is known of the call by then.

use std::net::{IpAddr, SocketAddr};

use http::Uri;
use tracecast::conventions::Conventions;
use tracecast::keys::http::{network_peer_address, network_peer_port, server_address, server_port};
use tracecast::keys::rpc;
use tracecast::{Context, Kind, Sampler, Span};

use crate::keys;
use crate::label::System;
use crate::method::Method;
use crate::status::Side;

/// The longest name of a host that is recorded.
const HOST: usize = 255;

/// Where a span has its place.
#[derive(Debug, Default)]
pub(crate) struct Origin<'a> {
    /// Without it, whatever is current.
    pub(crate) parent: Option<&'a Context>,
    pub(crate) link: Option<&'a Context>,
    /// Decides about a root.
    pub(crate) sampler: Option<&'a Sampler>,
}

/// Starts the span of a call.
pub(crate) fn start(side: Side, method: &Method, conventions: Conventions, origin: Origin<'_>) -> Span {
    let kind = match side {
        Side::Server => Kind::Server,
        Side::Client => Kind::Client,
    };
    let mut builder = method.span(kind).builder();
    if let Some(parent) = origin.parent {
        builder = builder.with_parent(parent);
    }
    if let Some(link) = origin.link {
        builder = builder.with_links(link);
    }
    if let Some(sampler) = origin.sampler {
        builder = builder.with_sampler(sampler.clone());
    }
    let mut span = builder.start();
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
                IpAddr::V4(ip) => span.add(network_peer_address, dotted(ip.octets(), &mut [0; 15])),
                IpAddr::V6(ip) => span.add(network_peer_address, tracecast::display(&ip)),
            }
            span.add(network_peer_port, i64::from(peer.port()));
        }
    }
}

/// Who is called, if the request names it.
/// What `Ipv4Addr` displays, in a tenth of the instructions: every call has one.
fn dotted(octets: [u8; 4], text: &mut [u8; 15]) -> &str {
    let mut len = 0;
    for (at, octet) in octets.into_iter().enumerate() {
        if at > 0 {
            text[len] = b'.';
            len += 1;
        }
        for (least, digit) in [(100, octet / 100), (10, octet / 10 % 10), (0, octet % 10)] {
            if octet >= least {
                text[len] = b'0' + digit;
                len += 1;
            }
        }
    }
    std::str::from_utf8(&text[..len]).unwrap_or_default()
}

pub(crate) fn server_of(uri: &Uri) -> Option<(&str, Option<u16>)> {
    let (host, port) = host_and_port(uri.authority()?.as_str());
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let host = &host[..host.floor_char_boundary(HOST)];
    (!host.is_empty()).then_some((host, port))
}

/// An authority without its user info, in one look from its end: that of `http` looks several times.
fn host_and_port(authority: &str) -> (&str, Option<u16>) {
    let text = authority.rsplit_once('@').map_or(authority, |(_, text)| text);
    let digits = text.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (before, port) = text.split_at(text.len() - digits);
    match before.strip_suffix(':') {
        Some(host) => (host, port.parse().ok()),
        None => (text, None),
    }
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
        for octets in [[0, 0, 0, 0], [127, 0, 0, 1], [10, 20, 100, 255], [255; 4], [1, 99, 9, 109]] {
            assert_eq!(dotted(octets, &mut [0; 15]), std::net::Ipv4Addr::from(octets).to_string());
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
        let long = "x".repeat(1000);
        check(&format!("http://{long}:1/a/b"), Some((&long[..HOST], Some(1))));
    }
}
