//! Options as users write them, valid and invalid.

use super::*;

/// Checks that `text` at `place` causes exactly the errors that contain `expected`, in this order.
#[track_caller]
fn check(place: Place, text: &str, expected: &[&str]) {
    let mut errors = Errors::default();
    read(text.parse().unwrap(), place, &mut errors);
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
        Place::Function,
        r#""A/B", kind = client, attrs(keys::a = &x.y, k::b = f::<A, B>(1, 2), "a.b" = c, "a.c": [str] = d,), result(k::c = |r| r.len()), parent = ctx,
           links(a, b), share(k::d = 1), future, no_message, needs_parent, heartbeat = "30s", busy, crate = a::b"#,
        &[],
    );
    check(Place::Function, r#"db(system = "pg", collection = c, operation = "get", query = q)"#, &[]);
    check(Place::Impl, r#"component = "Store", methods = pub, crate = crate::telemetry"#, &[]);
    check(Place::Scope, r#""A/B", kind = server, attrs(k::a = 1), heartbeat = "1h","#, &[]);
}

#[test]
fn unknown_options() {
    check(Place::Function, r#""A/B", atrs(k = 1)"#, &["unknown option `atrs`; did you mean `attrs`?"]);
    check(Place::Function, "knd", &["unknown option `knd`; did you mean `kind`?"]);
    check(Place::Function, r#"component = "A""#, &["`component` belongs on an `impl` block"]);
    check(Place::Impl, "attrs(a = 1)", &["`attrs` belongs on a method"]);
    check(Place::Function, r#""A/B", labels(k::a = 1)"#, &["`labels` belongs in `tc_metric`, a separate attribute"]);
    check(Place::Scope, r#""A/B", no_err"#, &["`no_err` belongs on a function"]);
}

#[test]
fn something_else_for_the_name() {
    for text in [r#"name = "A/B""#, "NAME", "names::LOAD, kind = client", "7", "b\"A/B\""] {
        check(Place::Function, text, &["the name of a span has to be a string literal"]);
        check(Place::Scope, text, &["the name of a span has to be a string literal"]);
    }
    check(Place::Impl, r#""StoreDaemon/Load""#, &["write `component = \"StoreDaemon\"`"]);
    check(Place::Impl, r#""?""#, &["write `component = \"StoreDaemon\"`"]);
}

#[test]
fn twice() {
    check(Place::Function, "kind = client, kind = server", &["option `kind` is given twice"]);
    check(Place::Function, "attrs(k::a = 1, k::a = 2)", &["key `k::a` is given twice"]);
    check(Place::Function, r#""A/B", "A/C""#, &["one name"]);
    check(Place::Function, "db(system = a, system = b, collection = c, operation = d)", &["`system` is given twice"]);
}

#[test]
fn contradictions() {
    check(Place::Function, "future, stream", &["`stream` contradicts `future`"]);
    check(Place::Function, "construct, result(k::a = f)", &["`result` contradicts `construct`"]);
    check(Place::Function, "stream, result(k::a = f)", &["`result` contradicts `stream`"]);
    check(Place::Function, "no_err, no_message", &["`no_message` contradicts `no_err`"]);
    check(Place::Function, r#""A/B", db(system = "a", collection = "b", operation = "c")"#, &["remove the name"]);
}

#[test]
fn bad_values() {
    check(Place::Function, "kind = cleint", &["unknown kind `cleint`; did you mean `client`?"]);
    check(Place::Function, r#"heartbeat = "30""#, &["`30` is not a duration"]);
    check(Place::Function, r#"heartbeat = "0s""#, &["`0s` is not a duration"]);
    check(Place::Function, "kind", &["`kind` takes a value"]);
    check(Place::Function, "attrs", &["`attrs` takes a list"]);
    check(Place::Function, "future = true", &["`future` takes no value"]);
    check(Place::Function, "attrs(k::a)", &["key `k::a` has no value"]);
    check(Place::Function, "attrs(\"Tc.A\" = 1)", &["key name `Tc.A` must be lower-case words"]);
    check(Place::Function, "attrs(\"tc.a\": String = 1)", &["an attribute cannot be of type `String`"]);
    check(Place::Function, "attrs(\"tc.a\")", &["key `\"tc.a\"` has no value; write `\"tc.a\" = value`"]);
    check(Place::Function, "attrs(\"tc.a\" = 1, \"tc.a\" = 2)", &["key `\"tc.a\"` is given twice"]);
    check(Place::Function, "result(\"tc.a\" = 1)", &["`result` takes a closure"]);
    check(Place::Function, "share(\"tc.a\" = 1)", &["a shared key has to be declared"]);
    check(Place::Function, "attrs(tc.a = 1)", &["a key is given by its Rust path"]);
    check(Place::Function, "result(k::a = 1)", &["`result` takes a closure"]);
    check(Place::Function, "heartbeat = 30", &["expected a duration"]);
    check(Place::Function, "crate = \"a\"", &["expected the path"]);
    check(Place::Impl, "component = store", &["expected a name"]);
    check(Place::Function, "db(system = 1, collection = c, operation = d)", &["`system` takes text"]);
    check(Place::Function, "db(system = a)", &["`db` needs `collection = ..` and `operation = ..`"]);
    check(Place::Impl, "methods = all", &["the only value is `methods = pub`"]);
    check(Place::Impl, r#"component = "store_daemon""#, &["write `StoreDaemon`"]);
}

#[test]
fn all_mistakes_are_reported() {
    check(
        Place::Function,
        r#""load", knd = client, attrs(k = ), heartbeat = "x""#,
        &["no component", "unknown option `knd`", "", "not a duration"],
    );
    check(
        Place::Function,
        r#"kind client no_err, 5, stream x"#,
        &["`kind` takes a value", "expected an option", "takes no value"],
    );
}
