//! What each process says became of its spans, and the sum of it.

use std::fmt;
use std::ops::Add;

/// The counts of one process, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) ended: u64,
    pub(crate) exported: u64,
    pub(crate) dropped: u64,
    pub(crate) pending: u64,
}

impl Account {
    /// Reads the line that a process prints at its end: `telemetry: 7 spans ended = 7 exported + 0 dropped + 0 pending; ..`.
    pub(crate) fn find(lines: &[String]) -> Option<Self> {
        let (_, counts) = lines.iter().rev().find_map(|line| line.split_once("telemetry: "))?;
        let before = |word: &str| -> Option<u64> {
            let (count, _) = counts.split_once(word)?;
            count.trim_end().rsplit(' ').next()?.parse().ok()
        };
        Some(Account {
            ended: before("spans ended")?,
            exported: before("exported")?,
            dropped: before("dropped")?,
            pending: before("pending")?,
        })
    }

    /// Whether each span is known to have gone somewhere.
    pub(crate) fn is_exact(&self) -> bool {
        self.ended == self.exported + self.dropped + self.pending
    }
}

impl Add for Account {
    type Output = Account;

    fn add(self, other: Account) -> Account {
        Account {
            ended: self.ended + other.ended,
            exported: self.exported + other.exported,
            dropped: self.dropped + other.dropped,
            pending: self.pending + other.pending,
        }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Account { ended, exported, dropped, pending } = self;
        write!(f, "{ended} spans created = {exported} exported + {dropped} dropped")?;
        if *pending > 0 { write!(f, " + {pending} pending") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_report_is_read() {
        let report = tracecast::Report::default();
        let lines = [format!("tracecast: telemetry: {report}"), "tracecast: bye".to_owned()];
        assert_eq!(Account::find(&lines), Some(Account::default()));
        let lines =
            ["telemetry: 7 spans ended = 4 exported + 2 dropped + 1 pending; 9 metric points exported".to_owned()];
        let account = Account::find(&lines).unwrap();
        assert_eq!(account, Account { ended: 7, exported: 4, dropped: 2, pending: 1 });
        assert!(account.is_exact());
        assert_eq!((account + account).to_string(), "14 spans created = 8 exported + 4 dropped + 2 pending");
        assert_eq!(Account::find(&["telemetry: not done in time".to_owned()]), None);
    }
}
