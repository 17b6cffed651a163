//! How spans end: `ok`, `error`, `cancelled` or `panicked`, and what is recorded of an error.

use std::fmt;
use std::future::Future;
use std::io;

use futures::executor::block_on;
use tracecast::keys;
use tracecast::prelude::*;
use tracecast::testing::{Captured, capture};
use tracecast::{Outcome, OwnedValue};

use crate::support::{check, check_async, check_panic};

#[derive(Debug, PartialEq, TcError)]
enum StoreError {
    Timeout(u32),
    NotFound { id: &'static str },
    Gone,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Timeout(seconds) => write!(f, "nothing for {seconds}s"),
            StoreError::NotFound { id } => f.write_str(id),
            StoreError::Gone => f.write_str("gone"),
        }
    }
}

#[tc_span("Outcome/Sync")]
fn sync(result: Result<u8, StoreError>) -> Result<u8, StoreError> {
    result
}

#[tc_span("Outcome/Async")]
async fn asynchronous(result: Result<u8, StoreError>) -> Result<u8, StoreError> {
    result
}

fn boxed_result(result: Result<u8, StoreError>) -> impl Future<Output = Result<u8, StoreError>> {
    #[tc_span("Outcome/Boxed")]
    fn boxed(result: Result<u8, StoreError>) -> std::pin::Pin<Box<dyn Future<Output = Result<u8, StoreError>>>> {
        Box::pin(async move { result })
    }
    boxed(result)
}

#[test]
fn derived_types_are_the_names_of_variants() {
    let timeout = || Err(StoreError::Timeout(3));
    let not_found = || Err(StoreError::NotFound { id: "llama" });
    let text = r#"error error.type=Timeout error.message="nothing for 3s""#;
    check(|| sync(timeout()), timeout(), &format!("Outcome/Sync {text}"));
    check_async(|| asynchronous(timeout()), timeout(), &format!("Outcome/Async {text}"));
    check_async(|| boxed_result(timeout()), timeout(), &format!("Outcome/Boxed {text}"));
    check(|| sync(not_found()), not_found(), "Outcome/Sync error error.type=NotFound error.message=llama");
    check(
        || sync(Err(StoreError::Gone)),
        Err(StoreError::Gone),
        "Outcome/Sync error error.type=Gone error.message=gone",
    );
    assert_eq!(StoreError::TYPES, ["Timeout", "NotFound", "Gone"]);
}

#[test]
fn success_is_ok() {
    check(|| sync(Ok(1)), Ok(1), "Outcome/Sync");
    check_async(|| asynchronous(Ok(1)), Ok(1), "Outcome/Async");
    check_async(|| boxed_result(Ok(1)), Ok(1), "Outcome/Boxed");
    let captured = capture(|| sync(Ok(1)));
    assert_eq!(captured.spans[0].outcome, Outcome::Ok);
    assert!(!captured.spans[0].outcome.is_error(), "the status stays unset");
}

#[test]
fn other_errors_have_the_name_of_their_type() {
    #[derive(Debug)]
    struct Silent;

    #[tc_span("Outcome/Displayed")]
    fn displayed() -> io::Result<()> {
        Err(io::Error::other("disk"))
    }

    #[tc_span("Outcome/Silent")]
    fn silent() -> Result<u8, Silent> {
        Err(Silent)
    }

    #[tc_span("Outcome/Generic")]
    async fn generic<E: fmt::Display>(error: E) -> Result<(), E> {
        Err(error)
    }

    #[tc_span("Outcome/Unbounded")]
    fn unbounded<E>(error: E) -> Result<(), E> {
        Err(error)
    }

    let outcome = |captured: Captured<bool>| {
        assert_eq!(captured.spans.len(), 1);
        assert!(captured.value);
        captured.tree().trim_end().to_owned()
    };
    assert_eq!(
        outcome(capture(|| displayed().is_err())),
        "Outcome/Displayed error error.type=std::io::error::Error error.message=disk"
    );
    let silent = outcome(capture(|| silent().is_err()));
    assert!(silent.starts_with("Outcome/Silent error error.type=shapes::spans::outcomes::"), "{silent}");
    assert!(silent.ends_with("::Silent"), "an error without `Display` has no message: {silent}");
    assert_eq!(
        outcome(capture(|| block_on(generic("x")).is_err())),
        "Outcome/Generic error error.type=&str error.message=x"
    );
    assert_eq!(outcome(capture(|| unbounded("x").is_err())), "Outcome/Unbounded error error.type=&str");
}

#[test]
fn errors_are_left_out_on_request() {
    #[tc_span("Outcome/NoErr", no_err)]
    fn no_err() -> Result<u8, StoreError> {
        Err(StoreError::Gone)
    }

    #[tc_span("Outcome/AsyncNoErr", no_err, result(keys::size_bytes = |x| *x))]
    async fn async_no_err(result: Result<u8, StoreError>) -> Result<u8, StoreError> {
        result
    }

    #[tc_span("Outcome/NoMessage", no_message)]
    fn no_message() -> Result<u8, StoreError> {
        Err(StoreError::NotFound { id: "secret" })
    }

    #[tc_span("Outcome/AsyncNoMessage", no_message)]
    async fn async_no_message() -> io::Result<u8> {
        Err(io::Error::other("secret"))
    }

    check(|| no_err().is_err(), true, "Outcome/NoErr");
    check_async(|| async_no_err(Err(StoreError::Gone)), Err(StoreError::Gone), "Outcome/AsyncNoErr");
    check_async(|| async_no_err(Ok(1)), Ok(1), "Outcome/AsyncNoErr tc.size.bytes=1");
    check(|| no_message().is_err(), true, "Outcome/NoMessage error error.type=NotFound");
    let error = "Outcome/AsyncNoMessage error error.type=std::io::error::Error";
    check(|| block_on(async_no_message()).is_err(), true, error);
}

#[test]
fn messages_are_cut_at_256_bytes() {
    #[tc_span("Outcome/Long")]
    fn fails(message: String) -> Result<(), String> {
        Err(message)
    }

    let recorded = |message: String| {
        let captured = capture(|| fails(message));
        match captured.span("Outcome/Long").attribute("error.message") {
            Some(OwnedValue::Str(text)) => text.clone().into_owned(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(recorded("x".repeat(256)), "x".repeat(256));
    assert_eq!(recorded("x".repeat(5000)), "x".repeat(256));
    // Between two characters: the 128th `é` would end at byte 257.
    assert_eq!(recorded(format!("x{}", "é".repeat(300))), format!("x{}", "é".repeat(127)));
}

#[tc_span("Outcome/Pending")]
async fn pending() {
    std::future::pending().await
}

#[test]
fn a_future_dropped_before_its_end_is_cancelled() {
    let captured = capture(|| {
        let mut future = Box::pin(pending());
        block_on(async { assert!(futures::poll!(&mut future).is_pending()) });
        drop(tc_scope!("Other/Meanwhile"));
        drop(future);
    });
    captured.assert_outline("Outcome/Pending cancelled\nOther/Meanwhile");
    assert!(captured.span("Outcome/Pending").end_time() >= captured.span("Other/Meanwhile").end_time());
    assert!(!Outcome::Cancelled.is_error());
}

#[test]
fn a_panic_passes_through_every_span() {
    #[tc_span("Outcome/Inner")]
    fn inner() {
        panic!("on purpose")
    }

    #[tc_span("Outcome/Outer")]
    async fn outer() {
        let _scope = tc_scope!("Outcome/Scope");
        inner();
    }

    let tree = "
        Outcome/Outer panicked
          Outcome/Scope panicked
            Outcome/Inner panicked
    ";
    check_panic(|| block_on(outer()), tree);
    // Nothing is left behind on this thread.
    check(|| sync(Ok(1)), Ok(1), "Outcome/Sync");
}

#[test]
fn a_panic_that_is_caught_inside_is_none() {
    #[tc_span("Outcome/Catches")]
    fn catches() -> bool {
        std::panic::catch_unwind(|| panic!("on purpose")).is_err()
    }

    check(catches, true, "Outcome/Catches");
}
