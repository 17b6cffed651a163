//! Valid metrics, and the errors of invalid ones.

use super::*;

/// Checks that the declarations cause exactly the errors that contain `expected`, in this order.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let (_, errors) = model::parse(text.parse().unwrap());
    let found: Vec<String> = match errors.finish() {
        Ok(()) => Vec::new(),
        Err(error) => error.into_iter().map(|error| error.to_string()).collect(),
    };
    let same = found.len() == expected.len() && found.iter().zip(expected).all(|(found, part)| found.contains(part));
    assert!(same, "{found:#?}");
}

/// Checks the errors of a histogram with these options.
#[track_caller]
fn check_options(options: &str, expected: &[&str]) {
    check(&format!("static A: Histogram = \"tc_a_seconds\" {{ {options} }};"), expected);
}

#[test]
fn right_metrics() {
    check(
        r#"/// Docs.
           #[cfg(unix)] pub static A: Counter<(keys::a, keys::b)> = "tc_a_bytes_total" { unit: "By", budget: 5000 };
           pub(crate) static B: tracecast::Histogram<(keys::a,)> = "tc_b_seconds" { buckets: [-1, 0.1, 1.0, 5] };
           static C: Histogram<(), u64> = "tc_c_bytes" { exponential, };
           static D: ObservableGauge<(keys::a,)> = "tc_d_free_bytes";
           static E: Counter = "tc_e_total" { unit: "{request}" };
           static F: Histogram = "tc_f_seconds" { buckets: bounds::FINE };
           static G: UpDownCounter<(), f64> = "tc_g" {};
           static H: Gauge<(), i64> = "tc_h_celsius";"#,
        &[],
    );
}

#[test]
fn kinds() {
    check(r#"static A: Countr = "tc_a_total";"#, &["unknown kind of metric `Countr`; did you mean `Counter`?"]);
    check(r#"static A: Timer<()> = "tc_a";"#, &["unknown kind of metric `Timer`; expected one of `Counter`, `UpDown"]);
    check(r#"static A: &str = "tc_a";"#, &["expected a kind of metric, as `Counter<(keys::source,)>`, not `&str`"]);
}

#[test]
fn labels_are_a_tuple() {
    check(r#"static A: Counter<keys::a> = "tc_a_total";"#, &["labels are a tuple of keys; write `(keys::a,)`"]);
    check(r#"static A: Counter<(keys::a)> = "tc_a_total";"#, &["labels are a tuple of keys; write `(keys::a,)`"]);
    check(r#"static A: Counter<u64> = "tc_a_total";"#, &["labels come before the number type; write `(), u64`"]);
    check(r#"static A: Counter<[a; 2]> = "tc_a_total";"#, &["labels are a tuple of keys; write `(keys::source,)`"]);
    check(r#"static A: Counter<'a> = "tc_a_total";"#, &["labels are a tuple of keys"]);
    check(r#"static A: Counter<(&str,)> = "tc_a_total";"#, &["a label is given by its key"]);
    check(r#"static A: Counter<(k::a, k::b, k::a)> = "tc_a_total";"#, &["label `k::a` is listed twice"]);
    check("static A: Counter<(a, b, c, d, e, f, g, h)> = \"tc_a_total\";", &[]);
    check("static A: Counter<(a, b, c, d, e, f, g, h, i)> = \"tc_a_total\";", &["at most 8 labels; leave out `i`"]);
}

#[test]
fn numbers() {
    check(
        r#"static A: Counter<(), i64> = "tc_a_total";"#,
        &["the number type of `Counter` is `u64` or `f64`, not `i64`"],
    );
    check(r#"static A: UpDownCounter<(), u64> = "tc_a";"#, &["is `i64` or `f64`, not `u64`"]);
    check(r#"static A: Histogram<(), i64> = "tc_a";"#, &["is `f64` or `u64`, not `i64`"]);
    check(r#"static A: Gauge<(), Vec<u8>> = "tc_a";"#, &["is `f64` or `u64` or `i64`, not `Vec<u8>`"]);
    check(r#"static A: Gauge<(), f64, u8> = "tc_a";"#, &["takes only labels and a number type; remove this"]);
}

#[test]
fn names_and_units() {
    check(r#"static A: Counter = "loads";"#, &["start with `tc_`; write `tc_loads_total`"]);
    check(r#"static A: Gauge = "tc_a_bytes" { unit: "s" };"#, &["suffix `_bytes` means the unit `By`, not `s`"]);
    check(r#"static A: Counter = "tc_a_total" { unit: "By" };"#, &["write `tc_a_bytes_total`"]);
    // The unit follows from the name, so an invalid name is the only error.
    check(r#"static A: Counter = "a_bytes" { unit: "s" };"#, &["write `tc_a_bytes_total`"]);
}

#[test]
fn options() {
    check_options("budgt: 1", &["unknown option `budgt`; did you mean `budget`?"]);
    check_options("budget: 0", &["expected a number of series above 0"]);
    check_options("budget: \"5\"", &["expected a number of series above 0"]);
    check_options("budget: -5", &["expected a number of series above 0"]);
    check_options("budget", &["`budget` takes a value; write `budget: ..`"]);
    check_options("budget = 5", &["`budget` takes its value after `:`, not `=`; write `budget: ..`"]);
    check_options("budget: 5, budget: 6", &["option `budget` is given twice"]);
    check_options("unit: s", &["expected a unit"]);
    check_options("exponential: 3", &["`exponential` takes no value"]);
    check_options("exponential, buckets: [1]", &["`exponential` contradicts `buckets`"]);
    check_options("buckets: [1], exponential", &["`exponential` contradicts `buckets`"]);
    check_options("buckets: []", &["a histogram needs at least one bound"]);
    check_options("buckets: [1, 5, 5, 2.5, 6]", &["bound `5` is listed twice; remove one", "`2.5` follows `5`; sort"]);
    check_options("buckets: [1, a]", &["expected a number, as in `0.5`"]);
    check_options("buckets: [1e999]", &["expected a number"]);
    check_options("buckets: [1, 2 * 3, 4 * 5]", &["put computed bounds into a constant: `buckets: BOUNDS`"]);
    check_options("buckets: [-A]", &["put computed bounds into a constant: `buckets: BOUNDS`"]);
    check_options("buckets: [,]", &["expected a number"]);
    check_options("buckets: [1 2]", &["expected `,`"]);
    check_options("buckets: 5", &["expected upper bounds, as in `[0.1, 1.0, 5.0]`"]);
    check_options("budget: 5 unit: \"s\"", &["expected `,` before the next option"]);
    check_options("5, budgt: 5, buckets: x y", &["expected an option", "unknown option", "expected `,`"]);
    check(r#"static A: Gauge = "tc_a" { exponential };"#, &["`exponential` is for histograms, and this is a `Gauge`"]);
}

#[test]
fn grammar() {
    check(r#"pub A: Counter = "tc_a_total";"#, &["a metric is a static; write `static LOADS"]);
    check(r#"static A = "tc_a_total";"#, &["metric `A` has no type; write `A: Counter`"]);
    check("static A: Counter;", &["metric `A` has no exported name"]);
    check("static A: Counter = NAME;", &["the name of a metric has to be a string literal"]);
    check(r#"static A: Counter = "tc_a_total" static B: Gauge = "tc_b""#, &["expected `;` after this metric"; 2]);
    check(r#"static A: Counter = "tc_a_total" + 1;"#, &["expected `;`", "a metric is a static"]);
    check(r#"static A: Counter<x = "a"; static B: Counter = "b_total";"#, &["expected", "write `tc_b_total`"]);
}

#[test]
fn a_wrong_metric_is_declared_all_the_same() {
    let text = r#"crate = x; static A: Counter<keys::a, u8> = "a"; static B: Countr = "tc_b_total";"#;
    let tokens = declare(text.parse().unwrap()).to_string();
    assert!(tokens.contains("static A") && tokens.contains("static B"), "{tokens}");
    assert_eq!(tokens.matches("compile_error").count(), 4, "{tokens}");
}
