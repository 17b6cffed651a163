//! Tells the operator what was lost: how much, and why, once a minute, whatever else is told.

use std::time::{Duration, Instant};

use super::told::TOLD_EVERY;
use crate::base::notice;
use crate::declare::label::Label;
use crate::export::own::{Dropped, REASONS, Reason, growth};

/// The names of what is lost, by signal.
const ITEMS: [&str; 3] = ["spans", "metric points", "log records"];

/// What was told, and when.
#[derive(Debug, Default)]
pub(super) struct Losses {
    told: Dropped,
    at: Option<Instant>,
}

impl Losses {
    /// Tells what was lost since the last time, unless that was less than a minute ago.
    pub(super) fn tell(&mut self, dropped: &Dropped) {
        if self.at.is_none_or(|at| at.elapsed() >= TOLD_EVERY) {
            self.tell_now(dropped);
        }
    }

    /// Tells what was lost since the last time.
    pub(super) fn tell_now(&mut self, dropped: &Dropped) {
        let lines = self.lines(dropped, Instant::now());
        lines.iter().for_each(|line| notice::say(format_args!("warning: {line}")));
    }

    fn lines(&mut self, dropped: &Dropped, now: Instant) -> Vec<String> {
        let time = self.at.map_or(Duration::ZERO, |at| now.saturating_duration_since(at));
        let within = if time.is_zero() { String::new() } else { format!(" within {:.0?}", time) };
        let mut lines = Vec::new();
        for (signal, items) in ITEMS.into_iter().enumerate() {
            let lost = |reason: Reason| {
                (growth(&mut self.told[signal][reason as usize], dropped[signal][reason as usize]), reason)
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
    fn losses_are_told_with_their_reasons_and_counted_once() {
        let (mut losses, mut dropped, start) = (Losses::default(), Dropped::default(), Instant::now());
        assert_eq!(losses.lines(&dropped, start), Vec::<String>::new());
        dropped[0][Reason::NoRoom as usize] = 7;
        dropped[0][Reason::NoChunk as usize] = 2;
        dropped[2][Reason::Refused as usize] = 1;
        let told = losses.lines(&dropped, start);
        assert_eq!(told, ["dropped 9 spans: 2 no_chunk, 7 no_room", "dropped 1 log records: 1 refused"]);
        dropped[0][Reason::NoRoom as usize] = 10;
        let told = losses.lines(&dropped, start + Duration::from_secs(60));
        assert_eq!(told, ["dropped 3 spans within 60s: 3 no_room"]);
        assert!(losses.lines(&dropped, start + Duration::from_secs(120)).is_empty());
    }

    #[test]
    fn they_are_told_once_a_minute() {
        let (mut losses, mut dropped) = (Losses::default(), Dropped::default());
        for lost in 1..10 {
            dropped[0][Reason::NoRoom as usize] = lost;
            losses.tell(&dropped);
        }
        assert_eq!(losses.told[0][Reason::NoRoom as usize], 1, "the others wait for the next minute");
        losses.tell_now(&dropped);
        assert_eq!(losses.told, dropped, "unless it is the last word");
    }
}
