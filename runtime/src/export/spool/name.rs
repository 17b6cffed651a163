//! The names of files. They sort by time, and contain all data that the limits are computed from, so files need not be
//! opened.

use std::fmt;
use std::str::FromStr;

use super::{Encoding, Spooled};

/// The endings of names: of a request, of a file being written, and of one that cannot be read.
pub(super) const ENDING: &str = ".tcspool";
pub(super) const TEMPORARY: &str = ".tcspool.tmp";
pub(super) const BAD: &str = ".tcspool.bad";

/// The name of a request, which is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    /// The time of writing, in nanoseconds since 1970.
    pub(super) time: u64,
    /// The random number of the spool that wrote it.
    pub(super) writer: u64,
    pub(super) number: u32,
    pub(super) items: u64,
    /// The length of the file. Part of the name, so that the size of a directory is computed without a system call for
    /// each file.
    pub(super) bytes: u64,
    pub(super) signal: Spooled,
    pub(super) encoding: Encoding,
}

impl Name {
    /// The name of the file while it is being written.
    pub(super) fn temporary(&self) -> String {
        format!("{self}.tmp")
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Name { time, writer, number, items, bytes, .. } = self;
        let signal = word(&SIGNALS, self.signal);
        let encoding = word(&ENCODINGS, self.encoding);
        write!(f, "{time:020}-{writer:016x}-{number:08x}-{items}-{bytes}-{signal}-{encoding}{ENDING}")
    }
}

impl FromStr for Name {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let stem = text.strip_suffix(ENDING).ok_or(())?;
        let mut parts = stem.split('-');
        let mut part = || parts.next().ok_or(());
        let name = Name {
            time: part()?.parse().map_err(drop)?,
            writer: u64::from_str_radix(part()?, 16).map_err(drop)?,
            number: u32::from_str_radix(part()?, 16).map_err(drop)?,
            items: part()?.parse().map_err(drop)?,
            bytes: part()?.parse().map_err(drop)?,
            signal: meaning(&SIGNALS, part()?).ok_or(())?,
            encoding: meaning(&ENCODINGS, part()?).ok_or(())?,
        };
        // Only our own spelling is accepted, so that a parsed name has the path of its file.
        if name.to_string() == text { Ok(name) } else { Err(()) }
    }
}

const SIGNALS: [(Spooled, &str); 2] = [(Spooled::Traces, "traces"), (Spooled::Logs, "logs")];
const ENCODINGS: [(Encoding, &str); 2] = [(Encoding::Protobuf, "protobuf"), (Encoding::Json, "json")];

fn word<T: Copy + PartialEq>(words: &[(T, &'static str)], meaning: T) -> &'static str {
    words.iter().find(|(each, _)| *each == meaning).map_or("", |(_, word)| word)
}

fn meaning<T: Copy>(words: &[(T, &'static str)], text: &str) -> Option<T> {
    words.iter().find(|(_, word)| *word == text).map(|(meaning, _)| *meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(time: u64, number: u32) -> Name {
        let (signal, encoding) = (Spooled::Logs, Encoding::Json);
        Name { time, writer: 0xabc, number, items: 512, bytes: 1040, signal, encoding }
    }

    #[test]
    fn a_name_reads_back() {
        for name in [name(0, 0), name(u64::MAX, u32::MAX), Name { writer: u64::MAX, items: u64::MAX, ..name(7, 9) }] {
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        let text = "00000000000000000007-0000000000000abc-00000009-512-1040-logs-json.tcspool";
        assert_eq!(name(7, 9).to_string(), text);
    }

    #[test]
    fn what_we_would_not_write_is_no_name() {
        let good = name(7, 9).to_string();
        for text in [
            "",
            ".tcspool",
            "notes.txt",
            &good.replace("logs", "metrics"),
            &good.replace("json", "xml"),
            &good.replace("512", "+512"),
            &good.replace("512", "-1"),
            &good.replace("abc", "ABC"),
            &good[1..],
            &good.replace(".tcspool", "-more.tcspool"),
            &format!("{good}.bad"),
        ] {
            assert_eq!(text.parse::<Name>(), Err(()), "{text}");
        }
    }

    #[test]
    fn names_sort_by_time_as_text_too() {
        let names = [name(9, 3), name(10, 1), name(10, 2), name(1_000_000_000_000_000_000, 0)];
        assert!(names.is_sorted());
        assert!(names.map(|name| name.to_string()).is_sorted());
    }
}
