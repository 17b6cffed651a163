//! A request that got no answer, or none that can be understood.

use std::error::Error;
use std::io;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// No connection was made.
    Unreachable(String),
    /// There is a connection, and no TLS over it.
    Insecure(String),
    /// The connection ended before the answer.
    Broken(String),
    /// What came back is not of the protocol.
    Garbage(String),
}

/// The protocol of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spoken {
    Http,
    #[cfg(feature = "grpc")]
    Grpc,
}

impl Failure {
    /// Judges an error of a connection; `expected` is what the other side should have spoken.
    pub(super) fn of(error: &(dyn Error + 'static), expected: Spoken) -> Self {
        let cause = innermost(error);
        if chain(error).any(is_garbage) {
            let (name, other) = match expected {
                Spoken::Http => ("HTTP/1.1", "if it expects gRPC, set OTEL_EXPORTER_OTLP_PROTOCOL=grpc"),
                #[cfg(feature = "grpc")]
                Spoken::Grpc => ("gRPC", "if it expects HTTP, set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"),
            };
            return Failure::Garbage(format!("the answer is not {name}: {cause}; {other}"));
        }
        Failure::Broken(format!("the connection broke: {cause}"))
    }
}

/// The error with its sources.
pub(super) fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
}

/// The text nearest to the cause. The outer ones say "error trying to connect" and the like.
pub(super) fn innermost(error: &(dyn Error + 'static)) -> String {
    chain(error).last().map(describe).unwrap_or_default()
}

fn describe(error: &(dyn Error + 'static)) -> String {
    // The text of an error of the system ends with its number, which tells users nothing.
    match error.downcast_ref::<io::Error>() {
        Some(error) if error.raw_os_error().is_some() => error.kind().to_string(),
        _ => error.to_string(),
    }
}

fn is_garbage(error: &(dyn Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<hyper::Error>() {
        // A server of HTTP/2 speaks first. hyper tells that by its text only; the test with a server of gRPC would notice another one.
        return error.is_parse() || error.is_user() || error.to_string().contains("unexpected message");
    }
    // An error that our side found in the frames, and not one that the other side announced.
    #[cfg(feature = "grpc")]
    return error.downcast_ref::<h2::Error>().is_some_and(|error| error.is_library() && !error.is_io());
    #[cfg(not(feature = "grpc"))]
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_system_is_named_without_its_number() {
        let error = io::Error::from_raw_os_error(111);
        assert!(!innermost(&error).contains("os error"), "{}", innermost(&error));
    }
}
