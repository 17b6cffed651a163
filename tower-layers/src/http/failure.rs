//! Classifies failures without a status: one of a few words, never the text of an error.

use std::any::Any;
use std::error::Error as StdError;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use http::StatusCode;

use crate::failed::{BoxError, causes};

/// The value of `error.type` if there is no status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Timeout,
    Refused,
    Reset,
    Closed,
    Unreachable,
    Protocol,
    Overloaded,
    Panic,
    Other,
}

impl Failure {
    pub(crate) const ALL: [Failure; 9] = [
        Failure::Timeout,
        Failure::Refused,
        Failure::Reset,
        Failure::Closed,
        Failure::Unreachable,
        Failure::Protocol,
        Failure::Overloaded,
        Failure::Panic,
        Failure::Other,
    ];

    pub(crate) fn text(self) -> &'static str {
        match self {
            Failure::Timeout => "timeout",
            Failure::Refused => "connection_refused",
            Failure::Reset => "connection_reset",
            Failure::Closed => "connection_closed",
            Failure::Unreachable => "unreachable",
            Failure::Protocol => "protocol",
            Failure::Overloaded => "overloaded",
            Failure::Panic => "panic",
            Failure::Other => "_OTHER",
        }
    }
}

/// The reason why an exchange is an error: the value of `error.type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Error {
    Status(StatusCode),
    Failure(Failure),
}

/// Downcasts a value to one type of error.
type View = for<'e> fn(&'e dyn Any) -> Option<&'e (dyn StdError + 'static)>;

/// The types of errors whose causes are inspected.
#[derive(Clone, Debug, Default)]
pub(crate) struct Errors(Vec<View>);

impl Errors {
    pub(crate) fn add<E: StdError + 'static>(&mut self) {
        self.0.push(view::<E>);
    }

    /// Returns the kind of failure of a service's or body's error. An error whose `source` panics is `Other`.
    pub(crate) fn kind(&self, error: &dyn Any) -> Failure {
        let found = self.0.iter().chain(BUILT_IN).find_map(|view| view(error));
        let kind = || found.map_or(Failure::Other, of_chain);
        catch_unwind(AssertUnwindSafe(kind)).unwrap_or(Failure::Other)
    }
}

fn view<E: StdError + 'static>(error: &dyn Any) -> Option<&(dyn StdError + 'static)> {
    error.downcast_ref::<E>().map(|error| error as _)
}

fn view_boxed(error: &dyn Any) -> Option<&(dyn StdError + 'static)> {
    error.downcast_ref::<BoxError>().map(|error| &**error as _)
}

const BUILT_IN: &[View] = &[
    view_boxed,
    view::<io::Error>,
    #[cfg(any(feature = "axum", feature = "grpc", feature = "hyper"))]
    view::<h2::Error>,
    #[cfg(feature = "axum")]
    view::<axum::Error>,
    #[cfg(feature = "hyper")]
    view::<hyper::Error>,
    #[cfg(feature = "hyper")]
    view::<hyper_util::client::legacy::Error>,
    #[cfg(feature = "reqwest")]
    view::<reqwest::Error>,
    #[cfg(feature = "reqwest")]
    view_middleware,
];

/// Returns the inner error, which `reqwest_middleware::Error` does not return as its source.
#[cfg(feature = "reqwest")]
fn view_middleware(error: &dyn Any) -> Option<&(dyn StdError + 'static)> {
    Some(match error.downcast_ref::<reqwest_middleware::Error>()? {
        reqwest_middleware::Error::Reqwest(error) => error,
        reqwest_middleware::Error::Middleware(error) => &**error,
    })
}

/// Classifies an error by the first of its causes that has a kind; `Other` if none has.
fn of_chain(error: &(dyn StdError + 'static)) -> Failure {
    let causes = || causes(error);
    causes().find_map(of_cause).or_else(|| causes().find_map(of_connecting)).unwrap_or(Failure::Other)
}

fn of_cause(error: &(dyn StdError + 'static)) -> Option<Failure> {
    CAUSES.iter().find_map(|cause| cause(error))
}

type Cause = fn(&(dyn StdError + 'static)) -> Option<Failure>;

const CAUSES: &[Cause] = &[
    |error| error.downcast_ref().and_then(|error: &io::Error| of_io(error.kind())),
    #[cfg(any(feature = "axum", feature = "grpc", feature = "hyper"))]
    |error| error.downcast_ref().and_then(of_h2),
    #[cfg(feature = "hyper")]
    |error| error.downcast_ref().and_then(of_hyper),
    #[cfg(any(feature = "hyper", feature = "transport"))]
    |error| error.is::<tower::timeout::error::Elapsed>().then_some(Failure::Timeout),
    #[cfg(any(feature = "hyper", feature = "transport"))]
    |error| error.is::<tower::load_shed::error::Overloaded>().then_some(Failure::Overloaded),
    #[cfg(feature = "reqwest")]
    |error| error.downcast_ref().filter(|error: &&reqwest::Error| error.is_timeout()).map(|_| Failure::Timeout),
    #[cfg(feature = "grpc")]
    |error| error.is::<tonic::TimeoutExpired>().then_some(Failure::Timeout),
];

fn of_io(kind: io::ErrorKind) -> Option<Failure> {
    Some(match kind {
        io::ErrorKind::TimedOut => Failure::Timeout,
        io::ErrorKind::ConnectionRefused => Failure::Refused,
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => Failure::Reset,
        io::ErrorKind::UnexpectedEof | io::ErrorKind::NotConnected => Failure::Closed,
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => Failure::Unreachable,
        _ => return None,
    })
}

/// Classifies an error of HTTP/2; an I/O error by its kind.
#[cfg(any(feature = "axum", feature = "grpc", feature = "hyper"))]
fn of_h2(error: &h2::Error) -> Option<Failure> {
    if error.is_io() {
        return error.get_io().and_then(|error| of_io(error.kind())).or(Some(Failure::Closed));
    }
    Some(match error.reason()? {
        h2::Reason::NO_ERROR => Failure::Closed,
        _ if error.is_reset() || error.is_go_away() => Failure::Reset,
        _ => Failure::Protocol,
    })
}

#[cfg(feature = "hyper")]
fn of_hyper(error: &hyper::Error) -> Option<Failure> {
    if error.is_timeout() {
        Some(Failure::Timeout)
    } else if error.is_incomplete_message() || error.is_closed() || error.is_body_write_aborted() {
        Some(Failure::Closed)
    } else if error.is_parse() {
        Some(Failure::Protocol)
    } else {
        None
    }
}

/// Classifies a failed connection that has no kind of its own, such as an unknown host name.
#[cfg(feature = "hyper")]
fn of_connecting(error: &(dyn StdError + 'static)) -> Option<Failure> {
    if error.downcast_ref::<hyper_util::client::legacy::Error>().is_some_and(|error| error.is_connect()) {
        return Some(Failure::Unreachable);
    }
    error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_canceled).then_some(Failure::Closed)
}

#[cfg(not(feature = "hyper"))]
fn of_connecting(_: &(dyn StdError + 'static)) -> Option<Failure> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Outer(io::Error);

    impl std::fmt::Display for Outer {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("outer")
        }
    }

    impl StdError for Outer {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            Some(&self.0)
        }
    }

    fn boxed(error: impl Into<BoxError>) -> BoxError {
        error.into()
    }

    #[test]
    fn the_cause_of_an_error_tells_its_kind() {
        let kind = |error: &dyn Any| Errors::default().kind(error);
        let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
        assert_eq!(kind(&refused()), Failure::Refused);
        assert_eq!(kind(&boxed(Outer(refused()))), Failure::Refused);
        assert_eq!(kind(&boxed(Outer(io::ErrorKind::PermissionDenied.into()))), Failure::Other);
        assert_eq!(kind(&boxed(tonic::TimeoutExpired(()))), Failure::Timeout);
        assert_eq!(kind(&boxed(tower::timeout::error::Elapsed::new())), Failure::Timeout);
        assert_eq!(kind(&boxed(tower::load_shed::error::Overloaded::new())), Failure::Overloaded);
        assert_eq!(kind(&h2::Error::from(h2::Reason::PROTOCOL_ERROR)), Failure::Protocol);
        assert_eq!(kind(&boxed("password=x")), Failure::Other);
        assert_eq!(kind(&7_u8), Failure::Other);
    }

    #[test]
    fn types_of_others_are_looked_into_once_they_are_known() {
        let error = Outer(io::ErrorKind::TimedOut.into());
        let mut errors = Errors::default();
        assert_eq!(errors.kind(&error), Failure::Other);
        errors.add::<Outer>();
        assert_eq!(errors.kind(&error), Failure::Timeout);
    }

    #[derive(Debug)]
    struct Bursting;

    impl std::fmt::Display for Bursting {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("as it was told")
        }
    }

    impl StdError for Bursting {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            panic!("as it was told")
        }
    }

    #[test]
    fn an_error_that_panics_says_nothing() {
        assert_eq!(Errors::default().kind(&boxed(Bursting)), Failure::Other);
    }

    #[test]
    fn each_kind_has_a_word_of_its_own() {
        let texts: std::collections::HashSet<_> = Failure::ALL.map(Failure::text).into_iter().collect();
        assert_eq!(texts.len(), Failure::ALL.len());
    }
}
