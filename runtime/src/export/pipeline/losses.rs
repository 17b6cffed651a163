//! Reports losses, once a minute at most: the number of lost items by reason. Reports of single failures do not replace
//! this one.

use std::time::{Duration, Instant};

use super::reported::REPORT_EVERY;
use crate::base::notice;
use crate::declare::label::Label;
use crate::export::self_metrics::{Dropped, REASONS, Reason, growth};

/// The names of items, by signal `as usize`.
pub(super) const ITEMS: [&str; 3] = ["spans", "metric points", "log records"];

/// The losses reported so far, and when.
#[derive(Debug, Default)]
pub(super) struct Losses {
    reported: Dropped,
    at: Option<Instant>,
}

impl Losses {
    /// Reports losses since the last report, unless that was less than a minute ago.
    pub(super) fn report(&mut self, dropped: &Dropped) {
        if self.at.is_none_or(|at| at.elapsed() >= REPORT_EVERY) {
            self.report_now(dropped);
        }
    }

    /// Reports losses since the last report, however recent that was.
    pub(super) fn report_now(&mut self, dropped: &Dropped) {
        let lines = self.lines(dropped, Instant::now());
        lines.iter().for_each(|line| notice::say(format_args!("warning: {line}")));
    }

    fn lines(&mut self, dropped: &Dropped, now: Instant) -> Vec<String> {
        let time = self.at.map_or(Duration::ZERO, |at| now.saturating_duration_since(at));
        let within = if time.is_zero() { String::new() } else { format!(" within {:.0?}", time) };
        let mut lines = Vec::new();
        for (signal, items) in ITEMS.into_iter().enumerate() {
            let lost = |reason: Reason| {
                (growth(&mut self.reported[signal][reason as usize], dropped[signal][reason as usize]), reason)
            };
            let lost: Vec<_> = REASONS.into_iter().map(lost).filter(|(count, _)| *count > 0).collect();
            if !lost.is_empty() {
                let all: u64 = lost.iter().map(|(count, _)| count).sum();
                let reasons: Vec<_> =
                    lost.iter().map(|(count, reason)| format!("{count} {}", Reason::value(*reason as usize))).collect();
                lines.push(format!("dropped {all} {items}{within}: {}", reasons.join(", ")));
            }
        }
        if !lines.is_empty() {
            self.at = Some(now);
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_reported_with_their_reasons_and_counted_once() {
        let (mut losses, mut dropped, start) = (Losses::default(), Dropped::default(), Instant::now());
        assert_eq!(losses.lines(&dropped, start), Vec::<String>::new());
        dropped[0][Reason::ExportQueueFull as usize] = 7;
        dropped[0][Reason::SpanBufferFull as usize] = 2;
        dropped[2][Reason::Refused as usize] = 1;
        let lines = losses.lines(&dropped, start);
        assert_eq!(
            lines,
            ["dropped 9 spans: 2 span_buffer_full, 7 export_queue_full", "dropped 1 log records: 1 refused"]
        );
        dropped[0][Reason::ExportQueueFull as usize] = 10;
        let lines = losses.lines(&dropped, start + Duration::from_secs(60));
        assert_eq!(lines, ["dropped 3 spans within 60s: 3 export_queue_full"]);
        assert!(losses.lines(&dropped, start + Duration::from_secs(120)).is_empty());
    }

    #[test]
    fn they_are_reported_once_a_minute() {
        let (mut losses, mut dropped) = (Losses::default(), Dropped::default());
        for lost in 1..10 {
            dropped[0][Reason::ExportQueueFull as usize] = lost;
            losses.report(&dropped);
        }
        assert_eq!(losses.reported[0][Reason::ExportQueueFull as usize], 1, "the others are reported a minute later");
        losses.report_now(&dropped);
        assert_eq!(losses.reported, dropped, "unless it is the last report");
    }
}
