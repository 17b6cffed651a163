//! Sampling: decides at the root of a trace whether the trace is recorded; children follow their parent.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use crate::declare::callsite::Kind;
use crate::record::ids::TraceId;

/// Decides for each root whether its trace is recorded.
///
/// ```
/// use tracecast::{Kind, Sampler, Span};
/// use tracecast::testing::{Recording, RecordingConfig};
///
/// let recording = Recording::start(RecordingConfig::default().with_sampler(Sampler::AlwaysOff))?;
/// Span::builder("Store/Get", Kind::Internal).start().end();
/// assert!(recording.drain().is_empty());
/// # Ok::<(), tracecast::testing::AlreadyRecording>(())
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Sampler {
    /// Records every root.
    #[default]
    AlwaysOn,
    /// Records no root; traces that a remote parent sampled are still recorded.
    AlwaysOff,
    /// Records this share of the roots, by trace id, as the OpenTelemetry SDK does.
    Ratio(f64),
    /// Records the roots for which the function returns true.
    Custom(CustomSampler),
}

/// A custom sampler. If it panics for a root, the root is not recorded.
///
/// ```
/// use std::sync::Arc;
/// use tracecast::{CustomSampler, Kind, Sampler};
///
/// let servers: CustomSampler = Arc::new(|root| root.kind == Kind::Server);
/// assert_eq!(format!("{:?}", Sampler::Custom(servers)), "Custom(..)");
/// ```
pub type CustomSampler = Arc<dyn Fn(&Root<'_>) -> bool + Send + Sync>;

/// A root for which a sampling decision is needed.
///
/// ```
/// use std::sync::Arc;
/// use tracecast::{Kind, Root, Sampler, Span};
/// use tracecast::testing::{Recording, RecordingConfig};
///
/// let sampler = Sampler::Custom(Arc::new(|root: &Root<'_>| root.name != "Health/Check"));
/// let recording = Recording::start(RecordingConfig::default().with_sampler(sampler))?;
/// for name in ["Health/Check", "Store/Get"] {
///     Span::builder(name, Kind::Server).start().end();
/// }
/// let names: Vec<_> = recording.drain().into_iter().map(|span| span.name).collect();
/// assert_eq!(names, ["Store/Get"]);
/// # Ok::<(), tracecast::testing::AlreadyRecording>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Root<'a> {
    /// The id of the new trace.
    pub trace_id: TraceId,
    /// The span's name.
    pub name: &'a str,
    /// The span's kind.
    pub kind: Kind,
}

impl std::fmt::Debug for Sampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Sampler::AlwaysOn => f.write_str("AlwaysOn"),
            Sampler::AlwaysOff => f.write_str("AlwaysOff"),
            Sampler::Ratio(ratio) => write!(f, "Ratio({ratio})"),
            Sampler::Custom(_) => f.write_str("Custom(..)"),
        }
    }
}

impl Sampler {
    /// Returns whether a root is recorded.
    pub(crate) fn samples(&self, trace_id: u128, name: &str, kind: Kind) -> bool {
        match self {
            Sampler::AlwaysOn => true,
            Sampler::AlwaysOff => false,
            Sampler::Ratio(ratio) => (trace_id as u64 >> 1) < threshold(*ratio),
            Sampler::Custom(custom) => ask(custom, &Root { trace_id: TraceId(trace_id), name, kind }),
        }
    }
}

thread_local! {
    static ASKING: Cell<bool> = const { Cell::new(false) };
}

/// The threshold that stands for a custom sampler. It is above the thresholds of all ratios.
const CUSTOM: u64 = u64::MAX;
const ALL: u64 = 1 << 63;

static THRESHOLD: AtomicU64 = AtomicU64::new(ALL);
static ASKED: RwLock<Option<CustomSampler>> = RwLock::new(None);

pub(crate) fn lock() -> RwLockWriteGuard<'static, Option<CustomSampler>> {
    ASKED.write().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn set(sampler: &Sampler) {
    let (threshold, custom) = match sampler {
        Sampler::AlwaysOn => (ALL, None),
        Sampler::AlwaysOff => (0, None),
        Sampler::Ratio(ratio) => (threshold(*ratio), None),
        Sampler::Custom(custom) => (CUSTOM, Some(custom.clone())),
    };
    let mut asked = lock();
    let replaced = std::mem::replace(&mut *asked, custom);
    THRESHOLD.store(threshold, Relaxed);
    drop(asked);
    // Dropped outside the lock: a sampler may hold user values, whose destructors are user code.
    drop(replaced);
}

#[inline]
pub(crate) fn samples(trace_id: u128, name: &str, kind: Kind) -> bool {
    let threshold = THRESHOLD.load(Relaxed);
    if threshold == CUSTOM {
        return ask_current(&Root { trace_id: TraceId(trace_id), name, kind });
    }
    (trace_id as u64 >> 1) < threshold
}

#[cold]
fn ask_current(root: &Root<'_>) -> bool {
    let custom = ASKED.read().unwrap_or_else(PoisonError::into_inner).clone();
    custom.is_none_or(|custom| ask(&custom, root))
}

/// Returns the custom sampler's decision for a root; false if the sampler panics, or if the sampler itself opened the root.
#[cold]
fn ask(custom: &CustomSampler, root: &Root<'_>) -> bool {
    // Roots that the sampler itself opens are not recorded.
    if ASKING.replace(true) {
        return false;
    }
    let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| custom(root)));
    ASKING.set(false);
    answer.unwrap_or(false)
}

fn threshold(ratio: f64) -> u64 {
    if ratio >= 1.0 {
        return ALL;
    }
    // The cast turns NaN and negative ratios into 0.
    (ratio * ALL as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_become_thresholds() {
        let cases = [(1.0, ALL), (2.0, ALL), (0.5, 1 << 62), (0.0, 0), (-1.0, 0), (f64::NAN, 0)];
        for (ratio, expected) in cases {
            assert_eq!(threshold(ratio), expected, "{ratio}");
        }
    }
}
