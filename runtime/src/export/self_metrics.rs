//! Metrics about telemetry itself: how much came, how much went out, what was lost and why.
//!
//! These are metrics like any other: they are in the catalogue, readers and views treat them as the rest, and each can
//! be switched off by its name. The export thread records its figures before it reads the metrics, so that
//! nothing is counted on the path of a span.

use std::time::Duration;

use crate::config::Signal;
use crate::tc_metrics;

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, crate::__private::TcLabel)]
#[tc_label(crate = crate)]
pub(crate) enum Outcome {
    /// The receiver took all of it.
    Ok,
    /// The receiver took a part of it.
    Partial,
    /// The answer is a success, and not one of OTLP.
    Unconfirmed,
    /// It has to be sent again.
    Retry,
    /// The receiver does not want it.
    Refused,
}

/// Why something was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, crate::__private::TcLabel)]
#[tc_label(crate = crate)]
pub(crate) enum Reason {
    /// All memory for finished spans was full.
    SpanBufferFull,
    /// Too many spans were open at once.
    TooManyOpenSpans,
    /// The span ended while its thread was being torn down.
    ThreadExit,
    /// The queue in front of the export thread was full: spans and log records that others made.
    QueueFull,
    /// There was no room among the requests that wait.
    ExportQueueFull,
    /// The receiver did not want the request.
    Refused,
    /// The receiver took the request, but not this of it.
    Rejected,
    /// It was on disk, and lost there: too old, no more room, damaged.
    Spool,
    /// It was on disk, and its file is gone: somebody removed it, or another process that shares the directory has sent it.
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

/// Losses by [`Signal`] and [`Reason`] `as usize`.
pub(crate) type Dropped = [[u64; REASONS.len()]; SIGNALS.len()];

mod keys {
    use super::{Outcome, Reason, Signal};

    crate::tc_keys! {
        /// A signal of telemetry itself.
        pub(super) label signal: Signal = "signal";
        /// What became of a request of telemetry itself.
        pub(super) label outcome: Outcome = "outcome";
        /// Why telemetry was lost.
        pub(super) label reason: Reason = "reason";
    }
}

tc_metrics! {
    /// Sampled spans that began.
    static SPANS_CREATED: Counter = "tc_spans_created_total";
    /// Spans that receivers took; with several receivers, the one that got the least.
    static SPANS_EXPORTED: Counter = "tc_spans_exported_total";
    /// Spans that were answered with a success that is not one of OTLP: a backend may have them, or nobody.
    static SPANS_UNCONFIRMED: Counter = "tc_spans_unconfirmed_total";
    /// Spans that were lost.
    static SPANS_DROPPED: Counter<(keys::reason,)> = "tc_spans_dropped_total";
    /// Sampled spans that began and have not ended.
    static SPANS_OPEN: Gauge<(), u64> = "tc_spans_open";
    /// Points of metrics that receivers took; with several receivers, the one that got the least.
    static POINTS_EXPORTED: Counter = "tc_metric_points_exported_total";
    /// Points of metrics that were answered with a success that is not one of OTLP.
    static POINTS_UNCONFIRMED: Counter = "tc_metric_points_unconfirmed_total";
    /// Points of metrics that were lost.
    static POINTS_DROPPED: Counter<(keys::reason,)> = "tc_metric_points_dropped_total";
    /// Log records that receivers took; with several receivers, the one that got the least.
    static LOGS_EXPORTED: Counter = "tc_logs_exported_total";
    /// Log records that were answered with a success that is not one of OTLP.
    static LOGS_UNCONFIRMED: Counter = "tc_logs_unconfirmed_total";
    /// Log records that were lost.
    static LOGS_DROPPED: Counter<(keys::reason,)> = "tc_logs_dropped_total";
    /// Bytes of requests that wait to be sent.
    static QUEUE_BYTES: Gauge<(keys::signal,), u64> = "tc_export_queue_bytes";
    /// Spans, points and log records that wait to be sent.
    static QUEUE_ITEMS: Gauge<(keys::signal,), u64> = "tc_export_queue_items";
    /// How long requests took, each attempt by itself.
    static EXPORT_SECONDS: Histogram<(keys::signal,)> = "tc_export_duration_seconds";
    /// Requests that were sent, each attempt by itself.
    static EXPORT_REQUESTS: Counter<(keys::signal, keys::outcome)> = "tc_export_requests_total";
    /// How long the export thread has been stuck in something. Set when the metrics are read, without that thread.
    static EXPORT_STALLED: Gauge = "tc_export_stalled_seconds";
    /// Spans and contexts that were still entered when the one around them ended: leaked guards, suspended coroutines.
    static SPANS_CUT_OFF: Counter = "tc_spans_cut_off_total";
    /// Lines that were dropped because standard error was blocked.
    static LINES_DROPPED: Counter = "tc_lines_dropped_total";
    /// Bytes on disk that wait to be sent.
    static SPOOL_BYTES: Gauge<(), u64> = "tc_spool_bytes";
}

/// What the export thread has counted. Counts are since the process began, by [`Signal`] and [`Reason`] `as usize`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) spans_created: u64,
    pub(crate) spans_open: u64,
    pub(crate) exported: [u64; SIGNALS.len()],
    pub(crate) unconfirmed: [u64; SIGNALS.len()],
    pub(crate) dropped: Dropped,
    pub(crate) queue_bytes: [u64; SIGNALS.len()],
    pub(crate) queue_items: [u64; SIGNALS.len()],
    pub(crate) lines_dropped: u64,
    pub(crate) spans_cut_off: u64,
    /// Nothing if there is no spool.
    pub(crate) spool_bytes: Option<u64>,
}

/// The metrics about telemetry itself, and what they have counted.
#[derive(Debug, Default)]
pub(crate) struct SelfMetrics {
    recorded: Figures,
}

impl SelfMetrics {
    /// Adds to counters what came since the last time, and sets gauges.
    pub(crate) fn record(&mut self, now: Figures) {
        let recorded = &mut self.recorded;
        // Also if nothing came: a counter that stands at zero says more than none.
        SPANS_CREATED.add(growth(&mut recorded.spans_created, now.spans_created), ());
        SPANS_CUT_OFF.add(growth(&mut recorded.spans_cut_off, now.spans_cut_off), ());
        LINES_DROPPED.add(growth(&mut recorded.lines_dropped, now.lines_dropped), ());
        SPANS_OPEN.set(now.spans_open, ());
        for (signal, exported) in SIGNALS.into_iter().zip([&SPANS_EXPORTED, &POINTS_EXPORTED, &LOGS_EXPORTED]) {
            exported.add(growth(&mut recorded.exported[signal as usize], now.exported[signal as usize]), ());
            QUEUE_BYTES.set(now.queue_bytes[signal as usize], (signal,));
            QUEUE_ITEMS.set(now.queue_items[signal as usize], (signal,));
        }
        let unconfirmed = [&SPANS_UNCONFIRMED, &POINTS_UNCONFIRMED, &LOGS_UNCONFIRMED];
        for (counter, (recorded, now)) in
            unconfirmed.into_iter().zip(recorded.unconfirmed.iter_mut().zip(now.unconfirmed))
        {
            let more = growth(recorded, now);
            // As long as there are none there is no series.
            if more > 0 {
                counter.add(more, ());
            }
        }
        for (signal, dropped) in SIGNALS.into_iter().zip([&SPANS_DROPPED, &POINTS_DROPPED, &LOGS_DROPPED]) {
            let (recorded, now) = (&mut recorded.dropped[signal as usize], now.dropped[signal as usize]);
            for reason in REASONS {
                let lost = growth(&mut recorded[reason as usize], now[reason as usize]);
                // A reason that never was has no series.
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
    }
}

/// Raises `known` to `now`; gives by how much. With several receivers another one may speak for a signal from one moment to the
/// next, and have lost less: then nothing is added until there is more than was known.
pub(crate) fn growth(known: &mut u64, now: u64) -> u64 {
    let before = std::mem::replace(known, now.max(*known));
    *known - before
}

/// How long the export thread has been stuck.
pub(crate) fn stalled(time: Duration) {
    EXPORT_STALLED.set(time.as_secs_f64(), ());
}

/// One attempt to send a request.
pub(crate) fn sent(signal: Signal, outcome: Outcome, took: Duration) {
    EXPORT_REQUESTS.add(1_u64, (signal, outcome));
    EXPORT_SECONDS.record(took.as_secs_f64(), (signal,));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::snapshot::PointValue;
    use crate::testing::capture;

    fn figures() -> Figures {
        let mut figures = Figures { spans_created: 10, spans_open: 3, ..Figures::default() };
        figures.exported = [5, 6, 7];
        figures.unconfirmed = [0, 0, 8];
        figures.dropped[Signal::Traces as usize][Reason::TooManyOpenSpans as usize] = 2;
        figures.dropped[Signal::Logs as usize][Reason::Refused as usize] = 4;
        figures.queue_bytes = [100, 0, 1];
        figures.queue_items = [2, 0, 1];
        figures
    }

    #[test]
    fn figures_become_metrics() {
        let captured = capture(|| SelfMetrics::default().record(figures()));
        captured.assert_metrics(
            "
            tc_export_queue_bytes{signal=traces} 100
            tc_export_queue_bytes{signal=metrics} 0
            tc_export_queue_bytes{signal=logs} 1
            tc_export_queue_items{signal=traces} 2
            tc_export_queue_items{signal=metrics} 0
            tc_export_queue_items{signal=logs} 1
            tc_export_stalled_seconds 0
            tc_lines_dropped_total 0
            tc_logs_dropped_total{reason=refused} 4
            tc_logs_exported_total 7
            tc_logs_unconfirmed_total 8
            tc_metric_points_exported_total 6
            tc_spans_created_total 10
            tc_spans_cut_off_total 0
            tc_spans_dropped_total{reason=too_many_open_spans} 2
            tc_spans_exported_total 5
            tc_spans_open 3
            ",
        );
    }

    #[test]
    fn counts_begin_where_metrics_did_and_never_shrink() {
        let mut later = figures();
        later.spans_created = 15;
        later.exported[0] = 1;
        later.spool_bytes = Some(9);
        let captured = capture(|| SelfMetrics { recorded: figures() }.record(later));
        assert_eq!(captured.metric("tc_spans_created_total", &[]), Some(&PointValue::U64(5)));
        assert_eq!(captured.metric("tc_spans_exported_total", &[]), Some(&PointValue::U64(0)));
        assert_eq!(captured.metric("tc_spans_dropped_total", &[("reason", "too_many_open_spans")]), None);
        assert_eq!(captured.metric("tc_spool_bytes", &[]), Some(&PointValue::U64(9)));
    }

    #[test]
    fn growth_is_counted_once() {
        let mut known = 0;
        assert_eq!([5, 2, 5, 6].map(|now| growth(&mut known, now)), [5, 0, 0, 1]);
    }

    #[test]
    fn attempts_are_counted_and_timed() {
        let captured = capture(|| {
            sent(Signal::Logs, Outcome::Retry, Duration::from_millis(20));
            sent(Signal::Logs, Outcome::Ok, Duration::from_millis(30));
        });
        captured.assert_metrics(
            "
            tc_export_duration_seconds{signal=logs} count=2
            tc_export_requests_total{signal=logs, outcome=ok} 1
            tc_export_requests_total{signal=logs, outcome=retry} 1
            ",
        );
    }

    #[test]
    fn all_are_in_the_catalogue_under_the_names_that_prometheus_stores() {
        if !crate::declare::sections::LINKED {
            return;
        }
        let catalogue = crate::catalogue();
        for name in [
            "tc_spans_created_total",
            "tc_spans_exported_total",
            "tc_spans_unconfirmed_total",
            "tc_spans_dropped_total",
            "tc_spans_open",
            "tc_metric_points_exported_total",
            "tc_metric_points_unconfirmed_total",
            "tc_metric_points_dropped_total",
            "tc_logs_exported_total",
            "tc_logs_unconfirmed_total",
            "tc_logs_dropped_total",
            "tc_export_queue_bytes",
            "tc_export_queue_items",
            "tc_export_duration_seconds",
            "tc_export_requests_total",
            "tc_export_stalled_seconds",
            "tc_lines_dropped_total",
            "tc_spans_cut_off_total",
            "tc_spool_bytes",
        ] {
            let metric = catalogue.metrics.iter().find(|metric| metric.name == name);
            assert_eq!(metric.map(|metric| metric.prometheus_name()).as_deref(), Some(name));
        }
    }
}
