//! Runs every form of every macro.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use futures::StreamExt as _;
use futures::executor::block_on;
use tracecast::testing::capture;
use tracecast::{ClosedLabel as _, Context, TcError as _};
use tracecast_strict_test::declarations::{Order, Source, StoreError, Tier, keys};
use tracecast_strict_test::methods::{Loads, LoadsBoxed, Nothing, Store, made};
use tracecast_strict_test::{functions, futures_and_streams as later};

#[track_caller]
fn check<R: PartialEq + Debug>(f: impl FnOnce() -> R, value: &R, tree: &str) {
    let captured = capture(f);
    captured.assert_tree(tree);
    assert_eq!(captured.value, *value);
}

#[track_caller]
fn check_async<F: Future>(f: impl FnOnce() -> F, value: &F::Output, tree: &str)
where
    F::Output: PartialEq + Debug,
{
    check(|| block_on(f()), value, tree);
}

#[test]
fn declarations() {
    assert_eq!(Source::VALUES, ["remote", "local_disk"]);
    assert_eq!(Tier::VALUES, ["FIRST_CLASS", "eco", "OTHER"]);
    assert_eq!(Order::VALUES, ["less", "not_less"]);
    assert_eq!(StoreError::TYPES, ["Timeout", "NotFound", "Gone"]);
    check(keys::with_private, &(), "Declared/Private test.private=x");
}

#[test]
fn functions_and_options() {
    check(functions::unit, &(), "Function/Unit");
    check(
        || functions::attributes("abc".to_owned(), Source::LocalDisk),
        &("abc".to_owned(), Source::LocalDisk),
        "Function/Attrs [client] test.artifact=abc test.source=local_disk test.tier=eco test.order=less \
         test.hit=true test.device=3 test.tenant=gold test.bytes=3 test.change=-1 test.ratio=0.5",
    );
    check(|| functions::result(true), &Ok(vec![1, 2]), "Function/Result test.bytes=2 test.artifact=x");
    let error = "Function/Result error error.type=Timeout error.message=Timeout(3)";
    check(|| functions::result(false), &Err(StoreError::Timeout(3)), error);
    check(|| functions::no_message().is_err(), &true, "Function/NoMessage error error.type=NotFound");
    check(|| functions::no_err(&1).is_err(), &true, "Function/NoErr");
    check(|| functions::options(&Context::current()), &(), "");
    check(|| functions::dynamic(true).is::<&str>(), &true, "Function/Dynamic");
    check(|| *functions::borrow(&mut vec![]), &1, "Function/Borrow");
    check(|| functions::opaque(&[1]).collect::<Vec<_>>(), &vec![2], "Function/Opaque");
    check(|| functions::generic((1, 2_u8), &[0; 3]), &6, "Function/Generic test.bytes=1");
    check(|| functions::track_caller() > 0, &true, "Function/TrackCaller");
    check(functions::items, &3, "Function/Items test.hit=true");
}

#[test]
fn databases() {
    let tree = "users.select [client] db.system.name=postgresql db.collection.name=users db.operation.name=select";
    check(functions::database, &(), tree);
    check(
        || functions::table("t"),
        &(),
        r#"t.select [client] db.system.name=postgresql db.collection.name=t db.operation.name=select db.namespace=main db.query.text="select * from t""#,
    );
    let tree = "t.select [client] db.system.name=postgresql db.collection.name=t db.operation.name=select";
    check_async(|| later::database("t"), &1, tree);
}

#[test]
fn scopes() {
    let captured = capture(functions::scopes);
    captured.assert_outline("Scope/Outer [server]\n  Scope/Inner\n    Function/Unit");
    assert_eq!(captured.span("Scope/Inner").links.len(), 1);
    check_async(later::in_scopes, &(), "Scope/Future\nAsync/Unit");
}

#[test]
fn futures() {
    check_async(later::unit, &(), "Async/Unit");
    check_async(
        || later::everything("abc".to_owned(), (1, 2), 3),
        &Ok(b"abc".to_vec()),
        "Async/Everything [server] test.artifact=abc test.bytes=3 test.tenant=gold",
    );
    check_async(
        || later::everything(String::new(), (1, 2), 3),
        &Err(StoreError::Gone),
        r#"Async/Everything [server] error test.artifact="" test.bytes=1 error.type=Gone test.tenant=gold"#,
    );
    let cancelled = || block_on(async { futures::poll!(Box::pin(later::never())).is_pending() });
    check(cancelled, &true, "Async/Never cancelled");
    check_async(|| later::borrow("x", "y"), &"x", "Async/Borrow");
    check_async(|| later::boxed("abc"), &Ok(3), "Future/Boxed test.artifact=abc");
    check_async(|| later::opaque(1), &Ok(1), "Future/Opaque");
    check_async(later::called, &1, "Future/Called");
    check_async(later::rewrapped, &1, "Future/Rewrapped");
    check_async(later::construct, &1, "Future/Construct");
}

#[test]
fn streams() {
    check_async(|| later::numbers(2).collect::<Vec<_>>(), &vec![0, 1], "Stream/Macro");
    let error = "Stream/Called error error.type=Gone error.message=Gone";
    check_async(|| later::called_stream().count(), &2, error);
    check_async(|| later::boxed_stream(&[1]).collect::<Vec<_>>(), &vec![1], "Stream/Boxed");
    check_async(|| async { later::async_stream(2).await.count().await }, &2, "Stream/Async");
}

#[test]
fn methods() {
    check(|| Store::new("abc").constant().len(), &3, "Store/New");
    let store = Store::new("abc");
    check_async(|| store.load(), &3, "Store/Load test.artifact=abc");
    check_async(|| store.clone().take(), &"abc".to_owned(), "Store/Take");
    check(|| Box::new(store.clone()).take_box(), &"abc".to_owned(), "Store/TakeBox");
    check_async(|| Arc::new(store.clone()).shared(), &3, "Store/Shared");
    check(|| Pin::new(&mut store.clone()).pinned(), &4, "Store/Pinned");
    check_async(|| Loads::load(&store, "x"), &Ok(4), "Loads/Load test.artifact=x");
    check(|| store.default_method(), &1, "Loads/Default");
    check_async(|| store.load_boxed(1, "x"), &Ok(1), "Above/LoadBoxed test.artifact=x");
    check_async(|| store.default_boxed(1), &1, "LoadsBoxed/Default");
    let error = "Below/LoadBoxed error error.type=Gone error.message=Gone";
    check_async(|| Nothing.load_boxed(1, "x"), &Err(StoreError::Gone), error);
    check(|| made(1), &4, "Made/Sync test.bytes=1");
}
