//! Failures of requests without a valid response.

use std::error::Error;
use std::io;

/// The reason why a request got no valid response.
#[derive(Debug)]
pub(super) enum Failure {
    /// The connection could not be opened.
    Unreachable(String),
    /// TLS or a header's value failed, which an operator has to fix.
    Insecure(String),
    /// The connection ended before the response.
    Broken(String),
    /// The response is not of the expected protocol.
    Garbage(String),
}

/// The protocol expected on a connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spoken {
    Http,
    #[cfg(feature = "grpc")]
    Grpc,
}

impl Failure {
    /// Classifies an error of a connection, on which `expected` was spoken.
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

/// The text of the innermost source. The outer ones are general, such as "error trying to connect".
pub(super) fn innermost(error: &(dyn Error + 'static)) -> String {
    chain(error).last().map(describe).unwrap_or_default()
}

fn describe(error: &(dyn Error + 'static)) -> String {
    // Without the number at the end of a system error, which does not help users.
    match error.downcast_ref::<io::Error>() {
        Some(error) if error.raw_os_error().is_some() => error.kind().to_string(),
        _ => error.to_string(),
    }
}

fn is_garbage(error: &(dyn Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<hyper::Error>() {
        // An HTTP/2 server sends first, which hyper reports only by its text; the test with a gRPC server fails if that
        // changes.
        return error.is_parse() || error.is_user() || error.to_string().contains("unexpected message");
    }
    // Only errors that h2 found in the frames, not errors that the peer announced.
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
