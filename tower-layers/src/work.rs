//! A call while it lasts, whatever its protocol.

use std::any::Any;
use std::task::Waker;

use bytes::Buf;
use http::HeaderMap;

use crate::place::Place;
use crate::sealed::Sealed;
use crate::side::Side;

/// A call that goes on, as the future and the body of its response see it.
pub trait Ongoing {
    /// What is known of a response that passes by, beside the call.
    type Reading: Default;

    /// Works on the call: what it calls sees its context.
    fn run<T>(&mut self, f: impl FnOnce() -> T) -> T;

    /// Nothing happens for now; whoever waits may be asked to come back.
    fn wait(&mut self, _waker: &Waker) {}

    /// Whether there is anything to tell at its end.
    fn is_told(&self) -> bool;

    /// Reads a part of the response that passes by.
    fn read(&mut self, reading: &mut Self::Reading, data: &impl Buf);

    /// Ends it because all of the response has passed, maybe with trailers.
    fn complete(&mut self, trailers: Option<&HeaderMap>);

    /// Ends it because a service or a body failed with this error.
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

/// What is the same of all calls: what is current in one, and what is told of it when it has ended.
pub(crate) struct Work<R> {
    pub(crate) place: Place,
    /// Only if it is recorded or measured, and has not ended.
    pub(crate) record: Option<R>,
    /// A poll did not come back.
    unwound: bool,
}

impl<R> Work<R> {
    pub(crate) fn new(place: Place, record: Option<R>) -> Self {
        Work { place, record, unwound: false }
    }

    /// One of which nothing is told, if something is current in it. A client's place is of no use once its headers are written.
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

    /// Whether it is dropped because of a panic. A client that is dropped by somebody else's panic was only given up.
    pub(crate) fn has_panicked(&self, side: Side) -> bool {
        self.unwound || (side == Side::Server && std::thread::panicking())
    }
}
