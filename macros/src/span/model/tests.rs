//! The forms of functions, and functions that are rejected.

use super::*;
use crate::span::item::{self, Attr, Item};

/// Compares the form of a function with a span, and whether the value is observed; or compares the errors.
#[track_caller]
fn check(args: &str, function: &str, expected: &str) {
    check_both(Some(&format!("\"A/B\", {args}")), None, function, expected);
}

/// Compares the form of a function with metrics only, or the errors.
#[track_caller]
fn check_metric(args: &str, function: &str, expected: &str) {
    check_both(None, Some(&format!("calls = \"tc_f_total\", {args}")), function, expected);
}

#[track_caller]
fn check_both(span: Option<&str>, metric: Option<&str>, function: &str, expected: &str) {
    let mut errors = Errors::default();
    let Item::Function(function) = item::parse(function.parse().unwrap(), Attr::Span).unwrap() else {
        panic!("a function")
    };
    let tokens = |text: &str| text.parse::<TokenStream>().unwrap();
    let metric = metric.map(|args| (tokens(args), proc_macro2::Span::call_site()));
    let span = crate::span::wrapped(span.map(tokens), metric, *function, &mut errors);
    let form = match span.form {
        Form::Call => "call",
        Form::Guarded => "guarded",
        Form::Async => "async",
        Form::KeptAsync => "kept",
        Form::AsyncStream => "async stream",
        Form::Future { opaque: true, .. } => "future",
        Form::Future { .. } => "fixed future",
        Form::Stream { opaque: true, .. } => "stream",
        Form::Stream { .. } => "fixed stream",
    };
    let look = if matches!(span.observe, Observe::Value(_)) { ", looks" } else { "" };
    let judge = if matches!(span.judge, Observe::Value(_)) { ", judges" } else { "" };
    let set = span.error_set.map(|set| format!(" {}", set.to_string().replace(' ', ""))).unwrap_or_default();
    let found = match errors.finish() {
        Ok(()) => format!("{form}{look}{judge}{set}"),
        Err(error) => error.into_iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\n"),
    };
    assert!(found == expected || found.starts_with(expected) && found.contains("; "), "{found}");
}

#[test]
fn calls() {
    check("", "fn f() {}", "call");
    check("", "fn f() -> u8 { 1 }", "call");
    check("", "fn f() -> T { 1 }", "call, looks");
    check("no_err", "fn f() -> Result<A, B> { 1 }", "call");
    check("no_err, result(a = b)", "fn f() -> Result<A, B> { 1 }", "call, looks");
    check("result(a = b)", "fn f() -> u8 { 1 }", "call, looks");
    check("", "#[track_caller] fn f() -> u8 { 1 }", "guarded");
    check("no_err", "#[track_caller] fn f() -> Result<A, B> { 1 }", "guarded");
}

#[test]
fn async_functions() {
    check("", "async fn f() -> Result<A, B> { 1 }", "async, looks");
    check("", "async fn f() {}", "async");
    check("", "#[tokio::test] async fn f() {}", "kept");
    check("stream", "async fn f() -> impl Stream<Item = Result<A, B>> {}", "async stream, looks");
    check("construct", "async fn f() -> BoxStream<'static, A> {}", "async");
}

#[test]
fn futures_and_streams() {
    check("", "fn f() -> impl Future<Output = Result<A, B>> { async {} }", "future, looks");
    check("future", "fn f() -> impl Future<Output = u8> { g() }", "future");
    check("future", "fn f() -> Self::Future { g() }", "fixed future, looks");
    check("future", "fn f() -> MyFuture { g() }", "fixed future, looks");
    check("", "fn f() -> BoxFuture<'static, ()> { Box::pin(async {}) }", "fixed future");
    check("construct", "fn f() -> impl Future<Output = u8> { g() }", "guarded");
    check("construct", "#[track_caller] fn f() -> BoxFuture<'a, u8> { g() }", "guarded");
    check("", "#[track_caller] fn f() -> BoxFuture<'a, u8> { Box::pin(async { 1 }) }", "fixed future");
    check("", "fn f() -> impl Stream<Item = u8> { stream! {} }", "stream");
    check("stream, no_err", "fn f() -> BoxStream<'static, R> { g() }", "fixed stream");
}

#[test]
fn refused() {
    check("", "const fn f() {}", "a `const fn` may run at compile time");
    check("", "#[tc_span] fn f() {}", "a function has one span");
    check("", "fn f() -> impl Future<Output = u8> { g() }", "future");
    check("", "fn f() -> impl Stream<Item = u8> { g() }", "stream");
    check("", "async fn f() -> impl Stream<Item = u8> { g() }", "this function returns a stream");
    check("stream", "async fn f() -> BoxStream<'a, u8> { g() }", "`stream` on an `async fn` needs");
    check("err_if = g", "fn f() -> u8 { 1 }", "`err_if` examines the error of a `Result`");
    check("future", "fn f() {}", "`future` is for functions that return a future");
    check("future", "fn f() -> u8 { 1 }", "`future` is for functions that return a future");
    check(
        "stream",
        "fn f() -> impl Future<Output = u8> { async {} }",
        "`stream` is for functions that return a stream",
    );
    check("stream", "async fn f() {}", "`stream` is for functions that return a stream");
    check("", "#[track_caller] fn f() -> Result<A, B> {}", "a `#[track_caller]` function cannot report its errors");
    check(
        "future",
        "#[track_caller] fn f() -> BoxFuture<'a, u8> { g() }",
        "with `#[track_caller]` the function has to end",
    );
    check("result(a = b)", "#[track_caller] fn f() -> u8 {}", "a `#[track_caller]` function cannot report its result");
}

#[test]
fn metrics() {
    check_metric("", "fn f() {}", "call");
    check_metric("", "fn f() -> u8 { 1 }", "call");
    check_metric("", "fn f() -> T { 1 }", "call, judges");
    check_metric("labels(a = |r| r.a)", "fn f() -> u8 { 1 }", "call, judges");
    check_metric("labels(a = |r| r.a)", "fn f() -> impl A { 1 }", "call, judges");
    check_metric("labels(a = b)", "fn f() -> impl A { 1 }", "guarded");
    check_metric("labels(a = b)", "#[track_caller] fn f() -> u8 { 1 }", "guarded");
    check_metric("", "async fn f() -> io::Result<u8> { 1 }", "async, judges io::Result<()>");
    check_metric("stream, items = \"tc_items_total\"", "async fn f() -> impl Stream<Item = u8> {}", "async stream");
    check_metric("first_item = \"tc_a_seconds\"", "fn f() -> impl Stream<Item = R> { stream! {} }", "stream, judges");
}

#[test]
fn error_sets() {
    check_metric("", "fn f() -> Result<A, Error> { 1 }", "call, judges Result<(),Error>");
    check_metric("no_err", "fn f() -> Result<A, Error> { 1 }", "call");
    check_metric("no_err, labels(a = |r| r.a)", "fn f() -> Result<A, Error> { 1 }", "call, judges");
    check_metric("error_type = none", "fn f() -> Result<A, Error> { 1 }", "call, judges");
    check_metric("error_type = a::Error", "fn f() -> T { 1 }", "call, judges ::core::result::Result<(),a::Error>");
    check_metric(
        "",
        "fn f() -> BoxFuture<'a, Result<A, Error>> { Box::pin(async {}) }",
        "fixed future, judges Result<(),Error>",
    );
    check_metric(
        "stream",
        "fn f() -> BoxStream<'a, Result<A, Error>> { g() }",
        "fixed stream, judges Result<(),Error>",
    );
    check_metric("construct", "fn f() -> BoxFuture<'a, Result<A, Error>> { g() }", "call");
    let both =
        |span, metric, expected| check_both(Some(span), Some(metric), "fn f() -> Result<A, Error> { 1 }", expected);
    both("\"A/B\"", "duration = \"tc_f_seconds\"", "call, looks, judges");
    both("\"A/B\", no_err", "calls = \"tc_f_total\"", "call");
    both("\"A/B\"", "errors = \"tc_f_total\", no_err", "call");
    both("\"A/B\", no_err, result(a = b)", "calls = \"tc_f_total\"", "call, looks");
}

#[test]
fn refused_metrics() {
    check_metric(
        "",
        "async fn f() -> impl Stream<Item = u8> { g() }",
        "this function returns a stream, and a metric would only time",
    );
    check_both(
        Some("\"A/B\""),
        Some("calls = \"tc_f_total\""),
        "async fn f() -> impl Stream<Item = u8> { g() }",
        "this function returns a stream, and a span or metric would only time",
    );
    check_metric(
        "future, stream",
        "fn f() -> impl Future<Output = u8> { g() }",
        "`stream` contradicts `future`: a metric covers one of them",
    );
    check_metric("items = \"tc_i_total\"", "fn f() {}", "`items` is for functions that return a stream");
    check_metric(
        "first_item = \"tc_i_seconds\"",
        "async fn f() {}",
        "`first_item` is for functions that return a stream",
    );
    let construct = "construct, per_item = \"tc_i_seconds\"";
    check_metric(construct, "fn f() -> BoxStream<'a, u8> { g() }", "`per_item` is for functions that return a stream");
    check_metric(
        "items = \"tc_i_total\"",
        "async fn f() -> impl Stream<Item = u8> { g() }",
        "this function returns a stream",
    );
    let result = "labels(k::a = |r| r.a)";
    check_metric(
        result,
        "#[track_caller] fn f() -> u8 {}",
        "a `#[track_caller]` function cannot report its result; give",
    );
    check_metric(&format!("stream, {result}"), "fn f() -> BoxStream<'a, u8> {}", "a stream has no single result; give");
    check_metric(
        &format!("construct, {result}"),
        "fn f() -> BoxFuture<'a, u8> {}",
        "the result is not known when the call",
    );
    check_metric(
        "",
        "#[track_caller] fn f() -> Result<A, B> {}",
        "a `#[track_caller]` function cannot report its errors",
    );
}
