//! The metrics that OpenTelemetry's semantic conventions define, and their labels.
//!
//! The names are from version 1.44 of the conventions, where they are in development and may change.
//!
//! The conventions' up-down counters (`hw.gpu.memory.usage`, `hw.status`) are gauges here, because a sum cannot have a gap.

use std::borrow::Cow;

use tracecast::{Key, Label, TcLabel, tc_keys, tc_metrics};

use crate::gpu::labels::{Direction, Severity};
use crate::gpu::xids::Xid;

/// The conventional identifier of a GPU: its UUID, or `gpu` and its label while the UUID is unknown.
pub(crate) type Id = <hw_id as Key>::Value;

/// The hardware type, which is the same for all metrics here.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Component {
    Gpu,
}

/// The engine whose utilization is measured.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Task {
    General,
    Encoder,
    Decoder,
}

/// The location of a temperature sensor.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Sensor {
    Gpu,
    Memory,
}

/// The consequence of exceeding a temperature limit.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum LimitType {
    #[tc_label(rename = "high.critical")]
    HighCritical,
    #[tc_label(rename = "high.degraded")]
    HighDegraded,
}

/// The state of a GPU.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Health {
    Ok,
    Failed,
}

/// The type of an error: `corrected`, `uncorrected`, `xid_` with a number, or `xid_other`.
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
    /// The kind of hardware.
    pub(crate) label component: Component = "hw.type";
    /// The task of the GPU.
    pub(crate) label task: Task = "hw.gpu.task";
    /// Where a temperature is measured.
    pub(crate) label sensor: Sensor = "hw.sensor_location";
    /// The effect of a limit.
    pub(crate) label limit_type: LimitType = "hw.limit_type";
    /// The state of the GPU.
    pub(crate) label health: Health = "hw.state";
    /// The kind of error.
    pub(crate) label error_type: ErrorType = "error.type";
    /// The direction of bytes.
    pub(crate) label io_direction: Direction = "network.io.direction";
}

tc_metrics! {
    /// Whether the GPU is in this state.
    pub(crate) static STATUS: Gauge<(hw_id, component, health), u64> = "hw.status" { unit: "1" };
    /// Fraction of time that the GPU spent on the task.
    pub(crate) static UTILIZATION: Gauge<(hw_id, component, task)> = "hw.gpu.utilization" { unit: "1" };
    /// Memory in use.
    pub(crate) static MEMORY_USAGE: Gauge<(hw_id, component), u64> = "hw.gpu.memory.usage" { unit: "By" };
    /// Total memory.
    pub(crate) static MEMORY_LIMIT: Gauge<(hw_id, component), u64> = "hw.gpu.memory.limit" { unit: "By" };
    /// Fraction of the memory that is in use.
    pub(crate) static MEMORY_UTILIZATION: Gauge<(hw_id, component)> = "hw.gpu.memory.utilization" { unit: "1" };
    /// Temperature.
    pub(crate) static TEMPERATURE: Gauge<(hw_id, component, sensor)> = "hw.temperature" { unit: "Cel" };
    /// Temperatures at which the GPU slows down or shuts down.
    pub(crate) static TEMPERATURE_LIMIT: Gauge<(hw_id, component, sensor, limit_type)> = "hw.temperature.limit" { unit: "Cel" };
    /// Power draw.
    pub(crate) static POWER: Gauge<(hw_id, component)> = "hw.power" { unit: "W" };
    /// Energy used since the monitor started.
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
