//! Determines a call's status, also if none was sent.

use std::any::Any;
use std::error::Error;
use std::io;

use http::{HeaderMap, StatusCode};
use tonic::{Code, Status};

use crate::failed::{BoxError, causes};
use crate::grpc::metadata;
use crate::side::Side;

impl Side {
    /// Returns whether this side counts a call with this status as failed.
    pub(crate) fn is_error(self, code: Code) -> bool {
        let of_server = matches!(
            code,
            Code::Unknown
                | Code::DeadlineExceeded
                | Code::Unimplemented
                | Code::Internal
                | Code::Unavailable
                | Code::DataLoss
        );
        match self {
            Side::Server => of_server,
            Side::Client => code != Code::Ok,
        }
    }
}

/// Returns the status in headers or trailers; `None` if they have none.
pub(crate) fn of_headers(headers: &HeaderMap) -> Option<Code> {
    metadata::find(headers, "grpc-status").map(|status| Code::from_bytes(status.as_bytes()))
}

/// Returns the message of the status in headers or trailers; empty if there is none.
pub(crate) fn message_of(headers: &HeaderMap) -> String {
    Status::from_header_map(headers).map(|status| status.message().to_owned()).unwrap_or_default()
}

/// Returns the status for a response that has only an HTTP status.
pub(crate) fn of_http(status: StatusCode) -> Code {
    match status.as_u16() {
        400 => Code::Internal,
        401 => Code::Unauthenticated,
        403 => Code::PermissionDenied,
        404 => Code::Unimplemented,
        429 | 502..=504 => Code::Unavailable,
        _ => Code::Unknown,
    }
}

/// Returns the status and the message of a service's error; `UNKNOWN` without a message for an error of another type.
pub(crate) fn of_error(error: &dyn Any) -> (Code, String) {
    if let Some(error) = error.downcast_ref::<BoxError>() {
        return of_chain(&**error);
    }
    if let Some(error) = error.downcast_ref::<Status>() {
        return of_chain(error);
    }
    #[cfg(feature = "transport")]
    if let Some(error) = error.downcast_ref::<tonic::transport::Error>() {
        return of_chain(error);
    }
    (Code::Unknown, String::new())
}

/// Returns the status of the first cause with a definite one; else the first status among the causes, or `UNKNOWN` with
/// the error's text.
pub(crate) fn of_chain(error: &(dyn Error + 'static)) -> (Code, String) {
    let causes = || causes(error);
    let said = || causes().find_map(|error| error.downcast_ref::<Status>()).map(said_by);
    causes().find_map(of_cause).or_else(said).unwrap_or_else(|| (Code::Unknown, error.to_string()))
}

fn said_by(status: &Status) -> (Code, String) {
    (status.code(), status.message().to_owned())
}

fn of_cause(error: &(dyn Error + 'static)) -> Option<(Code, String)> {
    if let Some(status) = error.downcast_ref::<Status>() {
        // A status that tonic made from another error may be less exact than that error.
        let is_vague = status.source().is_some() && matches!(status.code(), Code::Unknown | Code::Cancelled);
        return (!is_vague).then(|| said_by(status));
    }
    let code = if error.is::<tonic::TimeoutExpired>() {
        Code::DeadlineExceeded
    } else if error.is::<tonic::ConnectError>() {
        Code::Unavailable
    } else if let Some(error) = error.downcast_ref::<h2::Error>() {
        of_h2(error)
    } else if error.downcast_ref::<io::Error>().is_some_and(is_lost) {
        Code::Unavailable
    } else {
        of_transport(error)?
    };
    Some((code, error.to_string()))
}

/// Returns whether a body failed because its sender reset the stream, or the connection is gone.
pub(crate) fn is_sender_gone(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|cause| match cause.downcast_ref::<h2::Error>() {
        Some(error) => error.is_io() || (error.is_remote() && (error.is_reset() || error.is_go_away())),
        None => cause.downcast_ref::<io::Error>().is_some_and(is_lost),
    })
}

/// Returns whether this error means that a connection is gone.
fn is_lost(error: &io::Error) -> bool {
    use io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, NotConnected, UnexpectedEof,
    };
    let kinds = [BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, NotConnected, UnexpectedEof];
    kinds.contains(&error.kind())
}

/// Maps errors of tower and hyper to a status as tonic does.
#[cfg(feature = "transport")]
fn of_transport(error: &(dyn Error + 'static)) -> Option<Code> {
    if error.is::<tower::timeout::error::Elapsed>() {
        return Some(Code::DeadlineExceeded);
    }
    if error.is::<tower::load_shed::error::Overloaded>() {
        return Some(Code::ResourceExhausted);
    }
    let error = error.downcast_ref::<hyper::Error>()?;
    // hyper's timeout means that the other end of the connection does not answer.
    let timeout = error.is_timeout().then_some(Code::Unavailable);
    timeout.or(error.is_canceled().then_some(Code::Cancelled))
}

#[cfg(not(feature = "transport"))]
fn of_transport(_: &(dyn Error + 'static)) -> Option<Code> {
    None
}

/// Maps the reasons of HTTP/2 errors as the gRPC-over-HTTP/2 specification does.
fn of_h2(error: &h2::Error) -> Code {
    match error.reason() {
        Some(h2::Reason::REFUSED_STREAM) => Code::Unavailable,
        Some(h2::Reason::CANCEL) => Code::Cancelled,
        Some(h2::Reason::ENHANCE_YOUR_CALM) => Code::ResourceExhausted,
        Some(h2::Reason::INADEQUATE_SECURITY) => Code::PermissionDenied,
        Some(h2::Reason::HTTP_1_1_REQUIRED | h2::Reason::STREAM_CLOSED) => Code::Unknown,
        Some(_) => Code::Internal,
        None if error.is_io() || error.is_go_away() => Code::Unavailable,
        None => Code::Unknown,
    }
}

/// Returns the status's name in the specification.
pub(crate) fn name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sides_differ_in_what_is_an_error() {
        let errors = |side: Side| (0..17).filter(|code| side.is_error(Code::from_i32(*code))).collect::<Vec<_>>();
        assert_eq!(errors(Side::Server), [2, 4, 12, 13, 14, 15]);
        assert_eq!(errors(Side::Client), (1..17).collect::<Vec<_>>());
    }

    #[derive(Debug)]
    struct Outer(Status);

    impl std::fmt::Display for Outer {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("outer")
        }
    }

    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    #[track_caller]
    fn check(error: BoxError, code: Code) {
        assert_eq!(of_error(&error).0, code, "{error}");
    }

    #[test]
    fn the_cause_of_an_error_tells_its_status() {
        check(tonic::TimeoutExpired(()).into(), Code::DeadlineExceeded);
        check(tonic::ConnectError("refused".into()).into(), Code::Unavailable);
        check(h2::Error::from(h2::Reason::REFUSED_STREAM).into(), Code::Unavailable);
        check(Status::from_error(tonic::TimeoutExpired(()).into()).into(), Code::DeadlineExceeded);
        check(Outer(Status::not_found("x")).into(), Code::NotFound);
        #[cfg(feature = "transport")]
        {
            check(tower::timeout::error::Elapsed::new().into(), Code::DeadlineExceeded);
            check(tower::load_shed::error::Overloaded::new().into(), Code::ResourceExhausted);
        }
        check(io::Error::from(io::ErrorKind::BrokenPipe).into(), Code::Unavailable);
        check(io::Error::from(io::ErrorKind::NotFound).into(), Code::Unknown);
        check("what".into(), Code::Unknown);
        assert_eq!(of_error(&Status::aborted("x")), (Code::Aborted, "x".to_owned()));
        assert_eq!(of_error(&7_u8).0, Code::Unknown);
    }
}
