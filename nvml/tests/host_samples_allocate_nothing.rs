//! After the first sample of the host there is no allocation.

#![cfg(target_os = "linux")]

#[path = "../../runtime/tests/support/counting.rs"]
mod counting;

use std::path::Path;

use counting::ALLOCATIONS;
use tracecast::{Metering, MeteringConfig};
use tracecast_nvml::__bench::HostReader;
use tracecast_nvml::Names;

fn allocations_of_a_hundred_samples(root: &Path, names: Names) -> u64 {
    let mut reader = HostReader::open(root);
    reader.sample(names);
    reader.sample(names);
    let before = ALLOCATIONS.get();
    (0..100).for_each(|_| reader.sample(names));
    ALLOCATIONS.get() - before
}

#[test]
fn samples_after_the_first_allocate_nothing() {
    let _metering = Metering::start(MeteringConfig::default()).unwrap();
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    for names in [Names::Tracecast, Names::SemanticConventions] {
        for kernel in ["linux-6.8-v2-kubernetes", "linux-5.4-hybrid-docker"] {
            assert_eq!(allocations_of_a_hundred_samples(&recorded.join(kernel), names), 0, "{kernel}, {names:?}");
        }
    }
    // Before Linux 6.2 open files have to be listed, which allocates.
    if std::fs::metadata("/proc/self/fd").unwrap().len() > 0 {
        assert_eq!(allocations_of_a_hundred_samples(Path::new("/"), Names::Tracecast), 0);
    }
}
