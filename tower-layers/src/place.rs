//! The context that is current while a call is polled.

use tracecast::__layers::{Moment, is_capturing};
use tracecast::{Context, Span};

/// The context that is current while a call is polled.
pub(crate) enum Place {
    /// The call's span, or a non-recording span that only holds the caller's context. `Span::none()` leaves the current
    /// context unchanged.
    Span(Span),
    /// The caller's context, if no span could hold it. Boxed, because it is rare and would enlarge every call.
    Context(Box<Context>),
}

impl Place {
    /// Leaves the current context unchanged.
    pub(crate) const UNCHANGED: Place = Place::Span(Span::none());

    /// Returns the place of a served call: its span, or without a span its caller's context.
    #[inline]
    pub(crate) fn served(span: Span, caller: Context) -> Self {
        if span.is_none() { Place::transparent(caller) } else { Place::Span(span) }
    }

    /// Returns the place of a call without a span: its caller's context, if that has any content.
    pub(crate) fn transparent(caller: Context) -> Self {
        if !caller.is_valid() && caller.baggage_entries().next().is_none() {
            return Place::UNCHANGED;
        }
        let held = Span::non_recording_if_plenty(&caller);
        if held.is_none() { Place::Context(Box::new(caller)) } else { Place::Span(held) }
    }

    /// Returns the place of a client's call: its span, if it has one.
    pub(crate) fn called(span: Span) -> Self {
        Place::Span(span)
    }

    pub(crate) fn is_unchanged(&self) -> bool {
        matches!(self, Place::Span(span) if span.is_none())
    }

    #[inline(always)]
    pub(crate) fn run<R>(&mut self, f: impl FnOnce() -> R) -> R {
        match self {
            Place::Span(span) => span.in_poll(f),
            Place::Context(context) => context.run(f),
        }
    }

    /// Calls `count`, which counts the call in a metric. The call's context is current meanwhile only while a test
    /// captures, because only captures depend on it.
    #[inline(always)]
    pub(crate) fn count(self, count: fn()) -> Self {
        if is_capturing() {
            return self.count_here(count);
        }
        count();
        self
    }

    // By value, so that without a capture a place stays in registers.
    #[cold]
    fn count_here(mut self, count: fn()) -> Self {
        self.run(count);
        self
    }

    pub(crate) fn is_recording(&self) -> bool {
        matches!(self, Place::Span(span) if span.is_recording())
    }

    /// Returns the time at which the span began; `None` if the span is not recorded.
    #[inline]
    pub(crate) fn began(&self) -> Option<Moment> {
        match self {
            Place::Span(span) => span.began(),
            Place::Context(_) => None,
        }
    }

    /// Takes the span, to end it. Without one, returns a span that records nothing.
    pub(crate) fn take_span(&mut self) -> Span {
        match self {
            Place::Span(span) => std::mem::replace(span, Span::none()),
            Place::Context(_) => Span::none(),
        }
    }
}
