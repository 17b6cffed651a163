//! Methods of traits: defaults, `async fn` in traits, `async_trait`, and traits of the standard library.

use std::fmt;
use std::future::{Future, ready};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll};

use async_trait::async_trait;
use futures::executor::block_on;
use tracecast::keys;
use tracecast::tc_span;

use crate::support::{check, check_async, send};

struct Store {
    name: String,
}

fn store() -> Store {
    Store { name: "abc".to_owned() }
}

#[test]
fn default_methods() {
    trait Defaults {
        fn name(&self) -> &str;

        #[tc_span("Default/Sync", attrs(keys::tensor::artifact = self.name()))]
        fn length(&self) -> usize {
            self.name().len()
        }

        #[tc_span("Default/Async")]
        async fn length_later(&self, more: usize) -> usize {
            ready(()).await;
            self.name().len() + more
        }

        #[tc_span("Default/Returned")]
        fn length_returned(&self) -> impl Future<Output = usize> {
            async move { self.name().len() }
        }

        #[tc_span("Default/Associated")]
        fn associated() -> u8
        where
            Self: Sized,
        {
            1
        }
    }

    impl Defaults for Store {
        fn name(&self) -> &str {
            &self.name
        }
    }

    let store = store();
    check(|| store.length(), 3, "Default/Sync tc.artifact.id=abc");
    check_async(|| store.length_later(1), 4, "Default/Async");
    check_async(|| store.length_returned(), 3, "Default/Returned");
    check(Store::associated, 1, "Default/Associated");
}

#[test]
fn async_functions_in_traits() {
    trait Loads {
        async fn load(&self, id: &str) -> usize;
        fn fetch(&self, id: &str) -> impl Future<Output = Result<usize, io::Error>> + Send;
        fn returned(&self) -> impl Future<Output = usize>;
    }

    impl Loads for Store {
        #[tc_span("Trait/Load", attrs(keys::tensor::artifact = id))]
        async fn load(&self, id: &str) -> usize {
            self.name.len() + id.len()
        }

        #[tc_span("Trait/Fetch")]
        async fn fetch(&self, id: &str) -> Result<usize, io::Error> {
            ready(()).await;
            Err(io::Error::other(id.to_owned()))
        }

        #[tc_span("Trait/Returned")]
        fn returned(&self) -> impl Future<Output = usize> {
            async { self.name.len() }
        }
    }

    let store = store();
    check_async(|| store.load("x"), 4, "Trait/Load tc.artifact.id=x");
    let error = "Trait/Fetch error error.type=io::Other error.message=x";
    check(|| block_on(send(store.fetch("x"))).is_err(), true, error);
    check_async(|| store.returned(), 3, "Trait/Returned");
}

/// Of every shape that `async_trait` rewrites.
#[async_trait]
trait Boxed<T: Send + Sync + 'static> {
    async fn load(&self, t: T, id: &str) -> Result<usize, io::Error>;

    #[tc_span("Boxed/Default")]
    async fn count(&mut self, t: T) -> usize {
        drop(t);
        5
    }
}

#[test]
fn async_trait_on_methods() {
    struct Generic(u8);

    #[async_trait]
    impl<T> Boxed<T> for Generic
    where
        T: Send + Sync + 'static,
    {
        #[tc_span("Boxed/Method", attrs(keys::tensor::artifact = id))]
        async fn load(&self, t: T, id: &str) -> Result<usize, io::Error> {
            ready(()).await;
            drop(t);
            Ok(usize::from(self.0) + id.len())
        }
    }

    let mut generic = Generic(3);
    check(|| block_on(send(generic.load(1_u8, "x"))).ok(), Some(4), "Boxed/Method tc.artifact.id=x");
    check_async(|| generic.count(1_u8), 5, "Boxed/Default");
}

#[test]
fn async_trait_below_a_component() {
    struct Below;

    #[tc_span(component = "Below")]
    #[async_trait]
    impl Boxed<u8> for Below {
        #[tc_span(attrs(keys::tensor::artifact = id))]
        async fn load(&self, _t: u8, id: &str) -> Result<usize, io::Error> {
            Ok(id.len())
        }
    }

    check(|| block_on(Below.load(1, "x")).ok(), Some(1), "Below/Load tc.artifact.id=x");
}

#[test]
fn async_trait_above_a_component() {
    struct Above;

    #[async_trait]
    #[tc_span(component = "Above")]
    impl Boxed<u8> for Above {
        #[tc_span]
        async fn load(&self, _t: u8, id: &str) -> Result<usize, io::Error> {
            ready(()).await;
            Err(io::Error::other(id.to_owned()))
        }
    }

    let error = "Above/Load error error.type=io::Other error.message=x";
    check(|| block_on(Above.load(1, "x")).ok(), None, error);
}

#[test]
fn async_trait_without_send() {
    #[async_trait(?Send)]
    trait Local<T>
    where
        T: 'static,
    {
        async fn load(&self, x: Rc<T>, (y, z): (u8, u8), _: &str) -> Result<Rc<T>, io::Error>;
        async fn increment(&mut self);
    }

    #[async_trait(?Send)]
    impl<T> Local<T> for u8
    where
        T: 'static + Clone,
    {
        #[tc_span("Local/Load")]
        async fn load(&self, x: Rc<T>, (y, z): (u8, u8), _: &str) -> Result<Rc<T>, io::Error> {
            if y == z {
                return Err(io::Error::other("same"));
            }
            ready(()).await;
            Ok(x)
        }

        #[tc_span("Local/Increment")]
        async fn increment(&mut self) {
            *self += 1;
        }
    }

    check(|| block_on(1_u8.load(Rc::new(5), (1, 2), "")).ok().as_deref().copied(), Some(5), "Local/Load");
    let error = "Local/Load error error.type=io::Other error.message=same";
    check(|| block_on(1_u8.load(Rc::new(5), (1, 1), "")).is_err(), true, error);
    let mut number = 1_u8;
    check_async(|| Local::<u8>::increment(&mut number), (), "Local/Increment");
    assert_eq!(number, 2);
}

#[test]
fn traits_of_the_standard_library() {
    struct Number(u8);

    impl Drop for Number {
        #[tc_span("Number/Drop")]
        fn drop(&mut self) {
            self.0 = 0;
        }
    }

    impl Future for Number {
        type Output = u8;

        #[tc_span("Number/Poll")]
        fn poll(self: Pin<&mut Self>, _task: &mut TaskContext<'_>) -> Poll<u8> {
            Poll::Ready(self.0)
        }
    }

    impl fmt::Display for Number {
        #[tc_span("Number/Fmt")]
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{}", self.0)
        }
    }

    impl Iterator for Number {
        type Item = u8;

        #[tc_span("Number/Next")]
        fn next(&mut self) -> Option<Self::Item> {
            self.0 = self.0.checked_sub(1)?;
            Some(self.0)
        }
    }

    check(|| block_on(Number(3)), 3, "Number/Poll\nNumber/Drop");
    check(|| Number(3).to_string(), "3".to_owned(), "Number/Fmt\nNumber/Drop");
    check(|| Number(1).count(), 1, "Number/Next\nNumber/Next\nNumber/Drop");
}
