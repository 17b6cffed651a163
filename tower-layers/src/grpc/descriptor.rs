//! Reads the paths of methods from an encoded `FileDescriptorSet`.
//!
//! Only the names of packages, services and methods are needed, so the encoding is decoded here, without generated
//! types.

use std::fmt;
use std::str;

/// The error for bytes that are not a `FileDescriptorSet`, or for a set without methods.
///
/// ```
/// use tracecast_tower::GrpcServerLayer;
///
/// let error = GrpcServerLayer::new().with_descriptor_set(b"").unwrap_err();
/// assert!(error.to_string().contains("protoc --descriptor_set_out"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptorError {
    reason: &'static str,
}

impl fmt::Display for DescriptorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.reason;
        write!(f, "this is not a descriptor set of gRPC services: {reason}; ")?;
        f.write_str(
            "pass the bytes of `tonic::include_file_descriptor_set!`, or a file written by `protoc --descriptor_set_out`",
        )
    }
}

impl std::error::Error for DescriptorError {}

/// `FileDescriptorSet.file`
const FILE: u64 = 1;
/// `FileDescriptorProto.package`
const PACKAGE: u64 = 2;
/// `FileDescriptorProto.service`
const SERVICE: u64 = 6;
/// `ServiceDescriptorProto.name` and `MethodDescriptorProto.name`
const NAME: u64 = 1;
/// `ServiceDescriptorProto.method`
const METHOD: u64 = 2;

/// Returns the paths of all methods, as `/store.v1.Store/Get`.
pub(crate) fn paths(set: &[u8]) -> Result<Vec<String>, DescriptorError> {
    let mut paths = Vec::new();
    for file in all(set, FILE)? {
        let package = text(file, PACKAGE)?;
        for service in all(file, SERVICE)? {
            let name = text(service, NAME)?;
            let dot = if package.is_empty() { "" } else { "." };
            for method in all(service, METHOD)? {
                paths.push(format!("/{package}{dot}{name}/{}", text(method, NAME)?));
            }
        }
    }
    if paths.is_empty() { Err(DescriptorError { reason: "it has no methods" }) } else { Ok(paths) }
}

/// Returns the length-delimited fields of a message with this number.
fn all(message: &[u8], number: u64) -> Result<Vec<&[u8]>, DescriptorError> {
    let (mut found, mut rest) = (Vec::new(), message);
    while !rest.is_empty() {
        let (tag, after) = varint(rest)?;
        let (value, after) = match tag & 7 {
            0 => (None, varint(after)?.1),
            1 => (None, cut(after, 8)?.1),
            2 => {
                let (length, after) = varint(after)?;
                let (value, after) = cut(after, length)?;
                (Some(value), after)
            }
            5 => (None, cut(after, 4)?.1),
            _ => return Err(DescriptorError { reason: "a field has an unknown wire type" }),
        };
        found.extend(value.filter(|_| tag >> 3 == number));
        rest = after;
    }
    Ok(found)
}

/// Returns a string field of a message: the last one if it is repeated, empty if it is missing.
fn text(message: &[u8], number: u64) -> Result<&str, DescriptorError> {
    let bytes = all(message, number)?.pop().unwrap_or_default();
    str::from_utf8(bytes).map_err(|_| DescriptorError { reason: "a name is not UTF-8" })
}

fn varint(bytes: &[u8]) -> Result<(u64, &[u8]), DescriptorError> {
    let mut number = 0;
    for (at, byte) in bytes.iter().take(10).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Ok((number, &bytes[at + 1..]));
        }
    }
    Err(DescriptorError { reason: "an integer is truncated or longer than 10 bytes" })
}

fn cut(bytes: &[u8], length: u64) -> Result<(&[u8], &[u8]), DescriptorError> {
    let whole = usize::try_from(length).ok().and_then(|length| bytes.split_at_checked(length));
    whole.ok_or(DescriptorError { reason: "it is truncated" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u8, value: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, value.len() as u8], value].concat()
    }

    fn set() -> Vec<u8> {
        let method = |name: &[u8]| field(2, &[field(1, name), field(2, b".Request"), vec![5 << 3, 1]].concat());
        let service = field(6, &[field(1, b"Store"), method(b"Get"), method(b"Put")].concat());
        let first = field(1, &[field(1, b"store.proto"), field(2, b"store.v1"), service].concat());
        let second = field(1, &field(6, &[field(1, b"Bare"), method(b"Do")].concat()));
        [first, second].concat()
    }

    #[test]
    fn every_method_has_its_path() {
        assert_eq!(paths(&set()).unwrap(), ["/store.v1.Store/Get", "/store.v1.Store/Put", "/Bare/Do"]);
    }

    #[test]
    fn what_is_no_set_is_refused_and_does_no_harm() {
        for (bytes, reason) in [
            (&b""[..], "it has no methods"),
            (b"\x0a\x00", "it has no methods"),
            (b"\x0a\x05", "it is truncated"),
            (b"\x0f", "a field has an unknown wire type"),
            (&[0xff; 20], "an integer is truncated or longer than 10 bytes"),
            (b"\x0a\x04\x12\x02\xff\xff", "a name is not UTF-8"),
        ] {
            assert_eq!(paths(bytes), Err(DescriptorError { reason }), "{bytes:?}");
        }
        for end in 0..set().len() {
            let _ = paths(&set()[..end]);
        }
        let text = DescriptorError { reason: "it has no methods" }.to_string();
        assert!(text.starts_with("this is not a descriptor set of gRPC services: it has no methods; pass "), "{text}");
    }
}
