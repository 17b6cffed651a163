//! OpenTelemetry's instruments: with attributes at each call, and bound to known attributes (experimental).

use std::hint::black_box;
use std::sync::OnceLock;

use opentelemetry::metrics::{BoundCounter, BoundHistogram, Counter, Gauge, Histogram};
use opentelemetry::{KeyValue, global};

use super::super::{Contender, ours::third, repeat_labelled};
use super::text;
use crate::peers::sdk;
use crate::work::Letter;

pub const CONTENDERS: &[Contender] = &[
    ("opentelemetry, counter, no labels", || repeat_labelled(|x, _, _| all().counter.add(x, &[]))),
    ("opentelemetry, counter, 2 labels", || repeat_labelled(|x, one, two| all().counter.add(x, &pair(one, two)))),
    ("opentelemetry, counter, 3 labels", || repeat_labelled(|x, one, two| all().counter.add(x, &triple(x, one, two)))),
    ("opentelemetry, counter, 2 labels, bound", || repeat_labelled(|x, _, _| all().bound_counter.add(x))),
    ("opentelemetry, gauge, 2 labels", || repeat_labelled(|x, one, two| all().gauge.record(x, &pair(one, two)))),
    ("opentelemetry, histogram, no labels", || repeat_labelled(|x, _, _| all().histogram.record(x as f64, &[]))),
    ("opentelemetry, histogram, 2 labels", || {
        repeat_labelled(|x, one, two| all().histogram.record(x as f64, &pair(one, two)));
    }),
    ("opentelemetry, histogram, 3 labels", || {
        repeat_labelled(|x, one, two| all().histogram.record(x as f64, &triple(x, one, two)));
    }),
    ("opentelemetry, histogram, 2 labels, bound", || repeat_labelled(|x, _, _| all().bound_histogram.record(x as f64))),
];

struct Instruments {
    counter: Counter<u64>,
    gauge: Gauge<u64>,
    histogram: Histogram<f64>,
    bound_counter: BoundCounter<u64>,
    bound_histogram: BoundHistogram<f64>,
}

static INSTRUMENTS: OnceLock<Instruments> = OnceLock::new();

fn all() -> &'static Instruments {
    INSTRUMENTS.get().expect("installed before")
}

pub fn install() {
    // The provider is global and keeps reading.
    black_box(sdk::metrics());
    let meter = global::meter("bench");
    let (counter, histogram) = (meter.u64_counter("bench").build(), meter.f64_histogram("bench.duration").build());
    let labels = pair(Letter::A, Letter::B);
    let (bound_counter, bound_histogram) = (counter.bind(&labels), histogram.bind(&labels));
    let gauge = meter.u64_gauge("bench.used").build();
    INSTRUMENTS.get_or_init(|| Instruments { counter, gauge, histogram, bound_counter, bound_histogram });
}

fn pair(one: Letter, two: Letter) -> [KeyValue; 2] {
    [KeyValue::new("bench.one", text(one)), KeyValue::new("bench.two", text(two))]
}

fn triple(x: u64, one: Letter, two: Letter) -> [KeyValue; 3] {
    let [first, second] = pair(one, two);
    [first, second, KeyValue::new("bench.three", text(third(x)))]
}
