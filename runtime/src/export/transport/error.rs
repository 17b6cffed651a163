//! Errors in the settings of a receiver.

use std::fmt;

/// The error of settings with which nothing can be sent. The text shows neither user info nor the value of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TargetError {
    /// The endpoint is not a valid URL.
    Url,
    /// The header at this place, from 1, has an invalid name. The name is not shown: without its `=`, a setting's value
    /// would be part of it.
    HeaderName(usize),
    /// The header of this name has an invalid value.
    HeaderValue(String),
    /// The header of this name is reserved for the transport.
    ReservedHeader(String),
    /// Only one of client certificate and key is set.
    HalfClientCertificate,
    /// A setting, and the feature of this crate that it requires.
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
                write!(f, "header {place} has an invalid name; expected letters, digits and `-`")
            }
            TargetError::HeaderValue(name) => {
                write!(f, "the value of header `{name}` is invalid; expected text without control characters")
            }
            TargetError::ReservedHeader(name) => {
                write!(f, "header `{name}` is reserved for the exporter; remove it")
            }
            TargetError::HalfClientCertificate => {
                f.write_str("a client certificate requires its key; set both files or neither")
            }
            TargetError::NeedsFeature(what, feature) => {
                write!(f, "{what} requires the feature `{feature}` of `tracecast`; enable it in Cargo.toml")
            }
        }
    }
}

impl std::error::Error for TargetError {}
