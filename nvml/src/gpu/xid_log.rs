//! Log lines about XIDs: the first XID of a number is logged at once, later ones are summarized once a minute.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::gpu::xids;

/// The interval of log lines for XIDs of one number.
const PAUSE: Duration = Duration::from_secs(60);
/// The most numbers with their own lines. XIDs of further numbers share one line.
const MOST_NUMBERS: usize = 32;
/// Represents all further numbers; no XID has this number.
const OTHERS: u64 = u64::MAX;

/// Counts the XID errors with one number since the last log line about it.
#[derive(Debug)]
struct Quiet {
    since: Instant,
    count: u64,
}

/// The log state of one GPU: the numbers that were logged in the last minute.
#[derive(Debug, Default)]
pub(crate) struct XidLog(BTreeMap<u64, Quiet>);

impl XidLog {
    /// Adds an XID, and returns its line if it is the first of its number for a while.
    pub(crate) fn add(&mut self, gpu: u32, number: u64, now: Instant) -> Option<String> {
        let is_told_apart = self.0.contains_key(&number) || self.0.len() < MOST_NUMBERS;
        let number = if is_told_apart { number } else { OTHERS };
        if let Some(quiet) = self.0.get_mut(&number) {
            quiet.count += 1;
            return None;
        }
        self.0.insert(number, Quiet { since: now, count: 0 });
        Some(format!("GPU {gpu} reported {}", Named(number)))
    }

    /// Returns the lines for XIDs that were not logged at once, for each number whose minute is over.
    pub(crate) fn due(&mut self, gpu: u32, now: Instant) -> Vec<String> {
        self.lines(gpu, now, PAUSE)
    }

    /// Returns the lines for all XIDs that were not logged, for the end of the monitor.
    pub(crate) fn rest(&mut self, gpu: u32, now: Instant) -> Vec<String> {
        self.lines(gpu, now, Duration::ZERO)
    }

    /// Returns the lines for numbers whose last line is at least `pause` old; forgets the numbers without further XIDs.
    fn lines(&mut self, gpu: u32, now: Instant, pause: Duration) -> Vec<String> {
        let mut lines = Vec::new();
        self.0.retain(|number, quiet| {
            if now.saturating_duration_since(quiet.since) < pause {
                return true;
            }
            let count = std::mem::take(&mut quiet.count);
            quiet.since = now;
            if count > 0 {
                lines.push(format!("GPU {gpu} reported {} {count} more times", Named(*number)));
            }
            count > 0
        });
        lines
    }
}

/// An XID with its name, if it has one.
struct Named(u64);

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.0, xids::name(self.0)) {
            (OTHERS, _) => f.write_str("XIDs of many numbers"),
            (number, Some(name)) => write!(f, "XID {number} ({name})"),
            (number, None) => write!(f, "XID {number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storm_is_one_line_at_once_and_one_a_minute() {
        let (start, mut log) = (Instant::now(), XidLog::default());
        let at = |seconds| start + Duration::from_secs(seconds);
        let first: Vec<_> = (0..3000).filter_map(|_| log.add(2, 31, at(0))).collect();
        assert_eq!(first, ["GPU 2 reported XID 31 (GPU memory page fault)"]);
        // Another number is not hidden by the storm.
        assert_eq!(log.add(2, 4711, at(1)).as_deref(), Some("GPU 2 reported XID 4711"));
        assert_eq!(log.due(2, at(59)), Vec::<String>::new());
        let line = "GPU 2 reported XID 31 (GPU memory page fault) 2999 more times";
        assert_eq!(log.due(2, at(60)), [line]);
        assert_eq!(log.due(2, at(61)), Vec::<String>::new());
        // After a minute without this XID, the next one is logged at once.
        assert_eq!(log.due(2, at(120)), Vec::<String>::new());
        assert!(log.add(2, 31, at(121)).is_some() && log.0.len() == 1);
        // XIDs that are left at the end are logged.
        assert_eq!((log.add(2, 31, at(122)), log.rest(2, at(122)).len()), (None, 1));
    }

    #[test]
    fn numbers_are_bounded() {
        let (now, mut log) = (Instant::now(), XidLog::default());
        let lines: Vec<_> = (1000..1100).filter_map(|number| log.add(0, number, now)).collect();
        assert_eq!((lines.len(), &*lines[MOST_NUMBERS]), (MOST_NUMBERS + 1, "GPU 0 reported XIDs of many numbers"));
        assert_eq!(log.0.len(), MOST_NUMBERS + 1);
    }
}
