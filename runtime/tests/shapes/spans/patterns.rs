//! Arguments that attributes use: what they are there, when they drop, and that they count as used.

#![deny(unused_variables)]

use futures::executor::block_on;
use tracecast::keys;
use tracecast::prelude::*;
use tracecast::testing::capture;

use crate::support::{Noisy, check, check_async, note, noted};

/// What two futures note: polled to their end, and dropped without a poll.
#[track_caller]
fn same_drops<P: Future, O: Future>(plain: impl Fn() -> P, ours: impl Fn() -> O) {
    block_on(plain());
    let expected = noted();
    let captured = capture(|| drop(block_on(ours())));
    assert_eq!(noted(), expected, "polled");
    captured.assert_outline("Patterns/Drop");

    drop(plain());
    let expected = noted();
    drop(ours());
    assert_eq!(noted(), expected, "not polled");
}

#[test]
fn all_parts_with_a_name_drop_with_the_body() {
    async fn plain((a, _b): (u8, Noisy), (mut c, (d, e)): (u8, (Noisy, Noisy)), last: Noisy) -> u8 {
        note(last.0);
        drop(d);
        c += 1;
        note(e.0);
        a + c
    }

    #[tc_span("Patterns/Drop", attrs(keys::size_bytes = u64::from(a), keys::tensor::artifact = c.to_string()))]
    async fn ours((a, _b): (u8, Noisy), (mut c, (d, e)): (u8, (Noisy, Noisy)), last: Noisy) -> u8 {
        note(last.0);
        drop(d);
        c += 1;
        note(e.0);
        a + c
    }

    let arguments = || ((1, Noisy("b")), (2, (Noisy("d"), Noisy("e"))), Noisy("last"));
    let plain = |(a, b, c)| plain(a, b, c);
    let ours = |(a, b, c)| ours(a, b, c);
    same_drops(|| plain(arguments()), || ours(arguments()));
}

#[test]
fn borrowed_parts() {
    #[tc_span("Patterns/Ref", attrs(keys::tensor::artifact = y))]
    async fn by_ref(ref y: String) -> usize {
        y.len()
    }

    #[tc_span("Patterns/RefPart", attrs(keys::tensor::artifact = a, keys::size_bytes = *b))]
    async fn part((ref a, ref mut b): (String, u8)) -> usize {
        *b += 1;
        a.len() + usize::from(*b)
    }

    #[tc_span("Patterns/Behind", attrs(keys::tensor::artifact = &a, keys::size_bytes = b as u64 + 1))]
    async fn behind((&b, a): (&u8, String)) -> usize {
        a.len() + usize::from(b)
    }

    check_async(|| by_ref("a".to_owned()), 1, "Patterns/Ref tc.artifact.id=a");
    check_async(|| part(("a".to_owned(), 1)), 3, "Patterns/RefPart tc.artifact.id=a tc.size.bytes=1");
    check_async(|| behind((&1, "a".to_owned())), 2, "Patterns/Behind tc.artifact.id=a tc.size.bytes=2");
}

#[test]
fn values_stay_values() {
    #[derive(Clone, Copy, PartialEq)]
    enum Mode {
        Fast,
    }
    struct Request {
        mode: Mode,
        size: u32,
        name: String,
    }

    #[tc_span(
        "Patterns/Values",
        attrs(keys::tensor::artifact = &name, keys::size_bytes = if mode == Mode::Fast { size as u64 } else { 0 })
    )]
    async fn values(Request { mode, mut size, name }: Request) -> usize {
        size += u32::from(mode == Mode::Fast);
        drop(name);
        size as usize
    }

    #[tc_span("Patterns/Generic", attrs(keys::size_bytes = copied.into(), keys::tensor::artifact = shown.to_string()))]
    async fn generic<C: Copy + Into<u64>, S: ToString>((copied, shown): (C, S)) -> u64 {
        copied.into() + shown.to_string().len() as u64
    }

    #[tc_span("Patterns/Whole", attrs(keys::size_bytes = whole.0 + side))]
    async fn whole(whole @ (a, _): (u64, u64), (Ok(side) | Err(side)): Result<u64, u64>) -> u64 {
        whole.1 + a + side
    }

    let request = || Request { mode: Mode::Fast, size: 4, name: "n".to_owned() };
    check_async(|| values(request()), 5, "Patterns/Values tc.artifact.id=n tc.size.bytes=4");
    check_async(|| generic((1_u8, "ab")), 3, "Patterns/Generic tc.size.bytes=1 tc.artifact.id=ab");
    check_async(|| whole((1, 2), Err(3)), 6, "Patterns/Whole tc.size.bytes=4");
}

#[test]
fn arguments_for_the_attribute_alone() {
    #[tc_span("Patterns/Alone", attrs(keys::tensor::artifact = id))]
    fn sync(id: &str) {}

    #[tc_span("Patterns/AsyncAlone", attrs(keys::tensor::artifact = id))]
    async fn asynchronous(id: &str) {}

    #[tc_span("Patterns/PartAlone", attrs(keys::tensor::artifact = format!("{id}")))]
    async fn part((id, _): (&str, u8)) {}

    check(|| sync("a"), (), "Patterns/Alone tc.artifact.id=a");
    check_async(|| asynchronous("a"), (), "Patterns/AsyncAlone tc.artifact.id=a");
    check_async(|| part(("a", 1)), (), "Patterns/PartAlone tc.artifact.id=a");
}
