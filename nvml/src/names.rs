//! Metric names in two styles.
//!
//! A metric that the conventions have a name for is declared once in each style, with the labels of that style. `show_as!` and
//! `add_as!` touch the one of the chosen style and leave the other alone.

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

/// Sets a gauge, or leaves a gap.
macro_rules! show {
    ($($gauge:ident)::+ ($($label:expr),*) = $value:expr) => {
        match $value {
            Some(value) => $($gauge)::+.set(value, ($($label,)*)),
            None => $($gauge)::+.clear(($($label,)*)),
        }
    };
}

/// Sets a gauge under its name in the chosen style, or leaves a gap. The short form is for metrics with the same identifier in the
/// modules `ours` and `conventional`, and the same labels.
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

/// Adds to a counter under its name in the chosen style; with the same two forms.
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
