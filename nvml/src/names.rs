//! Two naming styles for metrics.
//!
//! A metric with a conventional name is declared once in each style, with the labels of that style. `show_as!` and `add_as!`
//! update only the metric of the chosen style.

/// The naming style of metrics, which also determines their units.
///
/// ```
/// use tracecast_nvml::{Config, Names};
///
/// let config = Config::default().with_names(Names::SemanticConventions);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Names {
    /// Tracecast's names: `tc_gpu_utilization_percent`, `tc_process_memory_resident_bytes`.
    #[default]
    Tracecast,
    /// The names of OpenTelemetry's semantic conventions: `hw.gpu.utilization`, `process.memory.usage`. Metrics without a
    /// conventional name keep Tracecast's.
    SemanticConventions,
}

/// Sets a gauge, or clears it if the value is `None`.
macro_rules! show {
    ($($gauge:ident)::+ ($($label:expr),*) = $value:expr) => {
        match $value {
            Some(value) => $($gauge)::+.set(value, ($($label,)*)),
            None => $($gauge)::+.clear(($($label,)*)),
        }
    };
}

/// Sets the gauge of the chosen style, or clears it if the value is `None`. The short form is for metrics with the same
/// identifier in the modules `ours` and `conventional` and the same label values.
macro_rules! show_as {
    ($names:expr, $($ours:ident)::+ ($($our:expr),*), $($theirs:ident)::+ ($($their:expr),*) = $value:expr) => {
        match $names {
            $crate::Names::Tracecast => $crate::names::show!($($ours)::+ ($($our),*) = $value),
            $crate::Names::SemanticConventions => $crate::names::show!($($theirs)::+ ($($their),*) = $value),
        }
    };
    ($names:expr, $gauge:ident ($($label:expr),*) = $value:expr) => {
        $crate::names::show_as!($names, ours::$gauge($($label),*), conventional::$gauge($($label),*) = $value)
    };
}

/// Adds to the counter of the chosen style; it has the same two forms as `show_as!`.
macro_rules! add_as {
    ($names:expr, $($ours:ident)::+ ($($our:expr),*), $($theirs:ident)::+ ($($their:expr),*) += $amount:expr) => {
        match $names {
            $crate::Names::Tracecast => $($ours)::+.add($amount, ($($our,)*)),
            $crate::Names::SemanticConventions => $($theirs)::+.add($amount, ($($their,)*)),
        }
    };
    ($names:expr, $counter:ident ($($label:expr),*) += $amount:expr) => {
        $crate::names::add_as!($names, ours::$counter($($label),*), conventional::$counter($($label),*) += $amount)
    };
}

pub(crate) use {add_as, show, show_as};
