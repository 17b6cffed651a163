//! Extends a call's span over a returned future or stream that the macro cannot see in the signature, because the return type is
//! an alias or an associated type. `Covered(..)` selects the behaviour by type: a boxed future or stream keeps the span until it
//! ends, any other future is a compile error, and other results are returned unchanged.

use std::future::Future;
use std::pin::Pin;

use futures_core::Stream;

use crate::trace::metrics::Metrics;
use crate::trace::observe::{Observe, Tag};
use crate::trace::span::{Call, Returned};
use crate::trace::stream::{Rewrap, RewrapStream};

/// How a call ends: the constant of its return type, the check for futures, and the observer of the result, the future's output
/// or the stream's items.
pub struct Covered<C, O>(pub C, pub (), pub O);

/// The constant of boxed futures.
pub struct BoxedFuture;

/// The constant of boxed streams.
pub struct BoxedStream;

impl<R: Rewrap, O: Observe<R::Output> + Send + Sync + 'static> Returned<R> for Covered<BoxedFuture, O> {
    #[inline]
    fn end_call<M: Metrics>(self, call: &mut Call<M>, result: R) -> R {
        result.rewrap(call.carry(), self.2)
    }
}

impl<R: RewrapStream, O: Observe<R::Item> + Send + Sync + 'static> Returned<R> for Covered<BoxedStream, O> {
    #[inline]
    fn end_call<M: Metrics>(self, call: &mut Call<M>, result: R) -> R {
        result.rewrap(call.carry(), self.2)
    }
}

/// Ends the call when it returns: the result is no boxed future or stream.
impl<R, O: Observe<R>> Returned<R> for Covered<(), O> {
    #[inline(always)]
    fn end_call<M: Metrics>(self, call: &mut Call<M>, result: R) -> R {
        call.end(&result, &self.2);
        result
    }
}

impl<R: Future> Tag<R> {
    /// Rejects a future that is not boxed, because the span would end before the work of the future begins.
    #[inline(always)]
    pub fn future()
    where
        R: CoveredByItself,
    {
    }
}

/// A boxed future or stream.
pub trait Boxed {
    /// [`BoxedFuture`] or [`BoxedStream`].
    type Kind;
    /// The constant of this kind.
    const KIND: Self::Kind;
    /// The type of the future's output or of the stream's items.
    type Given;
}

macro_rules! boxed {
    ($($($auto:ident)*),+) => {$(
        impl<'a, T> Boxed for Pin<Box<dyn Future<Output = T> $(+ $auto)* + 'a>> {
            type Kind = BoxedFuture;
            const KIND: BoxedFuture = BoxedFuture;
            type Given = T;
        }

        #[diagnostic::do_not_recommend]
        impl<'a, T> CoveredByItself for Pin<Box<dyn Future<Output = T> $(+ $auto)* + 'a>> {}

        impl<'a, T> Boxed for Pin<Box<dyn Stream<Item = T> $(+ $auto)* + 'a>> {
            type Kind = BoxedStream;
            const KIND: BoxedStream = BoxedStream;
            type Given = T;
        }
    )+};
}

boxed!(, Send, Send Sync);

impl<R: Boxed> Tag<R> {
    /// The span covers the whole future or stream.
    pub const COVER: R::Kind = R::KIND;

    /// Returns the tag of the future's output or of the stream's items.
    #[inline(always)]
    pub fn given(&self) -> Tag<R::Given> {
        Tag::NEW
    }
}

/// Implemented for boxed futures. A function that returns another future has to declare what its span covers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is a future, and a span or metric would only time its construction",
    label = "returns a future",
    note = "to cover the future to its end, return `impl Future<Output = ..>` or a boxed future; to time only its construction, or if its work is already running, add `construct`"
)]
pub trait CoveredByItself {}
