//! `async fn`s: what they return, how they are left, what their futures are good for.

use std::any::Any;
use std::fmt::Display;
use std::future::{Future, ready};
use std::io;
use std::rc::Rc;
use std::sync::Mutex;

use futures::executor::block_on;
use tracecast::keys;
use tracecast::prelude::*;

use crate::support::{check, check_async, check_panic, send};

#[test]
fn without_a_value() {
    #[tc_span("Async/Unit")]
    async fn unit(count: &mut u8) {
        ready(()).await;
        *count += 1;
    }

    let mut count = 0;
    check_async(|| unit(&mut count), (), "Async/Unit");
    assert_eq!(count, 1, "the body runs once");
}

#[test]
fn that_never_return() {
    #[tc_span("Async/Never")]
    async fn never() -> ! {
        ready(()).await;
        panic!("on purpose")
    }

    check_panic(|| block_on(async { never().await }), "Async/Never panicked");
}

#[test]
fn whose_body_only_panics() {
    #[tc_span("Async/Panic")]
    async fn panics() {
        panic!("on purpose")
    }

    #[tc_span("Async/Unimplemented")]
    async fn unimplemented() -> Vec<u8> {
        unimplemented!("on purpose")
    }

    check_panic(|| block_on(panics()), "Async/Panic panicked");
    check_panic(|| block_on(unimplemented()), "Async/Unimplemented panicked");
}

#[test]
fn whose_tail_is_typed_by_the_signature() {
    #[tc_span("Async/Into")]
    async fn into() -> String {
        "a".into()
    }

    #[tc_span("Async/Collect")]
    async fn collect() -> Vec<u8> {
        (0..3).collect()
    }

    #[tc_span("Async/Default")]
    async fn default() -> (u8, String) {
        Default::default()
    }

    #[tc_span("Async/Minus")]
    async fn minus() -> i32 {
        -1
    }

    check_async(into, "a".to_owned(), "Async/Into");
    check_async(collect, vec![0, 1, 2], "Async/Collect");
    check_async(default, (0, String::new()), "Async/Default");
    check_async(minus, -1, "Async/Minus");
}

#[test]
fn whose_errors_are_converted() {
    #[tc_span("Async/Question")]
    async fn question(text: &str) -> Result<u8, Box<dyn std::error::Error>> {
        let number: u8 = text.parse()?;
        Ok(number)
    }

    #[tc_span("Async/Ok")]
    async fn nothing_wrong() -> Result<(), io::Error> {
        Ok(())
    }

    check(|| block_on(question("7")).ok(), Some(7), "Async/Question");
    check(
        || block_on(question("x")).is_err(),
        true,
        r#"Async/Question error error.type="Box<dyn Error>" error.message="invalid digit found in string""#,
    );
    check(|| block_on(nothing_wrong()).is_ok(), true, "Async/Ok");
}

#[test]
fn that_return_trait_objects() {
    #[tc_span("Async/Any")]
    async fn any(text: bool) -> Box<dyn Any> {
        if text {
            return Box::new("a");
        }
        Box::new(1_u8)
    }

    #[tc_span("Async/Callback")]
    async fn callback() -> Result<Box<dyn FnOnce() -> u8>, String> {
        Ok(Box::new(|| 3))
    }

    check(|| block_on(any(true)).is::<&str>(), true, "Async/Any");
    check(|| block_on(any(false)).is::<u8>(), true, "Async/Any");
    check(|| block_on(callback()).map(|f| f()), Ok(3), "Async/Callback");
}

#[test]
fn that_return_borrows() {
    #[tc_span("Async/Mut")]
    async fn exclusive(v: &mut Vec<u8>) -> &mut u8 {
        v.push(7);
        &mut v[0]
    }

    #[tc_span("Async/OneOfTwo")]
    async fn one_of_two<'a>(a: &'a str, b: &str) -> &'a str {
        ready(b).await;
        a
    }

    #[tc_span("Async/OptionMut")]
    async fn optional<'a>(v: &'a mut [u8], _other: &str) -> Option<&'a mut u8> {
        v.first_mut()
    }

    let mut v = vec![];
    check(|| *block_on(exclusive(&mut v)) += 1, (), "Async/Mut");
    assert_eq!(v, [8]);
    check(|| block_on(optional(&mut v, "")).map(|first| *first), Some(8), "Async/OptionMut");
    check_async(|| one_of_two("x", "y"), "x", "Async/OneOfTwo");
}

#[test]
fn that_return_an_opaque_type() {
    #[tc_span("Async/Opaque")]
    async fn opaque(x: &str) -> impl Display {
        x
    }

    #[tc_span("Async/Captures")]
    async fn captures(x: &str) -> impl Display + use<'_> {
        x
    }

    #[tc_span("Async/ResultIterator")]
    async fn iterator(v: &[u8]) -> Result<impl Iterator<Item = u8>, &'static str> {
        if v.is_empty() {
            return Err("empty");
        }
        Ok(v.iter().copied())
    }

    check(|| block_on(iterator(&[1])).map(Iterator::count), Ok(1), "Async/ResultIterator");
    let error = "Async/ResultIterator error error.type=&str error.message=empty";
    check(|| block_on(iterator(&[])).is_err(), true, error);
    check(|| block_on(opaque("x")).to_string(), "x".to_owned(), "Async/Opaque");
    check(|| block_on(captures("x")).to_string(), "x".to_owned(), "Async/Captures");
}

#[test]
fn that_are_generic() {
    #[tc_span("Async/Generic")]
    async fn generic<T, const N: usize>(t: T) -> [T; N]
    where
        T: Clone,
    {
        std::array::from_fn(|_| t.clone())
    }

    #[tc_span("Async/ImplArgument", attrs(keys::tensor::artifact = format_args!("{a}")))]
    async fn argument((a, b): (u8, u8), text: impl Into<String>) -> String {
        format!("{a}{b}{}", text.into())
    }

    check_async(|| generic::<u8, 2>(1), [1, 1], "Async/Generic");
    check_async(|| argument((1, 2), "3"), "123".to_owned(), "Async/ImplArgument tc.artifact.id=1");
}

#[test]
fn that_take_functions_and_futures() {
    #[tc_span("Async/Closure")]
    async fn closure<F, R>(f: F) -> u8
    where
        F: FnOnce(u8) -> R,
        R: Future<Output = u8>,
    {
        f(1).await
    }

    #[tc_span("Async/AsyncClosure")]
    async fn async_closure(f: impl AsyncFnOnce(u8) -> u8) -> u8 {
        f(1).await
    }

    #[tc_span("Async/HigherRanked")]
    async fn higher_ranked(f: impl for<'a> Fn(&'a u8) -> &'a u8) -> u8 {
        *f(&3)
    }

    #[tc_span("Async/Dynamic")]
    async fn dynamic(f: &dyn Fn(&str) -> usize, items: &mut dyn Iterator<Item = u8>) -> usize {
        f("a") + items.count()
    }

    #[tc_span("Async/Join")]
    async fn join(a: impl Future<Output = u8>, b: impl Future<Output = u8>) -> (u8, u8) {
        tokio::join!(a, b)
    }

    check_async(|| closure(|x| async move { x + 1 }), 2, "Async/Closure");
    check_async(|| async_closure(async |x| x + 1), 2, "Async/AsyncClosure");
    check_async(|| higher_ranked(|x| x), 3, "Async/HigherRanked");
    check(|| block_on(dynamic(&str::len, &mut [1, 2].into_iter())), 3, "Async/Dynamic");
    check_async(|| join(ready(1), ready(2)), (1, 2), "Async/Join");
}

#[test]
fn that_are_passed_as_async_functions() {
    #[tc_span("Async/AsyncFn")]
    async fn increment(x: u8) -> u8 {
        x + 1
    }

    fn call(f: impl AsyncFn(u8) -> u8) -> u8 {
        block_on(f(1))
    }

    check(|| call(increment), 2, "Async/AsyncFn");
}

#[test]
fn that_call_themselves() {
    #[tc_span("Async/Countdown", attrs(keys::size_bytes = n))]
    async fn countdown(n: u8) -> u8 {
        if n == 0 { 0 } else { Box::pin(countdown(n - 1)).await + 1 }
    }

    let tree = "
        Async/Countdown tc.size.bytes=2
          Async/Countdown tc.size.bytes=1
            Async/Countdown tc.size.bytes=0
    ";
    check_async(|| countdown(2), 2, tree);
}

#[test]
fn whose_futures_stay_send_or_not() {
    #[tc_span("Async/Send", result(keys::size_bytes = |bytes| bytes.len()))]
    async fn sends(text: String) -> Result<Vec<u8>, String> {
        ready(()).await;
        Ok(text.into_bytes())
    }

    #[tc_span("Async/Local")]
    async fn local(x: Rc<u8>) -> u8 {
        ready(()).await;
        *x
    }

    check(|| block_on(send(sends("abc".into()))), Ok(b"abc".to_vec()), "Async/Send tc.size.bytes=3");
    check_async(|| local(Rc::new(1)), 1, "Async/Local");
}

#[test]
fn whose_tail_holds_a_temporary() {
    #[tc_span("Async/Lock")]
    async fn lock(m: Mutex<u8>) -> u8 {
        *m.lock().unwrap()
    }

    #[tc_span("Async/BorrowedLock")]
    async fn borrowed(m: &Mutex<u8>) -> u8 {
        *m.lock().unwrap()
    }

    check_async(|| lock(Mutex::new(1)), 1, "Async/Lock");
    check(|| block_on(borrowed(&Mutex::new(1))), 1, "Async/BorrowedLock");
}

#[test]
fn with_lifetimes_that_are_left_out_of_an_opaque_argument() {
    use std::borrow::Cow;

    #[tc_span("Opaque/One")]
    async fn one(keys: impl Iterator<Item = &str>) -> usize {
        keys.map(str::len).sum()
    }

    #[tc_span("Opaque/Two", attrs(keys::tensor::artifact = name))]
    async fn two(name: &str, text: impl Into<Cow<'_, str>>, pairs: &[impl AsRef<(Cow<'_, str>, u8)>]) -> usize {
        name.len() + text.into().len() + pairs.len()
    }

    #[tc_span("Opaque/Borrowed")]
    async fn borrowed<'a>(first: &'a str, keys: impl Iterator<Item = &str>) -> Option<&'a str> {
        std::future::ready(()).await;
        keys.max().map(|_| first)
    }

    #[tc_span("Opaque/Closures")]
    async fn closures<T: 'static>(f: impl Fn(&str) -> &str, items: impl Iterator<Item = (&str, &T)>) -> usize {
        items.map(|(text, _)| f(text).len()).sum()
    }

    trait Sums {
        async fn sum(&self, keys: impl Iterator<Item = &u8>) -> u8;
        async fn longest<'a>(&'a self, keys: impl Iterator<Item = &str>) -> &'a str;
    }

    struct Of(&'static str);

    impl Sums for Of {
        #[tc_span("Opaque/Sum")]
        async fn sum(&self, keys: impl Iterator<Item = &u8>) -> u8 {
            keys.sum()
        }

        #[tc_span("Opaque/Longest")]
        async fn longest<'a>(&'a self, keys: impl Iterator<Item = &str>) -> &'a str {
            keys.count();
            self.0
        }
    }

    let text = String::from("ab");
    check_async(|| one([text.as_str(), "c"].into_iter()), 3, "Opaque/One");
    check_async(|| two("a", text.as_str(), &[] as &[Box<(Cow<'_, str>, u8)>]), 3, "Opaque/Two tc.artifact.id=a");
    check_async(|| borrowed(&text, [text.as_str(), "c"].into_iter()), Some("ab"), "Opaque/Borrowed");
    check_async(|| closures(|text| &text[1..], [(text.as_str(), &1_u8)].into_iter()), 1, "Opaque/Closures");
    check_async(|| Of("x").sum([1, 2].iter()), 3, "Opaque/Sum");
    let of = Of("x");
    check_async(|| of.longest([text.as_str()].into_iter()), "x", "Opaque/Longest");
}
