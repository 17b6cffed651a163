//! Callbacks of observable instruments. They are user code, which may panic or hang: they run on separate threads, and
//! their values are passed to the SDK through callbacks of ours.

use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use opentelemetry::KeyValue;
use opentelemetry::metrics::{AsyncInstrument, Callback};

use crate::base::notice;
use crate::declare::observe::{Call, call_all, is_still_busy};

/// The largest number of values that one call of a callback may observe.
const MOST: usize = 1 << 16;

/// All callbacks in the order of registration.
#[derive(Default)]
pub(super) struct Callbacks(Mutex<Registered>);

#[derive(Default)]
struct Registered {
    all: BTreeMap<u64, Arc<dyn Ask>>,
    next: u64,
    stopped: bool,
}

/// The observed values, by the ids of callbacks.
pub(super) type Answers = HashMap<u64, Box<dyn Any + Send>>;

thread_local! {
    /// The values that our callbacks pass to the SDK on this thread, during a collection.
    static ANSWERS: RefCell<Answers> = RefCell::default();
}

/// Runs `f`, during which our callbacks pass these values to the SDK.
pub(super) fn with<R>(answers: Answers, f: impl FnOnce() -> R) -> R {
    ANSWERS.with(|current| *current.borrow_mut() = answers);
    let result = f();
    ANSWERS.with(|current| current.take());
    result
}

impl Callbacks {
    fn lock(&self) -> MutexGuard<'_, Registered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a callback of the program, and returns a callback for the SDK that passes on the observed values.
    pub(super) fn keep<M: Copy + Send + Sync + 'static>(
        &self,
        instrument: &str,
        callback: Callback<M>,
    ) -> impl Fn(&dyn AsyncInstrument<M>) + Send + Sync + 'static {
        let mut registered = self.lock();
        let id = registered.next;
        registered.next += 1;
        if !registered.stopped {
            let (busy, slow, told) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
            let asked = Asked { instrument: instrument.to_owned(), callback, busy, slow, told };
            registered.all.insert(id, Arc::new(asked));
        }
        move |observer| answer(id, observer)
    }

    /// Calls all callbacks, and returns the values that arrived within `patience`.
    pub(super) fn ask(&self, patience: Duration) -> Answers {
        let mut due: Vec<_> = self.lock().all.iter().map(|(id, callback)| (*id, callback.clone())).collect();
        if due.is_empty() {
            return Answers::new();
        }
        // Slow callbacks come last, so that they do not delay fast ones in every collection.
        due.sort_by_key(|(_, callback)| callback.is_slow());
        let call = |(id, callback): (u64, Arc<dyn Ask>)| -> Call<_> {
            Box::new(move || callback.ask(patience).map(|answer| (id, answer)))
        };
        call_all(due.into_iter().map(call).collect(), patience).into_iter().collect()
    }

    /// Removes all callbacks. Returns false if they were removed before.
    pub(super) fn stop(&self) -> bool {
        let mut registered = self.lock();
        let forgotten = std::mem::take(&mut registered.all);
        let first = !std::mem::replace(&mut registered.stopped, true);
        // The callbacks may hold values whose destructors are user code, so they are dropped without the lock.
        drop(registered);
        drop(forgotten);
        first
    }
}

fn answer<M: Copy + 'static>(id: u64, observer: &dyn AsyncInstrument<M>) {
    ANSWERS.with_borrow(|answers| {
        let observed = answers.get(&id).and_then(|answer| answer.downcast_ref::<Vec<(M, Vec<KeyValue>)>>());
        for (value, attributes) in observed.into_iter().flatten() {
            observer.observe(*value, attributes);
        }
    });
}

trait Ask: Send + Sync {
    fn is_slow(&self) -> bool;

    /// Calls the callback and returns its values. `None` if an earlier call is still running, or if the callback
    /// panics.
    fn ask(&self, patience: Duration) -> Option<Box<dyn Any + Send>>;
}

struct Asked<M> {
    instrument: String,
    callback: Callback<M>,
    /// Whether a thread, which may be an abandoned one, is calling the callback.
    busy: AtomicBool,
    /// Whether the last call took at least half of the allowed time.
    slow: AtomicBool,
    /// Whether a panic of the callback was reported.
    told: AtomicBool,
}

impl<M: Copy + Send + Sync + 'static> Ask for Asked<M> {
    fn is_slow(&self) -> bool {
        self.slow.load(Relaxed) || self.busy.load(Relaxed)
    }

    fn ask(&self, patience: Duration) -> Option<Box<dyn Any + Send>> {
        if self.busy.swap(true, Acquire) {
            is_still_busy();
            return None;
        }
        let start = Instant::now();
        let observed = Observed::<M>(Mutex::default());
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.callback)(&observed)));
        self.slow.store(start.elapsed() >= patience / 2, Relaxed);
        self.busy.store(false, Release);
        if outcome.is_err() && !self.told.swap(true, Relaxed) {
            notice::say(format_args!("a callback of `{}` panicked; its values are omitted", self.instrument));
        }
        outcome.ok()?;
        Some(Box::new(observed.0.into_inner().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// The values that a callback observes.
struct Observed<M>(Mutex<Vec<(M, Vec<KeyValue>)>>);

impl<M: Copy + Send + Sync> AsyncInstrument<M> for Observed<M> {
    fn observe(&self, value: M, attributes: &[KeyValue]) {
        let mut observed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if observed.len() < MOST {
            observed.push((value, attributes.to_vec()));
        }
    }
}
