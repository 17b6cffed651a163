//! What became of everything.

use std::fmt;

use crate::collector::Progress;

/// What became of all telemetry of the process. With several receivers of a signal the counts are those of the one that has
/// got the least of it, so that `ended = exported + dropped + left + spooled` holds for spans, exactly.
///
/// ```
/// use std::time::Duration;
/// use tracecast::config::Config;
///
/// let report = Config::new().init()?.shutdown(Duration::from_secs(5));
/// let accounted = report.spans_exported + report.spans_dropped + report.spans_left + report.spans_spooled;
/// assert_eq!(report.spans_ended, accounted);
/// # Ok::<(), tracecast::InitError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Sampled spans that have ended.
    pub spans_ended: u64,
    /// Spans that the receiver took.
    pub spans_exported: u64,
    /// Spans that were lost, for whatever reason.
    pub spans_dropped: u64,
    /// Spans that were still waiting when the time was up.
    pub spans_left: u64,
    /// Spans that wait on disk for a receiver that works.
    pub spans_spooled: u64,
    /// Spans of earlier processes that were on disk and that the receiver took. They are in none of the other counts.
    pub spans_replayed: u64,
    /// Metric points that the receiver took.
    pub points_exported: u64,
    /// Metric points that were lost.
    pub points_dropped: u64,
    /// Log records that the receiver took.
    pub logs_exported: u64,
    /// Log records that were lost, for whatever reason.
    pub logs_dropped: u64,
    /// Log records that were still waiting when the time was up.
    pub logs_left: u64,
    /// Log records that wait on disk for a receiver that works.
    pub logs_spooled: u64,
    /// Log records of earlier processes that were on disk and that the receiver took.
    pub logs_replayed: u64,
    /// Whether nothing was left in memory.
    pub complete: bool,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { spans_ended, spans_exported, spans_dropped, spans_left, spans_spooled, .. } = self;
        write!(
            f,
            "{spans_ended} spans ended = {spans_exported} exported + {spans_dropped} dropped + {spans_left} left"
        )?;
        let spooled = |f: &mut fmt::Formatter<'_>, spooled: u64, replayed: u64| {
            if spooled > 0 || replayed > 0 { write!(f, " + {spooled} on disk ({replayed} replayed)") } else { Ok(()) }
        };
        spooled(f, *spans_spooled, self.spans_replayed)?;
        f.write_str("; ")?;
        write!(f, "{} metric points exported, {} dropped; ", self.points_exported, self.points_dropped)?;
        write!(
            f,
            "{} log records exported, {} dropped, {} left",
            self.logs_exported, self.logs_dropped, self.logs_left
        )?;
        spooled(f, self.logs_spooled, self.logs_replayed)
    }
}

impl Report {
    pub(super) fn of(progress: &Progress) -> Self {
        let Progress { spans, points, records, ended, dropped, buffered, complete } = progress;
        Report {
            spans_ended: *ended,
            spans_exported: spans.exported,
            spans_dropped: dropped + spans.lost(),
            spans_left: buffered + spans.waiting,
            spans_spooled: waiting_on_disk(spans.spooled),
            spans_replayed: spans.replayed,
            points_exported: points.exported,
            points_dropped: points.lost(),
            logs_exported: records.exported,
            logs_dropped: records.lost(),
            logs_left: records.waiting,
            logs_spooled: waiting_on_disk(records.spooled),
            logs_replayed: records.replayed,
            complete: *complete,
        }
    }
}

/// After receivers were changed more may have been taken from the disk than these put there.
fn waiting_on_disk(items: u64) -> u64 {
    if items > u64::MAX / 2 { 0 } else { items }
}
