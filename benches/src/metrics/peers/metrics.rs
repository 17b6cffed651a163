//! `metrics` with its Prometheus exporter, which is never scraped; through its macros, and through stored handles.

use std::sync::OnceLock;

use metrics::{Counter, Histogram, counter, gauge, histogram};
use metrics_exporter_prometheus::PrometheusBuilder;

use super::super::{Contender, ours::third, repeat_labelled};
use super::text;
use crate::work::Letter;

pub const CONTENDERS: &[Contender] = &[
    ("metrics, counter, no labels", || repeat_labelled(|x, _, _| counter!("bench_plain").increment(x))),
    ("metrics, counter, 2 labels", || repeat_labelled(counter_two)),
    ("metrics, counter, 3 labels", || repeat_labelled(counter_three)),
    ("metrics, counter, 2 labels, handle kept", || repeat_labelled(|x, _, _| kept().0.increment(x))),
    ("metrics, gauge, 2 labels", || {
        repeat_labelled(|x, one, two| gauge!("bench_used", "one" => text(one), "two" => text(two)).set(x as f64));
    }),
    ("metrics, histogram, 2 labels", || {
        repeat_labelled(|x, one, two| {
            histogram!("bench_time", "one" => text(one), "two" => text(two)).record(x as f64)
        });
    }),
    ("metrics, histogram, 2 labels, handle kept", || repeat_labelled(|x, _, _| kept().1.record(x as f64))),
];

static RENDER: OnceLock<metrics_exporter_prometheus::PrometheusHandle> = OnceLock::new();

/// With buckets, as its documentation recommends for histograms that are aggregated; upkeep moves values into them.
pub fn install() {
    RENDER.get_or_init(|| {
        let buckets = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];
        let builder = PrometheusBuilder::new().set_buckets(&buckets).expect("there are some");
        let handle = builder.install_recorder().expect("no other recorder");
        let upkeep = handle.clone();
        // As its documentation requires without a running exporter: values are kept until upkeep runs.
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(std::time::Duration::from_millis(100));
                upkeep.run_upkeep();
            }
        });
        handle
    });
}

fn kept() -> &'static (Counter, Histogram) {
    static KEPT: OnceLock<(Counter, Histogram)> = OnceLock::new();
    KEPT.get_or_init(|| {
        (counter!("bench", "one" => "a", "two" => "b"), histogram!("bench_time", "one" => "a", "two" => "b"))
    })
}

fn counter_two(x: u64, one: Letter, two: Letter) {
    counter!("bench", "one" => text(one), "two" => text(two)).increment(x);
}

fn counter_three(x: u64, one: Letter, two: Letter) {
    counter!("bench_three", "one" => text(one), "two" => text(two), "three" => text(third(x))).increment(x);
}
