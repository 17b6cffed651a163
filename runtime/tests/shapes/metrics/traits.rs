//! `#[tc_metric]` on methods of traits: defaults, `async fn` in traits, `async_trait`, and the standard library's.

use std::fmt;
use std::future::{Future, pending, ready};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll};

use async_trait::async_trait;
use futures::executor::block_on;
use tracecast::keys::tensor::{SourceType, artifact, source};
use tracecast::prelude::*;
use tracecast::testing::capture;

use crate::metered::{StoreError, cancel, panics};
use crate::support::send;

/// Runs `f`, which must return `value` and leave exactly these metrics and spans.
#[track_caller]
fn check<R: PartialEq + fmt::Debug>(f: impl FnOnce() -> R, value: R, metrics: &str, tree: &str) {
    let captured = capture(f);
    captured.assert_metrics(metrics);
    captured.assert_tree(tree);
    assert_eq!(captured.value, value);
}

#[derive(Clone)]
struct Store {
    from: SourceType,
}

const STORE: Store = Store { from: SourceType::Disk };

trait Loads {
    fn load(&self, id: &str) -> impl Future<Output = Result<usize, StoreError>> + Send;
    async fn fetch(&self) -> usize;
    fn returned(&self) -> impl Future<Output = SourceType> + Send;

    #[tc_metric(calls = "tc_defaults_total")]
    fn default_method(&self) -> u8 {
        1
    }

    #[tc_metric(calls = "tc_default_futures_total")]
    async fn default_future(&self) -> u8 {
        2
    }
}

impl Loads for Store {
    #[tc_metric(calls = "tc_trait_loads_total")]
    #[tc_span("Trait/Load", attrs(artifact = id))]
    async fn load(&self, id: &str) -> Result<usize, StoreError> {
        ready(()).await;
        if id.is_empty() { Err(StoreError::Gone) } else { Ok(id.len()) }
    }

    #[tc_metric(calls = "tc_trait_fetches_total")]
    async fn fetch(&self) -> usize {
        pending().await
    }

    #[tc_metric(calls = "tc_trait_returns_total", labels(source = |from| *from))]
    fn returned(&self) -> impl Future<Output = SourceType> + Send {
        async { self.from }
    }
}

#[test]
fn methods_of_traits() {
    let loads = "tc_trait_loads_total{outcome=ok} 1";
    check(|| block_on(send(Loads::load(&STORE, "x"))), Ok(1), loads, "Trait/Load tc.artifact.id=x");
    check(|| cancel(STORE.fetch()), (), "tc_trait_fetches_total{outcome=cancelled} 1", "");
    let returned = "tc_trait_returns_total{tc.source.type=disk, outcome=ok} 1";
    check(|| block_on(send(STORE.returned())), SourceType::Disk, returned, "");
    check(|| STORE.default_method(), 1, "tc_defaults_total{outcome=ok} 1", "");
    check(|| block_on(STORE.default_future()), 2, "tc_default_futures_total{outcome=ok} 1", "");
}

#[async_trait]
trait Boxed<T: Send + Sync + 'static> {
    async fn load(&self, t: T, id: &str) -> Result<T, StoreError>;

    #[tc_metric(calls = "tc_boxed_defaults_total")]
    async fn count(&mut self, t: T) -> usize {
        drop(t);
        5
    }
}

#[async_trait]
impl<T: Send + Sync + 'static> Boxed<T> for Store {
    #[tc_metric(calls = "tc_boxed_loads_total", in_flight = "tc_boxed_loads_active", labels(source = self.from))]
    async fn load(&self, t: T, id: &str) -> Result<T, StoreError> {
        match id {
            "" => Err(StoreError::Gone),
            "pending" => pending().await,
            "panic" => panic!("on purpose"),
            _ => Ok(t),
        }
    }
}

#[test]
fn async_trait_on_methods() {
    let metrics = |outcome| {
        format!(
            "tc_boxed_loads_active{{tc.source.type=disk}} 0\n\
             tc_boxed_loads_total{{tc.source.type=disk, outcome={outcome}}} 1"
        )
    };
    check(|| block_on(send(Boxed::load(&STORE, 1, "x"))), Ok(1), &metrics("ok"), "");
    check(|| block_on(Boxed::load(&STORE, 1, "")), Err(StoreError::Gone), &metrics("error, error.type=Gone"), "");
    check(|| cancel(Boxed::load(&STORE, 1, "pending")), (), &metrics("cancelled"), "");
    let panicked = || panics(|| block_on(Boxed::load(&STORE, 1, "panic")));
    check(panicked, true, &metrics("panicked"), "");
    check(|| drop(Boxed::load(&STORE, 1, "x")), (), "", "");
    check(|| block_on(STORE.clone().count(1)), 5, "tc_boxed_defaults_total{outcome=ok} 1", "");
}

#[test]
fn async_trait_around_a_component() {
    struct Above;
    struct Below;

    #[async_trait]
    #[tc_span(component = "Above")]
    impl Boxed<u8> for Above {
        #[tc_span(attrs(artifact = id))]
        #[tc_metric(calls = "tc_above_total")]
        async fn load(&self, t: u8, id: &str) -> Result<u8, StoreError> {
            ready(id).await;
            Ok(t)
        }
    }

    #[tc_span(component = "Below", methods = pub)]
    #[async_trait]
    impl Boxed<u8> for Below {
        #[tc_metric(calls = "tc_below_total", error_type = none)]
        async fn load(&self, _t: u8, _id: &str) -> Result<u8, StoreError> {
            ready(()).await;
            Err(StoreError::Gone)
        }
    }

    let above = "tc_above_total{outcome=ok} 1";
    check(|| block_on(Above.load(1, "x")), Ok(1), above, "Above/Load tc.artifact.id=x");
    let captured = capture(|| block_on(Below.load(1, "x")));
    captured.assert_metrics("tc_below_total{outcome=error} 1");
    captured.assert_outline("Below/Load error");
}

#[test]
fn async_trait_without_send() {
    #[async_trait(?Send)]
    trait Local<T: 'static> {
        async fn load(&self, x: Rc<T>, (y, z): (u8, u8), _: &str) -> Result<Rc<T>, StoreError>;
    }

    #[async_trait(?Send)]
    impl<T: 'static + Clone> Local<T> for Store {
        #[tc_metric(calls = "tc_local_loads_total", labels(source = self.from))]
        #[tc_span("Local/Load")]
        async fn load(&self, x: Rc<T>, (y, z): (u8, u8), _: &str) -> Result<Rc<T>, StoreError> {
            if y == z {
                return Err(StoreError::Gone);
            }
            ready(()).await;
            Ok(x)
        }
    }

    let metrics = |ending| format!("tc_local_loads_total{{tc.source.type=disk, outcome={ending}}} 1");
    let load = |numbers| block_on(Local::load(&STORE, Rc::new(5), numbers, ""));
    check(|| load((1, 2)), Ok(Rc::new(5)), &metrics("ok"), "Local/Load");
    let captured = capture(|| load((1, 1)));
    captured.assert_metrics(&metrics("error, error.type=Gone"));
    captured.assert_outline("Local/Load error");
}

#[test]
fn traits_of_the_standard_library() {
    struct Number(u8);

    impl Drop for Number {
        #[tc_metric(calls = "tc_drops_total")]
        fn drop(&mut self) {
            self.0 = 0;
        }
    }

    impl Future for Number {
        type Output = u8;

        #[tc_metric(calls = "tc_polls_total")]
        fn poll(self: Pin<&mut Self>, _task: &mut TaskContext<'_>) -> Poll<u8> {
            Poll::Ready(self.0)
        }
    }

    impl fmt::Display for Number {
        #[tc_metric(calls = "tc_formats_total")]
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{}", self.0)
        }
    }

    let drops = "tc_drops_total{outcome=ok} 1";
    check(|| block_on(Number(3)), 3, &format!("{drops}\ntc_polls_total{{outcome=ok}} 1"), "");
    check(|| Number(3).to_string(), "3".to_owned(), &format!("{drops}\ntc_formats_total{{outcome=ok}} 1"), "");
}
