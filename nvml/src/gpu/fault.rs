//! What can be wrong with a driver, as a closed set.

use std::borrow::Cow;

use nvml_wrapper::error::NvmlError;
use tracecast::{Label, TcLabel};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TcLabel)]
pub(crate) enum Fault {
    /// There is no NVML library, or it cannot be loaded.
    LibraryAbsent,
    /// The kernel's part of the driver is not loaded.
    DriverNotLoaded,
    /// Library and kernel module are of different versions.
    VersionMismatch,
    /// This user may not do that.
    NoPermission,
    /// The GPU fell off the bus.
    GpuLost,
    /// The GPU has to be reset.
    ResetRequired,
    /// The driver was loaded again since.
    Uninitialized,
    /// There is no such GPU, or no longer.
    NotFound,
    /// The GPU cannot do that.
    NotSupported,
    /// The library has no such function.
    FunctionAbsent,
    /// It took too long.
    Timeout,
    /// The wrapper panicked.
    Panicked,
    /// Anything else.
    #[tc_label(other)]
    Other,
}

/// `NVML_ERROR_GPU_NOT_FOUND`, for which the wrapper has no name.
const GPU_NOT_FOUND: u32 = 28;
/// `NVML_ERROR_DEPRECATED`, for which it has none either.
const DEPRECATED: u32 = 26;

impl Fault {
    /// Whether handles are worth nothing from now on.
    pub(crate) fn ends_generation(self) -> bool {
        use Fault::{DriverNotLoaded, GpuLost, NotFound, ResetRequired, Uninitialized, VersionMismatch};
        matches!(self, GpuLost | ResetRequired | Uninitialized | VersionMismatch | DriverNotLoaded | NotFound)
    }

    /// The fault as in labels.
    pub(crate) fn text(self) -> &'static str {
        match <Fault as Label>::value(self.ordinal()) {
            Cow::Borrowed(text) => text,
            Cow::Owned(_) => unreachable!("the texts of a derived label are constants"),
        }
    }

    /// Whether asking again soon is in vain.
    pub(crate) fn is_absence(self) -> bool {
        matches!(self, Fault::NotSupported | Fault::FunctionAbsent)
    }
}

impl From<&NvmlError> for Fault {
    fn from(error: &NvmlError) -> Self {
        match error {
            NvmlError::LibloadingError(_) | NvmlError::LibraryNotFound => Fault::LibraryAbsent,
            NvmlError::DriverNotLoaded => Fault::DriverNotLoaded,
            NvmlError::LibRmVersionMismatch => Fault::VersionMismatch,
            NvmlError::NoPermission | NvmlError::OperatingSystem => Fault::NoPermission,
            NvmlError::GpuLost => Fault::GpuLost,
            NvmlError::ResetRequired => Fault::ResetRequired,
            NvmlError::Uninitialized => Fault::Uninitialized,
            NvmlError::NotFound | NvmlError::UnexpectedVariant(GPU_NOT_FOUND) => Fault::NotFound,
            NvmlError::NotSupported | NvmlError::UnexpectedVariant(DEPRECATED) => Fault::NotSupported,
            NvmlError::FailedToLoadSymbol(_) | NvmlError::FunctionNotFound => Fault::FunctionAbsent,
            NvmlError::Timeout => Fault::Timeout,
            _ => Fault::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_the_wrapper_does_not_know_are_told_apart() {
        assert_eq!(Fault::from(&NvmlError::UnexpectedVariant(28)), Fault::NotFound);
        assert_eq!(Fault::from(&NvmlError::UnexpectedVariant(26)), Fault::NotSupported);
        assert_eq!(Fault::from(&NvmlError::UnexpectedVariant(27)), Fault::Other);
    }

    #[test]
    fn what_a_gpu_cannot_do_does_not_end_its_generation() {
        assert!(!Fault::NotSupported.ends_generation() && Fault::NotSupported.is_absence());
        assert!(Fault::GpuLost.ends_generation() && !Fault::GpuLost.is_absence());
    }
}
