//! Proxies, chosen as Go's OTLP exporters choose them (`http.ProxyFromEnvironment`).

use std::net::IpAddr;

use super::endpoint::{self, Endpoint};
use super::problem::Wrong;
use super::values::Parsed;
use crate::base::secret::Masked;

const ACCEPTED: &str = "an address such as http://proxy:3128";

/// The configured proxies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Proxies {
    /// For endpoints with `http`.
    pub(crate) http: Option<Masked<Endpoint>>,
    /// For endpoints with `https`, and for gRPC.
    pub(crate) https: Option<Masked<Endpoint>>,
    /// Hosts that are reached without a proxy, separated by commas.
    pub(crate) bypass: Option<Masked<String>>,
}

impl Proxies {
    /// Returns the proxy for an endpoint; `None` if it is reached directly. gRPC always uses a tunnel, so it takes the
    /// proxy for `https`.
    pub(super) fn of(&self, endpoint: &Endpoint, is_grpc: bool) -> Option<Masked<Endpoint>> {
        let plain = endpoint.is_tls() == Some(false);
        let proxy = if plain && !is_grpc { &self.http } else { &self.https };
        let port = endpoint.port().unwrap_or(if plain { 80 } else { 443 });
        let bypass = self.bypass.as_deref().map_or("", String::as_str);
        proxy.clone().filter(|_| !is_bypassed(bypass, endpoint.host(), port))
    }
}

/// Parses the address of a proxy; a missing scheme means `http`.
pub(super) fn parse(text: &str) -> Parsed<Masked<Endpoint>> {
    let parsed = endpoint::parse(text).map(|proxy| proxy.with_scheme(endpoint::Scheme::Http).without_path());
    parsed.map(Masked::from).map_err(|wrong| {
        let shown = Wrong::new(wrong.complaint, ACCEPTED).using("no proxy");
        if wrong.secret { shown.secret() } else { shown }
    })
}

/// Returns whether a host is reached without a proxy: this machine, or a host in the list.
fn is_bypassed(list: &str, host: &str, port: u16) -> bool {
    let host = host.to_ascii_lowercase();
    let address: Option<IpAddr> = host.parse().ok();
    if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
        return true;
    }
    list.split(',').map(|item| item.trim().to_ascii_lowercase()).any(|item| fits(&item, &host, address, port))
}

/// Returns whether an item of the list matches the host. An item is `*`, a network, an address or a domain; an address
/// or a domain may have a port.
fn fits(item: &str, host: &str, address: Option<IpAddr>, port: u16) -> bool {
    if item == "*" {
        return true;
    }
    if let Some((network, bits)) = network(item) {
        return address.is_some_and(|address| is_within(address, network, bits));
    }
    let (name, of_port) = name_and_port(item);
    if name.is_empty() || of_port.is_some_and(|of_port| of_port != port.to_string()) {
        return false;
    }
    if let Ok(named) = name.parse::<IpAddr>() {
        return address == Some(named);
    }
    // `domain` means the domain itself and those below it; `.domain` and `*.domain` only those below it.
    let name = name.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(name);
    match name.strip_prefix('.') {
        Some(_) => host.ends_with(name),
        None => host == name || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.')),
    }
}

/// Splits `host:port`; an IPv6 address has a port only behind its brackets.
fn name_and_port(item: &str) -> (&str, Option<&str>) {
    if let Some((address, rest)) = item.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (address, rest.strip_prefix(':'));
    }
    match item.split_once(':') {
        Some((name, port)) if !port.contains(':') => (name, Some(port)),
        _ => (item, None),
    }
}

fn network(item: &str) -> Option<(IpAddr, u32)> {
    let (address, bits) = item.split_once('/')?;
    let (address, bits): (IpAddr, u32) = (address.parse().ok()?, bits.parse().ok()?);
    (bits <= if address.is_ipv4() { 32 } else { 128 }).then_some((address, bits))
}

fn is_within(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            (address.to_bits() ^ network.to_bits()).checked_shr(32 - bits).unwrap_or(0) == 0
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            (address.to_bits() ^ network.to_bits()).checked_shr(128 - bits).unwrap_or(0) == 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_never_reached_through_a_proxy() {
        for host in ["localhost", "LocalHost", "127.0.0.1", "127.8.9.1", "::1"] {
            assert!(is_bypassed("", host, 4318), "{host}");
        }
        for host in ["collector", "localhost.example", "10.0.0.1", "::2"] {
            assert!(!is_bypassed("", host, 4318), "{host}");
        }
    }

    /// Covers the cases that `golang.org/x/net/http/httpproxy` tests.
    #[test]
    fn the_list_names_hosts_as_in_go() {
        let check = |list: &str, host: &str, expected: bool| {
            assert_eq!(is_bypassed(list, host, 4318), expected, "{list} {host}")
        };
        check("*", "collector", true);
        check("example.com", "example.com", true);
        check("example.com", "EXAMPLE.com", true);
        check("example.com", "a.example.com", true);
        check("example.com", "anexample.com", false);
        check("example.com", "example.com.evil", false);
        check(".example.com", "example.com", false);
        check(".example.com", "a.example.com", true);
        check("*.example.com", "example.com", false);
        check("*.example.com", "b.a.example.com", true);
        check("other, Example.COM ", "example.com", true);
        check("example.com:4318", "example.com", true);
        check("example.com:4317", "example.com", false);
        check("example.com:x", "example.com", false);
        check("10.0.0.1", "10.0.0.1", true);
        check("10.0.0.1:4318", "10.0.0.1", true);
        check("10.0.0.1:1", "10.0.0.1", false);
        check("10.0.0.0/8", "10.200.3.4", true);
        check("10.0.0.0/8", "11.0.0.1", false);
        check("0.0.0.0/0", "11.0.0.1", true);
        check("0.0.0.0/0", "example.com", false);
        check("2001:db8::/32", "2001:db8::7", true);
        check("2001:db8::/32", "2001:db9::7", false);
        check("::/0", "2001:db9::7", true);
        check("::/0", "10.0.0.1", false);
        check("[2001:db8::7]:4318", "2001:db8::7", true);
        check("[2001:db8::7]:1", "2001:db8::7", false);
        check("2001:db8::7", "2001:db8::7", true);
        check(",, :80 ,", "example.com", false);
        check("10.0.0.0/99", "10.0.0.1", false);
    }

    #[test]
    fn an_endpoint_has_the_proxy_of_its_scheme() {
        let proxy = |name: &str| Some(parse(name).unwrap());
        let proxies = Proxies { http: proxy("plain:1"), https: proxy("HTTPS://secure/path"), bypass: None };
        let check = |endpoint: &str, is_grpc, expected: &str| {
            let found = proxies.of(&endpoint.parse().unwrap(), is_grpc);
            assert_eq!(found.map(|proxy| proxy.to_string()).unwrap_or_default(), expected, "{endpoint}");
        };
        check("http://collector:4318/v1/traces", false, "http://plain:1");
        check("https://collector:4318/v1/traces", false, "https://secure");
        check("http://collector:4317", true, "https://secure");
        check("http://localhost:4317", true, "");
        let none = Proxies { bypass: Some("collector:443".to_owned().into()), ..proxies.clone() };
        assert_eq!(none.of(&"https://collector".parse().unwrap(), false), None);
        assert!(none.of(&"http://collector".parse().unwrap(), false).is_some());
    }

    #[test]
    fn a_wrong_proxy_is_refused_without_its_password() {
        let wrong = parse("socks5://ann:hunter2@proxy").unwrap_err();
        assert_eq!((wrong.complaint.as_ref(), wrong.secret), ("has a scheme other than http and https", true));
        assert!(!parse("socks5://proxy").unwrap_err().secret);
    }
}
