//! Labels of `#[tc_metric]` from arguments and results, and which types of errors are told apart.

use std::cell::Cell;
use std::fmt;
use std::future::{Future, pending, ready};

use futures::executor::block_on;
use futures::future::BoxFuture;
use tracecast::keys::{
    Location, device, location,
    tensor::{SourceType, source},
};
use tracecast::prelude::*;
use tracecast::testing::capture;

use crate::metered::{Broken, StoreError, cancel, panics};

/// Runs `f`, which must return `value` and leave exactly these metrics.
#[track_caller]
fn check<R: PartialEq + fmt::Debug>(f: impl FnOnce() -> R, value: R, metrics: &str) {
    let captured = capture(f);
    captured.assert_metrics(metrics);
    captured.assert_tree("");
    assert_eq!(captured.value, value);
}

/// Counts how often it is asked.
#[derive(Default)]
struct Counted(Cell<u32>);

impl Counted {
    fn next(&self) -> u32 {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }
}

#[tc_metric(calls = "tc_counts_total", duration = "tc_counts_seconds", in_flight = "tc_counts_active",
            labels(device = counted.next()))]
fn counts(counted: &Counted) -> u32 {
    counted.0.get()
}

#[tc_metric(calls = "tc_later_counts_total", labels(device = counted.next()))]
async fn counts_later(counted: &Counted) -> u32 {
    counted.0.get()
}

#[tc_metric(calls = "tc_boxed_counts_total", labels(device = counted.next()))]
fn counts_boxed(counted: &Counted) -> BoxFuture<'static, ()> {
    Box::pin(async {})
}

#[test]
fn labels_are_evaluated_once_at_the_call() {
    let counted = Counted::default();
    let metrics = "
        tc_counts_active{tc.device.id=1} 0
        tc_counts_seconds{tc.device.id=1} count=1
        tc_counts_total{tc.device.id=1, outcome=ok} 1
    ";
    check(|| counts(&counted), 1, metrics);
    check(|| block_on(counts_later(&counted)), 2, "tc_later_counts_total{tc.device.id=2, outcome=ok} 1");
    check(|| block_on(counts_boxed(&counted)), (), "tc_boxed_counts_total{tc.device.id=3, outcome=ok} 1");
    check(|| drop(counts_later(&counted)), (), "");
    assert_eq!(counted.0.get(), 4, "at the call, and not at the first poll");
}

#[test]
fn labels_are_not_evaluated_when_off() {
    let counted = Counted::default();
    assert_eq!((counts(&counted), block_on(counts_later(&counted))), (0, 0));
    block_on(counts_boxed(&counted));
    // While somebody else captures, too.
    let captured = capture(|| std::thread::scope(|scope| scope.spawn(|| counts(&Counted::default())).join().unwrap()));
    assert_eq!((captured.value, captured.metric_lines().as_str()), (0, ""));
    assert_eq!(counted.0.get(), 0);
}

#[test]
fn labels_may_borrow_what_the_body_consumes() {
    #[tc_metric(calls = "tc_consumed_total", labels(device = id.len() as u32, source = *from))]
    async fn consumed(id: String, from: Box<SourceType>) -> (String, SourceType) {
        (id, *from)
    }

    let value = ("ab".to_owned(), SourceType::Remote);
    let metrics = "tc_consumed_total{tc.device.id=2, tc.source.type=remote, outcome=ok} 1";
    check(|| block_on(consumed("ab".to_owned(), Box::new(SourceType::Remote))), value, metrics);
}

struct Replica {
    from: SourceType,
    device: u32,
}

#[tc_metric(calls = "tc_loads_total", errors = "tc_load_errors_total", duration = "tc_load_seconds",
            in_flight = "tc_load_active", budget = 20000,
            labels(source = |replica| replica.from, location = at, device = |replica| replica.device))]
async fn load(device: u32, at: Location) -> Result<Replica, StoreError> {
    match device {
        0 => Err(StoreError::Gone),
        1 => panic!("on purpose"),
        2 => pending().await,
        device => Ok(Replica { from: SourceType::Disk, device }),
    }
}

#[test]
fn labels_of_the_result_are_none_without_one() {
    let at = Location::Gpu;
    let entry = "tc.location=gpu";
    let none = entry.to_string();
    let metrics = |labels: &str, ending: &str, fails: bool| {
        let errors = format!("tc_load_errors_total{{{labels}, {ending}}} 1\n");
        let rest = format!("tc_load_seconds{{{labels}}} count=1\ntc_loads_total{{{labels}, {ending}}} 1");
        format!("tc_load_active{{{entry}}} 0\n{}{rest}", if fails { errors.as_str() } else { "" })
    };
    let disk = format!("{entry}, tc.source.type=disk, tc.device.id=7");
    check(|| block_on(load(7, at)).is_ok(), true, &metrics(&disk, "outcome=ok", false));
    check(|| block_on(load(0, at)).is_ok(), false, &metrics(&none, "outcome=error, error.type=Gone", true));
    check(|| panics(|| block_on(load(1, at))), true, &metrics(&none, "outcome=panicked", true));
    check(|| cancel(load(2, at)), (), &metrics(&none, "outcome=cancelled", false));
}

#[test]
fn labels_of_any_value() {
    #[tc_metric(calls = "tc_plain_total", labels(device = |value| *value))]
    fn plain(value: u32) -> u32 {
        value
    }

    #[tc_metric(calls = "tc_optional_total", labels(device = |found| found.unwrap_or(0)))]
    fn optional(value: Option<u32>) -> Option<u32> {
        value
    }

    #[tc_metric(calls = "tc_taken_apart_total",
                labels(source = |Replica { from, .. }| *from, device = |replica: &Replica| replica.device))]
    fn taken_apart() -> Replica {
        Replica { from: SourceType::Disk, device: 1 }
    }

    #[tc_metric(calls = "tc_borrowed_total", labels(device = |x| **x))]
    async fn borrowed<'a>(x: &'a u32, _y: &u8) -> Result<&'a u32, Broken> {
        Ok(x)
    }

    #[tc_metric(calls = "tc_generic_total", labels(device = |x| (*x).into()))]
    async fn generic<T: Into<u32> + Copy>(x: T) -> T {
        x
    }

    #[tc_metric(calls = "tc_raw_total", labels(device = r#type, location = |found| place(*found > offset)))]
    fn r#fn(r#type: u32, offset: u32) -> u32 {
        r#type
    }

    fn place(is_near: bool) -> Location {
        if is_near { Location::Gpu } else { Location::Cpu }
    }

    #[tc_metric(calls = "tc_opaque_total", labels(device = |value| value.to_string().len() as u32))]
    fn opaque() -> impl fmt::Display {
        "abc"
    }

    #[tc_metric(calls = "tc_made_total", labels(device = |value| *value))]
    fn made() -> impl Future<Output = Result<u32, Broken>> {
        async { Ok(4) }
    }

    #[tc_metric(future, no_err, calls = "tc_given_total", labels(device = |value| *value))]
    fn given(result: Result<u32, StoreError>) -> BoxFuture<'static, Result<u32, StoreError>> {
        Box::pin(ready(result))
    }

    check(|| plain(3), 3, "tc_plain_total{tc.device.id=3, outcome=ok} 1");
    check(|| plain(99), 99, "tc_plain_total{tc.device.id=other, outcome=ok} 1");
    check(|| optional(Some(3)), Some(3), "tc_optional_total{tc.device.id=3, outcome=ok} 1");
    check(|| optional(None), None, "tc_optional_total{tc.device.id=0, outcome=ok} 1");
    let taken_apart_metrics = "tc_taken_apart_total{tc.source.type=disk, tc.device.id=1, outcome=ok} 1";
    check(|| taken_apart().device, 1, taken_apart_metrics);
    check(|| block_on(borrowed(&2, &3)), Ok(&2), "tc_borrowed_total{tc.device.id=2, outcome=ok} 1");
    check(|| block_on(generic(2_u8)), 2, "tc_generic_total{tc.device.id=2, outcome=ok} 1");
    check(|| r#fn(2, 1), 2, "tc_raw_total{tc.device.id=2, tc.location=gpu, outcome=ok} 1");
    check(|| opaque().to_string(), "abc".to_owned(), "tc_opaque_total{tc.device.id=3, outcome=ok} 1");
    check(|| block_on(made()), Ok(4), "tc_made_total{tc.device.id=4, outcome=ok} 1");
    check(|| block_on(given(Ok(4))), Ok(4), "tc_given_total{tc.device.id=4, outcome=ok} 1");
    let gone = || Err(StoreError::Gone);
    check(|| block_on(given(gone())), gone(), "tc_given_total{outcome=ok} 1");
}

#[test]
fn a_panic_in_a_label_of_the_result_is_one_of_the_call() {
    fn positive(value: u32) -> u32 {
        assert!(value > 0, "on purpose");
        value
    }

    #[tc_metric(calls = "tc_strict_total", in_flight = "tc_strict_active", labels(device = |value| positive(*value)))]
    fn strict(value: u32) -> u32 {
        value
    }

    #[tc_metric(calls = "tc_strict_later_total", in_flight = "tc_strict_later_active",
                labels(device = |value| positive(*value)))]
    async fn strict_later(value: u32) -> u32 {
        value
    }

    let metrics = |name| format!("{name}_active 0\n{name}_total{{outcome=panicked}} 1");
    check(|| panics(|| strict(0)), true, &metrics("tc_strict"));
    check(|| panics(|| block_on(strict_later(0))), true, &metrics("tc_strict_later"));
}

#[test]
fn a_panic_in_a_label_of_the_call_leaves_nothing_behind() {
    #[tc_metric(calls = "tc_refused_total", in_flight = "tc_refused_active", labels(device = refuse(x)))]
    fn refused(x: u32) -> u32 {
        x
    }

    fn refuse(x: u32) -> u32 {
        assert!(x > 0, "on purpose");
        x
    }

    let metrics = "tc_refused_active{tc.device.id=1} 0\ntc_refused_total{tc.device.id=1, outcome=ok} 1";
    check(|| (panics(|| refused(0)), refused(1)), (true, 1), metrics);
}

mod outcome {
    use super::StoreError;

    /// Spelled like no `Result`.
    pub(crate) type Outcome<T> = Result<T, StoreError>;
}

#[test]
fn types_of_errors_are_those_that_were_asked_for() {
    #[tc_metric(calls = "tc_given_types_total", errors = "tc_given_types_errors_total", error_type = StoreError)]
    fn given() -> outcome::Outcome<u8> {
        Err(StoreError::Timeout(1))
    }

    #[tc_metric(calls = "tc_generic_types_total", error_type = StoreError)]
    async fn generic<E: TcError>(error: E) -> Result<u8, E> {
        Err(error)
    }

    #[tc_metric(calls = "tc_no_types_total", errors = "tc_no_types_errors_total", error_type = none)]
    fn none() -> Result<u8, StoreError> {
        Err(StoreError::Gone)
    }

    #[tc_metric(calls = "tc_no_err_total", errors = "tc_no_err_errors_total", no_err)]
    fn no_err() -> Result<u8, StoreError> {
        Err(StoreError::Gone)
    }

    #[derive(Debug, PartialEq, TcError)]
    enum Other {
        Elsewhere,
    }

    let given_types = "
        tc_given_types_errors_total{outcome=error, error.type=Timeout} 1
        tc_given_types_total{outcome=error, error.type=Timeout} 1
    ";
    check(given, Err(StoreError::Timeout(1)), given_types);
    let gone = "tc_generic_types_total{outcome=error, error.type=Gone} 1";
    check(|| block_on(generic(StoreError::Gone)), Err(StoreError::Gone), gone);
    let unknown = "tc_generic_types_total{outcome=error} 1";
    check(|| block_on(generic(Other::Elsewhere)), Err(Other::Elsewhere), unknown);
    check(none, Err(StoreError::Gone), "tc_no_types_errors_total{outcome=error} 1\ntc_no_types_total{outcome=error} 1");
    check(no_err, Err(StoreError::Gone), "tc_no_err_total{outcome=ok} 1");
}

#[test]
fn types_of_errors_may_be_renamed_and_generic() {
    #[derive(Debug, PartialEq, TcError)]
    enum Failure<T> {
        #[tc_error(rename = "timeout")]
        TimedOut(T),
    }

    #[tc_metric(calls = "tc_renamed_total")]
    fn renamed() -> Result<(), Failure<u8>> {
        Err(Failure::TimedOut(1))
    }

    #[tc_metric(calls = "tc_borrowed_errors_total")]
    fn borrowed<'a>(text: &'a str) -> Result<(), Failure<&'a str>> {
        Err(Failure::TimedOut(text))
    }

    check(renamed, Err(Failure::TimedOut(1)), "tc_renamed_total{outcome=error, error.type=timeout} 1");
    check(|| borrowed("x"), Err(Failure::TimedOut("x")), "tc_borrowed_errors_total{outcome=error} 1");
}
