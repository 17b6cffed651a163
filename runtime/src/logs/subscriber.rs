//! Our subscriber and logger, for programs that have none.

use std::sync::atomic::{AtomicBool, Ordering};

use tracing_core::span::{Attributes, Id, Record};
use tracing_core::subscriber::Interest;
use tracing_core::{Dispatch, Event, LevelFilter, Metadata, Subscriber, callsite, dispatcher};

use super::{event, inside, logger};
use crate::config::Level;

static SUBSCRIBER: AtomicBool = AtomicBool::new(false);
static LOGGER: AtomicBool = AtomicBool::new(false);

/// Whether the program's events reach our subscriber and logger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Installed {
    /// Whether the global subscriber of `tracing` is ours. A program with its own subscriber needs
    /// [`layer`](super::layer).
    pub(crate) subscriber: bool,
    /// Whether the logger of `log` is ours.
    pub(crate) logger: bool,
}

/// Installs our subscriber and our logger, each only if the program has none. They stay installed for the life of the
/// process and do nothing while logs are off.
pub(super) fn install() {
    if !SUBSCRIBER.load(Ordering::Relaxed) && dispatcher::set_global_default(Dispatch::new(EventSubscriber)).is_ok() {
        SUBSCRIBER.store(true, Ordering::Relaxed);
    }
    if !LOGGER.load(Ordering::Relaxed) && log::set_logger(&logger::Logger).is_ok() {
        LOGGER.store(true, Ordering::Relaxed);
    }
}

pub(crate) fn installed() -> Installed {
    Installed { subscriber: SUBSCRIBER.load(Ordering::Relaxed), logger: LOGGER.load(Ordering::Relaxed) }
}

/// Makes `tracing` and `log` query the enabled levels again. The level of `log` is changed only if the logger is ours.
pub(super) fn levels_changed() {
    callsite::rebuild_interest_cache();
    // Repeats if another thread has changed the level meanwhile: the last store may be an old level.
    while LOGGER.load(Ordering::Relaxed) && log::max_level() != logger::level_filter(max_level()) {
        log::set_max_level(logger::level_filter(max_level()));
    }
}

/// Returns the most verbose level that may be enabled; every level once a test has prepared captures.
fn max_level() -> Level {
    if inside::expects_captures() { Level::Trace } else { inside::max_level() }
}

/// A subscriber for events only. It disables all spans of `tracing`.
struct EventSubscriber;

impl EventSubscriber {
    fn wants(metadata: &Metadata<'_>) -> bool {
        // The metadata of `enabled!` is neither a span nor an event.
        !metadata.is_span() && inside::is_wanted(event::level_of(metadata.level()), metadata.target())
    }
}

impl Subscriber for EventSubscriber {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if event::is_from_log(metadata) || (inside::expects_captures() && !metadata.is_span()) {
            // The callsites of `LogTracer` serve all targets, and captures depend on the context.
            Interest::sometimes()
        } else if EventSubscriber::wants(metadata) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let is_open = event::is_from_log(metadata) && event::level_of(metadata.level()) <= inside::max_level();
        is_open || EventSubscriber::wants(metadata) || (!metadata.is_span() && inside::is_captured())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(match max_level() {
            Level::Off => LevelFilter::OFF,
            Level::Error => LevelFilter::ERROR,
            Level::Warn => LevelFilter::WARN,
            Level::Info => LevelFilter::INFO,
            Level::Debug => LevelFilter::DEBUG,
            Level::Trace => LevelFilter::TRACE,
        })
    }

    fn event(&self, event: &Event<'_>) {
        event::handle(event);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
