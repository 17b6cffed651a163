//! Errors of opening a spool, and of storing a request.

use std::fmt;
use std::io::{Error, ErrorKind};
use std::path::PathBuf;

/// The error of a directory that cannot be used as a spool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpoolError {
    pub(crate) directory: PathBuf,
    /// The cause, and what is required.
    pub(crate) text: String,
}

impl fmt::Display for SpoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the spool directory {:?} cannot be used: {}", self.directory, self.text)
    }
}

impl std::error::Error for SpoolError {}

/// The reason why a request was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reason {
    /// The disk is full, or requests in flight take the whole limit of the spool.
    NoSpace,
    /// The directory is not writable.
    ReadOnly,
    /// The request is larger than the spool or the process's file size limit.
    TooLarge,
    /// Any other error.
    Failed,
}

impl Reason {
    /// The reason as one word.
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

/// The error of a request that was not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) reason: Reason,
    /// The cause, for an operator.
    pub(crate) text: String,
}

impl Refused {
    /// The error if storing a request panicked.
    pub(crate) fn panicked() -> Self {
        Refused { reason: Reason::Failed, text: "writing it panicked".to_owned() }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
