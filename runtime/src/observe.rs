//! Gauges that are read by callbacks when metrics are collected.
//!
//! Callbacks are the user's code: they may panic or hang. They run on a thread of their own, for which the collection
//! waits no longer than it is told to; a thread that hangs is left behind with its callback, and the next collection
//! has another one.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use crate::amount::Amount;
use crate::cells::Metric;

type Read = Box<dyn Fn() -> Option<Amount> + Send + Sync>;

/// One callback.
struct Callback {
    metric: &'static Metric,
    set: usize,
    read: Read,
    /// It is being called, by a thread that may have been left behind.
    busy: AtomicBool,
}

/// By the order in which they were registered.
pub(crate) struct Callbacks(BTreeMap<u64, Arc<Callback>>);

static CALLBACKS: Mutex<Callbacks> = Mutex::new(Callbacks(BTreeMap::new()));

pub(crate) fn lock() -> MutexGuard<'static, Callbacks> {
    CALLBACKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A callback is registered for as long as this lives.
#[must_use = "the callback is removed when this is dropped"]
#[derive(Debug)]
pub struct Observation(u64);

impl Drop for Observation {
    fn drop(&mut self) {
        // Dropped after the lock is given back: it may hold the user's values, whose destructors are the user's code.
        let _removed = lock().0.remove(&self.0);
    }
}

pub(crate) fn register(metric: &'static Metric, set: usize, read: Read) -> Observation {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let id = NEXT.fetch_add(1, Relaxed);
    if set >= metric.meta().sets() {
        metric.refuse();
    } else {
        lock().0.insert(id, Arc::new(Callback { metric, set, read, busy: AtomicBool::new(false) }));
    }
    Observation(id)
}

/// A value that a callback gave.
pub(crate) struct Observed {
    pub(crate) metric: &'static Metric,
    pub(crate) set: usize,
    pub(crate) value: Amount,
}

/// Calls every callback of metrics that are on, and gives what came within `patience`.
pub(crate) fn collect(patience: Duration) -> Vec<Observed> {
    let due: Vec<Arc<Callback>> = lock().0.values().filter(|callback| callback.metric.state() != 0).cloned().collect();
    let mut observed = Vec::new();
    if due.is_empty() {
        return observed;
    }
    let (send, receive) = mpsc::channel();
    let run = move || {
        for callback in due {
            // Who receives may have gone; then the rest is in vain.
            if call(&callback).is_some_and(|value| send.send(value).is_err()) {
                return;
            }
        }
    };
    let deadline = Instant::now() + patience;
    if std::thread::Builder::new().name("tracecast-observe".to_owned()).spawn(run).is_err() {
        crate::notice::say(format_args!("no thread for the callbacks of observable gauges: they are left out"));
        return observed;
    }
    while let Ok(value) = receive.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        // The newer of two for the same labels comes later.
        observed.retain(|known: &Observed| !(std::ptr::eq(known.metric, value.metric) && known.set == value.set));
        observed.push(value);
    }
    observed
}

fn call(callback: &Callback) -> Option<Observed> {
    if callback.busy.swap(true, Acquire) {
        return None;
    }
    let value = catch_unwind(AssertUnwindSafe(|| (callback.read)())).unwrap_or_default();
    callback.busy.store(false, Release);
    Some(Observed { metric: callback.metric, set: callback.set, value: value? })
}
