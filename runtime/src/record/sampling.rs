//! Which traces are recorded. Decided once, at the root; children do as their parent.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use crate::declare::callsite::Kind;
use crate::record::ids::TraceId;

/// Decides for each root.
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
    /// Every root.
    #[default]
    AlwaysOn,
    /// No root; sampled remote parents are still followed.
    AlwaysOff,
    /// This share of the roots, by trace id, as the OpenTelemetry SDK decides it.
    Ratio(f64),
    /// Whatever the function says.
    Custom(CustomSampler),
}

/// Decides for a root. One that panics has decided against it.
///
/// ```
/// use std::sync::Arc;
/// use tracecast::{CustomSampler, Kind, Sampler};
///
/// let servers: CustomSampler = Arc::new(|root| root.kind == Kind::Server);
/// assert_eq!(format!("{:?}", Sampler::Custom(servers)), "Custom(..)");
/// ```
pub type CustomSampler = Arc<dyn Fn(&Root<'_>) -> bool + Send + Sync>;

/// A root that asks to be recorded.
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
    /// The trace it begins.
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
    /// Whether it records a root.
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

/// Above every threshold of a ratio: ask the custom sampler.
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
    // It may hold the user's values, whose destructors are the user's code.
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

/// A sampler that panics has not asked for the span.
#[cold]
fn ask(custom: &CustomSampler, root: &Root<'_>) -> bool {
    // A span that the sampler itself makes is not worth another question.
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
    // NaN and negative ratios become 0 by the cast.
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
