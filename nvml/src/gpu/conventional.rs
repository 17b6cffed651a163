//! The metrics that OpenTelemetry's semantic conventions have names for, and their labels.
//!
//! The names are those of version 1.44 of the conventions, in which they are in development and may change.
//!
//! What those count up and down (`hw.gpu.memory.usage`, `hw.status`) are gauges here: a sum cannot have a gap.

use std::borrow::Cow;

use tracecast::{Key, Label, TcLabel, tc_keys, tc_metrics};

use crate::gpu::labels::{Direction, Severity};
use crate::gpu::xids::Xid;

/// What the conventions call a GPU by: its UUID, or its index for as long as that is not known.
pub(crate) type Id = <hw_id as Key>::Value;

/// The type of all components here.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Component {
    Gpu,
}

/// What a GPU does.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Task {
    General,
    Encoder,
    Decoder,
}

/// Where a temperature is measured.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Sensor {
    Gpu,
    Memory,
}

/// What happens at a limit.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum LimitType {
    #[tc_label(rename = "high.critical")]
    HighCritical,
    #[tc_label(rename = "high.degraded")]
    HighDegraded,
}

/// How a GPU is.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Health {
    Ok,
    Failed,
}

/// What kind of error it was: `corrected`, `uncorrected`, `xid_79`, `xid_other`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ErrorType {
    Memory(Severity),
    Xid(Xid),
}

impl Label for ErrorType {
    const CARDINALITY: usize = Severity::CARDINALITY + Xid::CARDINALITY;

    fn ordinal(self) -> usize {
        match self {
            ErrorType::Memory(severity) => severity.ordinal(),
            ErrorType::Xid(xid) => Severity::CARDINALITY + xid.ordinal(),
        }
    }

    fn value(ordinal: usize) -> Cow<'static, str> {
        match ordinal.checked_sub(Severity::CARDINALITY) {
            None => Severity::value(ordinal),
            Some(xid) => format!("xid_{}", Xid::value(xid)).into(),
        }
    }
}

tc_keys! {
    /// The GPU, by its UUID.
    pub(crate) label hw_id: Interned<64> = "hw.id";
    /// What kind of hardware it is.
    pub(crate) label component: Component = "hw.type";
    /// What the GPU does.
    pub(crate) label task: Task = "hw.gpu.task";
    /// Where a temperature is measured.
    pub(crate) label sensor: Sensor = "hw.sensor_location";
    /// What happens at a limit.
    pub(crate) label limit_type: LimitType = "hw.limit_type";
    /// How the GPU is.
    pub(crate) label health: Health = "hw.state";
    /// What kind of error it was.
    pub(crate) label error_type: ErrorType = "error.type";
    /// Which way bytes go.
    pub(crate) label io_direction: Direction = "network.io.direction";
}

tc_metrics! {
    /// Whether the GPU is in this state.
    pub(crate) static STATUS: Gauge<(hw_id, component, health), u64> = "hw.status" { unit: "1" };
    /// Fraction of time in which the GPU did this.
    pub(crate) static UTILIZATION: Gauge<(hw_id, component, task)> = "hw.gpu.utilization" { unit: "1" };
    /// Memory in use.
    pub(crate) static MEMORY_USAGE: Gauge<(hw_id, component), u64> = "hw.gpu.memory.usage" { unit: "By" };
    /// All memory.
    pub(crate) static MEMORY_LIMIT: Gauge<(hw_id, component), u64> = "hw.gpu.memory.limit" { unit: "By" };
    /// Fraction of the memory that is in use.
    pub(crate) static MEMORY_UTILIZATION: Gauge<(hw_id, component)> = "hw.gpu.memory.utilization" { unit: "1" };
    /// Temperature.
    pub(crate) static TEMPERATURE: Gauge<(hw_id, component, sensor)> = "hw.temperature" { unit: "Cel" };
    /// Temperatures at which the GPU slows down or shuts down.
    pub(crate) static TEMPERATURE_LIMIT: Gauge<(hw_id, component, sensor, limit_type)> = "hw.temperature.limit" { unit: "Cel" };
    /// What it draws.
    pub(crate) static POWER: Gauge<(hw_id, component)> = "hw.power" { unit: "W" };
    /// What it used since the monitor started.
    pub(crate) static ENERGY: Counter<(hw_id, component), f64> = "hw.energy" { unit: "J" };
    /// Errors since the monitor started.
    pub(crate) static ERRORS: Counter<(hw_id, component, error_type)> = "hw.errors" { unit: "{error}", budget: 3600 };
    /// Bytes over PCIe since the monitor started; estimated from their rate at each sample if the driver does not count them.
    pub(crate) static IO: Counter<(hw_id, component, io_direction), f64> = "hw.gpu.io" { unit: "By" };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_error_has_its_own_text() {
        let text = |kind: ErrorType| ErrorType::value(kind.ordinal());
        assert_eq!(text(ErrorType::Memory(Severity::Uncorrected)), "uncorrected");
        assert_eq!(text(ErrorType::Xid(Xid::new(79))), "xid_79");
        assert_eq!(text(ErrorType::Xid(Xid::new(4711))), "xid_other");
        let texts: std::collections::BTreeSet<_> = (0..ErrorType::CARDINALITY).map(ErrorType::value).collect();
        assert_eq!(texts.len(), ErrorType::CARDINALITY);
    }
}
