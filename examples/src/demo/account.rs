//! The span accounts that the processes report, and their sum.

use std::fmt;
use std::ops::Add;

/// The counts of one process or of several: the terms of `tracecast::Report`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) ended: u64,
    pub(crate) exported: u64,
    pub(crate) dropped: u64,
    pub(crate) unconfirmed: u64,
    pub(crate) pending: u64,
    pub(crate) spooled: u64,
}

impl Account {
    /// Reads the line that a process prints at its end: `telemetry: 7 spans ended = 7 exported + 0 dropped + 0 pending; ..`.
    pub(crate) fn find(lines: &[String]) -> Option<Self> {
        let (_, counts) = lines.iter().rev().find_map(|line| line.split_once("telemetry: "))?;
        // The rest is about metric points and log records.
        let counts = counts.split(';').next()?;
        let before = |word: &str| -> Option<u64> {
            let (count, _) = counts.split_once(word)?;
            count.trim_end().rsplit(' ').next()?.parse().ok()
        };
        Some(Account {
            ended: before("spans ended")?,
            exported: before("exported")?,
            dropped: before("dropped")?,
            // A report leaves these two out where they are zero.
            unconfirmed: before("unconfirmed").unwrap_or_default(),
            pending: before("pending")?,
            spooled: before("on disk").unwrap_or_default(),
        })
    }

    /// Whether all ended spans are accounted for.
    pub(crate) fn is_exact(&self) -> bool {
        self.ended == self.exported + self.dropped + self.unconfirmed + self.pending + self.spooled
    }
}

impl Add for Account {
    type Output = Account;

    fn add(self, other: Account) -> Account {
        Account {
            ended: self.ended + other.ended,
            exported: self.exported + other.exported,
            dropped: self.dropped + other.dropped,
            unconfirmed: self.unconfirmed + other.unconfirmed,
            pending: self.pending + other.pending,
            spooled: self.spooled + other.spooled,
        }
    }
}

impl fmt::Display for Account {
    /// Writes it as a report does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Account { ended, exported, dropped, unconfirmed, pending, spooled } = self;
        write!(f, "{ended} spans ended = {exported} exported + {dropped} dropped + {pending} pending")?;
        if *unconfirmed > 0 {
            write!(f, " + {unconfirmed} unconfirmed")?;
        }
        if *spooled > 0 { write!(f, " + {spooled} on disk") } else { Ok(()) }
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
        let found = |text: &str| Account::find(&[format!("telemetry: {text}")]).unwrap();
        let account =
            found("7 spans ended = 4 exported + 2 dropped + 1 pending; 9 metric points exported, 5 unconfirmed");
        assert_eq!(account, Account { ended: 7, exported: 4, dropped: 2, pending: 1, ..Account::default() });
        assert!(account.is_exact());
        assert_eq!((account + account).to_string(), "14 spans ended = 8 exported + 4 dropped + 2 pending");
        let text = "9 spans ended = 2 exported + 1 dropped + 1 pending + 2 unconfirmed + 3 on disk";
        let account = found(&format!("{text} (0 replayed); 0 metric points exported"));
        assert!(account.is_exact() && (account.unconfirmed, account.spooled) == (2, 3), "{account:?}");
        assert_eq!(account.to_string(), text);
        assert_eq!(Account::find(&["telemetry: not flushed in time".to_owned()]), None);
    }
}
