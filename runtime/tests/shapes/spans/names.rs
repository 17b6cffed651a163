//! Names, patterns and items that could get in the way of generated code.

#![expect(unreachable_pub, reason = "`methods = pub` goes by the word `pub`")]

use futures::executor::block_on;
use tracecast::keys;
use tracecast::prelude::*;

use crate::support::{check, check_async};

#[test]
fn parameters_with_names_of_ours_and_of_peers() {
    #[tc_span("Names/Sync")]
    fn sync(__span: u8, __guard: u8, caller: u8, __tc_start: u8, __tc_body: u8) -> u8 {
        __span + __guard + caller + __tc_start + __tc_body
    }

    #[tc_span("Names/Async", attrs(keys::size_bytes = __tc_start))]
    async fn asynchronous(__span: u8, __tc_span: u8, __tc_start: u8, __tc_result: u8) -> u8 {
        __span + __tc_span + __tc_start + __tc_result
    }

    check(|| sync(1, 2, 3, 4, 5), 15, "Names/Sync");
    check_async(|| asynchronous(1, 2, 3, 4), 10, "Names/Async tc.size.bytes=3");
}

#[test]
fn raw_identifiers() {
    #[tc_span("Names/Raw", attrs(keys::size_bytes = r#type))]
    fn r#match(r#type: u8) -> u8 {
        r#type
    }

    #[tc_span("Names/RawAsync", attrs(keys::size_bytes = r#type))]
    async fn r#loop(r#type: u8) -> u8 {
        r#type
    }

    struct Raw;
    #[tc_span(component = "Raw", methods = pub)]
    impl Raw {
        pub fn r#move(&self) -> u8 {
            1
        }
    }

    check(|| r#match(1), 1, "Names/Raw tc.size.bytes=1");
    check_async(|| r#loop(1), 1, "Names/RawAsync tc.size.bytes=1");
    check(|| Raw.r#move(), 1, "Raw/Move");
}

#[test]
fn patterns_in_parameters() {
    struct Point {
        x: u8,
        y: u8,
    }

    #[tc_span("Names/Patterns", attrs(keys::size_bytes = a))]
    fn sync((a, mut b): (u8, u8), [c, ..]: [u8; 3], Point { x, y: _ }: Point, &d: &u8) -> u8 {
        b += 1;
        a + b + c + x + d
    }

    #[tc_span("Names/AsyncPatterns", attrs(keys::size_bytes = x))]
    async fn asynchronous((a, mut b): (u8, u8), Point { x, y }: Point, _: u8, &d: &u8) -> u8 {
        b += 1;
        a + b + x + y + d
    }

    check(|| sync((1, 2), [3, 4, 5], Point { x: 6, y: 7 }, &8), 21, "Names/Patterns tc.size.bytes=1");
    let point = || Point { x: 3, y: 4 };
    check_async(|| asynchronous((1, 2), point(), 9, &5), 16, "Names/AsyncPatterns tc.size.bytes=3");
}

#[test]
#[expect(clippy::toplevel_ref_arg, reason = "it is a shape that somebody may write")]
fn patterns_that_bind_twice_or_by_reference() {
    #[tc_span("Names/Bound")]
    fn sync(whole @ (a, _): (u8, u8), ref text: String) -> usize {
        usize::from(whole.1 + a) + text.len()
    }

    #[tc_span("Names/AsyncBound")]
    async fn asynchronous(whole @ (a, _): (u8, u8), ref text: String) -> usize {
        usize::from(whole.1 + a) + text.len()
    }

    check(|| sync((1, 2), "abc".to_owned()), 6, "Names/Bound");
    check_async(|| asynchronous((1, 2), "abc".to_owned()), 6, "Names/AsyncBound");
}

#[test]
fn a_parameter_named_as_its_key() {
    #[tc_span("Names/Key", attrs(keys::tensor::artifact = artifact, keys::tensor::source = source))]
    fn load(artifact: &str, source: keys::tensor::SourceType) -> usize {
        artifact.len() + usize::from(source == keys::tensor::SourceType::Disk)
    }

    let tree = "Names/Key tc.artifact.id=ab tc.source.type=disk";
    check(|| load("ab", keys::tensor::SourceType::Disk), 3, tree);
}

#[test]
fn items_in_the_body_that_shadow_the_prelude() {
    #[tc_span("Names/Shadows", attrs(keys::size_bytes = 1_u8))]
    fn sync() -> u8 {
        #[derive(PartialEq)]
        enum Option {
            None,
        }
        #[expect(non_snake_case, reason = "a user may")]
        fn Ok() -> u8 {
            5
        }
        mod core {
            pub(super) const ONE: u8 = 1;
        }
        mod tracecast {
            pub(super) const TWO: u8 = 2;
        }
        Ok() + core::ONE + tracecast::TWO + u8::from(Option::None == Option::None)
    }

    #[tc_span("Names/AsyncShadows")]
    async fn asynchronous() -> std::result::Result<u8, String> {
        use std::cmp::max;
        const SOME: u8 = 1;
        struct Result;
        let _ = Result;
        Ok(max(SOME, 2))
    }

    check(sync, 9, "Names/Shadows tc.size.bytes=1");
    check_async(asynchronous, Ok(2), "Names/AsyncShadows");
}

#[test]
fn results_are_known_by_type_and_not_by_spelling() {
    type Loaded = Result<u8, std::fmt::Error>;
    mod own {
        /// Not the one of the standard library.
        #[derive(Debug, PartialEq)]
        pub(super) enum Result<T, E> {
            Err(E, T),
        }
    }

    #[tc_span("Names/Alias")]
    fn alias() -> Loaded {
        Err(std::fmt::Error)
    }

    #[tc_span("Names/AsyncAlias")]
    async fn async_alias() -> Loaded {
        Err(std::fmt::Error)
    }

    #[tc_span("Names/Io")]
    fn io() -> std::io::Result<()> {
        Err(std::io::Error::other("disk"))
    }

    trait Gets {
        type Got;
        fn get(&self) -> Self::Got;
    }

    impl Gets for u8 {
        type Got = Loaded;

        #[tc_span("Names/Associated")]
        fn get(&self) -> Self::Got {
            Err(std::fmt::Error)
        }
    }

    #[tc_span("Names/Own")]
    fn own_result() -> own::Result<u8, String> {
        own::Result::Err(String::new(), 1)
    }

    fn error(name: &str) -> String {
        let message = std::fmt::Error.to_string();
        format!("{name} error error.type=core::fmt::Error error.message={message:?}")
    }
    check(alias, Err(std::fmt::Error), &error("Names/Alias"));
    check_async(async_alias, Err(std::fmt::Error), &error("Names/AsyncAlias"));
    check(|| 1.get(), Err(std::fmt::Error), &error("Names/Associated"));
    check(|| io().is_err(), true, "Names/Io error error.type=io::Other error.message=disk");
    check(own_result, own::Result::Err(String::new(), 1), "Names/Own");
}

#[test]
fn reassigned_parameters() {
    #[tc_span("Names/Reassigned", attrs(keys::tensor::artifact = a))]
    fn sync(mut a: &str) -> usize {
        let local = String::from("long");
        if a.len() == 1 {
            a = &local;
        }
        a.len()
    }

    #[tc_span("Names/ReassignedParts")]
    fn parts(owned: String, (mut a, b): (&str, u8), mut rest: &mut [u8]) -> usize {
        let (local, mut bytes) = (owned + "!", [b; 3]);
        if a.is_empty() {
            a = &local;
            rest = &mut bytes;
        }
        rest[0] = 7;
        a.len() + rest.len()
    }

    #[tc_span("Names/AsyncReassigned", attrs(keys::tensor::artifact = a))]
    async fn asynchronous(mut a: &str) -> usize {
        let local = String::from("long");
        if a.len() == 1 {
            a = &local;
        }
        std::future::ready(()).await;
        a.len()
    }

    check(|| sync("x"), 4, "Names/Reassigned tc.artifact.id=x");
    check(|| parts("own".to_owned(), ("", 1), &mut []), 7, "Names/ReassignedParts");
    check(|| block_on(asynchronous("x")), 4, "Names/AsyncReassigned tc.artifact.id=x");
}
