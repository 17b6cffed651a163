//! The current span, accessible from any code that runs inside it.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use crate::declare::key::{Key, KeyOf};
use crate::declare::value::IntoValue;
use crate::record::block::{BlockRef, RECORDING};
use crate::record::fields::{self, Staged};
use crate::record::local;
use crate::trace::context::Context;
use crate::trace::error;
use crate::trace::span::{self, IntoLinks};

/// Returns a handle to the innermost span on this thread. If no span is current, or the current one is not recorded, the methods
/// of the handle record nothing and do not call the closures given to them.
///
/// ```
/// use tracecast::prelude::*;
/// use tracecast::current;
///
/// #[tc_span("Store/Get")]
/// fn get() {
///     current().set(tracecast::keys::size_bytes, 7_u64);
/// }
///
/// tracecast::testing::capture(get).assert_tree("Store/Get tc.size.bytes=7");
/// ```
#[inline]
pub fn current() -> Current {
    Current { thread: PhantomData }
}

/// A handle to the innermost span at the time when a method is called.
///
/// ```
/// use tracecast::prelude::*;
/// use tracecast::current;
///
/// #[tc_span("Store/Get")]
/// fn get() {
///     current().event("miss");
///     current().error("the disk is full");
/// }
///
/// let captured = tracecast::testing::capture(get);
/// assert_eq!(captured.span("Store/Get").events[0].name, "miss");
/// assert!(captured.span("Store/Get").outcome.is_error());
/// ```
#[derive(Clone, Copy)]
pub struct Current {
    thread: PhantomData<*const ()>,
}

impl Current {
    /// Returns whether the current span is recorded. Call this before an expensive computation.
    ///
    /// ```
    /// use tracecast::prelude::*;
    /// use tracecast::current;
    ///
    /// assert!(!current().is_recording());
    /// let captured = tracecast::testing::capture(|| {
    ///     let _scope = tc_scope!("Store/Get");
    ///     current().is_recording()
    /// });
    /// assert!(captured.value);
    /// ```
    #[inline]
    pub fn is_recording(&self) -> bool {
        recording().is_some()
    }

    /// Records an attribute; an earlier value of the key is replaced: `current().set(keys::bytes, 4096_u64)`.
    ///
    /// ```
    /// use tracecast::{current, keys};
    /// use tracecast::prelude::*;
    ///
    /// let captured = tracecast::testing::capture(|| {
    ///     let _scope = tc_scope!("Store/Put");
    ///     current().set(keys::size_bytes, 7_u64);
    ///     current().set(keys::size_bytes, 9_u64);
    /// });
    /// captured.assert_tree("Store/Put tc.size.bytes=9");
    /// ```
    #[inline]
    pub fn set<K: Key>(&self, _key: fn() -> KeyOf<K>, value: impl IntoValue<K::Value>) {
        if recording().is_some() {
            // Looked up again, because converting the value runs user code, which may end the span.
            value.with_value(|value| recording().into_iter().for_each(|block| fields::set(block, K::META, value)));
        }
    }

    /// Records an event.
    ///
    /// ```
    /// use tracecast::prelude::*;
    /// use tracecast::current;
    ///
    /// let captured = tracecast::testing::capture(|| {
    ///     let _scope = tc_scope!("Store/Get");
    ///     current().event("miss");
    /// });
    /// assert_eq!(captured.span("Store/Get").events.len(), 1);
    /// ```
    pub fn event(&self, name: &'static str) {
        recording().into_iter().for_each(|block| fields::event(block, name, None));
    }

    /// Records an event with attributes:
    /// `current().event_with("retry", |event| event.set(keys::attempt, 2_u64))`.
    ///
    /// ```
    /// use tracecast::{current, keys};
    /// use tracecast::prelude::*;
    ///
    /// let captured = tracecast::testing::capture(|| {
    ///     let _scope = tc_scope!("Store/Get");
    ///     current().event_with("chunk", |event| event.set(keys::size_bytes, 7_u64));
    /// });
    /// assert_eq!(captured.span("Store/Get").events[0].attributes.len(), 1);
    /// ```
    pub fn event_with(&self, name: &'static str, attributes: impl FnOnce(&mut EventAttributes)) {
        let Some(id) = recording().map(|block| block.span_id.get()) else { return };
        let mut staged = EventAttributes { staged: Staged::new() };
        attributes(&mut staged);
        // The user's code may have ended the span.
        if let Some(block) = recording().filter(|block| block.span_id.get() == id) {
            fields::event(block, name, staged.staged.as_ref());
        }
    }

    /// Links the span to other spans.
    ///
    /// ```
    /// use tracecast::prelude::*;
    /// use tracecast::{Context, SpanId, TraceId, current};
    ///
    /// #[tc_span("Worker/Sweep")]
    /// fn sweep(job: &Context) {
    ///     current().link(job);
    /// }
    ///
    /// let job = Context::remote(TraceId(0xa), SpanId(0xb), true);
    /// let captured = tracecast::testing::capture(|| sweep(&job));
    /// assert_eq!(captured.span("Worker/Sweep").links[0].span_id, SpanId(0xb));
    /// ```
    pub fn link(&self, links: impl IntoLinks) {
        if recording().is_some() {
            links.for_each_link(&mut |context| recording().into_iter().for_each(|block| span::link(block, context)));
        }
    }

    /// Records an error and marks the span as failed.
    ///
    /// ```
    /// use tracecast::prelude::*;
    /// use tracecast::current;
    ///
    /// let captured = tracecast::testing::capture(|| {
    ///     let _scope = tc_scope!("Store/Put");
    ///     current().error(&std::io::Error::other("full"));
    /// });
    /// captured.assert_tree("Store/Put error error.type=std::io::error::Error error.message=full");
    /// ```
    pub fn error<E: fmt::Display + ?Sized>(&self, error: &E) {
        if recording().is_some() {
            error::with_text(error, |info| recording().into_iter().for_each(|block| span::fail(block, info)));
        }
    }

    /// Returns the value of this key in the baggage of the current context, even if no span is recorded; `None` if the baggage
    /// does not contain the key.
    ///
    /// ```
    /// use tracecast::prelude::*;
    /// use tracecast::{Context, current};
    ///
    /// let context = Context::current().with_baggage("tenant", "gold")?;
    /// assert_eq!(context.run(|| current().baggage("tenant")), Some("gold".to_owned()));
    /// # Ok::<(), tracecast::BaggageError>(())
    /// ```
    pub fn baggage(&self, key: &str) -> Option<String> {
        Context::current().baggage(key).map(Cow::into_owned)
    }

    /// Returns the context of the current span, which spans on other threads or in other processes take as their parent.
    ///
    /// ```
    /// use tracecast::prelude::*;
    /// use tracecast::current;
    ///
    /// let captured = tracecast::testing::capture(|| {
    ///     let _scope = tc_scope!("Store/Get");
    ///     current().context().span_id()
    /// });
    /// assert_eq!(captured.value, captured.span("Store/Get").span_id);
    /// ```
    pub fn context(&self) -> Context {
        Context::current()
    }
}

/// Collects the attributes of one event.
///
/// ```
/// use tracecast::prelude::*;
/// use tracecast::current;
///
/// #[tc_span("Store/Get")]
/// fn get() {
///     current().event_with("chunk", |event| event.set(tracecast::keys::size_bytes, 7_u64));
/// }
///
/// let captured = tracecast::testing::capture(get);
/// assert_eq!(captured.span("Store/Get").events[0].attributes[0].key, "tc.size.bytes");
/// ```
pub struct EventAttributes {
    staged: Option<Staged>,
}

impl EventAttributes {
    /// Records an attribute of the event.
    pub fn set<K: Key>(&mut self, _key: fn() -> KeyOf<K>, value: impl IntoValue<K::Value>) {
        if let Some(staged) = &mut self.staged {
            value.with_value(|value| staged.attribute(K::META, value));
        }
    }
}

#[inline]
fn recording() -> Option<BlockRef> {
    local::with(|local| local.current()).filter(|block| block.has(RECORDING))
}
