//! Telling results apart by type, as `crate::trace::probe` does for spans.

use super::verdict::Verdict;
use crate::trace::error::TcError;
use crate::trace::probe::Probe;

/// A `Result` whose error has derived types.
pub trait JudgeTyped {
    /// Says whether it is an error.
    fn judge(&self, verdict: &mut Verdict);
}

impl<T, E: TcError> JudgeTyped for &&Probe<'_, Result<T, E>> {
    #[inline]
    fn judge(&self, verdict: &mut Verdict) {
        if let Err(error) = self.0 {
            verdict.failed = true;
            verdict.error_type = Some(error.error_type());
        }
    }
}

/// Any `Result`.
pub trait JudgeResult {
    /// Says whether it is an error.
    fn judge(&self, verdict: &mut Verdict);
}

impl<T, E> JudgeResult for &Probe<'_, Result<T, E>> {
    #[inline]
    fn judge(&self, verdict: &mut Verdict) {
        verdict.failed |= self.0.is_err();
    }
}

/// Anything: no error.
pub trait JudgeNothing: Sized {
    /// Says nothing.
    #[inline]
    fn judge(self, _verdict: &mut Verdict) {}
}

impl<T: ?Sized> JudgeNothing for Probe<'_, T> {}
