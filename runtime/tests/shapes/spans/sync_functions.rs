//! Functions that are not async: what they return, how they are left, what they are made of.

use std::any::Any;
use std::fmt;
use std::sync::{Mutex, MutexGuard};

use tracecast::keys;
use tracecast::prelude::*;

use crate::support::{check, check_panic};

#[derive(Debug, PartialEq)]
struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it broke")
    }
}

#[test]
fn without_a_value() {
    #[tc_span("Sync/Unit")]
    fn unit(count: &mut u8) {
        *count += 1;
    }

    let mut count = 0;
    check(|| unit(&mut count), (), "Sync/Unit");
    assert_eq!(count, 1, "the body runs once");
}

#[test]
fn that_never_returns() {
    #[tc_span("Sync/Never")]
    fn never() -> ! {
        panic!("on purpose")
    }

    check_panic(|| -> u8 { never() }, "Sync/Never panicked");
}

#[test]
fn whose_body_only_panics() {
    #[tc_span("Sync/Panic")]
    fn panics() -> Vec<u8> {
        panic!("on purpose")
    }

    #[tc_span("Sync/Unimplemented")]
    fn unimplemented() -> impl Iterator<Item = u8> {
        if true {
            unimplemented!("on purpose")
        }
        std::iter::empty()
    }

    #[tc_span("Sync/Todo")]
    fn todo() -> Result<String, Broken> {
        todo!("on purpose")
    }

    check_panic(panics, "Sync/Panic panicked");
    check_panic(unimplemented, "Sync/Unimplemented panicked");
    check_panic(todo, "Sync/Todo panicked");
}

#[test]
fn whose_tail_is_typed_by_the_signature() {
    #[tc_span("Sync/Into")]
    fn into() -> String {
        "a".into()
    }

    #[tc_span("Sync/Collect")]
    fn collect() -> Vec<u8> {
        (0..3).collect()
    }

    #[tc_span("Sync/Default")]
    fn default() -> (u8, String) {
        Default::default()
    }

    #[tc_span("Sync/Parse")]
    fn parse(text: &str) -> Result<u8, std::num::ParseIntError> {
        text.parse()
    }

    check(into, "a".to_owned(), "Sync/Into");
    check(collect, vec![0, 1, 2], "Sync/Collect");
    check(default, (0, String::new()), "Sync/Default");
    check(|| parse("7"), Ok(7), "Sync/Parse");
}

#[test]
fn whose_tail_looks_like_something_else() {
    #[tc_span("Sync/Minus")]
    fn minus() -> i32 {
        -1
    }

    #[tc_span("Sync/Star")]
    fn star(x: &u8) -> u8 {
        *x
    }

    #[tc_span("Sync/Ampersand")]
    fn ampersand(x: &(u8, u8)) -> &u8 {
        &x.0
    }

    #[tc_span("Sync/Tuple")]
    fn tuple() -> (u8,) {
        (1,)
    }

    #[tc_span("Sync/Array")]
    fn array() -> [u8; 1] {
        [1]
    }

    #[tc_span("Sync/Match")]
    fn matching(x: Option<u8>) -> u8 {
        match x {
            Some(y) if y > 1 => y,
            Some(_) | None => 0,
        }
    }

    check(minus, -1, "Sync/Minus");
    check(|| star(&2), 2, "Sync/Star");
    check(|| *ampersand(&(3, 4)), 3, "Sync/Ampersand");
    check(tuple, (1,), "Sync/Tuple");
    check(array, [1], "Sync/Array");
    check(|| matching(Some(2)), 2, "Sync/Match");
}

#[test]
fn that_are_left_early() {
    #[tc_span("Sync/Question")]
    fn question(x: Option<u8>) -> Option<u8> {
        let y = x?;
        Some(y + 1)
    }

    #[tc_span("Sync/Return")]
    fn returns(x: u8) -> Result<u8, Broken> {
        if x == 0 {
            return Err(Broken);
        }
        Ok(x)
    }

    #[tc_span("Sync/Labels")]
    fn labels(last: u8) -> u8 {
        let mut n = 0;
        'outer: loop {
            for _ in 0..3 {
                n += 1;
                if n == last {
                    break 'outer n;
                }
            }
        }
    }

    check(|| question(None), None, "Sync/Question");
    check(|| question(Some(1)), Some(2), "Sync/Question");
    let error = r#"Sync/Return error error.type=shapes::spans::sync_functions::Broken error.message="it broke""#;
    check(|| returns(0), Err(Broken), error);
    check(|| labels(4), 4, "Sync/Labels");
}

#[test]
fn that_return_trait_objects() {
    #[tc_span("Sync/Any")]
    fn any(text: bool) -> Box<dyn Any> {
        if text {
            return Box::new("a");
        }
        Box::new(1_u8)
    }

    #[tc_span("Sync/Callback")]
    fn callback() -> Result<Box<dyn FnOnce() -> u8>, Broken> {
        Ok(Box::new(|| 3))
    }

    #[tc_span("Sync/Function")]
    fn function() -> Box<dyn Fn(u8) -> u8> {
        Box::new(|x| x + 1)
    }

    check(|| (any(true).is::<&str>(), any(false).is::<u8>()), (true, true), "Sync/Any\nSync/Any");
    check(|| callback().map(|f| f()), Ok(3), "Sync/Callback");
    check(|| function()(1), 2, "Sync/Function");
}

#[test]
fn that_return_borrows() {
    #[tc_span("Sync/Mut")]
    fn exclusive(v: &mut Vec<u8>) -> &mut u8 {
        v.push(7);
        &mut v[0]
    }

    #[tc_span("Sync/OptionMut")]
    fn optional<'a>(v: &'a mut [u8], _other: &str) -> Option<&'a mut u8> {
        v.first_mut()
    }

    #[tc_span("Sync/ResultMut")]
    fn fallible(v: &mut [u8]) -> Result<&mut u8, Broken> {
        v.first_mut().ok_or(Broken)
    }

    #[tc_span("Sync/Guard")]
    fn guard(m: &Mutex<u8>) -> MutexGuard<'_, u8> {
        m.lock().unwrap()
    }

    let mut v = vec![];
    check(|| *exclusive(&mut v) += 1, (), "Sync/Mut");
    assert_eq!(v, [8]);
    check(|| optional(&mut v, "").map(|first| *first), Some(8), "Sync/OptionMut");
    check(|| *fallible(&mut v).unwrap(), 8, "Sync/ResultMut");
    let mutex = Mutex::new(1);
    check(|| *guard(&mutex) = 2, (), "Sync/Guard");
    assert_eq!(*mutex.lock().unwrap(), 2, "the guard was given back, not kept");
}

#[test]
fn that_return_an_opaque_type() {
    #[tc_span("Sync/Iterator")]
    fn iterator<'a>(v: &'a [u8]) -> impl Iterator<Item = u8> + use<'a> {
        v.iter().map(|x| x + 1)
    }

    #[tc_span("Sync/ResultIterator")]
    fn fallible(v: &[u8]) -> Result<impl Iterator<Item = u8>, Broken> {
        if v.is_empty() {
            return Err(Broken);
        }
        Ok(v.iter().copied())
    }

    #[tc_span("Sync/Closure")]
    fn closure() -> impl Fn(&str) -> &str {
        |x| x
    }

    check(|| iterator(&[1]).collect::<Vec<_>>(), vec![2], "Sync/Iterator");
    check(|| fallible(&[1]).map(Iterator::count), Ok(1), "Sync/ResultIterator");
    let error =
        r#"Sync/ResultIterator error error.type=shapes::spans::sync_functions::Broken error.message="it broke""#;
    check(|| fallible(&[]).is_err(), true, error);
    check(|| closure()("a"), "a", "Sync/Closure");
}

#[test]
fn that_are_generic() {
    #[tc_span("Sync/Generic", attrs(keys::tensor::artifact = name.as_ref()))]
    fn generic<T, S: AsRef<str>, const N: usize>(t: &T, name: S) -> ([T; N], usize)
    where
        T: Clone,
    {
        (std::array::from_fn(|_| t.clone()), name.as_ref().len())
    }

    #[tc_span("Sync/Hrtb")]
    fn higher_ranked<F>(f: F) -> u8
    where
        F: for<'a> Fn(&'a u8) -> &'a u8,
    {
        *f(&3)
    }

    #[tc_span("Sync/ImplArgument")]
    fn argument(text: impl Into<String>, f: impl FnOnce(String) -> usize) -> usize {
        f(text.into())
    }

    check(|| generic::<_, _, 2>(&1_u8, "ab"), ([1, 1], 2), "Sync/Generic tc.artifact.id=ab");
    check(|| higher_ranked(|x| x), 3, "Sync/Hrtb");
    check(|| argument("abc", |text| text.len()), 3, "Sync/ImplArgument");
}
