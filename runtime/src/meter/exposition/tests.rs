use super::*;
use crate::meter::snapshot::ExponentialBuckets;

#[test]
fn names_of_labels_are_such_that_prometheus_takes_them() {
    for (name, expected) in [
        ("tc.source.type", "tc_source_type"),
        ("9lives", "_9lives"),
        ("__name__", "_name__"),
        ("____", "_"),
        ("", "_"),
        ("_own", "_own"),
        ("ü.x", "_x"),
    ] {
        assert_eq!(label_name(name), expected);
    }
}

#[test]
fn labels_whose_names_become_the_same_are_one() {
    let labels = [("a.b", "1"), ("c", "2"), ("a_b", "3")].map(|(name, value)| (label_name(name), value.to_owned()));
    assert_eq!(joined(labels.into_iter()), [("a_b".into(), "1;3".into()), ("c".into(), "2".into())]);
}

fn text_of(point: &ExponentialPoint) -> String {
    let mut families = Families::new(Form::Prometheus);
    let described = Described { help: "X.", unit: "", called: "tc_x" };
    let family = families.family("tc_x", MetricKind::Histogram, described).unwrap();
    let totals = Totals { count: point.count, sum: point.sum, exemplars: &[] };
    buckets(family, &Labels::new(), exponential_buckets(point), &totals);
    families.into_text().replace("# HELP tc_x X.\n# TYPE tc_x histogram\n", "")
}

fn point() -> ExponentialPoint {
    ExponentialPoint {
        count: 6,
        sum: 12.0,
        min: None,
        max: None,
        scale: 0,
        zero_count: 1,
        zero_threshold: 0.5,
        offset: 0,
        counts: vec![2, 0, 3],
        negative: None,
        exemplars: Vec::new(),
    }
}

// Miri's powers are inexact on purpose.
#[cfg(not(miri))]
#[test]
fn exponential_buckets_have_their_upper_bounds() {
    let expected = "tc_x_bucket{le=\"0.5\"} 1\ntc_x_bucket{le=\"2\"} 3\ntc_x_bucket{le=\"4\"} 3\n\
                    tc_x_bucket{le=\"8\"} 6\ntc_x_bucket{le=\"+Inf\"} 6\ntc_x_sum 12\ntc_x_count 6\n";
    assert_eq!(text_of(&point()), expected);
}

#[cfg(not(miri))]
#[test]
fn negative_buckets_come_first_and_bounds_ascend() {
    let negative = Some(ExponentialBuckets { offset: 1, counts: vec![4, 5] });
    let point = ExponentialPoint { count: 15, negative, zero_threshold: 0.0, ..point() };
    let text = text_of(&point);
    let bounds: Vec<_> = text.lines().filter_map(|line| line.split_once("le=\"")?.1.split_once('"')).collect();
    let expected =
        [("-4", "} 5"), ("-2", "} 9"), ("0", "} 10"), ("2", "} 12"), ("4", "} 12"), ("8", "} 15"), ("+Inf", "} 15")];
    assert_eq!(bounds, expected);
}

#[cfg(not(miri))]
#[test]
fn bounds_that_no_number_can_tell_apart_are_one() {
    let high = ExponentialPoint { offset: 1022, counts: vec![1, 2, 3], zero_count: 0, ..point() };
    let text = text_of(&high);
    assert_eq!(text.matches("le=").count(), 2, "{text}");
    let low = ExponentialPoint { offset: -1080, counts: vec![1, 2, 3], zero_count: 0, ..point() };
    let text = text_of(&low);
    assert!(text.starts_with("tc_x_bucket{le=\"0\"} 6\n"), "{text}");
}

#[test]
fn a_name_has_one_type_and_a_series_comes_once() {
    let mut families = Families::new(Form::Prometheus);
    let described = Described { help: "", unit: "", called: "its.name" };
    let mut add = |name: &str, kind, labels: &[(&str, &str)], value| {
        if let Some(family) = families.family(name, kind, described) {
            let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            write_point(Form::Prometheus, family, labels.collect(), &PointValue::U64(value));
        }
    };
    add("x", MetricKind::Gauge, &[("a", "1"), ("b", "2")], 1);
    add("x_count", MetricKind::Gauge, &[], 2);
    add("x", MetricKind::Counter, &[], 3);
    add("x", MetricKind::UpDownCounter, &[("b", "2"), ("a", "1")], 4);
    add("x", MetricKind::UpDownCounter, &[("a", "\"\n")], 5);
    add("y", MetricKind::Histogram, &[], 6);
    add("y_sum", MetricKind::Gauge, &[], 7);
    let expected = "# HELP x its.name\n# TYPE x gauge\nx{a=\"1\",b=\"2\"} 1\nx{a=\"\\\"\\n\"} 5\n\
        # HELP x_count its.name\n# TYPE x_count gauge\nx_count 2\n\
        # HELP y its.name\n# TYPE y histogram\ny 6\n\
        # The counter its.name is omitted: its name conflicts with the gauge x.\n\
        # The gauge its.name is omitted: its name conflicts with the histogram y.\n";
    assert_eq!(families.into_text(), expected);
}
