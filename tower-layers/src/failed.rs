//! Errors of services and bodies.

use std::error::Error;

/// An error of any type.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// Returns an error and its causes, at most 16, because an error may be its own source.
pub(crate) fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source()).take(16)
}
