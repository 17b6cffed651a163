//! The faults of a driver, as a closed set.

use std::borrow::Cow;

use nvml_wrapper::error::NvmlError;
use tracecast::{Label, TcLabel};

/// A fault of the driver, the library or a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TcLabel)]
pub(crate) enum Fault {
    /// The NVML library does not exist or cannot be loaded.
    LibraryAbsent,
    /// The kernel module is not loaded.
    DriverNotLoaded,
    /// The versions of the library and the kernel module differ.
    VersionMismatch,
    /// The user lacks the permission.
    NoPermission,
    /// The GPU fell off the bus.
    GpuLost,
    /// The GPU has to be reset.
    ResetRequired,
    /// The driver was reloaded.
    Uninitialized,
    /// The GPU does not exist (any more).
    NotFound,
    /// The GPU does not support the query.
    NotSupported,
    /// The library lacks the function.
    FunctionAbsent,
    /// The call took too long.
    Timeout,
    /// The wrapper panicked.
    Panicked,
    /// Any other fault.
    #[tc_label(other)]
    Other,
}

/// `NVML_ERROR_GPU_NOT_FOUND`, which the wrapper does not define.
const GPU_NOT_FOUND: u32 = 28;
/// `NVML_ERROR_DEPRECATED`, which the wrapper does not define.
const DEPRECATED: u32 = 26;

impl Fault {
    /// Returns whether the driver's handles are invalid after this fault.
    pub(crate) fn ends_generation(self) -> bool {
        use Fault::{DriverNotLoaded, GpuLost, NotFound, ResetRequired, Uninitialized, VersionMismatch};
        matches!(self, GpuLost | ResetRequired | Uninitialized | VersionMismatch | DriverNotLoaded | NotFound)
    }

    /// The label value of the fault.
    pub(crate) fn text(self) -> &'static str {
        match <Fault as Label>::value(self.ordinal()) {
            Cow::Borrowed(text) => text,
            Cow::Owned(_) => unreachable!("the texts of a derived label are constants"),
        }
    }

    /// Returns whether the query is unsupported, so that repeating it soon is useless.
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
