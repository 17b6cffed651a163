//! The layer that records spans of `tracing`.

use std::any::TypeId;
use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};

use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Event, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context as LayerContext;
use tracing_subscriber::registry::LookupSpan;

use super::entered;
use super::fields::Fields;
use super::ignored_parent;
use crate::base::suppress;
use crate::declare::callsite::Kind;
use crate::declare::scope::ExternalScope;
use crate::declare::value::OwnedValue;
use crate::record::clock;
use crate::record::finished::{self, Attribute, FinishedSpan, Link};
use crate::trace::context::Context;
use crate::trace::external;

/// Records spans of `tracing` in our traces. Created by [`layer()`].
///
/// ```
/// use tracing_subscriber::layer::SubscriberExt as _;
///
/// let layer: tracecast::tracing_spans::SpanLayer = tracecast::tracing_spans::layer();
/// let subscriber = tracing_subscriber::registry().with(layer);
/// # drop(subscriber);
/// ```
#[derive(Debug)]
pub struct SpanLayer {
    number: u64,
    events: bool,
}

/// Creates a layer that records the spans of a `tracing` subscriber in our traces.
///
/// ```
/// use tracing_subscriber::layer::SubscriberExt as _;
///
/// let subscriber = tracing_subscriber::registry().with(tracecast::tracing_spans::layer());
/// tracing::subscriber::with_default(subscriber, || {
///     let _entered = tracing::info_span!("load", artifact = "llama").entered();
/// });
/// ```
pub fn layer() -> SpanLayer {
    static NUMBERS: AtomicU64 = AtomicU64::new(0);
    SpanLayer { number: NUMBERS.fetch_add(1, Relaxed), events: false }
}

impl SpanLayer {
    /// Makes the layer also record events of `tracing`, each on the innermost `tracing` span around it.
    ///
    /// ```
    /// use tracing_subscriber::layer::SubscriberExt as _;
    ///
    /// let layer = tracecast::tracing_spans::layer().with_events();
    /// let subscriber = tracing_subscriber::registry().with(layer);
    /// tracing::subscriber::with_default(subscriber, || {
    ///     tracing::info_span!("load").in_scope(|| tracing::info!("half of it is there"));
    /// });
    /// ```
    #[must_use]
    pub fn with_events(mut self) -> Self {
        self.events = true;
        self
    }
}

static SCOPE: LazyLock<Arc<ExternalScope>> =
    LazyLock::new(|| Arc::new(ExternalScope { name: "tracing".to_owned(), ..ExternalScope::default() }));

/// Our state of a span of `tracing`.
struct Open {
    context: Context,
    kind: Kind,
    /// The data, if the span is recorded.
    data: Option<Box<FinishedSpan>>,
    /// Whether this is a span of ours that was emitted; it is already recorded and entered.
    is_ours: bool,
}

impl Open {
    fn new(parent: &Context, metadata: &'static Metadata<'static>, fields: Fields) -> Self {
        let kind = fields.kind.unwrap_or_default();
        // Captures record only our spans; spans of `tracing` are transparent there.
        if parent.is_captured() {
            return Open { context: parent.clone(), kind: Kind::Internal, data: None, is_ours: false };
        }
        let context = external::begin(parent, fields.name.as_deref().unwrap_or(metadata.name()), kind);
        if !context.is_sampled() {
            return Open { context, kind, data: None, is_ours: false };
        }
        let mut data = FinishedSpan::begun(&SCOPE, Cow::Borrowed(metadata.name()), kind, &context, parent);
        place(metadata).into_iter().for_each(|attribute| data.set(attribute));
        fields.apply(&mut data);
        data.start_unix_nanos = clock::unix_now();
        Open { context, kind, data: Some(Box::new(data)), is_ours: false }
    }

    /// Returns the state for a span of ours that is being emitted; `None` if there is none. The state is used as a
    /// parent only.
    fn ours() -> Option<Self> {
        #[cfg(has_tracing_emit)]
        let context = super::emit::emitting();
        #[cfg(not(has_tracing_emit))]
        let context = None::<Context>;
        context.map(|context| Open { context, kind: Kind::Internal, data: None, is_ours: true })
    }
}

/// Returns the target and the source location as attributes.
fn place(metadata: &'static Metadata<'static>) -> Vec<Attribute> {
    let target = Some(attribute("target", metadata.target()));
    let file = metadata.file().map(|file| attribute("code.file.path", file));
    let line = metadata.line().map(|line| attribute("code.line.number", i64::from(line)));
    [target, file, line].into_iter().flatten().collect()
}

fn attribute(name: &'static str, value: impl Into<OwnedValue>) -> Attribute {
    Attribute { key: Cow::Borrowed(name), value: value.into() }
}

impl<S> Layer<S> for SpanLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: LayerContext<'_, S>) {
        if !external::is_on() || suppress::is_suppressed() {
            return;
        }
        if let Some(ours) = Open::ours() {
            if let Some(span) = context.span(id) {
                span.extensions_mut().replace(ours);
            }
            return;
        }
        let parent = match attributes.parent() {
            _ if attributes.is_root() => Context::default(),
            Some(parent) => context_of(&context, parent).unwrap_or_default(),
            None => Context::current(),
        };
        // Formatting the fields is user code, so no lock is held while they are read.
        let fields = Fields::read(|fields| attributes.record(fields));
        let open = Open::new(&parent, attributes.metadata(), fields);
        ignored_parent::span_made(attributes.metadata(), &parent);
        let Some(span) = context.span(id) else { return };
        let mut extensions = span.extensions_mut();
        if extensions.get_mut::<Open>().is_none() {
            extensions.insert(open);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: LayerContext<'_, S>) {
        if is_recorded(&context, id) {
            let fields = Fields::read(|fields| values.record(fields));
            change(&context, id, |data| fields.apply(data));
        }
    }

    fn on_follows_from(&self, id: &Id, follows: &Id, context: LayerContext<'_, S>) {
        let Some(to) = context_of(&context, follows).filter(Context::is_valid) else { return };
        let link = Link {
            trace_id: to.trace_id(),
            span_id: to.span_id(),
            sampled: to.is_sampled(),
            is_remote: Some(to.is_remote()),
            ..Link::default()
        };
        change(&context, id, |data| data.link(link));
    }

    fn on_event(&self, event: &Event<'_>, context: LayerContext<'_, S>) {
        if !self.events || !external::is_on() {
            return;
        }
        let Some(mut spans) = context.event_scope(event) else { return };
        // Skips emitted spans of ours, which have their own events.
        let inner = spans.find(|span| !span.extensions().get::<Open>().is_some_and(|open| open.is_ours));
        let Some(span) = inner.filter(|span| is_recorded(&context, &span.id())) else { return };
        let mut fields = Fields::read(|fields| event.record(fields));
        let metadata = event.metadata();
        let mut attributes =
            vec![attribute("level", metadata.level().as_str()), attribute("target", metadata.target())];
        attributes.append(&mut fields.attributes);
        let name = fields.message.map_or(Cow::Borrowed(metadata.name()), Cow::Owned);
        let event = finished::Event { name, unix_nanos: clock::unix_now(), attributes, dropped_attributes: 0 };
        change(&context, &span.id(), |data| data.event(event));
    }

    fn on_enter(&self, id: &Id, context: LayerContext<'_, S>) {
        ignored_parent::span_entered();
        let Some(span) = context.span(id) else { return };
        let extensions = span.extensions();
        let open = extensions.get::<Open>().filter(|open| !open.is_ours).map(|open| (open.context.clone(), open.kind));
        drop(extensions);
        if let Some((context, kind)) = open {
            entered::enter((self.number, id.into_u64()), &context, kind);
        }
    }

    fn on_exit(&self, id: &Id, _context: LayerContext<'_, S>) {
        entered::exit((self.number, id.into_u64()));
    }

    fn on_close(&self, id: Id, context: LayerContext<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let open = span.extensions_mut().remove::<Open>();
        if let Some(data) = open.and_then(|open| open.data) {
            external::ended(*data, clock::unix_now());
        }
    }

    // SAFETY: the pointer is that of `self`, which has the requested type.
    unsafe fn downcast_raw(&self, id: TypeId) -> Option<*const ()> {
        if id == TypeId::of::<Self>() {
            return Some(std::ptr::from_ref(self).cast());
        }
        ignored_parent::type_looked_for();
        None
    }
}

/// Returns our context of a span of `tracing`, if the layer has seen it.
fn context_of<S>(context: &LayerContext<'_, S>, id: &Id) -> Option<Context>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let span = context.span(id)?;
    let extensions = span.extensions();
    extensions.get::<Open>().map(|open| open.context.clone())
}

fn is_recorded<S>(context: &LayerContext<'_, S>, id: &Id) -> bool
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    context.span(id).is_some_and(|span| span.extensions().get::<Open>().is_some_and(|open| open.data.is_some()))
}

fn change<S>(context: &LayerContext<'_, S>, id: &Id, change: impl FnOnce(&mut FinishedSpan))
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let Some(span) = context.span(id) else { return };
    let mut extensions = span.extensions_mut();
    if let Some(data) = extensions.get_mut::<Open>().and_then(|open| open.data.as_mut()) {
        change(data);
    }
}
