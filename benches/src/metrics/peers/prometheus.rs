//! prometheus-client: families of metrics by typed label sets.

use std::sync::LazyLock;

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::super::{Contender, ours::third, repeat_labelled};
use crate::work::Letter;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelValue)]
enum Value {
    A,
    B,
    C,
    D,
}

impl From<Letter> for Value {
    fn from(letter: Letter) -> Self {
        match letter {
            Letter::A => Value::A,
            Letter::B => Value::B,
            Letter::C => Value::C,
            Letter::D => Value::D,
        }
    }
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Two {
    one: Value,
    two: Value,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Three {
    one: Value,
    two: Value,
    three: Value,
}

fn two(one: Letter, two: Letter) -> Two {
    Two { one: one.into(), two: two.into() }
}

fn three(x: u64, one: Letter, two: Letter) -> Three {
    Three { one: one.into(), two: two.into(), three: third(x).into() }
}

#[derive(Default)]
struct Metrics {
    registry: Registry,
    counter: Counter,
    counter_two: Family<Two, Counter>,
    counter_three: Family<Three, Counter>,
    gauge_two: Family<Two, Gauge>,
    histogram_two: Option<Family<Two, Histogram>>,
}

static METRICS: LazyLock<Metrics> = LazyLock::new(|| {
    let mut all = Metrics::default();
    let histogram = Family::<Two, Histogram>::new_with_constructor(|| {
        Histogram::new([0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0])
    });
    all.registry.register("bench_plain", "Counted", all.counter.clone());
    all.registry.register("bench", "Counted by two labels", all.counter_two.clone());
    all.registry.register("bench_three", "Counted by three labels", all.counter_three.clone());
    all.registry.register("bench_used", "A gauge by two labels", all.gauge_two.clone());
    all.registry.register("bench_time", "A histogram by two labels", histogram.clone());
    all.histogram_two = Some(histogram);
    all
});

pub const CONTENDERS: &[Contender] = &[
    ("prometheus-client, counter, no labels", || {
        repeat_labelled(|x, _, _| {
            METRICS.counter.inc_by(x);
        });
    }),
    ("prometheus-client, counter, 2 labels", || {
        repeat_labelled(|x, first, second| {
            METRICS.counter_two.get_or_create(&two(first, second)).inc_by(x);
        });
    }),
    ("prometheus-client, counter, 3 labels", || {
        repeat_labelled(|x, first, second| {
            METRICS.counter_three.get_or_create(&three(x, first, second)).inc_by(x);
        });
    }),
    ("prometheus-client, gauge, 2 labels", || {
        repeat_labelled(|x, first, second| {
            METRICS.gauge_two.get_or_create(&two(first, second)).set(x as i64);
        });
    }),
    ("prometheus-client, histogram, 2 labels", || {
        repeat_labelled(|x, first, second| {
            let histogram = METRICS.histogram_two.as_ref().expect("made with the others");
            histogram.get_or_create(&two(first, second)).observe(x as f64);
        });
    }),
];
