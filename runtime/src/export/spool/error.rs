//! Why a spool cannot be opened, or does not take a request.

use std::fmt;
use std::io::{Error, ErrorKind};
use std::path::PathBuf;

/// A directory cannot hold a spool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpoolError {
    pub(crate) directory: PathBuf,
    /// What is wrong, and what is needed.
    pub(crate) text: String,
}

impl fmt::Display for SpoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the spool directory {:?} cannot be used: {}", self.directory, self.text)
    }
}

impl std::error::Error for SpoolError {}

/// Why a request was not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reason {
    /// The disk is full, or all room of the spool is taken by requests that are being sent.
    NoSpace,
    /// Nothing may be written there.
    ReadOnly,
    /// It is larger than the whole spool, or than any file may be.
    TooLarge,
    /// Anything else that the disk says.
    Failed,
}

impl Reason {
    /// A word for a label.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Reason::NoSpace => "no_space",
            Reason::ReadOnly => "read_only",
            Reason::TooLarge => "too_large",
            Reason::Failed => "failed",
        }
    }

    pub(super) fn of(error: &Error) -> Reason {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Reason::NoSpace,
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => Reason::ReadOnly,
            ErrorKind::FileTooLarge => Reason::TooLarge,
            _ => Reason::Failed,
        }
    }
}

/// A request was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) reason: Reason,
    /// What happened, for an operator.
    pub(crate) text: String,
}

impl Refused {
    /// The code that was to keep it panicked.
    pub(crate) fn panicked() -> Self {
        Refused { reason: Reason::Failed, text: "writing it panicked".to_owned() }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
