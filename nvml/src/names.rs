//! How metrics are called.

/// How metrics are called, and in which units they are.
///
/// ```
/// use tracecast_nvml::{Config, Names};
///
/// let config = Config::default().with_names(Names::SemanticConventions);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Names {
    /// As all metrics of Tracecast are: `tc_gpu_utilization_percent`, `tc_process_memory_resident_bytes`.
    #[default]
    Tracecast,
    /// As OpenTelemetry's semantic conventions have them: `hw.gpu.utilization`, `process.memory.usage`. What those have no
    /// name for keeps that of Tracecast.
    SemanticConventions,
}
