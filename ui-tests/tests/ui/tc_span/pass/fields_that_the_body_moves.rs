//! An attribute borrows a field or an element, unless it can be copied: the body can move it, or the rest.
use tracecast::prelude::*;
use tracecast::testing::{capture, capture_async};
use tracecast::{IntoValue, Value};

tracecast::tc_keys! {
    /// A text.
    pub id name: str = "name";
    /// Another one, which is shared.
    pub id shared: str = "shared";
    /// A number.
    pub measure size: u64 = "size";
}

/// Neither it nor its texts can be copied.
pub struct Call<'a> {
    id: String,
    parent: Option<String>,
    text: &'a str,
    changed: &'a mut String,
    size: Option<u32>,
    own: Own,
    parts: Vec<String>,
}

/// A value of the program's own, which is only recorded by value.
#[derive(Clone, Copy)]
pub struct Own(u64);

impl IntoValue<u64> for Own {
    fn with_value<R>(self, f: impl FnOnce(Value<'_>) -> R) -> R {
        f(Value::U64(self.0))
    }
}

fn call(changed: &mut String) -> Call<'_> {
    let parts = vec!["first".to_owned(), "second".to_owned()];
    Call { id: "a".into(), parent: Some("b".into()), text: "c", changed, size: Some(7), own: Own(9), parts }
}

#[tc_span("Moves/Sync", attrs(name = c.id, size = c.size))]
fn sync(c: Call<'_>) -> String {
    c.id
}

#[tc_span("Moves/Async", attrs(name = c.id, size = c.own), share(shared = c.parent))]
async fn asynchronous(c: Call<'_>) -> (String, Option<String>) {
    std::future::ready(()).await;
    (c.id, c.parent)
}

#[tc_span("Moves/Element", attrs(name = c.parts[1], shared = c.changed))]
fn element(mut c: Call<'_>) -> String {
    c.changed.push('!');
    c.parts.remove(1)
}

#[tc_span("Moves/Temporary", attrs(name = call(&mut String::new()).id, shared = call(&mut String::new()).text))]
fn temporary() {}

#[tc_span(db(system = "sqlite", collection = c.id, operation = "select", namespace = c.parts[0]))]
fn database(c: Call<'_>) -> String {
    c.id + &c.parts[0]
}

impl Call<'_> {
    #[tc_span("Moves/Method", attrs(name = self.id))]
    fn method(self) -> String {
        self.id
    }

    #[tc_span("Moves/Borrowed", attrs(name = self.id, shared = self.parent))]
    async fn borrowed(&self) -> &str {
        &self.id
    }
}

fn scope(c: Call<'_>) -> String {
    let _scope = tc_scope!("Moves/Scope", attrs(name = c.id));
    c.id
}

pub fn main() {
    let mut text = "d".to_owned();
    capture(|| assert_eq!(sync(call(&mut text)), "a")).assert_tree("Moves/Sync name=a size=7");
    let async_tree = futures::executor::block_on(capture_async(|| asynchronous(call(&mut text)))).tree();
    assert_eq!(async_tree, "Moves/Async name=a size=9 shared=b\n");
    capture(|| assert_eq!(element(call(&mut text)), "second")).assert_tree("Moves/Element name=second shared=d");
    assert_eq!(text, "d!");
    capture(temporary).assert_tree("Moves/Temporary name=a shared=c");
    capture(|| assert_eq!(database(call(&mut text)), "afirst")).assert_tree(
        "a.select [client] db.system.name=sqlite db.collection.name=a db.operation.name=select db.namespace=first",
    );
    capture(|| assert_eq!(call(&mut text).method(), "a")).assert_tree("Moves/Method name=a");
    let call = call(&mut text);
    let borrowed = futures::executor::block_on(capture_async(|| call.borrowed()));
    assert_eq!((borrowed.tree().as_str(), borrowed.value), ("Moves/Borrowed name=a shared=b\n", "a"));
    drop(borrowed);
    capture(|| assert_eq!(scope(call), "a")).assert_tree("Moves/Scope name=a");
}
