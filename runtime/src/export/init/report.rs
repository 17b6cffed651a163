//! What became of everything.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use super::error::NotRunning;
use super::start;
use crate::export::pipeline::Progress;

/// What became of all telemetry of the process. With several receivers of a signal the counts are those of the one that has
/// got the least of it, so that `ended = exported + dropped + unconfirmed + pending + spooled` holds for spans, exactly.
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
    /// Spans that the receiver took.
    pub spans_exported: u64,
    /// Spans that were lost, for whatever reason.
    pub spans_dropped: u64,
    /// Spans that were answered with a success that is not one of OTLP, as a proxy's page is: a backend may have them, or nobody.
    /// They are not sent again.
    pub spans_unconfirmed: u64,
    /// Spans that were still waiting when the time was up.
    pub spans_pending: u64,
    /// Spans that wait on disk for a receiver that works.
    pub spans_spooled: u64,
    /// Sampled spans that are open. They are in none of the other counts, unless they were exported as unfinished: those
    /// have ended, once, also if they end later.
    pub spans_open: u64,
    open: OpenSpans,
    /// Spans of earlier processes that were on disk and that the receiver took. They are in none of the other counts.
    pub spans_replayed: u64,
    /// Metric points that the receiver took.
    pub points_exported: u64,
    /// Metric points that were lost.
    pub points_dropped: u64,
    /// Metric points whose answer was not one of OTLP.
    pub points_unconfirmed: u64,
    /// Metric points that were still waiting when the time was up.
    pub points_pending: u64,
    /// Log records that the receiver took.
    pub logs_exported: u64,
    /// Log records that were lost, for whatever reason.
    pub logs_dropped: u64,
    /// Log records whose answer was not one of OTLP.
    pub logs_unconfirmed: u64,
    /// Log records that were still waiting when the time was up.
    pub logs_pending: u64,
    /// Log records that wait on disk for a receiver that works.
    pub logs_spooled: u64,
    /// Log records of earlier processes that were on disk and that the receiver took.
    pub logs_replayed: u64,
    /// Whether nothing was left in memory.
    pub complete: bool,
    /// Why the report is empty, if telemetry does not run.
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

/// The names of open spans and how many of each are open, the most frequent first: up to ten.
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
    /// The names of spans that are open, and how many of each: the ten most frequent ones.
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

    /// The report of telemetry that does not run.
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
