//! Errors of services and bodies.

use std::error::Error;

/// An error whose type is not known.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// An error, what caused it, and so on; of all that only so many, as an error may say that it is its own cause.
pub(crate) fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source()).take(16)
}
