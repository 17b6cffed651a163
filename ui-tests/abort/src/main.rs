//! The programs of `runtime/tests/panics_bring_out_what_is_pending.rs`, each ended by its first panic.

#[path = "../../../runtime/tests/support/panics.rs"]
mod panics;

fn main() {
    panics::program(&std::env::args().nth(1).unwrap_or_default());
}
