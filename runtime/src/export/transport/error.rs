//! Why nothing can be sent to a target.

use std::fmt;

/// Why nothing can be sent to a target. It shows neither user info nor a header's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TargetError {
    /// The endpoint has a character that no URL has.
    Url,
    /// The header at this place, from 1, has a name that cannot be one. It is not shown: who forgets the `=` between name
    /// and value has the value in it.
    HeaderName(usize),
    /// The header of this name has a value that cannot be sent.
    HeaderValue(String),
    /// The header of this name is set by the transport.
    ReservedHeader(String),
    /// A client certificate without its key, or a key without its certificate.
    HalfClientCertificate,
    /// What is configured, and the feature of the package without which it does not work.
    #[cfg_attr(all(feature = "grpc", feature = "tls"), expect(dead_code, reason = "everything is built in"))]
    NeedsFeature(&'static str, &'static str),
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetError::Url => {
                f.write_str("the endpoint is not a URL; expected `http://host:port/path` or `https://host:port/path`")
            }
            TargetError::HeaderName(place) => {
                write!(f, "header {place} has a name that cannot be sent; expected letters, digits and `-`")
            }
            TargetError::HeaderValue(name) => {
                write!(f, "the value of header `{name}` cannot be sent; expected text without control characters")
            }
            TargetError::ReservedHeader(name) => {
                write!(
                    f,
                    "header `{name}` is set by the exporter; expected headers of your own, such as `authorization`"
                )
            }
            TargetError::HalfClientCertificate => {
                f.write_str("a client certificate needs its key; expected both files or neither")
            }
            TargetError::NeedsFeature(what, feature) => {
                write!(f, "{what} needs the feature `{feature}` of `tracecast`, which is not built in")
            }
        }
    }
}

impl std::error::Error for TargetError {}
