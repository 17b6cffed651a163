//! A metric that is declared twice with different shapes is an error at the start, which names both places.
//!
//! MetricsGuard cannot start in a process with such a declaration, so this is a program of its own.

use tracecast::MetricsError;
use tracecast::keys::{device, tensor::source};
use tracecast::prelude::*;
use tracecast::testing::{MetricsConfig, MetricsGuard};

tc_metrics! {
    /// Loads, by source.
    static BY_SOURCE: Counter<(source,)> = "tc_loads_total";
}

mod elsewhere {
    use super::*;

    tc_metrics! {
        /// Loads, by device.
        pub(crate) static BY_DEVICE: Counter<(device,)> = "tc_loads_total";
    }
}

#[test]
fn both_places_are_named_and_nothing_is_switched_on() {
    // Where there are no link sections, metrics are known once they are used.
    tracecast::testing::capture(|| {
        BY_SOURCE.add(1_u64, (tracecast::keys::tensor::SourceType::Disk,));
        elsewhere::BY_DEVICE.add(1_u64, (0_u32,));
    });
    let error = MetricsGuard::start(MetricsConfig::default()).unwrap_err();
    let [first, second] = [BY_SOURCE.declaration(), elsewhere::BY_DEVICE.declaration()].map(|meta| meta.location);
    assert_eq!(
        error.to_string(),
        format!(
            "metric `tc_loads_total` is declared twice with different shapes: \
             Counter of U64 in no unit by [tc.source.type(2)] at {first}, and \
             Counter of U64 in no unit by [tc.device.id(17)] at {second}"
        )
    );
    assert!(matches!(error, MetricsError::Conflicts(conflicts) if conflicts.len() == 1));
    assert!(!BY_SOURCE.is_on());
    // It says so again, instead of being "on already".
    assert!(matches!(MetricsGuard::start(MetricsConfig::default()), Err(MetricsError::Conflicts(_))));
}
