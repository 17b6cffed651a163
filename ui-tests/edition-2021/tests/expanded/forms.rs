//! Runs what the library declares.

use std::fmt::Debug;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Mutex;

use futures::executor::block_on;
use tc::testing::capture;
use tracecast_edition_2021_test::{self as user, qualified, Loads, Source, Store, StoreError};

#[track_caller]
fn check<R: PartialEq + Debug>(f: impl FnOnce() -> R, value: R, tree: &str) {
    let captured = capture(f);
    captured.assert_tree(tree);
    assert_eq!(captured.value, value);
}

#[test]
fn renamed_and_reexported() {
    check(|| user::renamed("ab"), Ok(2), "Renamed/Sync test.artifact=ab test.order=less");
    let tree = "
        Reexported/Async error test.source=disk error.type=Gone error.message=gone
          Reexported/Scope test.artifact=x
    ";
    check(|| block_on(user::reexported(Source::Disk)).err(), Some(StoreError::Gone), tree);
    let tree = "t.select [client] db.system.name=sqlite db.collection.name=t db.operation.name=select";
    check(|| user::database("t"), (), tree);
}

#[test]
fn temporaries_at_the_tail() {
    check(|| user::tail_temporary(&Mutex::new(1)), 1, "Edition/TailTemporary");
    check(|| block_on(user::async_tail_temporary(Mutex::new(1))), 1, "Edition/AsyncTailTemporary");
}

/// Notes its name when it is dropped.
struct Noisy<'a>(&'static str, &'a Mutex<Vec<&'static str>>);

impl Drop for Noisy<'_> {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0);
    }
}

/// The same function twice, without and with a span.
macro_rules! twins {
    ($plain:ident, $ours:ident, ($($signature:tt)*) $body:block) => {
        fn $plain $($signature)* $body
        #[tc::tc_span("Edition/Twin")]
        fn $ours $($signature)* $body
    };
    (async $plain:ident, $ours:ident, ($($signature:tt)*) $body:block) => {
        async fn $plain $($signature)* $body
        #[tc::tc_span("Edition/Twin")]
        async fn $ours $($signature)* $body
    };
}

twins!(plain_sync, sync, ((log: &Mutex<Vec<&'static str>>, argument: Noisy<'_>) -> usize) {
    let _local = Noisy("local", log);
    Noisy("temporary", log).0.len() + argument.0.len()
});
twins!(plain_lone, lone, ((log: &Mutex<Vec<&'static str>>, argument: Noisy<'_>) -> usize) {
    Noisy("temporary", log).0.len() + argument.0.len()
});
twins!(async plain_async, asynchronous, ((log: &Mutex<Vec<&'static str>>, argument: Noisy<'_>) -> usize) {
    let _local = Noisy("local", log);
    Noisy("temporary", log).0.len() + argument.0.len()
});
twins!(async plain_async_lone, async_lone, ((log: &Mutex<Vec<&'static str>>, argument: Noisy<'_>) -> usize) {
    Noisy("temporary", log).0.len() + argument.0.len()
});

#[test]
fn temporaries_at_the_tail_drop_as_the_edition_has_it() {
    type Log = Mutex<Vec<&'static str>>;
    fn drops(f: impl FnOnce(&Log) -> usize) -> Vec<&'static str> {
        let log = Log::default();
        f(&log);
        log.into_inner().unwrap()
    }

    let plain = drops(|log| plain_sync(log, Noisy("argument", log)));
    assert_eq!(plain, ["local", "temporary", "argument"]);
    check(|| drops(|log| sync(log, Noisy("argument", log))), plain, "Edition/Twin");
    let plain = drops(|log| plain_lone(log, Noisy("argument", log)));
    check(|| drops(|log| lone(log, Noisy("argument", log))), plain, "Edition/Twin");
    let plain = drops(|log| block_on(plain_async(log, Noisy("argument", log))));
    check(|| drops(|log| block_on(asynchronous(log, Noisy("argument", log)))), plain, "Edition/Twin");
    let plain = drops(|log| block_on(plain_async_lone(log, Noisy("argument", log))));
    check(|| drops(|log| block_on(async_lone(log, Noisy("argument", log)))), plain, "Edition/Twin");
}

#[test]
fn lifetimes() {
    check(|| block_on(user::elided("ab", &1)), 3, "Edition/Elided");
    check(|| block_on(user::opaque("ab")).to_string(), "2".to_owned(), "Edition/Opaque");
    check(|| block_on(user::opaque_borrow("ab", &1)).to_string(), "ab".to_owned(), "Edition/OpaqueBorrow");
    // The future does not borrow the second argument, which is gone when it is awaited.
    let future = || {
        let second = Box::new(1);
        let future = user::future("ab", &second);
        drop(second);
        block_on(future)
    };
    check(future, 2, "Edition/Future");
}

#[test]
fn functions_that_never_return() {
    let run = |f: &dyn Fn()| catch_unwind(AssertUnwindSafe(f)).is_err();
    check(|| run(&|| block_on(async { user::never().await })), true, "Edition/Never panicked");
    check(|| run(&|| user::sync_never()), true, "Edition/SyncNever panicked");
}

#[test]
fn methods() {
    let store = || Store { name: "abc".to_owned() };
    check(|| block_on(store().load("x")), 4, "Store/Load");
    check(|| block_on(store().take()), 3, "Store/Take");
    check(|| block_on(store().push("d")).len(), 4, "Store/Push");
    check(|| block_on(store().boxed()), 3, "Store/Boxed test.artifact=abc");
    check(|| block_on(Loads::load(&store(), "x")), 4, "Loads/Load");
}

#[test]
fn qualified_functions() {
    // SAFETY: the pointer is that of a number.
    check(|| unsafe { qualified::read(&1) }, 1, "Edition/Unsafe");
    // SAFETY: as above, and the number is static.
    check(|| block_on(unsafe { qualified::read_later(&1) }), 1, "Edition/AsyncUnsafe");
    let as_pointer: extern "C" fn(u8) -> u8 = qualified::external;
    check(|| as_pointer(1), 2, "Edition/Extern");
    let as_pointer: extern "C" fn(u8) -> u8 = qualified::tracecast_edition_2021_no_mangle;
    check(|| as_pointer(1), 2, "Edition/NoMangle");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn functions_for_some_cpus() {
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the feature was just looked for.
        check(|| unsafe { qualified::for_some_cpus(7) }, 7, "Edition/TargetFeature");
    }
}
