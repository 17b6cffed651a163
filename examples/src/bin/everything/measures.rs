//! Metrics of every kind, in two rounds, to tell cumulative and delta values apart.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use tracecast::keys::tensor::{SourceType, source};
use tracecast::prelude::*;
use tracecast::{Context, Observation};

use super::made::{
    Attributes, Metric, Point, Sampled, Scope, Watch, attributes, double, ids, made, now, text, watched,
};
use super::spans::{Phase, keys};

tc_metrics! {
    /// Whole numbers that add up.
    static BYTES: Counter<(keys::phase, keys::slot)> = "tc_everything_bytes_total";
    /// Fractions that add up.
    static SPENT: Counter<(), f64> = "tc_everything_spent_total" { unit: "{credit}" };
    /// Whole numbers up and down.
    static ACTIVE: UpDownCounter<(keys::tenant,)> = "tc_everything_active";
    /// Fractions up and down.
    static BALANCE: UpDownCounter<(), f64> = "tc_everything_balance" { unit: "{credit}" };
    /// The last fraction.
    static TEMPERATURE: Gauge<(keys::slot,)> = "tc_everything_temperature_celsius";
    /// The last signed number.
    static DRIFT: Gauge<(), i64> = "tc_everything_drift";
    /// The last unsigned number.
    static USED: Gauge<(), u64> = "tc_everything_used_bytes";
    /// A value that is asked for.
    static ASKED: ObservableGauge<(keys::phase,), i64> = "tc_everything_asked";
    /// Fractions in buckets.
    static LATENCY: Histogram<(keys::phase,)> = "tc_everything_latency_seconds" { buckets: [0.25, 1, 4] };
    /// Whole numbers in buckets.
    static TOKENS: Histogram<(), u64> = "tc_everything_tokens" { buckets: [0, 10, 100], unit: "{token}" };
    /// Fractions in exponential buckets.
    static SPREAD: Histogram<()> = "tc_everything_spread_seconds" { exponential };
    /// Whole numbers in exponential buckets.
    static SIZES: Histogram<(), u64> = "tc_everything_size_bytes" { exponential };
}

// What is done in each round. Sums of these fractions are exact.
const PREFILL: [&[u64]; 2] = [&[5, 7], &[1]];
const DECODE: [&[u64]; 2] = [&[0], &[]];
const LARGE: [&[u64]; 2] = [&[1 << 60], &[1 << 60]];
const CREDITS: [&[f64]; 2] = [&[0.5, 0.25], &[8.0]];
const GOLD: [&[i64]; 2] = [&[3, -5], &[1]];
const TIN: [&[i64]; 2] = [&[4], &[]];
const OWED: [&[f64]; 2] = [&[-2.5, 1.0], &[0.25]];
const DEGREES: [&[f64]; 2] = [&[20.0, -3.5], &[]];
const MELTED: [&[f64]; 2] = [&[99.0], &[]];
const DRIFTS: [&[i64]; 2] = [&[-1], &[0]];
const IN_USE: [&[u64]; 2] = [&[0], &[i64::MAX as u64]];
const ANSWERS: [i64; 2] = [-40, 42];
const SECONDS: [&[f64]; 2] = [&[0.125, 0.25, 0.5, 3.0, 100.0], &[0.375]];
const COUNTS: [&[u64]; 2] = [&[0, 10, 11, 1000], &[10]];
const SPREADS: [&[f64]; 2] = [&[0.0, 0.0078125, 3.0, 100.0], &[0.75]];
const BYTE_SIZES: [&[u64]; 2] = [&[0, 1, 3, 5 << 40], &[5]];

static ANSWER: AtomicI64 = AtomicI64::new(0);
static OBSERVATIONS: Mutex<Vec<Observation>> = Mutex::new(Vec::new());

pub(crate) fn make(round: usize) {
    PREFILL[round].iter().for_each(|amount| BYTES.add(*amount, (Phase::Prefill, 2_u32)));
    DECODE[round].iter().for_each(|amount| BYTES.add(*amount, (Phase::Decode, 9_u32)));
    LARGE[round].iter().for_each(|amount| BYTES.add(*amount, (Phase::Decode, 0_u32)));
    CREDITS[round].iter().for_each(|amount| SPENT.add(*amount, ()));
    GOLD[round].iter().for_each(|amount| ACTIVE.add(*amount, ("gold",)));
    TIN[round].iter().for_each(|amount| ACTIVE.add(*amount, ("tin",)));
    OWED[round].iter().for_each(|amount| BALANCE.add(*amount, ()));
    DEGREES[round].iter().for_each(|value| TEMPERATURE.set(*value, (1_u32,)));
    MELTED[round].iter().for_each(|value| TEMPERATURE.set(*value, (2_u32,)));
    if round == 1 {
        TEMPERATURE.clear((2_u32,));
    }
    DRIFTS[round].iter().for_each(|value| DRIFT.set(*value, ()));
    IN_USE[round].iter().for_each(|value| USED.set(*value, ()));
    ANSWER.store(ANSWERS[round], Relaxed);
    if round == 0 {
        let asked = ASKED.observe((Phase::Prefill,), || Some(ANSWER.load(Relaxed)));
        let unknown = ASKED.observe((Phase::Decode,), || None);
        OBSERVATIONS.lock().unwrap_or_else(PoisonError::into_inner).extend([asked, unknown]);
    }
    // No span is current: no exemplars.
    SECONDS[round].iter().for_each(|value| LATENCY.record(*value, (Phase::Decode,)));
    watched(|watch| measured(watch, round));
    let _ = timed(SourceType::Disk, round == 0);
}

/// Inside of a sampled span measurements become exemplars.
#[tc_span("Everything/Measure")]
fn measured(watch: Watch, round: usize) {
    watch.inside("Everything/Measure", "internal", []);
    let prefill = || attributes([("tc.phase", text("prefill"))]);
    for value in SECONDS[round] {
        let record = || LATENCY.record(*value, (Phase::Prefill,));
        sampled("tc_everything_latency_seconds", prefill(), round, *value, record);
    }
    for value in COUNTS[round] {
        sampled("tc_everything_tokens", Attributes::new(), round, *value as f64, || TOKENS.record(*value, ()));
    }
    for value in SPREADS[round] {
        sampled("tc_everything_spread_seconds", Attributes::new(), round, *value, || SPREAD.record(*value, ()));
    }
    for value in BYTE_SIZES[round] {
        sampled("tc_everything_size_bytes", Attributes::new(), round, *value as f64, || SIZES.record(*value, ()));
    }
    watch.ending();
}

fn sampled(metric: &'static str, attributes: Attributes, round: usize, value: f64, record: impl FnOnce()) {
    let before = now();
    record();
    let time = [before, now()];
    let (trace_id, span_id) = ids(&Context::current());
    let value = double(value);
    made().sampled.push(Sampled { metric, attributes, round, value, time, trace_id, span_id });
}

/// Durations of calls by round: between zero and this.
static CALLS: Mutex<[Vec<f64>; 2]> = Mutex::new([Vec::new(), Vec::new()]);

fn timed(from: SourceType, succeeds: bool) -> Result<(), std::io::Error> {
    let before = now();
    let result = call(from, succeeds);
    let seconds = (now() - before) as f64 / 1e9;
    CALLS.lock().unwrap_or_else(PoisonError::into_inner)[usize::from(!succeeds)].push(seconds);
    result
}

#[tc_metric(calls = "tc_everything_calls_total", errors = "tc_everything_errors_total",
            duration = "tc_everything_call_seconds", in_flight = "tc_everything_calls_active",
            labels(source = from), buckets = [0.001, 1000.0])]
fn call(from: SourceType, succeeds: bool) -> Result<(), std::io::Error> {
    if succeeds { Ok(()) } else { Err(std::io::Error::other("on purpose")) }
}

fn number(value: impl Into<Value>) -> Value {
    json!({ "int": value.into() })
}

fn whole<T: Copy + Into<Value>>(rounds: [&[T]; 2]) -> [Vec<Value>; 2] {
    rounds.map(|values| values.iter().map(|value| number(*value)).collect())
}

fn fractions(rounds: [&[f64]; 2]) -> [Vec<Value>; 2] {
    rounds.map(|values| values.iter().map(|value| double(*value)).collect())
}

fn point<const N: usize>(labels: [(&str, &str); N], rounds: [Vec<Value>; 2]) -> Point {
    Point { attributes: attributes(labels.map(|(name, label)| (name, text(label)))), rounds }
}

/// A metric of Tracecast.
fn metric(name: &str, form: &'static str, unit: &str, description: &str, points: Vec<Point>) -> Metric {
    Metric {
        scope: Scope::ours(),
        name: name.to_owned(),
        unit: unit.to_owned(),
        description: description.to_owned(),
        form,
        monotonic: false,
        always_cumulative: false,
        bounds: None,
        points,
    }
}

/// Returns the expected metrics.
pub(crate) fn describe() {
    made().metrics.extend([sums(), gauges(), histograms(), calls()].into_iter().flatten());
}

fn sums() -> Vec<Metric> {
    let bytes = vec![
        point([("tc.phase", "prefill"), ("tc.slot", "2")], whole(PREFILL)),
        point([("tc.phase", "gen"), ("tc.slot", "other")], whole(DECODE)),
        point([("tc.phase", "gen"), ("tc.slot", "0")], whole(LARGE)),
    ];
    let active =
        vec![point([("tc.tenant.class", "gold")], whole(GOLD)), point([("tc.tenant.class", "other")], whole(TIN))];
    let counters = [
        metric("tc_everything_bytes_total", "sum", "By", "Whole numbers that add up.", bytes),
        metric(
            "tc_everything_spent_total",
            "sum",
            "{credit}",
            "Fractions that add up.",
            vec![point([], fractions(CREDITS))],
        ),
    ];
    let up_downs = [
        metric("tc_everything_active", "sum", "", "Whole numbers up and down.", active),
        metric("tc_everything_balance", "sum", "{credit}", "Fractions up and down.", vec![point([], fractions(OWED))]),
    ];
    let counters = counters.into_iter().map(|metric| Metric { monotonic: true, ..metric });
    counters.chain(up_downs.into_iter().map(|metric| Metric { always_cumulative: true, ..metric })).collect()
}

fn gauges() -> Vec<Metric> {
    let mut melted = fractions(MELTED);
    melted[1].push(Value::Null);
    let degrees = vec![point([("tc.slot", "1")], fractions(DEGREES)), point([("tc.slot", "2")], melted)];
    let answers = vec![point([("tc.phase", "prefill")], ANSWERS.map(|answer| vec![number(answer)]))];
    vec![
        metric("tc_everything_temperature_celsius", "gauge", "Cel", "The last fraction.", degrees),
        metric("tc_everything_drift", "gauge", "", "The last signed number.", vec![point([], whole(DRIFTS))]),
        metric("tc_everything_used_bytes", "gauge", "By", "The last unsigned number.", vec![point([], whole(IN_USE))]),
        metric("tc_everything_asked", "gauge", "", "A value that is asked for.", answers),
    ]
}

fn histograms() -> Vec<Metric> {
    let as_fractions =
        |rounds: [&[u64]; 2]| rounds.map(|values| values.iter().map(|value| double(*value as f64)).collect());
    let seconds = ["prefill", "gen"].map(|phase| point([("tc.phase", phase)], fractions(SECONDS))).to_vec();
    let latency = metric("tc_everything_latency_seconds", "histogram", "s", "Fractions in buckets.", seconds);
    let tokens = vec![point([], as_fractions(COUNTS))];
    let tokens = metric("tc_everything_tokens", "histogram", "{token}", "Whole numbers in buckets.", tokens);
    let spread = vec![point([], fractions(SPREADS))];
    let sizes = vec![point([], as_fractions(BYTE_SIZES))];
    vec![
        Metric { bounds: Some(vec![0.25, 1.0, 4.0]), ..latency },
        Metric { bounds: Some(vec![0.0, 10.0, 100.0]), ..tokens },
        metric("tc_everything_spread_seconds", "exponential", "s", "Fractions in exponential buckets.", spread),
        metric("tc_everything_size_bytes", "exponential", "By", "Whole numbers in exponential buckets.", sizes),
    ]
}

/// Returns the expected metrics of the annotated function.
fn calls() -> Vec<Metric> {
    let outcome =
        |outcome, rounds: [&[u64]; 2]| point([("tc.source.type", "disk"), ("outcome", outcome)], whole(rounds));
    let durations = CALLS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let durations = durations.map(|seconds| seconds.into_iter().map(double).collect());
    let all = vec![outcome("ok", [&[1], &[]]), outcome("error", [&[], &[1]])];
    let failed = vec![outcome("error", [&[], &[1]])];
    let active = vec![point([("tc.source.type", "disk")], whole([&[1_i64, -1], &[1, -1]]))];
    let took = vec![point([("tc.source.type", "disk")], durations)];
    vec![
        Metric { monotonic: true, ..metric("tc_everything_calls_total", "sum", "", "Calls of `call`", all) },
        Metric { monotonic: true, ..metric("tc_everything_errors_total", "sum", "", "Failed calls of `call`", failed) },
        Metric {
            always_cumulative: true,
            ..metric("tc_everything_calls_active", "sum", "", "Calls of `call` in progress", active)
        },
        Metric {
            bounds: Some(vec![0.001, 1000.0]),
            ..metric("tc_everything_call_seconds", "durations", "s", "Duration of `call`", took)
        },
    ]
}
