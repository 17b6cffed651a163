//! `#[tc_metric]` on functions that are not async: the value is as without it, and the call is counted and timed.

use std::any::Any;
use std::fmt::{self, Display};
use std::io;
use std::panic::Location;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tracecast::prelude::*;
use tracecast::testing::{HistogramPoint, PointValue, capture};

use crate::metered::{Broken, ERROR, GONE, OK, PANICKED, StoreError, TYPED_OK, TYPED_PANICKED, panics};
use crate::support::{Noisy, note, noted};

#[test]
fn that_return_nothing_or_not_at_all() {
    shape! {
        [fn f(count: &mut u8) { *count += 1; }]
        { let mut count = 0; f(&mut count); count } => 1, OK;
    }
    shape! { [fn f() -> ! { panic!("on purpose") }] panics(|| -> u8 { f() }) => true, PANICKED; }
    shape! { [fn f() -> Vec<u8> { unimplemented!("on purpose") }] panics(f) => true, PANICKED; }
    shape! { [fn f() -> Result<u8, StoreError> { todo!("on purpose") }] panics(f) => true, TYPED_PANICKED; }
    shape! {
        [fn f() -> bool { std::panic::catch_unwind(|| panic!("on purpose")).is_err() }]
        f() => true, OK;
    }
}

#[test]
fn whose_tail_is_typed_by_the_signature() {
    shape! { [fn f() -> String { "a".into() }] f() => "a", OK; }
    shape! { [fn f() -> Vec<u8> { (0..3).collect() }] f() => [0, 1, 2], OK; }
    shape! { [fn f() -> (u8, String) { Default::default() }] f() => (0, String::new()), OK; }
    shape! { [fn f() -> i32 { -1 }] f() => -1, OK; }
    shape! { [fn f(x: &(u8, u8)) -> &u8 { &x.0 }] *f(&(3, 4)) => 3, OK; }
    shape! {
        [fn f(text: &str) -> Result<u8, std::num::ParseIntError> { text.parse() }]
        f("7") => Ok(7), OK;
        f("x").is_err() => true, ERROR;
    }
}

#[test]
fn that_fail() {
    shape! {
        [fn f(x: u8) -> Result<u8, StoreError> {
            if x == 0 {
                return Err(StoreError::Gone);
            }
            if x == 1 { Err(StoreError::Timeout(1))? }
            Ok(x)
        }]
        f(2) => Ok(2), TYPED_OK;
        f(1) => Err(StoreError::Timeout(1)), "outcome=error, error.type=Timeout";
        f(0) => Err(StoreError::Gone), GONE;
    }
    shape! {
        [fn f(x: Option<u8>) -> Option<u8> { let y = x?; Some(y + 1) }]
        f(Some(1)) => Some(2), OK;
        f(None) => None, OK;
    }
    shape! {
        [fn f(x: u8) -> Result<u8, Broken> { if x == 0 { Err(Broken) } else { Ok(x) } }]
        f(1) => Ok(1), OK;
        f(0) => Err(Broken), ERROR;
    }
    shape! {
        [fn f(text: &str) -> Result<u8, Box<dyn std::error::Error>> { let number: u8 = text.parse()?; Ok(number) }]
        f("7").ok() => Some(7), OK;
        f("x").ok() => None, ERROR;
    }
}

type StoreResult<T> = Result<T, StoreError>;
type Outcome<T> = Result<T, StoreError>;

mod alias {
    pub(crate) type Result<T, E = super::StoreError> = std::result::Result<T, E>;
}

#[test]
fn that_fail_by_an_alias() {
    shape! {
        [fn f(x: u8) -> StoreResult<u8> { if x == 0 { Err(StoreError::Gone) } else { Ok(x) } }]
        f(1) => Ok(1), TYPED_OK;
        f(0) => Err(StoreError::Gone), GONE;
    }
    shape! {
        [fn f(x: &str) -> alias::Result<&str> { if x.is_empty() { Err(StoreError::Gone) } else { Ok(x) } }]
        f("a") => Ok("a"), TYPED_OK;
        f("") => Err(StoreError::Gone), GONE;
    }
    // Not spelled like a `Result`: an error all the same, of no known type.
    shape! { [fn f() -> Outcome<u8> { Err(StoreError::Gone) }] f() => Err(StoreError::Gone), ERROR; }
    shape! { [fn f() -> io::Result<()> { Err(io::Error::other("gone")) }] f().is_err() => true, ERROR; }
    shape! { [fn f() -> fmt::Result { Err(fmt::Error) }] f() => Err(fmt::Error), ERROR; }
    shape! { [fn f<E>(error: E) -> Result<(), E> { Err(error) }] f(StoreError::Gone) => Err(StoreError::Gone), ERROR; }
}

#[test]
fn that_return_trait_objects_and_opaque_types() {
    shape! {
        [fn f(text: bool) -> Box<dyn Any> {
            if text {
                return Box::new("a");
            }
            Box::new(1_u8)
        }]
        f(true).is::<&str>() => true, OK;
        f(false).is::<u8>() => true, OK;
    }
    shape! {
        [fn f() -> Result<Box<dyn FnOnce() -> u8>, StoreError> { Ok(Box::new(|| 3)) }]
        f().map(|f| f()) => Ok(3), TYPED_OK;
    }
    shape! { [fn f() -> impl Fn(&str) -> &str { |x| x }] f()("a") => "a", OK; }
    shape! { [fn f() -> impl Fn(&str) -> &str { if true { panic!("on purpose") } |x| x }] panics(f) => true, PANICKED; }
    shape! {
        [fn f<'a>(v: &'a [u8]) -> impl Iterator<Item = u8> + use<'a> { v.iter().map(|x| x + 1) }]
        f(&[1]).collect::<Vec<_>>() => [2], OK;
    }
    shape! {
        [fn f(v: &[u8]) -> Result<impl Display, StoreError> {
            if v.is_empty() {
                return Err(StoreError::Gone);
            }
            Ok(v.len())
        }]
        f(&[1]).map(|x| x.to_string()) => Ok("1".to_owned()), TYPED_OK;
        f(&[]).map(|x| x.to_string()) => Err(StoreError::Gone), GONE;
    }
}

#[test]
fn that_return_borrows() {
    shape! {
        [fn f(v: &mut Vec<u8>) -> &mut u8 { v.push(7); &mut v[0] }]
        { let mut v = vec![]; *f(&mut v) += 1; v } => [8], OK;
    }
    shape! {
        [fn f<'a>(v: &'a mut [u8], _other: &str) -> Option<&'a mut u8> { v.first_mut() }]
        f(&mut [8], "").map(|first| *first) => Some(8), OK;
    }
    shape! {
        [fn f(v: &mut [u8]) -> Result<&mut u8, StoreError> { v.first_mut().ok_or(StoreError::Gone) }]
        f(&mut [8]).map(|first| *first) => Ok(8), TYPED_OK;
        f(&mut []).is_err() => true, GONE;
    }
    shape! {
        [fn f(m: &Mutex<u8>) -> MutexGuard<'_, u8> { m.lock().unwrap() }]
        { let mutex = Mutex::new(1); *f(&mutex) = 2; *mutex.lock().unwrap() } => 2, OK;
    }
}

#[test]
fn that_are_generic() {
    shape! {
        [fn f<T, S: AsRef<str>, const N: usize>(t: &T, name: S) -> ([T; N], usize) where T: Clone {
            (std::array::from_fn(|_| t.clone()), name.as_ref().len())
        }]
        f::<_, _, 2>(&1_u8, "ab") => ([1, 1], 2), OK;
    }
    shape! {
        [fn f<F>(f: F) -> u8 where F: for<'a> Fn(&'a u8) -> &'a u8 { *f(&3) }]
        f(|x| x) => 3, OK;
    }
    shape! {
        [fn f(text: impl Into<String>, (a, _): (u8, u8), _: u8) -> String { format!("{}{a}", text.into()) }]
        f("x", (1, 2), 3) => "x1", OK;
    }
    shape! {
        [fn f(__span: u8, __guard: u8, caller: u8, labels: u8, __tc_result: u8) -> u8 {
            __span + __guard + caller + labels + __tc_result
        }]
        f(1, 2, 3, 4, 5) => 15, OK;
    }
}

#[test]
fn with_qualifiers_and_attributes() {
    shape! {
        [extern "C" fn f(x: u8) -> u8 { x + 1 }]
        { let as_pointer: extern "C" fn(u8) -> u8 = f; as_pointer(1) } => 2, OK;
    }
    shape! {
        [unsafe fn f(p: *const u8) -> u8 {
            // SAFETY: the callers give a pointer to a number.
            unsafe { *p }
        }]
        // SAFETY: it is one.
        unsafe { f(&1) } => 1, OK;
    }
    shape! {
        [fn f(#[expect(unused_variables, reason = "never read")] unused: u8) -> u8 {
            #![expect(unused_mut, reason = "never changed")]
            let mut x = 1;
            x + 1
        }]
        f(2) => 2, OK;
    }
    shape! {
        [#[inline(never)] #[must_use] #[cold] fn f(#[cfg(any())] gone: u8, here: u8) -> u8 { here }]
        f(2) => 2, OK;
    }
    shape! { [#[track_caller] fn f() -> u32 { Location::caller().line() }] f() == line!() => true, OK; }
    shape! { [#[track_caller] fn f() -> u32 { panic!("on purpose") }] panics(|| f()) => true, PANICKED; }
    shape! {
        no_err [#[track_caller] fn f() -> Result<u8, StoreError> { Err(StoreError::Gone) }]
        f().is_err() => true, OK;
    }
    shape! { no_err [fn f() -> Result<u8, StoreError> { Err(StoreError::Gone) }] f().is_err() => true, OK; }
}

#[test]
fn whose_arguments_and_locals_drop_in_order() {
    shape! {
        [fn f(_: Noisy, _g: Noisy, moved: Noisy, (d, _): (Noisy, Noisy)) -> usize {
            let _local = Noisy("local");
            drop(moved);
            note("body");
            Noisy("temporary").0.len() + d.0.len()
        }]
        { f(Noisy("_"), Noisy("_g"), Noisy("moved"), (Noisy("d"), Noisy("d2"))); noted() }
            => ["moved", "body", "temporary", "local", "d", "d2", "_g", "_"], OK;
    }
}

#[test]
fn that_call_themselves_and_each_other() {
    #[tc_metric(calls = "tc_factorials_total", in_flight = "tc_factorials_active", duration = "tc_factorial_seconds")]
    fn factorial(n: u64) -> u64 {
        #[tc_metric(calls = "tc_products_total")]
        fn product(a: u64, b: u64) -> u64 {
            a * b
        }
        if n == 0 { 1 } else { product(n, factorial(n - 1)) }
    }

    let captured = capture(|| factorial(3));
    assert_eq!(captured.value, 6);
    captured.assert_metrics(
        "
        tc_factorial_seconds count=4
        tc_factorials_active 0
        tc_factorials_total{outcome=ok} 4
        tc_products_total{outcome=ok} 3
        ",
    );
}

#[test]
fn that_take_their_time() {
    #[tc_metric(duration = "tc_naps_seconds", buckets = [0.000001, 0.001, 60])]
    fn nap(milliseconds: u64) {
        std::thread::sleep(Duration::from_millis(milliseconds));
    }

    #[tc_metric(duration = "tc_exponential_naps_seconds", exponential)]
    fn exponential(milliseconds: u64) {
        std::thread::sleep(Duration::from_millis(milliseconds));
    }

    let captured = capture(|| [2, 3].map(|milliseconds| (nap(milliseconds), exponential(milliseconds))));
    let Some(PointValue::Histogram(naps)) = captured.metric("tc_naps_seconds", &[]) else { panic!("{captured:?}") };
    let HistogramPoint { count, sum, min: Some(min), max: Some(max), counts, .. } = naps else { panic!("{naps:?}") };
    assert!(0.002 <= *min && min <= max && *max >= 0.003, "{naps:?}");
    assert!(*count == 2 && counts[..] == [0, 0, 2, 0] && (min + max - sum).abs() < 1e-9, "{naps:?}");
    let name = "tc_exponential_naps_seconds";
    let Some(PointValue::Exponential(naps)) = captured.metric(name, &[]) else { panic!("{captured:?}") };
    assert!(naps.count == 2 && naps.min >= Some(0.002) && naps.min <= naps.max, "{naps:?}");
    assert!(format!("{naps:?}").contains("zero_count: 0,"), "{naps:?}");
}
