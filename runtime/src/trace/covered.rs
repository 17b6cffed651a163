//! Functions that return a future or a stream without saying so: behind an alias, or as an associated type.
//!
//! `Covered(Tag::<R>::COVER, Tag::<R>::future(), observer)` has a boxed future or stream take over the span of its call, refuses any other
//! future, and leaves all else as it is.

use std::future::Future;
use std::pin::Pin;

use futures_core::Stream;

use crate::trace::metrics::Metrics;
use crate::trace::observe::{Observe, Tag};
use crate::trace::span::{Call, Returned};
use crate::trace::stream::{Rewrap, RewrapStream};

/// What a call returns, as its type says, and what observes it, or the output or items of what is covered.
pub struct Covered<C, O>(pub C, pub (), pub O);

/// The constant of a boxed future.
pub struct BoxedFuture;

/// The constant of a boxed stream.
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

/// Neither of them.
impl<R, O: Observe<R>> Returned<R> for Covered<(), O> {
    #[inline(always)]
    fn end_call<M: Metrics>(self, call: &mut Call<M>, result: R) -> R {
        call.end(&result, &self.2);
        result
    }
}

impl<R: Future> Tag<R> {
    /// Refuses a future that is not boxed: the span would end before its work begins.
    #[inline(always)]
    pub fn future()
    where
        R: CoveredByItself,
    {
    }
}

/// A boxed future or stream.
pub trait Boxed {
    /// Which of them.
    type Kind;
    /// The constant of this kind.
    const KIND: Self::Kind;
    /// What it gives.
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
    /// The span covers all of it.
    pub const COVER: R::Kind = R::KIND;

    /// Returns the tag of the future's output or of the stream's items.
    #[inline(always)]
    pub fn given(&self) -> Tag<R::Given> {
        Tag::NEW
    }
}

/// Boxed futures are; whoever returns another one says what the span covers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is a future, and a span or metric would only time its construction",
    label = "returns a future",
    note = "to cover it to its end, return `impl Future<Output = ..>` or a boxed future; add `construct` if the construction is meant, or if its work runs already"
)]
pub trait CoveredByItself {}
