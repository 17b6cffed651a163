//! Reads the number of spans that the SDK dropped from its `tracing` events, which need a subscriber.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

static DROPPED: AtomicU64 = AtomicU64::new(0);

/// Returns the number of dropped spans that it reported at shutdown.
pub fn dropped() -> u64 {
    DROPPED.load(Relaxed)
}

/// Subscribes to its events.
pub struct Said;

impl<S: Subscriber> Layer<S> for Said {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        event.record(&mut Count);
    }
}

struct Count;

impl Visit for Count {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "dropped_span_count" {
            DROPPED.store(value, Relaxed);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}
