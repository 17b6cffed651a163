//! Methods: every kind of `self`, and `impl` blocks that name the spans of their methods.

#![expect(unreachable_pub, reason = "`methods = pub` goes by the word `pub`")]

use std::fmt::Debug;
use std::future::{Future, ready};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use futures::executor::block_on;
use tracecast::keys;
use tracecast::testing::capture;
use tracecast::{Kind, tc_span};

use crate::support::{check, check_async, send};

#[derive(Clone)]
struct Store {
    name: String,
}

fn store() -> Store {
    Store { name: "abc".to_owned() }
}

impl Store {
    #[tc_span("Self/Shared")]
    fn shared(&self) -> usize {
        self.name.len()
    }

    #[tc_span("Self/Exclusive")]
    fn exclusive(&mut self, text: &str) -> &mut String {
        self.name.push_str(text);
        &mut self.name
    }

    #[tc_span("Self/Value", attrs(keys::tensor::artifact = &self.name))]
    fn value(self) -> String {
        self.name
    }

    #[tc_span("Self/Boxed")]
    fn boxed(self: Box<Self>) -> Box<Self> {
        self
    }

    #[tc_span("Self/Counted")]
    fn counted(self: &Rc<Self>) -> usize {
        Rc::strong_count(self)
    }

    #[tc_span("Self/Pinned")]
    fn pinned(self: Pin<&mut Self>) -> usize {
        self.name.len()
    }

    #[tc_span("Self/AsyncShared")]
    async fn async_shared(&self, other: &str) -> usize {
        ready(()).await;
        self.name.len() + other.len()
    }

    #[tc_span("Self/AsyncExclusive")]
    async fn async_exclusive(&mut self, text: &str) -> &mut String {
        self.name.push_str(text);
        &mut self.name
    }

    #[tc_span("Self/AsyncValue", attrs(keys::tensor::artifact = &self.name))]
    async fn async_value(self) -> String {
        ready(()).await;
        self.name
    }

    #[tc_span("Self/AsyncMut")]
    async fn async_mut(mut self) -> String {
        self.name.push('!');
        self.name
    }

    #[tc_span("Self/AsyncBoxed")]
    async fn async_boxed(self: Box<Self>) -> usize {
        self.name.len()
    }

    #[tc_span("Self/AsyncArc", attrs(keys::tensor::artifact = &self.name))]
    async fn async_arc(self: Arc<Self>, more: usize) -> usize {
        self.name.len() + more
    }

    #[tc_span("Self/AsyncPinned")]
    async fn async_pinned(self: Pin<&mut Self>) -> usize {
        self.name.len()
    }

    #[tc_span("Self/Returned")]
    fn returned(&self) -> Pin<Box<dyn Future<Output = usize> + Send + '_>> {
        Box::pin(async move { self.name.len() })
    }

    #[tc_span("Self/New")]
    async fn new() -> Self {
        Self { name: "abc".to_owned() }
    }
}

#[test]
fn every_self_type() {
    check(|| store().shared(), 3, "Self/Shared");
    check(|| store().exclusive("d").len(), 4, "Self/Exclusive");
    check(|| store().value(), "abc".to_owned(), "Self/Value tc.artifact.id=abc");
    check(|| Box::new(store()).boxed().name.len(), 3, "Self/Boxed");
    check(|| Rc::new(store()).counted(), 1, "Self/Counted");
    check(|| Pin::new(&mut store()).pinned(), 3, "Self/Pinned");
}

#[test]
fn every_self_type_of_async_methods() {
    let mut own = store();
    check_async(|| own.async_shared("x"), 4, "Self/AsyncShared");
    check(|| block_on(own.async_exclusive("d")).len(), 4, "Self/AsyncExclusive");
    check_async(|| store().async_value(), "abc".to_owned(), "Self/AsyncValue tc.artifact.id=abc");
    check_async(|| store().async_mut(), "abc!".to_owned(), "Self/AsyncMut");
    check_async(|| Box::new(store()).async_boxed(), 3, "Self/AsyncBoxed");
    check_async(|| send(Arc::new(store()).async_arc(1)), 4, "Self/AsyncArc tc.artifact.id=abc");
    check_async(|| Pin::new(&mut own).async_pinned(), 4, "Self/AsyncPinned");
    check_async(|| send(own.returned()), 4, "Self/Returned");
    check(|| block_on(Store::new()).name, "abc".to_owned(), "Self/New");
}

#[test]
fn a_component_names_the_methods_that_opt_in() {
    struct Engine<'a, T, const N: usize>(&'a [T; N]);

    #[tc_span(component = "Engine")]
    impl<'a, T: Clone + 'a, const N: usize> Engine<'a, T, N>
    where
        T: Debug,
    {
        #[tc_span]
        async fn get_one<U: Into<usize>>(&self, at: U) -> Option<&'a T> {
            self.0.get(at.into())
        }

        #[tc_span(no_err, kind = client)]
        fn all(&self) -> Result<Vec<T>, io::Error> {
            Err(io::Error::other(format!("{N} items")))
        }

        #[tc_span("Disk/ReadPage")]
        fn own_name(&self) {}

        #[tc_span(db(system = "sqlite", collection = "pages", operation = "select"))]
        fn database(&self) {}

        fn without(&self) -> usize {
            N
        }
    }

    let engine = Engine(&[1, 2]);
    check_async(|| engine.get_one(1_usize), Some(&2), "Engine/GetOne");
    check(|| engine.all().is_err(), true, "Engine/All [client]");
    check(|| engine.own_name(), (), "Disk/ReadPage");
    check(|| engine.without(), 2, "");
    let captured = capture(|| engine.database());
    assert_eq!(captured.span("pages.select").kind, Kind::Client);
}

#[test]
fn a_component_names_all_public_methods() {
    struct Pool;

    #[tc_span(component = "Pool", methods = pub)]
    impl Pool {
        const SIZE: u8 = 1;

        pub fn get_size(&self) -> u8 {
            Self::SIZE + self.private()
        }

        pub async fn get_later(&self) -> u8 {
            self.restricted()
        }

        #[tc_span(attrs(keys::tensor::artifact = id))]
        pub fn with_options(&self, id: &str) -> usize {
            id.len()
        }

        #[tc_span]
        fn opted_in(&self) {}

        pub const fn constant() -> u8 {
            1
        }

        fn private(&self) -> u8 {
            1
        }

        pub(crate) fn restricted(&self) -> u8 {
            2
        }
    }

    check(|| Pool.get_size(), 2, "Pool/GetSize");
    check_async(|| Pool.get_later(), 2, "Pool/GetLater");
    check(|| Pool.with_options("ab"), 2, "Pool/WithOptions tc.artifact.id=ab");
    check(|| Pool.opted_in(), (), "Pool/OptedIn");
    check(|| (Pool::constant(), Pool.restricted()), (1, 2), "");
}

#[test]
fn the_methods_of_a_trait_are_public() {
    trait Loads {
        fn load(&self, id: &str) -> impl Future<Output = Result<usize, io::Error>> + Send;
        fn unload(&self) {}
    }

    struct Loader;

    #[tc_span(component = "Loader", methods = pub)]
    impl Loads for Loader {
        async fn load(&self, id: &str) -> Result<usize, io::Error> {
            ready(()).await;
            Ok(id.len())
        }
    }

    check(|| block_on(send(Loader.load("x"))).ok(), Some(1), "Loader/Load");
    check(|| Loader.unload(), (), "");
}
