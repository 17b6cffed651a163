//! One function four times: as it is, with metrics alone, and with a span above and below them.

#![allow(dead_code, reason = "each test crate uses a part of it")]

use std::fmt::Debug;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::executor::block_on;
use tracecast::TcError;
use tracecast::testing::capture;

/// How a call ends, as its metrics print it.
pub(crate) const OK: &str = "outcome=ok";
pub(crate) const ERROR: &str = "outcome=error";
pub(crate) const CANCELLED: &str = "outcome=cancelled";
pub(crate) const PANICKED: &str = "outcome=panicked";
/// As above, where the types of errors are known.
pub(crate) const TYPED_OK: &str = "outcome=ok";
pub(crate) const GONE: &str = "outcome=error, error.type=Gone";
pub(crate) const TYPED_CANCELLED: &str = "outcome=cancelled";
pub(crate) const TYPED_PANICKED: &str = "outcome=panicked";
/// There is no span, and nothing is measured.
pub(crate) const NOTHING: &str = "";

/// An error whose types are known.
#[derive(Clone, Debug, PartialEq, TcError)]
pub(crate) enum StoreError {
    Timeout(u32),
    Gone,
}

/// An error whose types are not known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Broken;

/// `shape! { future [fn f() -> .. { .. }] f() => value, ending; .. }`: every call gives the value, whatever stands on
/// the function, is measured once and has one span, if it has any. The options are those of `tc_metric`.
#[allow(unused_macros, reason = "each test crate uses a part of it")]
macro_rules! shape {
    ($($option:ident),* [$($function:tt)*] $($call:expr => $value:expr, $ending:expr;)+) => {{
        {
            $($function)*
            $(assert_eq!($call, $value);)+
        }
        {
            #[tracecast::tc_metric(calls = "tc_f_total", errors = "tc_f_errors_total", duration = "tc_f_seconds",
                                   in_flight = "tc_f_active" $(, $option)*)]
            $($function)*
            $($crate::metered::check(|| $call, $value, $ending, false);)+
        }
        {
            #[tracecast::tc_span("Shape/Ours")]
            #[tracecast::tc_metric(calls = "tc_f_total", errors = "tc_f_errors_total", duration = "tc_f_seconds",
                                   in_flight = "tc_f_active" $(, $option)*)]
            $($function)*
            $($crate::metered::check(|| $call, $value, $ending, true);)+
        }
        {
            #[tracecast::tc_metric(calls = "tc_f_total", errors = "tc_f_errors_total", duration = "tc_f_seconds",
                                   in_flight = "tc_f_active")]
            #[tracecast::tc_span("Shape/Ours" $(, $option)*)]
            $($function)*
            $($crate::metered::check(|| $call, $value, $ending, true);)+
        }
    }};
}

/// Runs `f`, which must return `value`, and leave the metrics of one call of `tc_f` and its span, if it has one.
#[track_caller]
pub(crate) fn check<R: PartialEq<V> + Debug, V: Debug>(f: impl FnOnce() -> R, value: V, ending: &str, has_span: bool) {
    let captured = capture(f);
    captured.assert_metrics(&metrics_of("tc_f", ending));
    captured.assert_outline(if has_span { span_of(ending) } else { "" });
    assert_eq!(captured.value, value);
}

/// The metrics of one call.
pub(crate) fn metrics_of(name: &str, ending: &str) -> String {
    if ending == NOTHING {
        return String::new();
    }
    let failed = ending.starts_with(ERROR) || ending.starts_with(PANICKED);
    let errors = if failed { format!("{name}_errors_total{{{ending}}} 1\n") } else { String::new() };
    format!("{name}_active 0\n{errors}{name}_seconds count=1\n{name}_total{{{ending}}} 1\n")
}

/// The span of one call.
pub(crate) fn span_of(ending: &str) -> &'static str {
    match ending.split(',').next() {
        Some(OK) => "Shape/Ours",
        Some(ERROR) => "Shape/Ours error",
        Some(CANCELLED) => "Shape/Ours cancelled",
        Some(PANICKED) => "Shape/Ours panicked",
        _ => "",
    }
}

/// Whether `f` panics.
pub(crate) fn panics<R>(f: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(f)).is_err()
}

/// Polls a future once, which must not be its end, and drops it.
#[track_caller]
pub(crate) fn cancel(future: impl Future) {
    let mut future = Box::pin(future);
    assert!(block_on(async { futures::poll!(&mut future).is_pending() }));
}
