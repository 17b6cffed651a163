//! A key is a type: an argument of the same name is no clash, even where the key is imported.

use tracecast::keys::{size_bytes, tensor::artifact};
use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", attrs(artifact = artifact), result(size_bytes = |size| *size))]
fn load(artifact: &str) -> usize {
    artifact.len()
}

pub(crate) fn main() {
    assert_eq!(load("llama"), 5);
}
