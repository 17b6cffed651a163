//! What is current while a call is worked on.

use tracecast::{Context, Span};

/// What is current while a call is worked on.
pub(crate) enum Place {
    /// Its span, which may be there and not be recorded.
    Span(Span),
    /// The caller's context, where there is no span. It is rarely used, and boxed because it would enlarge every call.
    Context(Box<Context>),
    /// Whatever is.
    Unchanged,
}

impl Place {
    /// That of a call that is served: its span, or without one the context of its caller.
    pub(crate) fn served(span: Span, caller: Context) -> Self {
        if span.is_none() { Place::transparent(caller) } else { Place::Span(span) }
    }

    /// Without a span of its own, a call is worked on in its caller's context, if that is anything.
    pub(crate) fn transparent(caller: Context) -> Self {
        if !caller.is_valid() && caller.baggage_entries().next().is_none() {
            return Place::Unchanged;
        }
        Place::Context(Box::new(caller))
    }

    /// That of a call that is made: its span, if it has one.
    pub(crate) fn called(span: Span) -> Self {
        if span.is_none() { Place::Unchanged } else { Place::Span(span) }
    }

    pub(crate) fn run<R>(&mut self, f: impl FnOnce() -> R) -> R {
        match self {
            Place::Span(span) => span.in_scope(f),
            Place::Context(context) => context.run(f),
            Place::Unchanged => f(),
        }
    }

    pub(crate) fn is_recording(&self) -> bool {
        matches!(self, Place::Span(span) if span.is_recording())
    }

    /// Takes the span out, for its end. Without one, what is returned records nothing.
    pub(crate) fn take_span(&mut self) -> Span {
        match self {
            Place::Span(span) => std::mem::replace(span, Span::none()),
            Place::Context(_) | Place::Unchanged => Span::none(),
        }
    }
}
