//! The two ends of a call: attributes for server and peer.

use std::net::{IpAddr, SocketAddr};

use tracecast::__layers::Start;
use tracecast::keys::http::{network_peer_address, network_peer_port, server_address, server_port};

/// The server of a call, and the peer that calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ends<'a> {
    pub(crate) server: Option<(&'a str, Option<u16>)>,
    pub(crate) peer: Option<SocketAddr>,
}

impl Ends<'_> {
    #[inline]
    pub(crate) fn tell(&self, span: &mut Start) {
        if let Some((address, port)) = self.server {
            span.add(server_address, address);
            if let Some(port) = port {
                span.add(server_port, i64::from(port));
            }
        }
        if let Some(peer) = self.peer {
            match peer.ip() {
                IpAddr::V4(ip) => span.add(network_peer_address, dotted(ip.octets(), &mut Dotted([b'.'; 16]))),
                IpAddr::V6(ip) => span.add(network_peer_address, tracecast::display(&ip)),
            }
            span.add(network_peer_port, i64::from(peer.port()));
        }
    }
}

/// An aligned buffer of 16 bytes, whose UTF-8 check takes two steps instead of one per byte.
#[repr(align(16))]
struct Dotted([u8; 16]);

/// Formats an IPv4 address as `Ipv4Addr` does, in a tenth of the instructions, because every call formats an address.
fn dotted(octets: [u8; 4], Dotted(text): &mut Dotted) -> &str {
    let mut len = 0;
    for octet in octets {
        let (digits, digit_count) = DECIMAL[usize::from(octet)];
        // Copies all four bytes; the next octet overwrites the excess.
        text[len..len + 4].copy_from_slice(&digits);
        len += digit_count;
    }
    // The dot after the last octet is left out.
    std::str::from_utf8(text).map_or("", |text| &text[..len - 1])
}

/// The digits of each octet with a dot behind them, and their length.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_written_as_it_is_displayed() {
        for octet in 0..=u8::MAX {
            for octets in [[octet; 4], [127, 0, octet, 1], [octet, 99, 9, 109], [255, 255, 255, octet]] {
                assert_eq!(dotted(octets, &mut Dotted([b'.'; 16])), std::net::Ipv4Addr::from(octets).to_string());
            }
        }
    }
}
