//! What the SDK says of spans that it dropped: it does so by events of `tracing`, which nobody sees without a subscriber.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

static DROPPED: AtomicU64 = AtomicU64::new(0);

/// How many spans it said that it had dropped, when it was shut down.
pub fn dropped() -> u64 {
    DROPPED.load(Relaxed)
}

/// Listens to it.
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
