//! Functions that return a future or a stream without saying so: behind an alias, or as an associated type.
//!
//! `Tag::<R>::NEW.covered(observer)` is found through `Deref`, as `observer` is: a boxed future or stream takes over the span of its
//! call, any other future is refused, and all else is left as it is.

use std::future::Future;
use std::pin::Pin;

use futures_core::Stream;

use crate::trace::metrics::Metrics;
use crate::trace::observe::{Level, Observe, Tag};
use crate::trace::span::{Call, Returned};
use crate::trace::stream::{Rewrap, RewrapStream};

/// Has a boxed future or stream take over what its call carries; the observer sees what it gives.
pub struct Covering<O>(O);

impl<F: Rewrap, O: Observe<F::Output> + Send + Sync + 'static> Returned<F> for Covering<O> {
    #[inline]
    fn end_call<M: Metrics>(self, call: &mut Call<M>, result: F) -> F {
        result.rewrap(call.carry(), self.0)
    }
}

/// The same for streams.
pub struct CoveringStream<O>(O);

impl<S: RewrapStream, O: Observe<S::Item> + Send + Sync + 'static> Returned<S> for CoveringStream<O> {
    #[inline]
    fn end_call<M: Metrics>(self, call: &mut Call<M>, result: S) -> S {
        result.rewrap(call.carry(), self.0)
    }
}

macro_rules! boxed {
    ($($($auto:ident)*),+) => {$(
        /// A boxed future, by whatever name the signature calls it.
        impl<'a, T> Tag<Pin<Box<dyn Future<Output = T> $(+ $auto)* + 'a>>> {
            /// The tag of what a result gives in the end: for a future, of its output.
            #[inline(always)]
            pub fn given(&self) -> Tag<T> {
                Tag::NEW
            }

            /// Has the span cover all of it.
            #[inline(always)]
            pub fn covered<O>(&self, observer: O) -> Covering<O> {
                Covering(observer)
            }
        }

        /// A boxed stream.
        impl<'a, T> Tag<Pin<Box<dyn Stream<Item = T> $(+ $auto)* + 'a>>> {
            /// The tag of its items.
            #[inline(always)]
            pub fn given(&self) -> Tag<T> {
                Tag::NEW
            }

            /// Has the span cover all of it.
            #[inline(always)]
            pub fn covered<O>(&self, observer: O) -> CoveringStream<O> {
                CoveringStream(observer)
            }
        }
    )+};
}

boxed!(, Send, Send Sync);

/// Any other future: an error.
impl<R: Future> Level<R, 0> {
    /// Its own tag.
    #[inline(always)]
    pub fn given(&self) -> Tag<R> {
        Tag::NEW
    }

    /// Refuses it: the span would end before the work begins.
    #[inline(always)]
    pub fn covered<O>(&self, observer: O) -> O
    where
        R: CoveredByItself,
    {
        observer
    }
}

/// Anything that is no future.
impl<R> Level<R, 1> {
    /// Its own tag.
    #[inline(always)]
    pub fn given(&self) -> Tag<R> {
        Tag::NEW
    }

    /// Leaves it as it is.
    #[inline(always)]
    pub fn covered<O>(&self, observer: O) -> O {
        observer
    }
}

/// No future is: whoever returns one says what the span covers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is a future, and a span or metric would only time its construction",
    label = "returns a future",
    note = "to cover it to its end, return `impl Future<Output = ..>` or a boxed future; add `construct` if the construction is meant, or if its work runs already"
)]
pub trait CoveredByItself {}
