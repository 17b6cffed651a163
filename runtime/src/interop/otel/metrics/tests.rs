use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use opentelemetry::metrics::{Meter, MeterProvider as _};
use opentelemetry::{Array, InstrumentationScope, KeyValue, StringValue, Value, global};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::ScopeMetrics;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::reader::MetricReader as _;
use opentelemetry_sdk::metrics::{Aggregation as SdkAggregation, Instrument, ManualReader, SdkMeterProvider, Stream};
use prost::Message as _;

use super::*;
use crate::config::{Aggregation, HistogramAggregation, InstrumentType, View, ViewSelector, ViewStream};
use crate::declare::metric::MetricKind;
use crate::declare::value::OwnedValue;
use crate::encode::resource::EncodedResource;
use crate::encode::{json, metrics as encode};
use crate::meter::exposition::Form;
use crate::meter::snapshot::{MetricPoints, PointValue, Snapshot, Temporality as Ours};

/// Serialises tests, because they share the global provider.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A time limit that is long enough for slow machines.
const PATIENCE: Duration = Duration::from_secs(20);

fn start(config: &Metrics) -> Meters {
    let mut meters = Meters::start(config);
    meters.patience = PATIENCE;
    meters
}

fn find<'a>(metrics: &'a [MetricPoints], name: &str) -> &'a MetricPoints {
    metrics.iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("no `{name}` in {metrics:?}"))
}

fn value(metrics: &[MetricPoints], name: &str, attributes: &[(&str, &str)]) -> PointValue {
    let metric = find(metrics, name);
    metric.value(attributes).unwrap_or_else(|| panic!("no {attributes:?} in {metric}")).clone()
}

fn snapshot(metrics: Vec<MetricPoints>) -> Snapshot {
    let (start_unix_nanos, time_unix_nanos) = (1, 2);
    Snapshot { start_unix_nanos, time_unix_nanos, metrics }
}

/// Decodes the exported protobuf and JSON with a third-party decoder.
fn sent(metrics: Vec<MetricPoints>) -> [Vec<ScopeMetrics>; 2] {
    let (resource, snapshot) = (EncodedResource::new(&[]), snapshot(metrics));
    let protobuf = encode::metrics_request(&resource, &snapshot);
    let protobuf = ExportMetricsServiceRequest::decode(&protobuf[..]).unwrap();
    let json: ExportMetricsServiceRequest =
        serde_json::from_slice(&json::metrics_request(&resource, &snapshot)).unwrap();
    [protobuf, json].map(|request| {
        let [resource] = <[_; 1]>::try_from(request.resource_metrics).unwrap();
        resource.scope_metrics
    })
}

/// Random numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 27) >> (self.0 >> 58)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound
    }

    fn fraction(&mut self) -> f64 {
        (self.below(1 << 40) as f64 - 5e11) / 1e9
    }

    fn attributes(&mut self) -> Vec<KeyValue> {
        let value = |random: &mut Random| match random.below(9) {
            0 => Value::Bool(random.below(2) == 0),
            1 => Value::I64(random.number() as i64),
            2 => Value::F64(random.fraction()),
            3 => Value::String("".into()),
            4 => Value::Array(Array::Bool(vec![true, false])),
            5 => Value::Array(Array::I64(vec![-1, random.below(9) as i64])),
            6 => Value::Array(Array::F64(Vec::new())),
            7 => Value::Array(Array::String(vec![StringValue::from("ä"), StringValue::from("")])),
            _ => Value::String("x".repeat(random.below(300) as usize).into()),
        };
        (0..self.below(4)).map(|at| KeyValue::new(format!("key.{at}"), value(self))).collect()
    }
}

/// Measures random amounts with instruments of all kinds.
fn measure(meter: &Meter, random: &mut Random) {
    let attributes = random.attributes();
    meter.u64_counter("u.counter").with_unit("By").build().add(random.below(1 << 40), &attributes);
    meter.f64_counter("f.counter").with_description("What?").build().add(random.fraction().abs(), &attributes);
    meter.i64_up_down_counter("i.level").build().add(random.below(9) as i64 - 4, &attributes);
    meter.f64_up_down_counter("f.level").build().add(random.fraction(), &attributes);
    meter.u64_gauge("u.gauge").build().record(random.below(9), &attributes);
    meter.i64_gauge("i.gauge").build().record(random.below(9) as i64 - 4, &attributes);
    meter.f64_gauge("f.gauge").build().record(random.fraction(), &attributes);
    meter.u64_histogram("u.histogram").build().record(random.number() >> 12, &attributes);
    meter
        .f64_histogram("f.histogram")
        .with_boundaries(vec![-1.5, 0.0, 9.0])
        .build()
        .record(random.fraction(), &attributes);
    meter.f64_histogram("f.exponential").build().record(random.fraction() * random.fraction(), &attributes);
    meter.u64_histogram("u.exponential").build().record(random.below(3), &attributes);
}

#[test]
fn requests_equal_those_of_opentelemetrys_conversion() {
    let exponential = |instrument: &Instrument| {
        let aggregation =
            SdkAggregation::Base2ExponentialHistogram { max_size: 20, max_scale: 20, record_min_max: true };
        let is = instrument.name().ends_with("exponential");
        is.then(|| Stream::builder().with_aggregation(aggregation).build().ok()).flatten()
    };
    let mut random = Random(1);
    let mut points = 0;
    for temporality in [Temporality::Cumulative, Temporality::Delta, Temporality::LowMemory] {
        let reader = Arc::new(ManualReader::builder().with_temporality(temporality).build());
        let preference = Preference::Cumulative;
        let shared = Reader { inner: reader.clone(), preference };
        // This reader has the temporality of the inner reader instead of ours.
        let provider = SdkMeterProvider::builder().with_view(exponential).with_reader(AsItIs(shared)).build();
        let meters = [
            provider.meter("plain"),
            provider.meter_with_scope(
                InstrumentationScope::builder("full")
                    .with_version("1.2")
                    .with_schema_url("https://example.org/1")
                    .with_attributes([KeyValue::new("a", 1), KeyValue::new("b", Value::Array(Array::I64(vec![2])))])
                    .build(),
            ),
        ];
        let observed = Arc::new(AtomicU64::new(0));
        for meter in &meters {
            let (counter, gauge) = (observed.clone(), observed.clone());
            meter
                .u64_observable_counter("o.counter")
                .with_callback(move |observer| observer.observe(counter.load(SeqCst), &[KeyValue::new("a", "b")]))
                .build();
            meter
                .f64_observable_gauge("o.gauge")
                .with_callback(move |observer| observer.observe(gauge.load(SeqCst) as f64 / 3.0, &[]))
                .build();
        }
        for _ in 0..30 {
            for meter in &meters {
                (0..random.below(8)).for_each(|_| measure(meter, &mut random));
            }
            observed.fetch_add(random.below(100), SeqCst);
            let mut read = ResourceMetrics::default();
            reader.collect(&mut read).unwrap();
            let [expected] = <[_; 1]>::try_from(ExportMetricsServiceRequest::from(&read).resource_metrics).unwrap();
            let mut expected = expected.scope_metrics;
            expected.sort_by_key(|scope| scope.scope.as_ref().map(|scope| scope.name.clone()));
            points += read.scope_metrics().flat_map(|scope| scope.metrics()).count();
            let converted = convert::metrics(&read);
            for (way, sent) in ["protobuf", "JSON"].into_iter().zip(sent(converted)) {
                assert_eq!(sent.len(), expected.len(), "{way}");
                for (sent, expected) in sent.iter().zip(&expected) {
                    assert_eq!((&sent.scope, &sent.schema_url), (&expected.scope, &expected.schema_url), "{way}");
                    assert_eq!(sent.metrics.len(), expected.metrics.len(), "{way}");
                    for (sent, expected) in sent.metrics.iter().zip(&expected.metrics) {
                        assert_eq!(sent, expected, "{way}");
                    }
                }
            }
        }
    }
    assert!(points > 1_000, "{points} metrics were compared");
}

#[derive(Debug)]
struct AsItIs(Reader);

impl MetricReader for AsItIs {
    fn register_pipeline(&self, pipeline: Weak<Pipeline>) {
        self.0.register_pipeline(pipeline);
    }

    fn collect(&self, metrics: &mut ResourceMetrics) -> OTelSdkResult {
        self.0.collect(metrics)
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn temporality(&self, kind: InstrumentKind) -> Temporality {
        self.0.inner.temporality(kind)
    }
}

#[test]
fn a_count_that_no_integer_can_hold_is_a_fraction() {
    let _turn = turn();
    let meters = start(&Metrics::default());
    global::meter("large").u64_counter("large").build().add(u64::MAX, &[]);
    let [protobuf, json] = sent(meters.collect(PATIENCE));
    assert_eq!(protobuf, json);
    use opentelemetry_proto::tonic::metrics::v1::{metric::Data, number_data_point::Value};
    let Some(Data::Sum(sum)) = &protobuf[0].metrics[0].data else { panic!("{protobuf:?}") };
    assert_eq!(sum.data_points[0].value, Some(Value::AsDouble(u64::MAX as f64)));
}

#[test]
fn global_instruments_count_until_telemetry_stops() {
    let _turn = turn();
    let meters = start(&Metrics::default());
    let counter = global::meter("lib").u64_counter("calls").build();
    counter.add(2, &[KeyValue::new("way", "in")]);
    assert_eq!(value(&meters.collect(PATIENCE), "calls", &[("way", "in")]), PointValue::U64(2));
    counter.add(3, &[KeyValue::new("way", "in")]);
    let metrics = meters.collect(PATIENCE);
    assert_eq!(value(&metrics, "calls", &[("way", "in")]), PointValue::U64(5));
    let calls = find(&metrics, "calls");
    assert_eq!((calls.kind, calls.temporality), (MetricKind::Counter, Ours::Cumulative));
    assert!(calls.start_unix_nanos.unwrap() <= calls.time_unix_nanos);
    meters.stop();
    assert!(meters.collect(PATIENCE).is_empty());
    let provider = global::meter_provider();
    provider.meter("lib").u64_counter("calls").build().add(1, &[]);
    let asked = Arc::new(AtomicBool::new(false));
    let ask = asked.clone();
    provider.meter("lib").u64_observable_gauge("late").with_callback(move |_| ask.store(true, SeqCst)).build();
    drop(meters);
    let again = start(&Metrics::default());
    assert!(again.collect(PATIENCE).is_empty(), "nothing is left of the first ones");
    assert!(!asked.load(SeqCst));
}

#[test]
fn each_kind_counts_from_where_its_preference_says() {
    let _turn = turn();
    for (preference, expected) in [
        (Preference::Cumulative, ["C", "C", "C", "C", "C"]),
        (Preference::Delta, ["D", "C", "D", "D", "C"]),
        (Preference::LowMemory, ["D", "C", "D", "C", "C"]),
    ] {
        let meters = start(&Metrics { temporality: preference, ..Metrics::default() });
        let meter = global::meter("kinds");
        let (counter, level) = (meter.u64_counter("counter").build(), meter.i64_up_down_counter("level").build());
        let histogram = meter.f64_histogram("histogram").build();
        let total = Arc::new(AtomicU64::new(0));
        let (up, down) = (total.clone(), total.clone());
        let o = meter.u64_observable_counter("o.counter");
        o.with_callback(move |observer| observer.observe(up.load(SeqCst), &[])).build();
        let o = meter.i64_observable_up_down_counter("o.level");
        o.with_callback(move |observer| observer.observe(down.load(SeqCst) as i64, &[])).build();
        let mut last = Vec::new();
        for _ in 0..2 {
            counter.add(7, &[]);
            level.add(7, &[]);
            histogram.record(7.0, &[]);
            total.fetch_add(7, SeqCst);
            last = meters.collect(PATIENCE);
        }
        let found = ["counter", "level", "histogram", "o.counter", "o.level"].map(|name| {
            let metric = find(&last, name);
            let [point] = &metric.points[..] else { panic!("{metric:?}") };
            let amount = match &point.value {
                PointValue::Histogram(point) => point.sum,
                number => number.as_f64(),
            };
            match (metric.temporality, amount) {
                (Ours::Cumulative, 14.0) => "C",
                (Ours::Delta, 7.0) => "D",
                other => panic!("{name}: {other:?}"),
            }
        });
        assert_eq!(found, expected, "{preference:?}");
        let scraped = meters.scrape(PATIENCE);
        assert_eq!(value(&scraped, "counter", &[]), PointValue::U64(14), "who is scraped sees all");
        assert_eq!(value(&scraped, "o.counter", &[]), PointValue::U64(14));
        assert!(scraped.iter().all(|metric| metric.temporality == Ours::Cumulative));
        counter.add(1, &[]);
        let exported = value(&meters.collect(PATIENCE), "counter", &[]);
        let expected = if expected[0] == "D" { 1 } else { 15 };
        assert_eq!(exported, PointValue::U64(expected), "exports do not notice who is scraped");
    }
}

#[test]
fn an_observed_counter_that_begins_anew_is_no_huge_number() {
    let _turn = turn();
    let meters = start(&Metrics { temporality: Preference::Delta, ..Metrics::default() });
    let shown = Arc::new(AtomicU64::new(10));
    let show = shown.clone();
    global::meter("lib")
        .u64_observable_counter("shown")
        .with_callback(move |observer| match show.load(SeqCst) {
            0 => {}
            number => observer.observe(number, &[]),
        })
        .build();
    let delta = |number: u64| {
        shown.store(number, SeqCst);
        let metrics = meters.collect(PATIENCE);
        metrics.iter().find(|metric| metric.name == "shown").map(|metric| metric.points[0].value.clone())
    };
    assert_eq!(delta(10), Some(PointValue::U64(10)));
    assert_eq!(delta(25), Some(PointValue::U64(15)));
    assert_eq!(delta(4), Some(PointValue::U64(4)));
    assert_eq!(delta(0), None, "it was not observed");
    assert_eq!(delta(9), Some(PointValue::U64(5)), "and goes on from where it was");
}

#[test]
fn a_callback_that_panics_or_hangs_blocks_no_other() {
    let _turn = turn();
    let meters = start(&Metrics::default());
    let meter = global::meter("lib");
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    meter.u64_observable_gauge("panics").with_callback(|_| panic!("on purpose")).build();
    meter
        .u64_observable_gauge("hangs")
        .with_callback(move |observer| {
            let _ = released.lock().unwrap_or_else(PoisonError::into_inner).recv();
            observer.observe(3, &[]);
        })
        .build();
    meter.u64_observable_gauge("works").with_callback(|observer| observer.observe(1, &[])).build();
    let counter = meter.u64_counter("calls").build();
    let has = |metrics: &[MetricPoints], name: &str| metrics.iter().any(|metric| metric.name == name);
    let until = |name: &str, patience: Duration| {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let metrics = meters.collect(patience);
            assert!(!has(&metrics, "panics"), "{metrics:?}");
            if has(&metrics, name) {
                return metrics;
            }
            assert!(Instant::now() < deadline, "no `{name}`");
        }
    };
    for round in 1..=3 {
        counter.add(1, &[]);
        // In the first collection no callback is marked as slow yet.
        let metrics = until("works", Duration::from_millis(300));
        assert_eq!(value(&metrics, "calls", &[]), PointValue::U64(round));
        assert_eq!(value(&metrics, "works", &[]), PointValue::U64(1));
        assert!(!has(&metrics, "hangs"), "{metrics:?}");
        // While the callback hangs, instruments can be made and used.
        meter.u64_counter(format!("made.{round}")).build().add(round, &[]);
    }
    drop(release);
    // Once the callback has returned, it is called again.
    let metrics = until("hangs", PATIENCE);
    assert_eq!(value(&metrics, "hangs", &[]), PointValue::U64(3));
    assert_eq!(value(&metrics, "made.3", &[]), PointValue::U64(3));
}

#[test]
fn a_collection_without_a_limit_does_not_wait_for_a_hanging_callback() {
    let _turn = turn();
    let mut meters = start(&Metrics::default());
    meters.patience = Duration::from_millis(100);
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let hang = move |_: &dyn opentelemetry::metrics::AsyncInstrument<u64>| {
        let _ = released.lock().unwrap_or_else(PoisonError::into_inner).recv();
    };
    global::meter("lib").u64_observable_gauge("hangs").with_callback(hang).build();
    assert!(meters.collect(Duration::MAX).is_empty());
    assert!(meters.scrape(Duration::MAX).is_empty());
    drop(release);
}

#[test]
fn series_above_the_limit_are_merged_and_marked() {
    let _turn = turn();
    let mut config = Metrics::default();
    config.cardinality.default = Some(7);
    config.cardinality.counter = Some(2);
    let meters = start(&config);
    let meter = global::meter("lib");
    for user in 0..9 {
        meter.u64_counter("many").build().add(1, &[KeyValue::new("user", user)]);
        meter.f64_histogram("many.sizes").build().record(1.0, &[KeyValue::new("user", user)]);
    }
    let metrics = meters.collect(PATIENCE);
    assert_eq!(find(&metrics, "many").points.len(), 3);
    assert_eq!(find(&metrics, "many.sizes").points.len(), 8);
    assert_eq!(value(&metrics, "many", &[("otel.metric.overflow", "true")]), PointValue::U64(7));
    let overflow = find(&metrics, "many").points.iter().flat_map(|point| &point.labels);
    assert!(
        overflow.into_iter().any(|(name, value)| name == "otel.metric.overflow" && *value == OwnedValue::Bool(true))
    );
}

fn view(name: &str, stream: ViewStream) -> View {
    View { selector: ViewSelector { instrument_name: Some(name.to_owned().into()), ..ViewSelector::default() }, stream }
}

#[test]
fn views_change_raw_instruments() {
    let _turn = turn();
    let text = |text: &str| Some(text.to_owned().into());
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned().into()).collect::<Vec<_>>();
    let config = Metrics {
        views: vec![
            view("dropped.*", ViewStream { aggregation: Some(Aggregation::Drop), ..ViewStream::default() }),
            view("named", ViewStream { name: text("renamed"), description: text("New."), ..ViewStream::default() }),
            view("by.one", ViewStream { included: Some(texts(&["a"])), ..ViewStream::default() }),
            view(
                "by.pattern",
                ViewStream { included: Some(texts(&["k.*"])), excluded: texts(&["k.?2"]), ..ViewStream::default() },
            ),
            view("limited", ViewStream { cardinality_limit: Some(1), ..ViewStream::default() }),
            view(
                "bounded",
                ViewStream {
                    aggregation: Some(Aggregation::ExplicitBuckets {
                        boundaries: Some(vec![1.0]),
                        record_min_max: false,
                    }),
                    ..ViewStream::default()
                },
            ),
            View {
                selector: ViewSelector {
                    instrument_type: Some(InstrumentType::UpDownCounter),
                    meter_name: text("lib"),
                    ..ViewSelector::default()
                },
                stream: ViewStream { aggregation: Some(Aggregation::Drop), ..ViewStream::default() },
            },
        ],
        ..Metrics::default()
    };
    let meters = start(&config);
    let meter = global::meter("lib");
    meter.u64_counter("dropped.calls").build().add(1, &[]);
    meter.i64_up_down_counter("level").build().add(1, &[]);
    global::meter("other").i64_up_down_counter("level").build().add(4, &[]);
    meter.u64_counter("named").with_description("Old.").build().add(1, &[]);
    for at in 0..3 {
        let attributes = ["a", "k.1", "k.12", "k.x"].map(|key| KeyValue::new(key, if key == "k.1" { 0 } else { at }));
        meter.u64_counter("by.one").build().add(1, &attributes);
        meter.u64_counter("by.pattern").build().add(1, &attributes[..3]);
        meter.u64_counter("limited").build().add(1, &attributes);
        meter.f64_histogram("bounded").with_boundaries(vec![5.0]).build().record(at as f64, &[]);
    }
    let metrics = meters.collect(PATIENCE);
    assert!(!metrics.iter().any(|metric| metric.name == "dropped.calls" || metric.name == "named"));
    assert_eq!(metrics.iter().filter(|metric| metric.name == "level").count(), 1);
    assert_eq!(
        (find(&metrics, "level").scope.as_ref().unwrap().name.as_str(), value(&metrics, "level", &[])),
        ("other", PointValue::I64(4))
    );
    assert_eq!(find(&metrics, "renamed").description, "New.");
    assert_eq!(find(&metrics, "by.one").points.len(), 3);
    assert_eq!(value(&metrics, "by.one", &[("a", "2")]), PointValue::U64(1));
    assert_eq!(find(&metrics, "by.pattern").points.len(), 1);
    assert_eq!(value(&metrics, "by.pattern", &[("k.1", "0")]), PointValue::U64(3));
    assert_eq!(find(&metrics, "limited").points.len(), 2);
    let PointValue::Histogram(bounded) = value(&metrics, "bounded", &[]) else { panic!("{metrics:?}") };
    assert_eq!((bounded.bounds, &bounded.counts[..], bounded.min, bounded.max), (&[1.0][..], &[2, 1][..], None, None));
}

#[test]
fn histograms_are_exponential_if_asked_for_and_they_name_no_bounds() {
    let _turn = turn();
    let meters = start(&Metrics { histograms: HistogramAggregation::Exponential, ..Metrics::default() });
    let meter = global::meter("lib");
    meter.f64_histogram("free").build().record(-3.0, &[]);
    meter.f64_histogram("own").with_boundaries(vec![1.0, 2.0]).build().record(3.0, &[]);
    let metrics = meters.collect(PATIENCE);
    let PointValue::Exponential(free) = value(&metrics, "free", &[]) else { panic!("{metrics:?}") };
    assert_eq!((free.count, free.negative.map(|side| side.counts)), (1, Some(vec![1])));
    let PointValue::Histogram(own) = value(&metrics, "own", &[]) else { panic!("{metrics:?}") };
    assert_eq!(own.bounds, [1.0, 2.0]);
}

/// Combines names that conflict with ours and with each other, all kinds of instruments, unusual attributes, and two
/// scopes.
#[test]
fn prometheus_can_read_the_text_whatever_the_names_of_instruments() {
    let _turn = turn();
    let meters = start(&Metrics { histograms: HistogramAggregation::Exponential, ..Metrics::default() });
    let captured = crate::testing::capture(|| {
        crate::export::self_metrics::sent(
            crate::config::Signal::Logs,
            crate::export::self_metrics::Outcome::Ok,
            Duration::from_millis(5),
        );
    });
    let odd = [
        KeyValue::new("", "empty"),
        KeyValue::new("le", "le"),
        KeyValue::new("__name__", "name"),
        KeyValue::new("a.b", "1"),
        KeyValue::new("a/b", "2"),
        KeyValue::new("text", "a\"b\\c\nd"),
        KeyValue::new("otel.scope.name", "fake"),
        KeyValue::new("list", Value::Array(Array::String(vec!["x".into(), "\"y\"".into()]))),
    ];
    for scope in ["one", "two"] {
        let meter = global::meter(scope);
        meter.u64_counter("http.requests").with_unit("{request}").build().add(3, &odd);
        meter.f64_gauge("http.requests").build().record(f64::MAX, &odd);
        meter.f64_gauge("ratio").with_unit("1").build().record(0.5, &odd);
        meter.f64_up_down_counter("speed").with_unit("By/s").build().add(-7.5, &odd);
        meter.f64_histogram("latency").with_unit("s").build().record(-0.25, &odd);
        meter.f64_histogram("latency").with_unit("s").build().record(3.0, &odd);
        meter.u64_gauge("latency.seconds_count").build().record(1, &odd);
        meter.u64_histogram("sizes").with_boundaries(vec![1.0, 2.0]).build().record(5, &odd);
        meter.u64_gauge("tc_export_duration_seconds").build().record(1, &odd);
        meter.u64_counter("tc_export_requests_total").build().add(1, &[]);
        meter.u64_counter("target.info").build().add(1, &[]);
        meter.u64_gauge("target.info").build().record(1, &[]);
    }
    let snapshot = snapshot([captured.metrics, meters.scrape(PATIENCE)].concat());
    let resource = [("service.name".to_owned(), OwnedValue::Str("daemon \"7\"".into()))];
    let text = snapshot.to_scraped(Form::Prometheus, &resource);
    for line in [
        "target_info{service_name=\"daemon \\\"7\\\"\"} 1",
        "tc_export_requests_total{signal=\"logs\",outcome=\"ok\"} 1",
        "tc_export_requests_total{otel_scope_name=\"one\"} 1",
        "tc_export_requests_total{otel_scope_name=\"two\"} 1",
        "# TYPE http_requests_total counter",
        "# TYPE ratio gauge",
        "# TYPE speed_bytes_per_second gauge",
        "# TYPE latency_seconds histogram",
        "# The gauge tc_export_duration_seconds is omitted: its name conflicts with the histogram tc_export_duration_seconds.",
    ] {
        assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
    }
    assert_eq!(text.matches("# TYPE latency_seconds histogram").count(), 1);
    assert!(text.contains(",exported_le=\"le\""), "{text}");
    let types: Vec<_> = text.lines().filter(|line| line.starts_with("# TYPE")).collect();
    let names: std::collections::HashSet<_> = types.iter().map(|line| line.split(' ').nth(2)).collect();
    assert_eq!(names.len(), types.len(), "each name has one type: {types:?}");
    if let Some((code, said)) = promtool(&text) {
        // Exit code 3 reports style problems of names, which are the user's.
        assert!([Some(0), Some(3)].contains(&code), "{said}\n{text}");
        assert!(!said.contains("error while linting") && !said.contains("parsing"), "{said}\n{text}");
    }
}

/// Asserts that promtool accepts valid names of ours and of raw instruments together.
#[test]
fn promtool_accepts_valid_names() {
    let _turn = turn();
    let meters = start(&Metrics::default());
    let captured = crate::testing::capture(|| {
        crate::export::self_metrics::sent(
            crate::config::Signal::Traces,
            crate::export::self_metrics::Outcome::Retry,
            Duration::from_millis(5),
        );
        crate::export::self_metrics::SelfMetrics::default()
            .record(crate::export::self_metrics::Figures { spool_bytes: Some(3), ..Default::default() });
    });
    let meter = global::meter("lib");
    meter.u64_counter("http.server.requests").build().add(1, &[KeyValue::new("http.route", "/")]);
    meter.f64_histogram("http.server.request.duration").with_unit("s").build().record(0.2, &[]);
    meter.i64_up_down_counter("http.server.active_requests").build().add(1, &[]);
    meter.f64_gauge("system.cpu.utilization").with_unit("1").build().record(0.5, &[]);
    let snapshot = snapshot([captured.metrics, meters.scrape(PATIENCE)].concat());
    let text = snapshot.to_scraped(Form::Prometheus, &[("service.name".to_owned(), OwnedValue::Str("daemon".into()))]);
    assert!(
        text.contains("http_server_request_duration_seconds_bucket{otel_scope_name=\"lib\",le=\"5\"} 1\n"),
        "{text}"
    );
    if let Some((code, said)) = promtool(&text) {
        assert_eq!((code, said.trim()), (Some(0), ""), "{text}");
    }
}

/// Returns promtool's exit code and output, if it is installed.
fn promtool(text: &str) -> Option<(Option<i32>, String)> {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let mut command = Command::new("promtool");
    command.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut promtool = command.spawn().ok()?;
    promtool.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = promtool.wait_with_output().ok()?;
    let said = [output.stdout, output.stderr].concat();
    Some((output.status.code(), String::from_utf8_lossy(&said).into_owned()))
}
