//! Boxed futures and streams that are measured and stay the same type.

use std::future::Future;
use std::pin::Pin;

use futures_core::Stream;

use super::Verdict;
use super::future::{Begun, Measured};
use super::stream::MeasuredStream;
use crate::trace::span::End;

/// Types that can be measured and stay the same type: boxed futures.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be measured: the function has to return `impl Future` or a boxed future",
    note = "return `impl Future<Output = ..>` or `Pin<Box<dyn Future<Output = ..> + Send>>`, or add `construct` to time only the making of the future; if it returns none, remove `future`"
)]
pub trait RewrapMeasured: Future + Sized {
    /// The same future, measured.
    fn rewrap<H, J>(self, begun: Begun, observe: H, judge: J) -> Self
    where
        H: Fn(&Self::Output, &mut End) + Send + Sync + 'static,
        J: Fn(&Self::Output, &mut Verdict) + Send + Sync + 'static;
}

/// Types that can be measured and stay the same type: boxed streams.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be measured: the function has to return `impl Stream` or a boxed stream",
    note = "return `impl Stream<Item = ..>` or `Pin<Box<dyn Stream<Item = ..> + Send>>`, or add `construct` to time only the making of the stream; if it returns none, remove `stream`"
)]
pub trait RewrapStreamMeasured: Stream + Sized {
    /// The same stream, measured.
    fn rewrap<H, J>(self, begun: Begun, observe: H, judge: J) -> Self
    where
        H: Fn(&Self::Item, &mut End) + Send + Sync + 'static,
        J: Fn(&Self::Item, &mut Verdict) + Send + Sync + 'static;
}

macro_rules! rewrap {
    ($($($auto:ident)*),+) => {$(
        #[diagnostic::do_not_recommend]
        impl<'a, T: 'a> RewrapMeasured for Pin<Box<dyn Future<Output = T> $(+ $auto)* + 'a>> {
            fn rewrap<H, J>(self, begun: Begun, observe: H, judge: J) -> Self
            where
                H: Fn(&T, &mut End) + Send + Sync + 'static,
                J: Fn(&T, &mut Verdict) + Send + Sync + 'static,
            {
                Box::pin(Measured::new(Some(begun), self, observe, judge))
            }
        }

        #[diagnostic::do_not_recommend]
        impl<'a, T: 'a> RewrapStreamMeasured for Pin<Box<dyn Stream<Item = T> $(+ $auto)* + 'a>> {
            fn rewrap<H, J>(self, begun: Begun, observe: H, judge: J) -> Self
            where
                H: Fn(&T, &mut End) + Send + Sync + 'static,
                J: Fn(&T, &mut Verdict) + Send + Sync + 'static,
            {
                Box::pin(MeasuredStream::new(Some(begun), self, observe, judge))
            }
        }
    )+};
}

rewrap!(, Send, Send Sync);

/// Has a boxed future measured; when it is off it stays as it is.
pub fn rewrap_measured<F: RewrapMeasured, H, J>(begun: Option<Begun>, future: F, observe: H, judge: J) -> F
where
    H: Fn(&F::Output, &mut End) + Send + Sync + 'static,
    J: Fn(&F::Output, &mut Verdict) + Send + Sync + 'static,
{
    match begun {
        Some(begun) => future.rewrap(begun, observe, judge),
        None => future,
    }
}

/// Has a boxed stream measured; when it is off it stays as it is.
pub fn rewrap_stream_measured<S: RewrapStreamMeasured, H, J>(begun: Option<Begun>, stream: S, observe: H, judge: J) -> S
where
    H: Fn(&S::Item, &mut End) + Send + Sync + 'static,
    J: Fn(&S::Item, &mut Verdict) + Send + Sync + 'static,
{
    match begun {
        Some(begun) => stream.rewrap(begun, observe, judge),
        None => stream,
    }
}
