//! One table of all that has a name in both styles: what of a sample it is, and which metrics show it.
//!
//! A metric that the conventions have no name for is not in it, and has its own name in both styles.

use crate::gpu::conventional::{self as hw, Component, ErrorType, Id, Sensor, Task};
use crate::gpu::metrics::*;
use crate::gpu::sample::Sample;

/// A GPU as metrics know it.
#[derive(Clone, Copy)]
pub(crate) struct Subject {
    pub(crate) gpu: u32,
    /// What the conventions call it, if metrics are to have their names.
    pub(crate) id: Option<Id>,
}

/// A value of a sample, under both names.
pub(crate) struct Row {
    pub(crate) value: fn(&Sample) -> Option<f64>,
    /// Sets `tc_gpu_*`, or leaves a gap.
    pub(crate) own: Option<fn(u32, Option<f64>)>,
    /// Sets `hw.*`, or leaves a gap.
    pub(crate) conventional: fn(Id, Option<f64>),
    /// What the value is divided by for the conventions, which have fractions where we have percent.
    pub(crate) divisor: f64,
}

impl Row {
    /// Sets the metric of the chosen style, or leaves a gap.
    pub(crate) fn show(&self, of: Subject, sample: &Sample) {
        let value = (self.value)(sample);
        match of.id {
            None => self.own.into_iter().for_each(|set| set(of.gpu, value)),
            Some(id) => (self.conventional)(id, value.map(|value| value / self.divisor)),
        }
    }
}

/// A count of the driver, under both names.
pub(crate) struct CounterRow {
    /// The count as the driver has it.
    pub(crate) reading: fn(&Sample) -> Option<u64>,
    /// Adds to `tc_gpu_*`.
    pub(crate) own: fn(u32, u64),
    /// Adds to `hw.*`.
    pub(crate) conventional: fn(Id, u64),
}

impl CounterRow {
    /// Adds to the metric of the chosen style.
    pub(crate) fn add(&self, of: Subject, amount: u64) {
        match of.id {
            None => (self.own)(of.gpu, amount),
            Some(id) => (self.conventional)(id, amount),
        }
    }
}

/// A function that sets a gauge, or leaves a gap.
macro_rules! gauge {
    ($gauge:path, $type:ty, $of:ident $(, $label:expr)*) => {
        |$of, value| match value {
            Some(value) => $gauge.set(value as $type, ($of, $($label,)*)),
            None => $gauge.clear(($of, $($label,)*)),
        }
    };
}

/// `value => own, convention [its type] (its label) / divisor;`
macro_rules! rows {
    ($($value:expr => $own:expr, $gauge:path [$type:ty] $(($label:expr))? / $divisor:expr;)+) => {
        &[$(Row {
            value: $value,
            own: $own,
            conventional: gauge!($gauge, $type, id, Component::Gpu $(, $label)?),
            divisor: $divisor,
        }),+]
    };
}

macro_rules! own {
    ($gauge:path [$type:ty]) => {
        Some(gauge!($gauge, $type, gpu))
    };
}

/// All gauges with a name in the conventions.
pub(crate) const GAUGES: &[Row] = rows! {
    |of| of.utilization.map(|(gpu, _)| f64::from(gpu))
        => own!(UTILIZATION [f64]), hw::UTILIZATION [f64] (Task::General) / 100.0;
    |of| of.details.encoder.map(f64::from)
        => own!(ENCODER [f64]), hw::UTILIZATION [f64] (Task::Encoder) / 100.0;
    |of| of.details.decoder.map(f64::from)
        => own!(DECODER [f64]), hw::UTILIZATION [f64] (Task::Decoder) / 100.0;
    |of| of.memory.map(|memory| memory.used as f64)
        => own!(MEMORY_USED [u64]), hw::MEMORY_USAGE [u64] / 1.0;
    |of| of.memory.map(|memory| memory.total as f64)
        => own!(MEMORY_SIZE [u64]), hw::MEMORY_LIMIT [u64] / 1.0;
    // Ours is found by dividing the two above.
    |of| of.memory.filter(|memory| memory.total > 0).map(|memory| memory.used as f64 / memory.total as f64)
        => None, hw::MEMORY_UTILIZATION [f64] / 1.0;
    |of| of.temperature.map(f64::from)
        => own!(TEMPERATURE [f64]), hw::TEMPERATURE [f64] (Sensor::Gpu) / 1.0;
    |of| of.memory_temperature.map(|degrees| degrees as f64)
        => own!(MEMORY_TEMPERATURE [f64]), hw::TEMPERATURE [f64] (Sensor::Memory) / 1.0;
    |of| of.power.map(|milliwatts| f64::from(milliwatts) / 1e3)
        => own!(POWER [f64]), hw::POWER [f64] / 1.0;
};

/// All counters with a name in the conventions.
pub(crate) const COUNTERS: [CounterRow; 3] = [
    CounterRow {
        reading: |of| of.energy,
        own: |gpu, millijoules| ENERGY.add(millijoules as f64 / 1e3, (gpu,)),
        conventional: |id, millijoules| hw::ENERGY.add(millijoules as f64 / 1e3, (id, Component::Gpu)),
    },
    CounterRow {
        reading: |of| of.ecc_corrected,
        own: |gpu, errors| ECC_ERRORS.add(errors, (gpu, Severity::Corrected)),
        conventional: |id, errors| hw::ERRORS.add(errors, (id, Component::Gpu, CORRECTED)),
    },
    CounterRow {
        reading: |of| of.ecc_uncorrected,
        own: |gpu, errors| ECC_ERRORS.add(errors, (gpu, Severity::Uncorrected)),
        conventional: |id, errors| hw::ERRORS.add(errors, (id, Component::Gpu, UNCORRECTED)),
    },
];

const CORRECTED: ErrorType = ErrorType::Memory(Severity::Corrected);
const UNCORRECTED: ErrorType = ErrorType::Memory(Severity::Uncorrected);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tracecast::testing::capture;
    use tracecast::{InternedKey, MetricPoints, PointValue};

    use super::*;
    use crate::gpu::publish::{self, Totals};
    use crate::gpu::sample::{Details, Memory};

    fn sample() -> Sample {
        Sample {
            utilization: Some((87, 40)),
            memory: Some(Memory { used: 600, total: 1000, reserved: Some(10) }),
            temperature: Some(61),
            memory_temperature: Some(70),
            power: Some(250_500),
            energy: Some(4000),
            ecc_corrected: Some(2),
            ecc_uncorrected: Some(1),
            throughput: [Some(5), Some(7)],
            details: Details { encoder: Some(5), decoder: Some(7), ..Details::default() },
            ..Sample::default()
        }
    }

    fn id() -> Id {
        hw::hw_id::intern("GPU-table")
    }

    /// The name, unit and value of the only series that was touched.
    fn only(made: impl FnOnce()) -> (String, &'static str, f64) {
        let captured = capture(made);
        let [metric] = captured.metrics.as_slice() else { panic!("{captured:?}") };
        let [point] = metric.points.as_slice() else { panic!("{captured:?}") };
        let value = match point.value {
            PointValue::U64(value) => value as f64,
            PointValue::F64(value) => value,
            ref other => panic!("{other:?}"),
        };
        (metric.name.to_string(), metric.meta.unwrap().unit, value)
    }

    #[test]
    fn both_styles_of_a_gauge_say_the_same_in_their_units() {
        let sample = sample();
        for row in GAUGES {
            let conventional = only(|| row.show(Subject { gpu: 0, id: Some(id()) }, &sample));
            assert!(conventional.0.starts_with("hw."), "{conventional:?}");
            if row.own.is_none() {
                assert_eq!(conventional, ("hw.gpu.memory.utilization".to_owned(), "1", 0.6));
                continue;
            }
            let own = only(|| row.show(Subject { gpu: 0, id: None }, &sample));
            assert!(own.0.starts_with("tc_gpu_"), "{own:?}");
            match own.1 {
                "%" => assert_eq!((conventional.1, conventional.2), ("1", own.2 / 100.0), "{own:?}"),
                unit => assert_eq!((conventional.1, conventional.2), (unit, own.2), "{own:?}"),
            }
        }
    }

    #[test]
    fn both_styles_of_a_counter_count_the_same() {
        for row in &COUNTERS {
            assert!((row.reading)(&sample()).is_some());
            let own = only(|| row.add(Subject { gpu: 0, id: None }, 1500));
            let conventional = only(|| row.add(Subject { gpu: 0, id: Some(id()) }, 1500));
            assert!(own.0.starts_with("tc_gpu_") && conventional.0.starts_with("hw."), "{own:?} {conventional:?}");
            assert_eq!(own.2, conventional.2, "{own:?}");
        }
    }

    /// The names of metrics that show anything of a whole sample.
    fn names(of: Subject) -> BTreeSet<String> {
        let captured = capture(|| {
            let mut totals = Totals::default();
            publish::gauges(of, &sample());
            publish::counters(of, &sample(), &mut totals, std::time::Duration::from_secs(1));
            publish::up(of, Some(true));
            publish::xid(of, Xid::new(79));
        });
        let shown = captured.metrics.iter().filter(|metric: &&MetricPoints| !metric.points.is_empty());
        shown.map(|metric| metric.name.to_string()).collect()
    }

    #[test]
    fn only_the_chosen_style_is_shown() {
        let own = names(Subject { gpu: 0, id: None });
        let conventional = names(Subject { gpu: 0, id: Some(id()) });
        assert!(own.iter().all(|name| name.starts_with("tc_gpu_")), "{own:?}");
        let both: Vec<_> = own.intersection(&conventional).collect();
        // Those that the conventions have no name for.
        assert_eq!(both, ["tc_gpu_memory_controller_utilization_percent", "tc_gpu_memory_reserved_bytes"]);
        let hw: Vec<_> = conventional.iter().filter(|name| name.starts_with("hw.")).collect();
        assert_eq!(
            hw,
            [
                "hw.energy",
                "hw.errors",
                "hw.gpu.io",
                "hw.gpu.memory.limit",
                "hw.gpu.memory.usage",
                "hw.gpu.memory.utilization",
                "hw.gpu.utilization",
                "hw.power",
                "hw.status",
                "hw.temperature"
            ]
        );
        assert_eq!(conventional.len(), hw.len() + both.len());
    }
}
