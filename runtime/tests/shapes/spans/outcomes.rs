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
        "Outcome/Displayed error error.type=io::Other error.message=disk"
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
    let error = "Outcome/AsyncNoMessage error error.type=io::Other";
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

#[cfg(all(feature = "anyhow", feature = "http", feature = "tonic"))]
#[test]
fn errors_of_other_crates_tell_what_they_are() {
    use std::error::Error;

    #[tc_span("Known/Status")]
    #[tc_metric(calls = "tc_known_total")]
    fn status() -> Result<(), tonic::Status> {
        Err(tonic::Status::not_found("no such tensor"))
    }

    #[tc_span("Known/Response")]
    fn response() -> Result<(), (http::StatusCode, String)> {
        Err((http::StatusCode::NOT_FOUND, "secret".into()))
    }

    #[tc_span("Known/Anyhow")]
    async fn chained() -> anyhow::Result<()> {
        Err(anyhow::Error::new(io::Error::new(io::ErrorKind::TimedOut, "slow")).context("read").context("load"))
    }

    #[tc_span("Known/Boxed")]
    fn boxed() -> Result<u8, Box<dyn Error + Send + Sync>> {
        Ok("x".parse::<u8>()?)
    }

    #[tc_span("Known/Anyhow")]
    fn status_in_anyhow() -> anyhow::Result<()> {
        // A status has causes too.
        let mut status = tonic::Status::unavailable("no server");
        status.set_source(std::sync::Arc::new(io::Error::from(io::ErrorKind::ConnectionRefused)));
        Err(anyhow::Error::new(status).context("load"))
    }

    #[tc_span("Known/Boxed")]
    fn boxed_status() -> Result<(), Box<dyn Error>> {
        Ok(status()?)
    }

    let captured = capture(|| {
        status().unwrap_err();
        response().unwrap_err();
        block_on(chained()).unwrap_err();
        boxed().unwrap_err();
        status_in_anyhow().unwrap_err();
        boxed_status().unwrap_err();
    });
    captured.assert_tree(
        "
        Known/Status error error.type=NOT_FOUND error.message=\"code: 'Some requested entity was not found', message: \\\"no such tensor\\\"\"
        Known/Response error error.type=404 error.message=\"404 Not Found\"
        Known/Anyhow error error.type=io::TimedOut error.message=\"load: read: slow\"
        Known/Boxed error error.type=\"Box<dyn Error>\" error.message=\"invalid digit found in string\"
        Known/Anyhow error error.type=UNAVAILABLE error.message=\"load: code: 'The service is currently unavailable', message: \\\"no server\\\", source: Kind(ConnectionRefused): connection refused\"
        Known/Boxed error error.type=NOT_FOUND error.message=\"code: 'Some requested entity was not found', message: \\\"no such tensor\\\"\"
          Known/Status error error.type=NOT_FOUND error.message=\"code: 'Some requested entity was not found', message: \\\"no such tensor\\\"\"
        ",
    );
    captured.assert_metrics("tc_known_total{outcome=error, error.type=NOT_FOUND} 2");
}

#[test]
fn a_closure_decides_which_errors_are_ones() {
    fn is_failure(error: &StoreError) -> bool {
        !matches!(error, StoreError::NotFound { .. })
    }

    #[tc_span("ErrIf/Sync", err_if = |error| !matches!(error, StoreError::Gone))]
    #[tc_metric(calls = "tc_sync_total", errors = "tc_sync_errors_total")]
    fn sync(error: StoreError) -> Result<u8, StoreError> {
        Err(error)
    }

    #[tc_metric(calls = "tc_async_total", err_if = is_failure)]
    #[tc_span("ErrIf/Async", no_message)]
    async fn asynchronous(error: StoreError) -> Result<u8, StoreError> {
        Err(error)
    }

    #[tc_span("ErrIf/Boxed", err_if = |error| error.kind() != io::ErrorKind::NotFound)]
    fn boxed(kind: io::ErrorKind) -> futures::future::BoxFuture<'static, io::Result<u8>> {
        Box::pin(async move { Err(kind.into()) })
    }

    #[tc_span("ErrIf/Stream", err_if = |error: &io::Error| error.kind() != io::ErrorKind::NotFound)]
    fn stream() -> impl futures::Stream<Item = io::Result<u8>> {
        futures::stream::iter([Err(io::ErrorKind::NotFound.into())])
    }

    let captured = capture(|| {
        drop((sync(StoreError::Gone), sync(StoreError::Timeout(1))));
        drop(block_on(asynchronous(StoreError::NotFound { id: "a" })));
        drop(block_on(asynchronous(StoreError::Gone)));
        drop((block_on(boxed(io::ErrorKind::NotFound)), block_on(boxed(io::ErrorKind::TimedOut))));
        block_on(futures::StreamExt::count(stream()))
    });
    captured.assert_tree(
        "
        ErrIf/Sync
        ErrIf/Sync error error.type=Timeout error.message=\"nothing for 1s\"
        ErrIf/Async
        ErrIf/Async error error.type=Gone
        ErrIf/Boxed
        ErrIf/Boxed error error.type=io::TimedOut error.message=\"timed out\"
        ErrIf/Stream
        ",
    );
    captured.assert_metrics(
        "
        tc_async_total{outcome=ok} 1
        tc_async_total{outcome=error, error.type=Gone} 1
        tc_sync_errors_total{outcome=error, error.type=Timeout} 1
        tc_sync_total{outcome=ok} 1
        tc_sync_total{outcome=error, error.type=Timeout} 1
        ",
    );
}

#[test]
fn an_error_with_a_short_name_keeps_its_types() {
    #[derive(Debug, TcError)]
    enum E {
        Full,
    }

    #[derive(Debug, TcError)]
    enum IO {
        Torn,
    }

    struct Store;
    struct Of<T>(T);

    #[tc_metric(calls = "tc_short_total")]
    fn short() -> Result<u8, E> {
        Err(E::Full)
    }

    impl Store {
        #[tc_metric(calls = "tc_capitals_total")]
        fn capitals(&self) -> Result<u8, IO> {
            Err(IO::Torn)
        }

        // The macro does not see whether the block has a parameter `E`.
        #[tc_metric(calls = "tc_guessed_total")]
        fn guessed(&self) -> Result<u8, E> {
            Err(E::Full)
        }

        #[tc_metric(calls = "tc_given_total", error_type = E)]
        fn given(&self) -> Result<u8, E> {
            Err(E::Full)
        }
    }

    #[tc_span(component = "Store")]
    impl<Failure: Clone> Of<Failure> {
        #[tc_metric(calls = "tc_known_parameters_total")]
        fn known(&self) -> Result<u8, E> {
            Err(E::Full)
        }

        #[tc_span]
        #[tc_metric(calls = "tc_of_parameter_total")]
        fn of_parameter(&self) -> Result<u8, Failure> {
            Err(self.0.clone())
        }
    }

    let captured = capture(|| {
        drop((short(), Store.capitals(), Store.guessed(), Store.given()));
        drop((Of("full").known(), Of("full").of_parameter()));
    });
    captured.assert_metrics(
        "
        tc_capitals_total{outcome=error, error.type=Torn} 1
        tc_given_total{outcome=error, error.type=Full} 1
        tc_guessed_total{outcome=error} 1
        tc_known_parameters_total{outcome=error, error.type=Full} 1
        tc_of_parameter_total{outcome=error} 1
        tc_short_total{outcome=error, error.type=Full} 1
        ",
    );
}
