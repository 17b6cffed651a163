//! `#[tc_metric]` on methods: every kind of `self`, and blocks that name the spans of their methods.

#![expect(unreachable_pub, reason = "`methods = pub` goes by the word `pub`")]

use std::fmt;
use std::future::ready;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use futures::executor::block_on;
use futures::future::BoxFuture;
use tracecast::keys::tensor::{SourceType, artifact, source};
use tracecast::prelude::*;
use tracecast::testing::capture;

use crate::metered::StoreError;
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
    check(|| block_on(STORE.later(true)).is_ok(), true, &metrics("ok"), "");
    check(|| block_on(STORE.later(false)).is_ok(), false, &metrics("error, error.type=Gone"), "");
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
fn attributes_under_other_names() {
    use tracecast::{tc_metric as measured, tc_span as spanned};

    #[spanned("Renamed/Below")]
    #[measured(calls = "tc_renamed_below_total")]
    fn below(x: u8) -> u8 {
        x
    }

    #[measured(calls = "tc_renamed_above_total")]
    #[spanned("Renamed/Above")]
    async fn above(x: u8) -> Option<u8> {
        ready(Some(x)).await
    }

    #[measured(calls = "tc_renamed_alone_total")]
    #[tc_span("Renamed/Alone")]
    async fn alone(x: u8) -> u8 {
        x
    }

    // Unknown to each other, they are two wrappers.
    check(|| below(1), 1, "tc_renamed_below_total{outcome=ok} 1", "Renamed/Below");
    check(|| block_on(above(1)), Some(1), "tc_renamed_above_total{outcome=ok} 1", "Renamed/Above");
    check(|| block_on(alone(1)), 1, "tc_renamed_alone_total{outcome=ok} 1", "Renamed/Alone");
}

#[test]
fn functions_for_some_cpus_and_other_languages() {
    #[unsafe(no_mangle)]
    #[tc_metric(calls = "tc_exported_total")]
    extern "C" fn tracecast_test_measured(x: u8) -> u8 {
        x + 1
    }

    let as_pointer: extern "C" fn(u8) -> u8 = tracecast_test_measured;
    check(|| as_pointer(1), 2, "tc_exported_total{outcome=ok} 1", "");

    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        use std::arch::x86_64::{_mm_cvtsi128_si32, _mm256_castsi256_si128, _mm256_set1_epi32};

        // Calls of intrinsics are safe only where their feature is on: in the body, wherever that ends up.
        #[tc_metric(calls = "tc_cpus_total")]
        #[target_feature(enable = "avx2")]
        fn for_some_cpus(x: i32) -> Result<i32, StoreError> {
            Ok(_mm_cvtsi128_si32(_mm256_castsi256_si128(_mm256_set1_epi32(x))))
        }

        // SAFETY: the feature was just looked for.
        check(|| unsafe { for_some_cpus(7) }, Ok(7), "tc_cpus_total{outcome=ok} 1", "");
    }
}
