//! Connects a captured client to a server in the same process: if a context of a capture is sent in headers and received in this
//! process, the server's spans join that capture.
//!
//! Only tests use this module: only their contexts have a sink.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::declare::amount::Measurement;
use crate::record::clock::Converter;
use crate::record::finished::FinishedSpan;
use crate::record::propagated::Sink;

/// The traces that captures have sent in headers.
static SENT: Mutex<Vec<Sent>> = Mutex::new(Vec::new());

pub(crate) struct Sent {
    trace_id: u128,
    sink: Weak<dyn Sink>,
    /// The number of received contexts that are still in use.
    open: Arc<AtomicUsize>,
}

pub(crate) fn lock() -> MutexGuard<'static, Vec<Sent>> {
    SENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records that a context of this trace, from a capture with this sink, is sent in headers.
pub(crate) fn sent(trace_id: u128, sink: &Arc<dyn Sink>) {
    let mut all = lock();
    all.retain(|sent| sent.sink.strong_count() > 0);
    if !all.iter().any(|sent| sent.trace_id == trace_id) {
        all.push(Sent { trace_id, sink: Arc::downgrade(sink), open: Arc::default() });
    }
}

/// Returns the sink of the running capture that sent this trace, and counts a received context as in use until the returned sink
/// is dropped. Returns `None` if no running capture sent the trace.
pub(crate) fn sink_of(trace_id: u128) -> Option<Arc<dyn Sink>> {
    let all = lock();
    let sent = all.iter().find(|sent| sent.trace_id == trace_id)?;
    let sink = sent.sink.upgrade()?;
    sent.open.fetch_add(1, Relaxed);
    Some(Arc::new(Arrived { sink, open: sent.open.clone() }))
}

/// Returns whether a received context of the capture with this sink is still in use.
pub(crate) fn is_open(sink: &Arc<dyn Sink>) -> bool {
    let ours = Arc::downgrade(sink);
    lock().iter().any(|sent| sent.sink.ptr_eq(&ours) && sent.open.load(Relaxed) > 0)
}

/// The sink of a capture, held by a received context. The context counts as in use until this value is dropped.
struct Arrived {
    sink: Arc<dyn Sink>,
    open: Arc<AtomicUsize>,
}

impl Drop for Arrived {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Relaxed);
    }
}

impl Sink for Arrived {
    fn converter(&self) -> Converter {
        self.sink.converter()
    }

    fn finished(&self, span: FinishedSpan) {
        self.sink.finished(span);
    }

    fn measured(&self, measurement: Measurement) {
        self.sink.measured(measurement);
    }

    #[cfg(has_logs)]
    fn logged(&self, record: Box<dyn std::any::Any + Send>) {
        self.sink.logged(record);
    }
}
