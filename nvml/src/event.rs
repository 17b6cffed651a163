//! GPU events for the program, and the bounded queue between the threads that detect them and the program's handler.
//!
//! Threads that call the driver only push events; they never wait for the handler, which runs on its own thread.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tracecast::tc_metrics;

/// The most events that wait for the handler.
const CAPACITY: usize = 256;

tc_metrics! {
    /// GPU events that were dropped because the program's handler was too slow.
    static DROPPED: Counter<()> = "tc_gpu_events_dropped_total";
}

/// An event of one GPU; see [`Config::with_event_handler`](crate::Config::with_event_handler).
///
/// ```
/// use tracecast_nvml::{Config, GpuEvent, GpuEventKind};
///
/// fn handle(event: GpuEvent) {
///     if let GpuEventKind::Lost { error } = event.kind {
///         println!("GPU {} ({:?}) is lost: {error}", event.gpu, event.uuid);
///     }
/// }
///
/// let config = Config::default().with_event_handler(handle);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GpuEvent {
    /// The GPU, as in the label `gpu` of its metrics.
    pub gpu: u32,
    /// The UUID of the GPU; `None` until it has answered once.
    pub uuid: Option<String>,
    /// The time at which the monitor noticed the event.
    pub time: SystemTime,
    /// The kind of event.
    pub kind: GpuEventKind,
}

/// The kind of an event.
///
/// ```
/// use tracecast_nvml::GpuEventKind;
///
/// fn needs_attention(kind: GpuEventKind) -> bool {
///     matches!(kind, GpuEventKind::Xid(48 | 79 | 95) | GpuEventKind::Lost { .. } | GpuEventKind::Hung)
/// }
/// # assert!(needs_attention(GpuEventKind::Xid(79)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GpuEventKind {
    /// The GPU reported the XID with this number.
    Xid(u64),
    /// The driver refuses calls for the GPU. The monitor searches for the GPU until it answers again.
    Lost {
        /// The cause, as in the label `error` of `tc_nvml_errors_total`, such as `gpu_lost`, `reset_required`, `not_found` or
        /// `uninitialized` (the driver was reloaded).
        error: &'static str,
    },
    /// A driver call for the GPU has not returned for three intervals.
    Hung,
    /// The GPU answers again after it was lost or hung.
    Recovered,
}

/// The program's event handler.
#[derive(Clone)]
pub(crate) struct Handler(pub(crate) Arc<dyn Fn(GpuEvent) + Send + Sync>);

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handler")
    }
}

/// The queue of events. Without a handler it stays empty.
pub(crate) struct Events {
    handler: Option<Handler>,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<GpuEvent>,
    /// Whether events were dropped since the queue was last empty.
    overflowed: bool,
    /// Whether the overflow has been logged.
    logged: bool,
    closed: bool,
}

impl Events {
    pub(crate) fn new(handler: Option<Handler>) -> Self {
        Events { handler, queue: Mutex::default(), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn has_handler(&self) -> bool {
        self.handler.is_some()
    }

    /// Adds an event without waiting. A full queue drops its oldest XID, so that a storm of XIDs does not hide a lost GPU;
    /// without XIDs it drops its oldest event, so that the last state of each GPU arrives.
    pub(crate) fn push(&self, event: GpuEvent) {
        let mut queue = self.lock();
        if self.handler.is_none() || queue.closed {
            return;
        }
        if queue.waiting.len() == CAPACITY {
            let oldest_xid = queue.waiting.iter().position(|event| matches!(event.kind, GpuEventKind::Xid(_)));
            queue.waiting.remove(oldest_xid.unwrap_or(0));
            queue.overflowed = true;
            DROPPED.add(1_u64, ());
        }
        queue.waiting.push_back(event);
        self.changed.notify_one();
    }

    /// Calls the handler for each event until the queue is closed.
    pub(crate) fn run(&self) {
        let Some(Handler(handler)) = &self.handler else { return };
        let mut has_panicked = false;
        while let Some(event) = self.next() {
            let outcome = catch_unwind(AssertUnwindSafe(|| handler(event)));
            if outcome.is_err() && !std::mem::replace(&mut has_panicked, true) {
                log::error!(target: "tracecast_nvml", "the handler of GPU events panicked; it is called for later events");
            }
        }
    }

    /// Waits for an event; `None` once the queue is closed.
    fn next(&self) -> Option<GpuEvent> {
        let mut queue = self.lock();
        if queue.waiting.is_empty() {
            (queue.overflowed, queue.logged) = (false, false);
        }
        let wait = self.changed.wait_while(queue, |queue| queue.waiting.is_empty() && !queue.closed);
        wait.unwrap_or_else(PoisonError::into_inner).waiting.pop_front()
    }

    /// Logs an overflow once, until the queue is empty again. `push` does not log, because its callers hold locks and a
    /// slow logger would delay them.
    pub(crate) fn log_overflow(&self) {
        let is_new = {
            let mut queue = self.lock();
            queue.overflowed && !std::mem::replace(&mut queue.logged, true)
        };
        if is_new {
            log::warn!(
                target: "tracecast_nvml",
                "GPU events are dropped: the handler is too slow; `tc_gpu_events_dropped_total` counts them"
            );
        }
    }

    /// Discards queued events and ends the handler's thread after the current call.
    pub(crate) fn close(&self) {
        let mut queue = self.lock();
        queue.closed = true;
        queue.waiting.clear();
        self.changed.notify_all();
    }
}
