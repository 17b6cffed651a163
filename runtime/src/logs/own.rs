//! Our own subscriber and logger, for programs that have none.

use std::sync::atomic::{AtomicBool, Ordering};

use tracing_core::span::{Attributes, Id, Record};
use tracing_core::subscriber::Interest;
use tracing_core::{Dispatch, Event, LevelFilter, Metadata, Subscriber, callsite, dispatcher};

use super::{event, inside, logger};
use crate::config::Level;

static SUBSCRIBER: AtomicBool = AtomicBool::new(false);
static LOGGER: AtomicBool = AtomicBool::new(false);

/// What of ours the program's events go to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Installed {
    /// The global subscriber of `tracing` is ours. If not, the program has one of its own, which needs
    /// [`layer`](super::layer).
    pub(crate) subscriber: bool,
    /// The logger of `log` is ours.
    pub(crate) logger: bool,
}

/// Installs both where there is none. They stay for the life of the process; while logs are off they do nothing.
pub(super) fn install() {
    if !SUBSCRIBER.load(Ordering::Relaxed) && dispatcher::set_global_default(Dispatch::new(Own)).is_ok() {
        SUBSCRIBER.store(true, Ordering::Relaxed);
    }
    if !LOGGER.load(Ordering::Relaxed) && log::set_logger(&logger::Logger).is_ok() {
        LOGGER.store(true, Ordering::Relaxed);
    }
}

pub(crate) fn installed() -> Installed {
    Installed { subscriber: SUBSCRIBER.load(Ordering::Relaxed), logger: LOGGER.load(Ordering::Relaxed) }
}

/// Has `tracing` and `log` ask again what is wanted. The level of `log` is nobody's but its logger's.
pub(super) fn levels_changed() {
    callsite::rebuild_interest_cache();
    // Again, if another thread has changed it meanwhile: the last one that sets it may have read an old level.
    while LOGGER.load(Ordering::Relaxed) && log::max_level() != logger::level_filter(max_level()) {
        log::set_max_level(logger::level_filter(max_level()));
    }
}

/// The least important level that anything may want.
fn max_level() -> Level {
    if inside::expects_captures() { Level::Trace } else { inside::max_level() }
}

/// A subscriber for events only. Spans of `tracing` stay switched off, and cost what those cost.
struct Own;

impl Own {
    fn wants(metadata: &Metadata<'_>) -> bool {
        // `enabled!` asks about something that is neither a span nor an event.
        !metadata.is_span() && inside::is_wanted(event::level_of(metadata.level()), metadata.target())
    }
}

impl Subscriber for Own {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if event::is_from_log(metadata) || (inside::expects_captures() && !metadata.is_span()) {
            // The callsites of `LogTracer` stand for all targets, and the context decides about captures.
            Interest::sometimes()
        } else if Own::wants(metadata) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let is_open = event::is_from_log(metadata) && event::level_of(metadata.level()) <= inside::max_level();
        is_open || Own::wants(metadata) || (!metadata.is_span() && inside::is_captured())
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
