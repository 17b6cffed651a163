//! Gauges whose values come from callbacks when metrics are collected.
//!
//! Callbacks are user code: they may panic or hang. They run on separate threads, and a collection waits for them only
//! for a given time. A thread that hangs is abandoned with its callback; after a short time another thread calls the
//! remaining callbacks, so that no callback delays the others for long.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use crate::declare::amount::Amount;
use crate::declare::cells::Metric;

type Read = Box<dyn Fn() -> Option<Amount> + Send + Sync>;

/// A registered callback.
struct Callback {
    id: u64,
    metric: &'static Metric,
    set: usize,
    read: Read,
    /// Whether a thread, which may have been abandoned, is calling `read`.
    busy: AtomicBool,
    /// Whether the last call took at least half of the time that a collection waits.
    slow: AtomicBool,
}

/// Callbacks in the order of registration.
pub(crate) struct Callbacks(BTreeMap<u64, Arc<Callback>>);

static CALLBACKS: Mutex<Callbacks> = Mutex::new(Callbacks(BTreeMap::new()));

pub(crate) fn lock() -> MutexGuard<'static, Callbacks> {
    CALLBACKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a callback registered until the drop. A call that began before the drop may still be running afterwards.
///
/// ```standalone_crate
/// use tracecast::prelude::*;
/// use tracecast::testing::{MetricsConfig, MetricsGuard, Temporality};
///
/// tc_metrics! {
///     /// Jobs that wait.
///     static WAITING: ObservableGauge<(), u64> = "tc_jobs_waiting";
/// }
///
/// let metering = MetricsGuard::start(MetricsConfig::default())?;
/// let _observation = WAITING.observe((), || Some(3));
/// let snapshot = metering.reader(Temporality::Cumulative).snapshot();
/// assert_eq!(snapshot.value("tc_jobs_waiting", &[]).unwrap().as_f64(), 3.0);
/// # Ok::<(), tracecast::MetricsError>(())
/// ```
#[must_use = "the callback is removed when this is dropped"]
#[derive(Debug)]
pub struct Observation(u64);

impl Drop for Observation {
    fn drop(&mut self) {
        // The callback is dropped after the lock is released: it may hold values whose destructors are user code.
        let _removed = lock().0.remove(&self.0);
    }
}

pub(crate) fn register(metric: &'static Metric, set: usize, read: Read) -> Observation {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let id = NEXT.fetch_add(1, Relaxed);
    if set >= metric.meta().sets() {
        metric.refuse();
    } else {
        let (busy, slow) = (AtomicBool::new(false), AtomicBool::new(false));
        lock().0.insert(id, Arc::new(Callback { id, metric, set, read, busy, slow }));
    }
    Observation(id)
}

/// A value that a callback returned.
pub(crate) struct Observed {
    pub(crate) metric: &'static Metric,
    pub(crate) set: usize,
    pub(crate) value: Amount,
}

/// Calls the callbacks of all metrics that are on. Returns the values that arrived within `patience`, one for each label set of a
/// metric.
pub(crate) fn collect(patience: Duration) -> Vec<Observed> {
    let mut due: Vec<Arc<Callback>> =
        lock().0.values().filter(|callback| callback.metric.state() != 0).cloned().collect();
    if due.is_empty() {
        return Vec::new();
    }
    // Slow callbacks come last, so that fast ones do not wait for them at each collection.
    due.sort_by_key(|callback| callback.slow.load(Relaxed));
    let call = |callback: Arc<Callback>| -> Call<_> { Box::new(move || callback.call(patience)) };
    let mut newest: BTreeMap<(&str, usize), (u64, Observed)> = BTreeMap::new();
    for (id, observed) in call_all(due.into_iter().map(call).collect(), patience) {
        let place = (observed.metric.meta().name, observed.set);
        // Of two callbacks for the same labels, the newer one provides the value.
        if newest.get(&place).is_none_or(|(known, _)| *known < id) {
            newest.insert(place, (id, observed));
        }
    }
    newest.into_values().map(|(_, observed)| observed).collect()
}

/// The number of callback calls that did not return in time, or were skipped because an earlier call still ran.
static LATE: AtomicU64 = AtomicU64::new(0);

/// Returns the number of callback calls that did not return in time, or were skipped because an earlier call still ran.
#[cfg(has_otlp)]
pub(crate) fn late() -> u64 {
    LATE.load(Relaxed)
}

/// Counts a callback that is not called because an earlier call of it has not returned.
pub(crate) fn is_still_busy() {
    LATE.fetch_add(1, Relaxed);
}

/// A call of a user's callback.
pub(crate) type Call<T> = Box<dyn FnOnce() -> Option<T> + Send>;

/// The time without a result after which more threads are started for the remaining calls.
const OWN_TIME: Duration = Duration::from_millis(100);
/// The largest number of threads for one collection.
const MOST_THREADS: usize = 64;

/// Makes the calls on separate threads. Returns the results that arrived within `patience`; none if no thread can be started.
pub(crate) fn call_all<T: Send + 'static>(calls: Vec<Call<T>>, patience: Duration) -> Vec<T> {
    let deadline = Instant::now().checked_add(patience);
    let (mut missing, mut values) = (calls.len(), Vec::new());
    let calls = Arc::new(Mutex::new(calls.into_iter()));
    let (send, receive) = mpsc::channel();
    let mut threads = usize::from(start_calling(&calls, &send));
    if threads == 0 {
        crate::base::notice::say(format_args!(
            "warning: cannot start a thread for the callbacks of observable metrics; this collection omits their values"
        ));
        return values;
    }
    while missing > 0 {
        let left = deadline.map_or(OWN_TIME, |deadline| deadline.saturating_duration_since(Instant::now()));
        match receive.recv_timeout(left.min(OWN_TIME)) {
            Ok(value) => {
                missing -= 1;
                values.extend(value);
            }
            Err(_) if left.is_zero() => {
                LATE.fetch_add(missing as u64, Relaxed);
                break;
            }
            // Doubles the number of threads: several callbacks may hang.
            Err(_) => {
                let waiting = calls.lock().unwrap_or_else(PoisonError::into_inner).len();
                let more = threads.min(waiting).min(MOST_THREADS - threads);
                threads += (0..more).filter(|_| start_calling(&calls, &send)).count();
            }
        }
    }
    values
}

/// Starts a thread that makes the calls one after the other. Returns false if the thread could not be started.
fn start_calling<T: Send + 'static>(
    calls: &Arc<Mutex<std::vec::IntoIter<Call<T>>>>,
    send: &mpsc::Sender<Option<T>>,
) -> bool {
    let (calls, send) = (calls.clone(), send.clone());
    let run = move || {
        let next = || calls.lock().unwrap_or_else(PoisonError::into_inner).next();
        // If the collection no longer waits, the remaining calls are skipped.
        while next().is_some_and(|call| send.send(call()).is_ok()) {}
    };
    std::thread::Builder::new().name("tracecast-observe".to_owned()).spawn(run).is_ok()
}

impl Callback {
    fn call(&self, patience: Duration) -> Option<(u64, Observed)> {
        if self.busy.swap(true, Acquire) {
            is_still_busy();
            return None;
        }
        let start = Instant::now();
        let value = catch_unwind(AssertUnwindSafe(|| (self.read)())).unwrap_or_default();
        self.slow.store(start.elapsed() >= patience / 2, Relaxed);
        self.busy.store(false, Release);
        Some((self.id, Observed { metric: self.metric, set: self.set, value: value? }))
    }
}

/// Marks all callbacks as not running in a forked child, on its only thread: the calling threads do not exist there.
pub(crate) fn abandon() {
    for callback in lock().0.values() {
        callback.busy.store(false, Relaxed);
    }
}
