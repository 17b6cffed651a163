//! What is current while a call is worked on.

use tracecast::__layers::{Moment, is_capturing};
use tracecast::{Context, Span};

/// What is current while a call is worked on.
pub(crate) enum Place {
    /// Its span, which may be there and not be recorded, or stand for the caller's context. Without one, whatever is current stays so.
    Span(Span),
    /// The caller's context, where no span could stand for it. It is rarely used, and boxed because it would enlarge every call.
    Context(Box<Context>),
}

impl Place {
    /// Whatever is current.
    pub(crate) const UNCHANGED: Place = Place::Span(Span::none());

    /// That of a call that is served: its span, or without one the context of its caller.
    #[inline]
    pub(crate) fn served(span: Span, caller: Context) -> Self {
        if span.is_none() { Place::transparent(caller) } else { Place::Span(span) }
    }

    /// Without a span of its own, a call is worked on in its caller's context, if that is anything.
    pub(crate) fn transparent(caller: Context) -> Self {
        if !caller.is_valid() && caller.baggage_entries().next().is_none() {
            return Place::UNCHANGED;
        }
        let held = Span::non_recording_if_plenty(&caller);
        if held.is_none() { Place::Context(Box::new(caller)) } else { Place::Span(held) }
    }

    /// That of a call that is made: its span, if it has one.
    pub(crate) fn called(span: Span) -> Self {
        Place::Span(span)
    }

    pub(crate) fn is_unchanged(&self) -> bool {
        matches!(self, Place::Span(span) if span.is_none())
    }

    #[inline(always)]
    pub(crate) fn run<R>(&mut self, f: impl FnOnce() -> R) -> R {
        match self {
            Place::Span(span) => span.in_scope(f),
            Place::Context(context) => context.run(f),
        }
    }

    /// Counts something that belongs to the call. Only a test that captures sees where that happens, so otherwise nothing is made current.
    #[inline(always)]
    pub(crate) fn count(self, count: fn()) -> Self {
        if is_capturing() {
            return self.count_here(count);
        }
        count();
        self
    }

    // By value, so that a place of which nothing is captured stays in registers.
    #[cold]
    fn count_here(mut self, count: fn()) -> Self {
        self.run(count);
        self
    }

    pub(crate) fn is_recording(&self) -> bool {
        matches!(self, Place::Span(span) if span.is_recording())
    }

    /// When its span began, if that is recorded.
    #[inline]
    pub(crate) fn began(&self) -> Option<Moment> {
        match self {
            Place::Span(span) => span.began(),
            Place::Context(_) => None,
        }
    }

    /// Takes the span out, for its end. Without one, what is returned records nothing.
    pub(crate) fn take_span(&mut self) -> Span {
        match self {
            Place::Span(span) => std::mem::replace(span, Span::none()),
            Place::Context(_) => Span::none(),
        }
    }
}
