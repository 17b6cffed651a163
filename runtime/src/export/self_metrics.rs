//! Metrics about telemetry itself: how much was recorded, exported and lost, and why.
//!
//! These are ordinary metrics: the catalogue lists them, readers and views apply to them, and each can be switched off
//! by its name. The export thread updates them before it reads all metrics, so that recording a span costs no update.

pub(crate) mod sdk_names;

use std::time::Duration;

use crate::config::Signal;
use crate::declare::interned::InternedKey;
use crate::declare::key::Key;
use crate::record::clock;
use crate::tc_metrics;

/// The outcome of a request, as a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, crate::__private::TcLabel)]
#[tc_label(crate = crate)]
pub(crate) enum Outcome {
    /// The receiver accepted all items.
    Ok,
    /// The receiver accepted a part of the items.
    Partial,
    /// The response is a success, but not an OTLP response.
    Unconfirmed,
    /// The request has to be sent again.
    Retry,
    /// The receiver refused the request.
    Refused,
}

/// The reason why items were lost, as a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, crate::__private::TcLabel)]
#[tc_label(crate = crate)]
pub(crate) enum Reason {
    /// The memory for finished spans was full.
    SpanBufferFull,
    /// Too many spans were open at once.
    TooManyOpenSpans,
    /// The span ended while its thread was being torn down.
    ThreadExit,
    /// The queue of third-party spans or of log records was full.
    QueueFull,
    /// There was no room among the pending requests.
    ExportQueueFull,
    /// The receiver refused the request.
    Refused,
    /// The receiver accepted the request, but rejected this item.
    Rejected,
    /// The request was lost on disk: it was too old, evicted or damaged.
    Spool,
    /// The file of the request is gone: it was removed, or another process that shares the directory has sent it.
    LostOnDisk,
}

const SIGNALS: [Signal; 3] = Signal::ALL;
pub(crate) const REASONS: [Reason; 9] = [
    Reason::SpanBufferFull,
    Reason::TooManyOpenSpans,
    Reason::ThreadExit,
    Reason::QueueFull,
    Reason::ExportQueueFull,
    Reason::Refused,
    Reason::Rejected,
    Reason::Spool,
    Reason::LostOnDisk,
];

/// A receiver, as a label.
pub(crate) type Backend = <keys::backend as Key>::Value;

/// The numbers of lost items, indexed by [`Signal`] and [`Reason`] `as usize`.
pub(crate) type Dropped = [[u64; REASONS.len()]; SIGNALS.len()];

pub(crate) mod keys {
    use super::{Outcome, Reason, Signal};

    crate::tc_keys! {
        /// A signal of telemetry itself.
        pub(crate) label signal: Signal = "signal";
        /// The outcome of an export request.
        pub(crate) label outcome: Outcome = "outcome";
        /// The reason why telemetry was dropped.
        pub(crate) label reason: Reason = "reason";
        /// The receiver of a signal, by its address without secrets.
        pub(crate) label backend: Interned<16> = "backend";
    }
}

tc_metrics! {
    /// Sampled spans that began.
    static SPANS_CREATED: Counter = "tc_spans_created_total";
    /// Spans that receivers accepted; with several receivers, the lowest count.
    static SPANS_EXPORTED: Counter = "tc_spans_exported_total";
    /// Spans answered with a success that is not an OTLP response: it is unknown whether a backend has them.
    static SPANS_UNCONFIRMED: Counter = "tc_spans_unconfirmed_total";
    /// Spans that were dropped.
    static SPANS_DROPPED: Counter<(keys::reason,)> = "tc_spans_dropped_total";
    /// Sampled spans that began and have not ended.
    static SPANS_OPEN: Gauge<(), u64> = "tc_spans_open";
    /// Metric points that receivers accepted; with several receivers, the lowest count.
    static POINTS_EXPORTED: Counter = "tc_metric_points_exported_total";
    /// Metric points answered with a success that is not an OTLP response.
    static POINTS_UNCONFIRMED: Counter = "tc_metric_points_unconfirmed_total";
    /// Metric points that were dropped.
    static POINTS_DROPPED: Counter<(keys::reason,)> = "tc_metric_points_dropped_total";
    /// Log records that receivers accepted; with several receivers, the lowest count.
    static LOGS_EXPORTED: Counter = "tc_logs_exported_total";
    /// Log records answered with a success that is not an OTLP response.
    static LOGS_UNCONFIRMED: Counter = "tc_logs_unconfirmed_total";
    /// Log records that were dropped.
    static LOGS_DROPPED: Counter<(keys::reason,)> = "tc_logs_dropped_total";
    /// Bytes of pending requests.
    static QUEUE_BYTES: Gauge<(keys::signal,), u64> = "tc_export_queue_bytes";
    /// Pending spans, points and log records.
    static QUEUE_ITEMS: Gauge<(keys::signal,), u64> = "tc_export_queue_items";
    /// Bytes that pending requests of all signals may take now, including those already pending.
    static QUEUE_CAPACITY_BYTES: Gauge<(), u64> = "tc_export_queue_capacity_bytes";
    /// Maximum number of pending spans or log records, if limited (`OTEL_BSP_MAX_QUEUE_SIZE`, `OTEL_BLRP_MAX_QUEUE_SIZE`).
    static QUEUE_CAPACITY_ITEMS: Gauge<(keys::signal,), u64> = "tc_export_queue_capacity_items";
    /// When a receiver last accepted a request. Absent before the first one.
    static LAST_SUCCESS: Gauge<(keys::signal, keys::backend)> = "tc_export_last_success_timestamp_seconds";
    /// Bytes that all buffers of telemetry may take.
    static MEMORY_LIMIT: Gauge<(), u64> = "tc_memory_limit_bytes";
    /// The part of the memory limit that no buffer has taken and none has reserved.
    static MEMORY_FREE: Gauge<(), u64> = "tc_memory_free_bytes";
    /// Callback calls that did not return in time, or were skipped because an earlier call still ran. Their values are missing in that export.
    static CALLBACKS_LATE: Counter = "tc_callbacks_late_total";
    /// Times the clock of spans was restarted: the machine was suspended or moved, or its hardware counter is no longer trusted.
    static CLOCK_RESTARTS: Counter = "tc_clock_restarts_total";
    /// Duration of export requests, per attempt.
    static EXPORT_SECONDS: Histogram<(keys::signal,)> = "tc_export_duration_seconds";
    /// Export requests, per attempt.
    static EXPORT_REQUESTS: Counter<(keys::signal, keys::outcome)> = "tc_export_requests_total";
    /// How long the export thread has been stuck.
    static EXPORT_STALLED: Gauge = "tc_export_stalled_seconds";
    /// Spans and contexts that were still entered when the one around them ended: leaked guards, suspended coroutines.
    static SPANS_CUT_OFF: Counter = "tc_spans_cut_off_total";
    /// Lines that were dropped because standard error was blocked.
    static LINES_DROPPED: Counter = "tc_lines_dropped_total";
    /// Pending bytes on disk.
    static SPOOL_BYTES: Gauge<(), u64> = "tc_spool_bytes";
    /// Maximum number of pending bytes on disk.
    static SPOOL_CAPACITY_BYTES: Gauge<(), u64> = "tc_spool_capacity_bytes";
}

/// The figures that the export thread collects. Counts are totals, not differences. Arrays are indexed by [`Signal`]
/// and [`Reason`] `as usize`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) spans_created: u64,
    pub(crate) spans_open: u64,
    pub(crate) exported: [u64; SIGNALS.len()],
    pub(crate) unconfirmed: [u64; SIGNALS.len()],
    pub(crate) dropped: Dropped,
    pub(crate) queue_bytes: [u64; SIGNALS.len()],
    pub(crate) queue_items: [u64; SIGNALS.len()],
    pub(crate) queue_capacity_bytes: u64,
    /// `None` if the number of items is not limited.
    pub(crate) queue_capacity_items: [Option<u64>; SIGNALS.len()],
    pub(crate) memory_limit_bytes: u64,
    pub(crate) memory_free_bytes: u64,
    pub(crate) callbacks_late: u64,
    pub(crate) clock_restarts: u64,
    pub(crate) lines_dropped: u64,
    pub(crate) spans_cut_off: u64,
    /// `None` if there is no spool.
    pub(crate) spool_bytes: Option<u64>,
    pub(crate) spool_capacity_bytes: Option<u64>,
}

/// Updates the metrics about telemetry itself. Keeps the figures of the last update, because counters are increased by
/// the difference.
#[derive(Debug, Default)]
pub(crate) struct SelfMetrics {
    recorded: Figures,
}

impl SelfMetrics {
    /// Adds to the counters the growth since the last call, and sets the gauges.
    pub(crate) fn record(&mut self, now: Figures) {
        let recorded = &mut self.recorded;
        // Adds even zero, so that these counters have a series from the start.
        SPANS_CREATED.add(growth(&mut recorded.spans_created, now.spans_created), ());
        SPANS_CUT_OFF.add(growth(&mut recorded.spans_cut_off, now.spans_cut_off), ());
        LINES_DROPPED.add(growth(&mut recorded.lines_dropped, now.lines_dropped), ());
        CALLBACKS_LATE.add(growth(&mut recorded.callbacks_late, now.callbacks_late), ());
        CLOCK_RESTARTS.add(growth(&mut recorded.clock_restarts, now.clock_restarts), ());
        SPANS_OPEN.set(now.spans_open, ());
        QUEUE_CAPACITY_BYTES.set(now.queue_capacity_bytes, ());
        MEMORY_LIMIT.set(now.memory_limit_bytes, ());
        MEMORY_FREE.set(now.memory_free_bytes, ());
        for (signal, exported) in SIGNALS.into_iter().zip([&SPANS_EXPORTED, &POINTS_EXPORTED, &LOGS_EXPORTED]) {
            exported.add(growth(&mut recorded.exported[signal as usize], now.exported[signal as usize]), ());
            QUEUE_BYTES.set(now.queue_bytes[signal as usize], (signal,));
            QUEUE_ITEMS.set(now.queue_items[signal as usize], (signal,));
            match now.queue_capacity_items[signal as usize] {
                Some(items) => QUEUE_CAPACITY_ITEMS.set(items, (signal,)),
                None => QUEUE_CAPACITY_ITEMS.clear((signal,)),
            }
        }
        let unconfirmed = [&SPANS_UNCONFIRMED, &POINTS_UNCONFIRMED, &LOGS_UNCONFIRMED];
        for (counter, (recorded, now)) in
            unconfirmed.into_iter().zip(recorded.unconfirmed.iter_mut().zip(now.unconfirmed))
        {
            let more = growth(recorded, now);
            // There is no series before the first unconfirmed item.
            if more > 0 {
                counter.add(more, ());
            }
        }
        for (signal, dropped) in SIGNALS.into_iter().zip([&SPANS_DROPPED, &POINTS_DROPPED, &LOGS_DROPPED]) {
            let (recorded, now) = (&mut recorded.dropped[signal as usize], now.dropped[signal as usize]);
            for reason in REASONS {
                let lost = growth(&mut recorded[reason as usize], now[reason as usize]);
                // A reason has no series before its first loss.
                if lost > 0 {
                    dropped.add(lost, (reason,));
                }
            }
        }
        // This thread is not stuck.
        stalled(Duration::ZERO);
        if let Some(bytes) = now.spool_bytes {
            SPOOL_BYTES.set(bytes, ());
        }
        if let Some(bytes) = now.spool_capacity_bytes {
            SPOOL_CAPACITY_BYTES.set(bytes, ());
        }
    }
}

/// Raises `known` to `now` and returns the difference; if `now` is lower, `known` stays and the difference is 0. A
/// count can fall if a signal has several receivers: the figures of the signal are those of the receiver that accepted
/// the least, which may be another one each time.
pub(crate) fn growth(known: &mut u64, now: u64) -> u64 {
    let before = std::mem::replace(known, now.max(*known));
    *known - before
}

/// Sets how long the export thread has been stuck.
pub(crate) fn stalled(time: Duration) {
    EXPORT_STALLED.set(time.as_secs_f64(), ());
}

/// Returns the label of the receiver with this address.
pub(crate) fn backend(address: &str) -> Backend {
    keys::backend::intern(address)
}

/// Records that a receiver accepted a request now.
pub(crate) fn succeeded(signal: Signal, backend: Backend) {
    LAST_SUCCESS.set(clock::unix_now() as f64 * 1e-9, (signal, backend));
}

/// Removes the time of the last success of a receiver that gets no more requests. With the old time, the receiver would
/// look as if it were down.
pub(crate) fn forget(signal: Signal, backend: Backend) {
    LAST_SUCCESS.clear((signal, backend));
}

/// Records an attempt to send a request.
pub(crate) fn sent(signal: Signal, outcome: Outcome, took: Duration) {
    EXPORT_REQUESTS.add(1_u64, (signal, outcome));
    EXPORT_SECONDS.record(took.as_secs_f64(), (signal,));
}

#[cfg(test)]
mod tests;
