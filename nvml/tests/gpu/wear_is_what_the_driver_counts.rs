//! Errors and damage: the driver's own numbers, also those from before the monitor started.

use tracecast::testing::Snapshot;
use tracecast_nvml_fake::Fake;

use crate::kit::{self, Bench, of, up, value};

const BAD: &str = "gpus = 2; gpu0.ecc_corrected = 7; gpu0.ecc_uncorrected = 55; gpu0.ecc_aggregate_corrected = 1000
    gpu0.ecc_aggregate_uncorrected = 60; gpu0.sram_corrected = 3; gpu0.sram_uncorrected = 5
    gpu0.sram_aggregate_corrected = 30; gpu0.sram_aggregate_uncorrected = 50; gpu0.sram_exceeded = 1
    gpu0.retired_single = 4; gpu0.retired_double = 2; gpu0.retired_pending = 1; gpu0.remapped_uncorrectable = 6
    gpu0.remapped_pending = 1; gpu0.replays = 900; gpu0.recovery_action = 2";

fn labelled(now: &Snapshot, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let labels: Vec<_> = [("gpu", "0")].into_iter().chain(labels.iter().copied()).collect();
    value(now, name, &labels)
}

#[track_caller]
fn check_bad(now: &Snapshot) {
    let check = |name, labels: &[(&str, &str)], expected| {
        assert_eq!(labelled(now, name, labels), Some(expected), "{name} {labels:?}")
    };
    for (name, volatile, aggregate) in [
        ("tc_gpu_ecc_reported_errors", [7.0, 55.0], [1000.0, 60.0]),
        ("tc_gpu_sram_ecc_reported_errors", [3.0, 5.0], [30.0, 50.0]),
    ] {
        for (lifetime, expected) in [("volatile", volatile), ("aggregate", aggregate)] {
            check(name, &[("severity", "corrected"), ("lifetime", lifetime)], expected[0]);
            check(name, &[("severity", "uncorrected"), ("lifetime", lifetime)], expected[1]);
        }
    }
    check("tc_gpu_sram_ecc_threshold_exceeded", &[], 1.0);
    check("tc_gpu_retired_pages", &[("cause", "single_bit")], 4.0);
    check("tc_gpu_retired_pages", &[("cause", "double_bit")], 2.0);
    check("tc_gpu_retired_pages_pending", &[], 1.0);
    check("tc_gpu_remapped_rows", &[("kind", "uncorrectable")], 6.0);
    check("tc_gpu_remapped_rows", &[("kind", "pending")], 1.0);
    check("tc_gpu_pcie_reported_replays", &[], 900.0);
    check("tc_gpu_recovery_action", &[("action", "node_reboot")], 1.0);
    check("tc_gpu_recovery_action", &[("action", "nothing")], 0.0);
}

#[test]
fn a_bad_gpu_reads_bad_also_after_the_monitor_was_started_again() {
    let mut bench = Bench::new(BAD);
    let are_up = |now: &Snapshot| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0);
    let snapshot = bench.until("both are up", are_up);
    check_bad(&snapshot);
    bench.monitor.take().unwrap().shutdown();
    let gone = bench.watched.snapshot();
    assert_eq!(of(&gone, "tc_gpu_pcie_reported_replays", "0"), None);
    bench.monitor = Some(tracecast_nvml::start(kit::config(&bench.fake)));
    let snapshot = bench.until("both are up again", are_up);
    check_bad(&snapshot);
    // What is counted here is what came since.
    assert_eq!(labelled(&snapshot, "tc_gpu_ecc_errors_total", &[("severity", "uncorrected")]), Some(0.0));
    assert_eq!(of(&snapshot, "tc_gpu_pcie_replays_total", "0"), Some(0.0));
    assert_eq!(of(&snapshot, "tc_gpu_pcie_reported_replays", "1"), Some(0.0));
}

#[test]
fn a_gpu_without_ecc_has_gaps_and_an_unknown_action_is_other() {
    let refused = "nvmlDeviceGetTotalEccErrors nvmlDeviceGetSramEccErrorStatus retired_single retired_pending";
    let refused: String = refused.split(' ').map(|what| format!("; gpu0.fail.{what} = 3")).collect();
    let mut bench = Bench::new(&format!("gpu0.recovery_action = 17{refused}"));
    let snapshot = bench.until("it is up", |now| up(now, "0") == Some(1.0));
    for name in ["tc_gpu_ecc_reported_errors", "tc_gpu_sram_ecc_reported_errors"] {
        assert_eq!(labelled(&snapshot, name, &[("severity", "corrected"), ("lifetime", "volatile")]), None, "{name}");
    }
    for name in ["tc_gpu_sram_ecc_threshold_exceeded", "tc_gpu_retired_pages_pending"] {
        assert_eq!(of(&snapshot, name, "0"), None, "{name}");
    }
    assert_eq!(labelled(&snapshot, "tc_gpu_retired_pages", &[("cause", "single_bit")]), None);
    assert_eq!(labelled(&snapshot, "tc_gpu_retired_pages", &[("cause", "double_bit")]), Some(0.0));
    assert_eq!(labelled(&snapshot, "tc_gpu_recovery_action", &[("action", "other")]), Some(1.0));
    assert_eq!(value(&snapshot, "tc_nvml_errors_total", &[("error", "not_supported")]), None);
}

#[test]
fn each_link_has_its_state_and_its_errors() {
    let script = "gpu0.nvlink_count = 4; gpu0.link_state.2 = 0; gpu0.link_crc.1 = 55; gpu0.fail.link_replay.3 = 3
        gpu1.nvlink_count = 2; gpu1.link_symbol = 9; gpu1.fail.link_crc = 3";
    let mut bench = Bench::with(Fake::new(script).unwrap(), |config| config);
    let snapshot = bench.until("both are up", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    let state = |link| labelled(&snapshot, "tc_gpu_nvlink_up", &[("link", link)]);
    assert_eq!(["0", "1", "2", "3", "4"].map(state), [Some(1.0), Some(1.0), Some(0.0), Some(1.0), None]);
    let errors = |gpu, link, kind| {
        value(&snapshot, "tc_gpu_nvlink_reported_errors", &[("gpu", gpu), ("link", link), ("kind", kind)])
    };
    assert_eq!((errors("0", "1", "crc"), errors("0", "2", "crc")), (Some(55.0), Some(0.0)));
    assert_eq!((errors("0", "3", "replay"), errors("0", "3", "recovery")), (None, Some(0.0)));
    // The counters of Blackwell, where those of its predecessors are gone.
    assert_eq!((errors("1", "1", "symbol"), errors("1", "1", "crc")), (Some(9.0), None));
    assert_eq!((errors("0", "1", "symbol"), errors("1", "2", "symbol")), (None, None));
}
