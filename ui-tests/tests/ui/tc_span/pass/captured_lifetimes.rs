//! Edition 2024 captures every lifetime in `impl Trait`; `use<..>` says which ones.

use tracecast::tc_span;

#[tc_span("StoreDaemon/Load")]
async fn load(id: &str, mut prefix: &str) -> usize {
    let local = String::from("a");
    if id.is_empty() {
        prefix = &local;
    }
    prefix.len() + id.len()
}

#[tc_span("StoreDaemon/Fetch")]
fn fetch<'a>(id: &'a str, _hint: &str) -> impl Future<Output = usize> + use<'a> {
    async move { id.len() }
}

pub(crate) fn main() {
    let future = fetch("llama", &String::from("disk"));
    drop((future, load("llama", "")));
}
