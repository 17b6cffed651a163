//! The report: counts all telemetry of the process by its state.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use super::error::NotRunning;
use super::start;
use crate::export::pipeline::Progress;

/// The counts of all telemetry of the process. While no span is ending, the counts of spans add up exactly:
/// `ended = exported + dropped + unconfirmed + pending + spooled`. If a signal has several receivers, the counts are those
/// of the receiver that accepted the least.
///
/// ```
/// use std::time::Duration;
/// use tracecast::config::Config;
///
/// let report = Config::new().init()?.shutdown(Duration::from_secs(5));
/// let sent = report.spans_exported + report.spans_unconfirmed;
/// assert_eq!(report.spans_ended, sent + report.spans_dropped + report.spans_pending + report.spans_spooled);
/// # Ok::<(), tracecast::InitError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Sampled spans that have ended.
    pub spans_ended: u64,
    /// Spans that the receiver accepted.
    pub spans_exported: u64,
    /// Spans that were lost, for any reason.
    pub spans_dropped: u64,
    /// Spans whose request was answered with a success that is not an OTLP response, such as a proxy's page. A backend
    /// may have them; they are not sent again.
    pub spans_unconfirmed: u64,
    /// Spans that were still in memory at the deadline.
    pub spans_pending: u64,
    /// Spans on disk, to be sent when the receiver works again.
    pub spans_spooled: u64,
    /// Sampled spans that are open. No other count includes them, unless they were exported as unfinished: such a span
    /// counts as ended once, also if it ends later.
    pub spans_open: u64,
    open: OpenSpans,
    /// Spans that other processes, usually earlier ones, stored on disk, and that the receiver accepted from this
    /// process. No other count includes these spans.
    pub spans_replayed: u64,
    /// Metric points that the receiver accepted.
    pub points_exported: u64,
    /// Metric points that were lost.
    pub points_dropped: u64,
    /// Metric points whose request was answered with a success that is not an OTLP response.
    pub points_unconfirmed: u64,
    /// Metric points that were still in memory at the deadline.
    pub points_pending: u64,
    /// Log records that the receiver accepted.
    pub logs_exported: u64,
    /// Log records that were lost, for any reason.
    pub logs_dropped: u64,
    /// Log records whose request was answered with a success that is not an OTLP response.
    pub logs_unconfirmed: u64,
    /// Log records that were still in memory at the deadline.
    pub logs_pending: u64,
    /// Log records on disk, to be sent when the receiver works again.
    pub logs_spooled: u64,
    /// Log records that other processes, usually earlier ones, stored on disk, and that the receiver accepted from this
    /// process. No other count includes these records.
    pub logs_replayed: u64,
    /// True if nothing was left in memory.
    pub complete: bool,
    /// The reason why the report is empty, if telemetry does not run.
    pub not_running: Option<NotRunning>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(reason) = self.not_running {
            return reason.fmt(f);
        }
        let Report { spans_ended, spans_exported, spans_dropped, spans_pending, spans_spooled, .. } = self;
        write!(
            f,
            "{spans_ended} spans ended = {spans_exported} exported + {spans_dropped} dropped + {spans_pending} pending"
        )?;
        let spooled = |f: &mut fmt::Formatter<'_>, spooled: u64, replayed: u64| {
            if spooled > 0 || replayed > 0 { write!(f, " + {spooled} on disk ({replayed} replayed)") } else { Ok(()) }
        };
        let unconfirmed = |f: &mut fmt::Formatter<'_>, separator: &str, items: u64| {
            if items > 0 { write!(f, "{separator}{items} unconfirmed") } else { Ok(()) }
        };
        unconfirmed(f, " + ", self.spans_unconfirmed)?;
        spooled(f, *spans_spooled, self.spans_replayed)?;
        self.open.fmt(self.spans_open, f)?;
        let Report { points_exported, points_dropped, points_pending, .. } = self;
        write!(f, "; {points_exported} metric points exported, {points_dropped} dropped, {points_pending} pending")?;
        unconfirmed(f, ", ", self.points_unconfirmed)?;
        let Report { logs_exported, logs_dropped, logs_pending, .. } = self;
        write!(f, "; {logs_exported} log records exported, {logs_dropped} dropped, {logs_pending} pending")?;
        unconfirmed(f, ", ", self.logs_unconfirmed)?;
        spooled(f, self.logs_spooled, self.logs_replayed)?;
        start::compiled_out().map_or(Ok(()), |compiled_out| write!(f, "; {compiled_out}"))
    }
}

/// The ten most frequent names of open spans, with their counts, the most frequent first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OpenSpans([(&'static str, u64); 10]);

impl OpenSpans {
    fn of(names: &[&'static str]) -> Self {
        let mut counts = BTreeMap::<&str, u64>::new();
        names.iter().for_each(|name| *counts.entry(name).or_default() += 1);
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| Reverse(*count));
        let mut open = OpenSpans::default();
        open.0.iter_mut().zip(counts).for_each(|(place, count)| *place = count);
        open
    }

    fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().copied().filter(|(_, count)| *count > 0)
    }

    fn fmt(&self, all: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if all == 0 {
            return Ok(());
        }
        let names: Vec<_> = self.iter().map(|(name, count)| format!("{name} ({count})")).collect();
        let more = if self.iter().map(|(_, count)| count).sum::<u64>() < all { ", .." } else { "" };
        write!(f, "; {all} spans still open: {}{more}", names.join(", "))
    }
}

impl Report {
    /// Lists the ten most frequent names of open spans, with their counts.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tracecast::config::Config;
    ///
    /// let report = Config::new().init()?.shutdown(Duration::from_secs(5));
    /// assert_eq!(report.open_spans().count(), 0);
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn open_spans(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.open.iter()
    }

    /// Makes the report of telemetry that does not run.
    pub(super) fn empty(reason: NotRunning) -> Self {
        Report { not_running: Some(reason), ..Report::default() }
    }

    pub(super) fn of(progress: &Progress) -> Self {
        let Progress { spans, points, records, ended, dropped, buffered, open, complete } = progress;
        Report {
            spans_ended: *ended,
            spans_exported: spans.exported,
            spans_dropped: dropped + spans.lost(),
            spans_unconfirmed: spans.unconfirmed,
            spans_pending: buffered + spans.pending,
            spans_spooled: spans.spooled,
            spans_open: open.len() as u64,
            open: OpenSpans::of(open),
            spans_replayed: spans.replayed,
            points_exported: points.exported,
            points_dropped: points.lost(),
            points_unconfirmed: points.unconfirmed,
            points_pending: points.pending,
            logs_exported: records.exported,
            logs_dropped: records.lost(),
            logs_unconfirmed: records.unconfirmed,
            logs_pending: records.pending,
            logs_spooled: records.spooled,
            logs_replayed: records.replayed,
            complete: *complete,
            not_running: None,
        }
    }
}
