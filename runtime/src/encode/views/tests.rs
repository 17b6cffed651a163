use super::*;
use crate::config::ViewStream;
use crate::declare::keys::device;
use crate::declare::keys::tensor::{SourceType, source};
use crate::meter::snapshot::{ExponentialBuckets, ExponentialPoint};
use crate::prelude::*;
use crate::testing::capture;

tc_metrics! {
    /// Things that were counted.
    static COUNTED: Counter<(source, device)> = "tc_viewed_counted_total";
    /// The temperature.
    static WARMTH: Gauge<(device,)> = "tc_viewed_warmth_celsius";
    /// The level.
    static LEVEL: UpDownCounter<(source,)> = "tc_viewed_level";
    /// Sizes.
    static SIZES: Histogram<(source,), u64> = "tc_viewed_sizes_bytes" { buckets: [10, 100] };
    /// Times.
    static TIMES: Histogram<(source,)> = "tc_viewed_times_seconds" { exponential };
}

fn view(name: &str, stream: ViewStream) -> View {
    let selector = ViewSelector { instrument_name: Some(name.to_owned().into()), ..ViewSelector::default() };
    View { selector, stream }
}

fn texts(texts: &[&str]) -> Vec<crate::base::secret::Masked<String>> {
    texts.iter().map(|text| (*text).to_owned().into()).collect()
}

/// Returns the streams of the views, after a few measurements of each metric.
fn viewed(views: &[View]) -> Snapshot {
    let captured = capture(|| {
        for (from, at) in [(SourceType::Disk, 1_u64), (SourceType::Remote, 2), (SourceType::Disk, 3)] {
            COUNTED.add(at, (from, at));
            WARMTH.set(at as f64, (at,));
            LEVEL.add(-(at as i64), (from,));
            SIZES.record(at * 9, (from,));
            TIMES.record(at as f64 * 8.0, (from,));
        }
    });
    let mut snapshot = Snapshot { start_unix_nanos: 1, time_unix_nanos: 2, metrics: captured.metrics };
    Views::new(views).0.apply(&mut snapshot);
    snapshot
}

fn warnings(view: View) -> Vec<String> {
    Views::new(&[view]).1
}

const DROP: ViewStream = ViewStream {
    aggregation: Some(Aggregation::Drop),
    name: None,
    description: None,
    cardinality_limit: None,
    included: None,
    excluded: Vec::new(),
};

#[test]
fn without_views_everything_stays() {
    let all = viewed(&[]).to_string();
    assert_eq!(viewed(&[view("other_*", DROP)]).to_string(), all);
    assert_eq!(all.lines().count(), 3 + 3 + 2 + 2 + 2, "{all}");
}

#[test]
fn a_dropped_metric_is_gone_and_can_be_switched_off() {
    let views = [view("TC_viewed_*_bytes", DROP), view("tc_viewed_w?rmth_celsius", DROP)];
    let snapshot = viewed(&views);
    assert!(
        snapshot.metric("tc_viewed_sizes_bytes").is_none() && snapshot.metric("tc_viewed_warmth_celsius").is_none()
    );
    assert!(snapshot.metric("tc_viewed_level").is_some());
    if crate::declare::sections::LINKED {
        let off = Views::new(&views).0.off();
        assert_eq!(off, ["tc_viewed_sizes_bytes", "tc_viewed_warmth_celsius"]);
    }
    // A second matching view keeps the metric.
    let kept = ViewStream { name: Some("kept".to_owned().into()), ..ViewStream::default() };
    let views = [view("tc_viewed_level", DROP), view("tc_viewed_level", kept)];
    assert!(Views::new(&views).0.off().is_empty());
    assert_eq!(viewed(&views).metric("kept").map(|metric| metric.points.len()), Some(2));
}

#[test]
fn a_metric_has_another_name_and_description() {
    let stream = ViewStream {
        name: Some("level.of.things".to_owned().into()),
        description: Some("New.".to_owned().into()),
        ..ViewStream::default()
    };
    let snapshot = viewed(&[view("tc_viewed_level", stream)]);
    assert!(snapshot.metric("tc_viewed_level").is_none());
    let level = snapshot.metric("level.of.things").unwrap();
    assert_eq!((&*level.description, level.meta.unwrap().name), ("New.", "tc_viewed_level"));
    assert!(level.to_string().starts_with("level.of.things{tc.source.type=remote} -2\n"), "{level}");
    let text = snapshot.to_prometheus();
    assert!(text.contains("# HELP level_of_things New.\n# TYPE level_of_things gauge\n"), "{text}");
}

#[test]
fn series_that_differ_in_what_is_left_out_are_one() {
    let by_source = ViewStream { excluded: texts(&["tc.device.*"]), ..ViewStream::default() };
    let by_nothing = ViewStream { included: Some(Vec::new()), ..ViewStream::default() };
    let views = [
        view("tc_viewed_counted_total", by_source),
        view("tc_viewed_warmth_celsius", by_nothing.clone()),
        view("tc_viewed_level", by_nothing.clone()),
        view("tc_viewed_sizes_bytes", by_nothing.clone()),
        view("tc_viewed_times_seconds", by_nothing),
    ];
    let snapshot = viewed(&views);
    let expected = "tc_viewed_counted_total{tc.source.type=remote} 2\ntc_viewed_counted_total{tc.source.type=disk} 4\n\
                    tc_viewed_level -6\ntc_viewed_sizes_bytes count=3\ntc_viewed_times_seconds count=3\n\
                    tc_viewed_warmth_celsius 3\n";
    assert_eq!(snapshot.to_string(), expected);
    let Some(PointValue::Histogram(sizes)) = snapshot.value("tc_viewed_sizes_bytes", &[]) else { panic!("{snapshot}") };
    assert_eq!((sizes.sum, sizes.min, sizes.max, &sizes.counts[..]), (54.0, Some(9.0), Some(27.0), &[1, 2, 0][..]));
    let Some(PointValue::Exponential(times)) = snapshot.value("tc_viewed_times_seconds", &[]) else {
        panic!("{snapshot}")
    };
    assert_eq!((times.sum, times.min, times.max), (48.0, Some(8.0), Some(24.0)));
    assert_eq!((times.counts.iter().sum::<u64>(), times.zero_count), (3, 0));
    // Each value is in a bucket that is not empty.
    let base = 2_f64.powf(2_f64.powi(-times.scale));
    for value in [8.0, 16.0, 24.0] {
        let within = |at: usize| {
            let power = times.offset + at as i32;
            (base.powi(power) * 0.999..=base.powi(power + 1) * 1.001).contains(&value)
        };
        assert!((0..times.counts.len()).any(|at| times.counts[at] > 0 && within(at)), "{value} is not in {times:?}");
    }
}

#[test]
fn extremes_are_left_out_if_they_are_not_wanted() {
    let aggregation = Some(Aggregation::ExplicitBuckets { boundaries: None, record_min_max: false });
    let view = view("tc_viewed_sizes_bytes", ViewStream { aggregation, ..ViewStream::default() });
    assert_eq!(warnings(view.clone()), [""; 0]);
    let snapshot = viewed(&[view]);
    let value = snapshot.value("tc_viewed_sizes_bytes", &[("tc.source.type", "disk")]);
    let Some(PointValue::Histogram(sizes)) = value else { panic!("{snapshot}") };
    assert_eq!((sizes.count, sizes.min, sizes.max), (2, None, None));
}

#[test]
fn views_without_effect_give_warnings() {
    if !crate::declare::sections::LINKED {
        return;
    }
    let bounds = |boundaries: &[f64]| ViewStream {
        aggregation: Some(Aggregation::ExplicitBuckets { boundaries: Some(boundaries.to_vec()), record_min_max: true }),
        ..ViewStream::default()
    };
    assert_eq!(warnings(view("tc_viewed_sizes_bytes", bounds(&[10.0, 100.0]))), [""; 0]);
    let declared = "is declared in code and does not change; a view may drop or rename a metric of Tracecast, or \
                    remove labels";
    assert_eq!(
        warnings(view("tc_viewed_sizes_bytes", bounds(&[5.0]))),
        [format!("view 1: the aggregation of `tc_viewed_sizes_bytes` {declared}")]
    );
    assert_eq!(
        warnings(view("tc_viewed_*", bounds(&[5.0]))),
        [format!("view 1: the aggregation of `tc_viewed_counted_total` and 4 others {declared}")]
    );
    let sum = ViewStream { aggregation: Some(Aggregation::Sum), ..ViewStream::default() };
    assert_eq!(warnings(view("tc_viewed_level", sum)), [""; 0]);
    let named = ViewStream { name: Some("one".to_owned().into()), ..ViewStream::default() };
    let told = warnings(view("tc_viewed_*", named.clone()));
    assert!(told[0].starts_with("view 1: its name is ignored, because it selects several instruments"), "{told:?}");
    assert!(viewed(&[view("tc_viewed_*", named)]).metric("tc_viewed_level").is_some());
}

#[test]
fn a_view_of_another_meter_or_kind_leaves_ours_alone() {
    let all = viewed(&[]).to_string();
    let other = |selector| View { selector, stream: DROP };
    let text = |text: &str| Some(text.to_owned().into());
    for selector in [
        ViewSelector { meter_name: text("lib"), ..ViewSelector::default() },
        ViewSelector { meter_version: text("0"), ..ViewSelector::default() },
        ViewSelector { meter_schema_url: text("x"), ..ViewSelector::default() },
        ViewSelector { unit: text("m"), ..ViewSelector::default() },
        ViewSelector { instrument_type: Some(InstrumentType::ObservableCounter), ..ViewSelector::default() },
    ] {
        assert_eq!(viewed(&[other(selector)]).to_string(), all);
    }
    let ours = ViewSelector {
        meter_name: text("tracecast"),
        instrument_type: Some(InstrumentType::Gauge),
        ..ViewSelector::default()
    };
    assert!(!viewed(&[other(ours)]).to_string().contains("celsius"));
}

/// Creates a point with one zero value, and with values on one or both sides of zero.
fn exponential(scale: i32, (offset, counts): (i32, &[u64]), negative: Option<(i32, &[u64])>) -> ExponentialPoint {
    let negative = negative.map(|(offset, counts)| ExponentialBuckets { offset, counts: counts.to_vec() });
    ExponentialPoint {
        count: 1 + counts.iter().chain(negative.iter().flat_map(|side| &side.counts)).sum::<u64>(),
        sum: 1.0,
        min: None,
        max: None,
        scale,
        zero_count: 1,
        zero_threshold: 0.0,
        offset,
        counts: counts.to_vec(),
        negative,
        exemplars: Vec::new(),
    }
}

#[test]
fn exponential_histograms_of_different_scales_add_up() {
    let check = |mut one: ExponentialPoint, other: ExponentialPoint, expected: ExponentialPoint| {
        merge::exponential(&mut one, other);
        // Both points have one zero value, and a sum of 1.
        assert_eq!(one, ExponentialPoint { count: expected.count + 1, zero_count: 2, sum: 2.0, ..expected });
    };
    // At scale 1 the powers -3..=2 are the powers -2..=1 at scale 0.
    check(
        exponential(1, (-3, &[1, 2, 3, 4, 5, 6]), None),
        exponential(0, (1, &[7]), None),
        exponential(0, (-2, &[1, 5, 9, 13]), None),
    );
    check(
        exponential(0, (5, &[1]), None),
        exponential(0, (2, &[1, 1]), Some((0, &[3]))),
        exponential(0, (2, &[1, 1, 0, 1]), Some((0, &[3]))),
    );
    check(
        exponential(3, (0, &[]), Some((8, &[1]))),
        exponential(0, (0, &[]), Some((0, &[1]))),
        exponential(0, (0, &[]), Some((0, &[1, 1]))),
    );
    // The values are too far apart for 160 buckets.
    check(
        exponential(0, (-300, &[1]), None),
        exponential(0, (300, &[1]), None),
        exponential(-2, (-75, &[&[1][..], &[0; 149], &[1]].concat()), None),
    );
}
