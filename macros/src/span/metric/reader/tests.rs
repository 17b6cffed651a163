//! Options as users write them, valid and invalid.

use super::*;

/// Checks that `text` causes exactly the errors that contain `expected`, in this order.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let mut errors = Errors::default();
    read(text.parse().unwrap(), Site::call_site(), &mut errors);
    let found: Vec<String> = match errors.finish() {
        Ok(()) => Vec::new(),
        Err(error) => error.into_iter().map(|error| error.to_string()).collect(),
    };
    let same = found.len() == expected.len() && found.iter().zip(expected).all(|(found, part)| found.contains(part));
    assert!(same, "{found:#?}");
}

#[test]
fn everything_at_once() {
    check(
        r#"calls = "tc_loads_total", errors = "tc_load_errors_total", duration = "tc_load_seconds",
           in_flight = "tc_loads_in_flight", first_item = "tc_first_seconds", per_item = "tc_item_seconds",
           items = "tc_items_total", labels(keys::a = f(x, y), keys::b = |r| r.b,), budget = 5000, buckets = [0.1, 1],
           error_type = a::Error<u8>, stream, no_err, crate = a::b"#,
        &[],
    );
    check(r#"duration = "tc_load_seconds", exponential, future, error_type = none, calls = "tc_loads_total""#, &[]);
    check(r#"duration = "tc_load_seconds", buckets = BOUNDS, construct,"#, &[]);
}

#[test]
fn labels_by_when_they_are_known() {
    let text = "calls = \"tc_a_total\", labels(a = 1, b = |r| r.b, c = (move |r| r.c), d = f)";
    let metrics = read(text.parse().unwrap(), Site::call_site(), &mut Errors::default());
    let names = |fields: &[Field]| fields.iter().map(|field| field.alias.to_string()).collect::<Vec<_>>().join(" ");
    assert_eq!(names(&metrics.labels), "__TcLabel0 __TcLabel3");
    assert_eq!(names(&metrics.results), "__TcLabel1 __TcLabel2");
}

#[test]
fn unknown_options() {
    check(r#"call = "tc_a_total""#, &["unknown option `call`; did you mean `calls`?"]);
    check(r#""Store/Load", calls = "tc_a_total""#, &["a metric name needs an option"]);
    check(r#"attrs(k::a = 1), calls = "tc_a_total""#, &["`attrs` belongs in `tc_span`; a metric has `labels(..)`"]);
    check(r#"component = "A", calls = "tc_a_total""#, &["`component` belongs in `tc_span`"]);
    check("5", &["expected an option"]);
}

#[test]
fn names() {
    check(r#"calls = "loads""#, &["start with `tc_`; write `tc_loads_total`"]);
    check(r#"calls = "tc_loads""#, &["must end in `_total`; write `tc_loads_total`"]);
    check(r#"calls = "tc_load_seconds_total""#, &["`calls` is a count and has no unit; write `tc_load_total`"]);
    check(r#"items = "tc_load_bytes_total""#, &["`items` is a count and has no unit; write `tc_load_total`"]);
    check(r#"duration = "tc_load""#, &["`duration` is measured in seconds; write `tc_load_seconds`"]);
    check(r#"first_item = "tc_load_milliseconds""#, &["measured in seconds; write `tc_load_seconds`"]);
    check(r#"per_item = "tc_load_total""#, &["only the name of a `Counter`"]);
    check(r#"in_flight = "tc_load_bytes""#, &["`in_flight` is a count and has no unit; write `tc_load`"]);
    check(r#"in_flight = "tc_loads_total""#, &["only the name of a `Counter`"]);
    check(r#"calls = "tc_a_total", errors = "tc_a_total""#, &["name `tc_a_total` is already used by `calls`"]);
    check(r#"calls = "tc_a_total", calls = "tc_a_total""#, &["option `calls` is given twice"]);
    check("calls = NAME", &["expected the name of a metric, as in `calls = \"tc_loads_total\"`"]);
}

#[test]
fn labels() {
    let check = |text: &str, expected: &[&str]| check(&format!("calls = \"tc_a_total\", {text}"), expected);
    check("labels(keys::a)", &["label `keys::a` has no value; write `keys::a = ..`"]);
    check("labels(keys::a, keys::b = 1)", &["label `keys::a` has no value"]);
    check("labels(keys::a = 1, keys::a = 2)", &["label `keys::a` is listed twice; remove one of them"]);
    check("labels(keys::a = 1, keys::a = |r| r)", &["label `keys::a` is listed twice; remove one of them"]);
    check("labels(\"a\" = 1)", &["a label has to be a declared key, because the compiler counts its values"]);
    check("labels(keys::a = )", &["expected an expression"]);
    check(
        "labels(a = 1, b = 1, c = 1, d = 1, e = 1, f = 1, g = 1, h = 1, k::i = 1)",
        &["at most 8 labels; leave out `k::i`"],
    );
    check("labels", &["`labels` takes a list; write `labels(keys::source = ..)`"]);
}

#[test]
fn without_effect() {
    let check_in_flight = |text: &str, expected: &[&str]| check(&format!("in_flight = \"tc_a\", {text}"), expected);
    check_in_flight(
        "labels(k::a = |r| r.a)",
        &["no metric here can have label `k::a`, which comes from the result: add"],
    );
    check_in_flight("labels(k::a = a)", &[]);
    check_in_flight("call = 1, labels(k::a = |r| r.a)", &["did you mean `calls`"]);
    check_in_flight("buckets = [1]", &["`buckets` is for histograms; add `duration = "]);
    check_in_flight("exponential", &["`exponential` is for histograms"]);
    check_in_flight("error_type = E", &["`error_type` is for `calls` and `errors`"]);
}

#[test]
fn bad_values() {
    let check = |text: &str, expected: &[&str]| check(&format!("duration = \"tc_a_seconds\", {text}"), expected);
    check("budget = 0", &["expected a number of series above 0"]);
    check("budget", &["`budget` takes a value; write `budget = ..`"]);
    check("budget: 5", &["`budget` takes its value after `=`, not `:`; write `budget = ..`"]);
    check("buckets = [2, 1]", &["`1` follows `2`"]);
    check("buckets = [2 * 3]", &["put computed bounds into a constant: `buckets = BOUNDS`"]);
    check("buckets = [1], exponential", &["`exponential` contradicts `buckets`"]);
    check("exponential, exponential", &["option `exponential` is given twice"]);
    check("exponential = 1", &["`exponential` takes no value"]);
    check("future = true", &["`future` takes no value"]);
    check("crate = \"a\"", &["expected the path"]);
    check("calls = \"tc_a_total\", error_type = \"a\"", &["expected the type of an error"]);
    check("buckets = x y, budgt = 1, 7", &["expected `,`", "did you mean `budget`", "expected an option"]);
}
