//! The version of HTTP, and whether the connection is encrypted.

use http::Version;
use http::uri::Scheme;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Protocol {
    is_encrypted: bool,
    /// The index in `VERSIONS`, or `UNKNOWN`.
    version: u8,
}

const VERSIONS: [&str; 5] = ["0.9", "1.0", "1.1", "2", "3"];
const UNKNOWN: u8 = VERSIONS.len() as u8;

impl Protocol {
    pub(crate) fn new(is_encrypted: bool) -> Self {
        Protocol { is_encrypted, version: UNKNOWN }
    }

    /// Returns the protocol of a URL with this scheme: encrypted for `https`, unencrypted for any other scheme or none.
    pub(crate) fn of_scheme(scheme: Option<&Scheme>) -> Self {
        Protocol::new(scheme == Some(&Scheme::HTTPS))
    }

    pub(crate) fn with_version(self, version: Version) -> Self {
        let version = match version {
            Version::HTTP_09 => 0,
            Version::HTTP_10 => 1,
            Version::HTTP_11 => 2,
            Version::HTTP_2 => 3,
            Version::HTTP_3 => 4,
            _ => UNKNOWN,
        };
        Protocol { version, ..self }
    }

    pub(crate) fn bits(self) -> u8 {
        self.version << 1 | u8::from(self.is_encrypted)
    }

    pub(crate) fn from_bits(bits: u8) -> Self {
        Protocol { is_encrypted: bits & 1 == 1, version: bits >> 1 }
    }

    pub(crate) fn scheme(self) -> &'static str {
        if self.is_encrypted { "https" } else { "http" }
    }

    /// The default port of the scheme.
    pub(crate) fn port(self) -> u16 {
        if self.is_encrypted { 443 } else { 80 }
    }

    pub(crate) fn version(self) -> Option<&'static str> {
        VERSIONS.get(usize::from(self.version)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(protocol: Protocol, scheme: &str, port: u16, version: Option<&str>) {
        let protocol = Protocol::from_bits(protocol.bits());
        assert_eq!((protocol.scheme(), protocol.port(), protocol.version()), (scheme, port, version));
    }

    #[test]
    fn it_is_a_scheme_and_a_version() {
        let of = |scheme: &str| Protocol::of_scheme(Some(&scheme.parse().unwrap()));
        check(Protocol::of_scheme(None), "http", 80, None);
        check(of("https"), "https", 443, None);
        check(of("gopher"), "http", 80, None);
        for (version, text) in
            [(Version::HTTP_09, "0.9"), (Version::HTTP_10, "1.0"), (Version::HTTP_11, "1.1"), (Version::HTTP_2, "2")]
        {
            check(of("http").with_version(version), "http", 80, Some(text));
        }
        check(of("https").with_version(Version::HTTP_3), "https", 443, Some("3"));
    }
}
