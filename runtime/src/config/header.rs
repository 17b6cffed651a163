//! Sources of header values: a fixed text, a file, or a callback.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::secret::{Masked, Secret};

/// The source of a header's value.
#[derive(Clone)]
pub(crate) enum HeaderSource {
    /// The same value for every request.
    Fixed(Secret),
    /// The content of a file, read again when the file changes.
    File(Masked<PathBuf>),
    /// The result of a callback, called before each request.
    Callback(HeaderCallback),
}

/// A function that returns a header's current value; `None` if there is none at the moment.
pub(crate) type HeaderCallback = Arc<dyn Fn() -> Option<Secret> + Send + Sync>;

impl From<Secret> for HeaderSource {
    fn from(value: Secret) -> Self {
        HeaderSource::Fixed(value)
    }
}

impl PartialEq for HeaderSource {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (HeaderSource::Fixed(one), HeaderSource::Fixed(other)) => one == other,
            (HeaderSource::File(one), HeaderSource::File(other)) => one == other,
            (HeaderSource::Callback(one), HeaderSource::Callback(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Eq for HeaderSource {}

impl fmt::Debug for HeaderSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderSource::Fixed(value) => value.fmt(f),
            HeaderSource::File(path) => write!(f, "from {path:?}"),
            HeaderSource::Callback(_) => f.write_str("from a callback"),
        }
    }
}
