//! Functions that get a form, and functions that are refused.

use super::*;
use crate::span::item::{self, Item};
use crate::span::options::Place;

/// Compares the form and whether the value is looked at, or the errors.
#[track_caller]
fn check(args: &str, function: &str, expected: &str) {
    let mut errors = Errors::default();
    let options = options::read(format!("\"A/B\", {args}").parse().unwrap(), Place::Function, &mut errors);
    let Item::Function(function) = item::parse(function.parse().unwrap()).unwrap() else { panic!("a function") };
    let span = Span::new(options, *function, &mut errors);
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
    let found = match errors.finish() {
        Ok(()) => format!("{form}{look}"),
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
    check("", "const fn f() {}", "a `const fn` may run in the compiler");
    check("", "#[tc_span] fn f() {}", "a function has one span");
    check("", "fn f() -> impl Future<Output = u8> { g() }", "this returns a future");
    check("", "fn f() -> impl Stream<Item = u8> { g() }", "this returns a stream");
    check("", "async fn f() -> impl Stream<Item = u8> { g() }", "this returns a stream");
    check("stream", "async fn f() -> BoxStream<'a, u8> { g() }", "`stream` on an `async fn` needs");
    check("future", "fn f() {}", "`future` is for functions that return a future");
    check("future", "fn f() -> u8 { 1 }", "`future` is for functions that return a future");
    check(
        "stream",
        "fn f() -> impl Future<Output = u8> { async {} }",
        "`stream` is for functions that return a stream",
    );
    check("stream", "async fn f() {}", "`stream` is for functions that return a stream");
    check("", "#[track_caller] fn f() -> Result<A, B> {}", "a `#[track_caller]` function cannot report its errors");
    check("future", "#[track_caller] fn f() -> BoxFuture<'a, u8> { g() }", "with `#[track_caller]` what is returned");
    check("result(a = b)", "#[track_caller] fn f() -> u8 {}", "a `#[track_caller]` function cannot report its result");
}
