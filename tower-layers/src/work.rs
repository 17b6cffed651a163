//! A call in progress, for both protocols.

use std::any::Any;
use std::task::Waker;

use bytes::Buf;
use http::HeaderMap;

use crate::place::Place;
use crate::sealed::Sealed;
use crate::side::Side;

/// A call in progress, as the future and the body of its response use it.
pub trait Ongoing {
    /// The state of reading a response's body, kept beside the call.
    type Reading: Default;

    /// Runs `f` with the call's context current.
    fn run<T>(&mut self, f: impl FnOnce() -> T) -> T;

    /// Called when a poll is pending; the task may be woken later to be polled again.
    fn wait(&mut self, _waker: &Waker) {}

    /// Returns whether the call is recorded or measured and has not ended.
    fn is_told(&self) -> bool;

    /// Reads a part of the response's body.
    fn read(&mut self, reading: &mut Self::Reading, data: &impl Buf);

    /// Ends the call after the whole response, possibly with trailers.
    fn complete(&mut self, trailers: Option<&HeaderMap>);

    /// Ends the call with an error of the service or of a body.
    fn fail(&mut self, error: &dyn Any);
}

/// A protocol: `GrpcCalls` or `HttpRequests`. Only this crate implements it:
///
/// ```compile_fail,E0277
/// use tracecast_tower::layer::{GrpcCalls, Protocol};
///
/// struct Mine;
/// impl Protocol for Mine {
///     type Call = <GrpcCalls as Protocol>::Call;
/// }
/// ```
pub trait Protocol: Sealed {
    #[doc(hidden)]
    type Call: Ongoing;
}

/// The data of any call: the context that is current in it, and the record for its end.
pub(crate) struct Work<R> {
    pub(crate) place: Place,
    /// `Some` while the call is recorded or measured.
    pub(crate) record: Option<R>,
    /// Whether a poll is running or was left by a panic.
    unwound: bool,
}

impl<R> Work<R> {
    pub(crate) fn new(place: Place, record: Option<R>) -> Self {
        Work { place, record, unwound: false }
    }

    /// Creates a call that is not recorded but has a context to make current; `None` if the context is unchanged, and
    /// for a client, which needs no context once the headers are written.
    pub(crate) fn at(place: Place, side: Side) -> Option<Self> {
        let is_of_use = side == Side::Server && !place.is_unchanged();
        is_of_use.then(|| Work::new(place, None))
    }

    #[inline(always)]
    pub(crate) fn run<T>(&mut self, f: impl FnOnce() -> T) -> T {
        self.unwound = true;
        let result = self.place.run(f);
        self.unwound = false;
        result
    }

    /// Returns whether the call is dropped because of a panic. A client's call that another function's panic drops was
    /// only given up.
    pub(crate) fn has_panicked(&self, side: Side) -> bool {
        self.unwound || (side == Side::Server && std::thread::panicking())
    }
}
