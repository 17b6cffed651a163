//! What happens between two exports: minimum, mean and maximum of a window, and times that are counted.

use std::time::Duration;

use tracecast::testing::Snapshot;
use tracecast_nvml_fake::Fake;

use crate::kit::{Bench, of, up, value};

fn statistic(now: &Snapshot, name: &str, statistic: &str) -> Option<f64> {
    value(now, name, &[("gpu", "0"), ("statistic", statistic)])
}

#[test]
fn a_peak_between_two_exports_is_seen() {
    let script = |percent: u32, watts: u32, degrees: u32, megahertz: u32| {
        format!(
            "gpu0.utilization = {percent}; gpu0.power = {watts}000; gpu0.temperature = {degrees}; gpu0.clock_sm = {megahertz}"
        )
    };
    let mut bench = Bench::new(&script(20, 100, 40, 1000));
    let last = |now: &Snapshot| of(now, "tc_gpu_power_watts", "0");
    bench.until("the first", |now| last(now) == Some(100.0) && up(now, "0") == Some(1.0));
    bench.fake.script(&script(100, 700, 90, 500)).unwrap();
    bench.until("the peak", |now| last(now) == Some(700.0));
    bench.fake.script(&script(10, 90, 50, 2000)).unwrap();
    let snapshot = bench.until("after the peak", |now| last(now) == Some(90.0));
    for (name, minimum, maximum) in [
        ("tc_gpu_utilization_window_percent", 10.0, 100.0),
        ("tc_gpu_power_window_watts", 90.0, 700.0),
        ("tc_gpu_temperature_window_celsius", 40.0, 90.0),
    ] {
        let of = |what| statistic(&snapshot, name, what);
        assert_eq!((of("minimum"), of("maximum")), (Some(minimum), Some(maximum)), "{name}");
        assert!(of("mean").is_some_and(|mean| mean > minimum && mean < maximum), "{name}: {:?}", of("mean"));
    }
    let clock =
        |what| value(&snapshot, "tc_gpu_clock_window_hertz", &[("gpu", "0"), ("clock", "sm"), ("statistic", what)]);
    assert_eq!((clock("minimum"), clock("maximum")), (Some(5e8), Some(2e9)));
    // What is not known has no summary either.
    bench.fake.script("gpu0.fail = 15").unwrap();
    let snapshot = bench.until("it is lost", |now| up(now, "0") == Some(0.0));
    assert_eq!(statistic(&snapshot, "tc_gpu_power_window_watts", "maximum"), None);
}

#[test]
fn a_peak_is_forgotten_when_its_window_is_over() {
    let fake = Fake::new("gpu0.power = 700000").unwrap();
    let mut bench = Bench::with(fake, |config| config.with_window(Duration::from_millis(600)));
    let maximum = |now: &Snapshot| statistic(now, "tc_gpu_power_window_watts", "maximum");
    bench.until("the peak", |now| maximum(now) == Some(700.0));
    bench.fake.script("gpu0.power = 90000").unwrap();
    bench.until("it is over", |now| maximum(now) == Some(90.0));
}

#[test]
fn the_time_of_lowered_clocks_is_counted_in_seconds() {
    let script = |power: u64, thermal: u64| {
        format!(
            "gpu0.violation_power = {power}; gpu0.violation_thermal = {thermal}; gpu0.fail.violation_reliability = 3"
        )
    };
    let mut bench = Bench::new(&script(5_000_000_000, 0));
    let seconds =
        |now: &Snapshot, policy| value(now, "tc_gpu_violation_seconds_total", &[("gpu", "0"), ("policy", policy)]);
    bench.until("it counts from here", |now| seconds(now, "power") == Some(0.0));
    bench.fake.script(&script(7_500_000_000, 250_000_000)).unwrap();
    let snapshot = bench.until("it grows", |now| seconds(now, "power") == Some(2.5));
    assert_eq!((seconds(&snapshot, "thermal"), seconds(&snapshot, "board_limit")), (Some(0.25), Some(0.0)));
    assert_eq!(seconds(&snapshot, "reliability"), None);
}

#[test]
fn bytes_over_pcie_are_counted_where_the_driver_has_64_bits_for_them() {
    let script = |sent: u64| {
        format!("gpu0.pcie_bytes_sent = {sent}; gpu1.pcie_bytes_sent = {sent}; gpu1.short.pcie_bytes_sent = 1")
    };
    let mut bench = Bench::new(&script(4_000_000_000));
    let sent = |now: &Snapshot, gpu| value(now, "tc_gpu_pcie_bytes_total", &[("gpu", gpu), ("direction", "transmit")]);
    bench.until("it counts from here", |now| sent(now, "0") == Some(0.0) && up(now, "1") == Some(1.0));
    bench.fake.script(&script(9_000_000_000)).unwrap();
    let snapshot = bench.until("it grows", |now| sent(now, "0") == Some(5e9));
    assert_eq!(sent(&snapshot, "1"), None);
}
