//! `#[tc_metric]` on methods: every kind of `self`, traits, `async_trait`, and blocks that name spans.

#![expect(unreachable_pub, reason = "`methods = pub` goes by the word `pub`")]

#[path = "support/metered.rs"]
mod metered;
mod support;

use std::fmt;
use std::future::{Future, pending, ready};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use async_trait::async_trait;
use futures::executor::block_on;
use futures::future::BoxFuture;
use metered::{StoreError, cancel, panics};
use support::send;
use tracecast::keys::{SourceType, artifact, source};
use tracecast::prelude::*;
use tracecast::testing::capture;

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

impl Store {
    #[tc_metric(calls = "tc_shared_total", labels(source = self.from))]
    fn shared(&self) -> u8 {
        1
    }

    #[tc_metric(calls = "tc_exclusive_total")]
    fn exclusive(&mut self, from: SourceType) -> &mut SourceType {
        self.from = from;
        &mut self.from
    }

    #[tc_metric(calls = "tc_value_total", labels(source = self.from))]
    fn value(self) -> SourceType {
        self.from
    }

    #[tc_metric(calls = "tc_boxed_total")]
    fn boxed(self: Box<Self>) -> Box<Self> {
        self
    }

    #[tc_metric(calls = "tc_counted_total")]
    fn counted(self: &Rc<Self>) -> usize {
        Rc::strong_count(self)
    }

    #[tc_metric(calls = "tc_pinned_total")]
    fn pinned(self: Pin<&mut Self>) -> SourceType {
        self.from
    }

    #[tc_metric(calls = "tc_later_total", in_flight = "tc_later_active", labels(source = self.from))]
    async fn later(&self, ok: bool) -> Result<Self, StoreError> {
        if ok { Ok(self.clone()) } else { Err(StoreError::Gone) }
    }

    #[tc_metric(calls = "tc_arc_total", labels(source = self.from))]
    async fn arc(self: Arc<Self>, more: usize) -> usize {
        ready(more).await
    }

    #[tc_metric(calls = "tc_taken_total")]
    async fn taken(mut self) -> SourceType {
        self.from = SourceType::Remote;
        self.from
    }

    #[tc_metric(calls = "tc_returned_total", labels(source = self.from))]
    fn returned(&self) -> BoxFuture<'_, SourceType> {
        Box::pin(async move { self.from })
    }
}

#[test]
fn every_self_type() {
    let disk = |name: &str| format!("{name}{{tc.source.type=disk, outcome=ok}} 1");
    check(|| STORE.shared(), 1, &disk("tc_shared_total"), "");
    check(|| *STORE.clone().exclusive(SourceType::Remote), SourceType::Remote, "tc_exclusive_total{outcome=ok} 1", "");
    check(|| STORE.value(), SourceType::Disk, &disk("tc_value_total"), "");
    check(|| Box::new(STORE).boxed().from, SourceType::Disk, "tc_boxed_total{outcome=ok} 1", "");
    check(|| Rc::new(STORE).counted(), 1, "tc_counted_total{outcome=ok} 1", "");
    check(|| Pin::new(&mut STORE.clone()).pinned(), SourceType::Disk, "tc_pinned_total{outcome=ok} 1", "");
    check(|| block_on(send(Arc::new(STORE).arc(4))), 4, &disk("tc_arc_total"), "");
    check(|| block_on(STORE.taken()), SourceType::Remote, "tc_taken_total{outcome=ok} 1", "");
    check(|| block_on(send(STORE.returned())), SourceType::Disk, &disk("tc_returned_total"), "");
}

#[test]
fn results_of_self() {
    let metrics = |ending| {
        format!("tc_later_active{{tc.source.type=disk}} 0\ntc_later_total{{tc.source.type=disk, outcome={ending}}} 1")
    };
    check(|| block_on(STORE.later(true)).is_ok(), true, &metrics("ok, error.type=none"), "");
    check(|| block_on(STORE.later(false)).is_ok(), false, &metrics("error, error.type=Gone"), "");
}

trait Loads {
    fn load(&self, id: &str) -> impl Future<Output = Result<usize, StoreError>> + Send;
    async fn fetch(&self) -> usize;

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
}

#[test]
fn methods_of_traits() {
    let loads = "tc_trait_loads_total{outcome=ok, error.type=none} 1";
    check(|| block_on(send(Loads::load(&STORE, "x"))), Ok(1), loads, "Trait/Load tc.artifact.id=x");
    check(|| cancel(STORE.fetch()), (), "tc_trait_fetches_total{outcome=cancelled} 1", "");
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
    check(|| block_on(send(Boxed::load(&STORE, 1, "x"))), Ok(1), &metrics("ok, error.type=none"), "");
    check(|| block_on(Boxed::load(&STORE, 1, "")), Err(StoreError::Gone), &metrics("error, error.type=Gone"), "");
    check(|| cancel(Boxed::load(&STORE, 1, "pending")), (), &metrics("cancelled, error.type=none"), "");
    let panicked = || panics(|| block_on(Boxed::load(&STORE, 1, "panic")));
    check(panicked, true, &metrics("panicked, error.type=none"), "");
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

    let above = "tc_above_total{outcome=ok, error.type=none} 1";
    check(|| block_on(Above.load(1, "x")), Ok(1), above, "Above/Load tc.artifact.id=x");
    let captured = capture(|| block_on(Below.load(1, "x")));
    captured.assert_metrics("tc_below_total{outcome=error} 1");
    captured.assert_outline("Below/Load error");
}

#[test]
fn a_component_names_the_spans_of_measured_methods() {
    struct Pool<'a, T>(&'a [T]);

    #[tc_span(component = "Pool", methods = pub)]
    impl<'a, T: Clone> Pool<'a, T> {
        #[tc_metric(calls = "tc_firsts_total")]
        pub fn first(&self) -> Option<&'a T> {
            self.0.first()
        }

        #[tc_span(attrs(artifact = id))]
        #[tc_metric(calls = "tc_above_all_total")]
        pub async fn all_above(&self, id: &str) -> Vec<T> {
            ready(id).await;
            self.0.to_vec()
        }

        #[tracecast::tc_metric(calls = "tc_below_all_total")]
        #[tracecast::tc_span("Disk/ReadAll")]
        fn all_below(&self) -> usize {
            self.0.len()
        }

        #[tc_metric(calls = "tc_private_total")]
        fn private(&self) {}
    }

    let pool = Pool(&[1, 2]);
    check(|| pool.first(), Some(&1), "tc_firsts_total{outcome=ok} 1", "Pool/First");
    let all = "tc_above_all_total{outcome=ok} 1";
    check(|| block_on(pool.all_above("x")), vec![1, 2], all, "Pool/AllAbove tc.artifact.id=x");
    check(|| pool.all_below(), 2, "tc_below_all_total{outcome=ok} 1", "Disk/ReadAll");
    check(|| pool.private(), (), "tc_private_total{outcome=ok} 1", "");
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
