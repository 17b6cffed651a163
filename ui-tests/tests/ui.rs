//! What the compiler says of mistakes.
//!
//! `ui/<macro>/fail/<mistake>.rs` makes one mistake, and the `.stderr` beside it is all that a user gets to read of it.
//! The programs in `ui/<macro>/pass` are those of `right_programs.rs`. The texts are those of the stable toolchain that the workspace is
//! tested with; another one words some of them differently, and is not compared with them.
//! `TRYBUILD=overwrite cargo test -p tracecast-ui-tests` writes them anew: read every change as a user would before it
//! is committed.

use std::env;
use std::io::{self, Write};
use std::process::Command;

/// The compiler whose texts were recorded.
const RECORDED: &str = "rustc 1.95.";

/// What the compiler says of itself.
fn compiler() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().expect("a compiler");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn mistakes_are_explained_at_the_users_own_tokens() {
    let compiler = compiler();
    if !compiler.starts_with(RECORDED) {
        let left_out = format!("\nmistakes are not compared: the texts are of {RECORDED}x, and this is {compiler}\n");
        // Not through `eprintln!`, which nobody would see of a test that passes.
        io::stderr().write_all(left_out.as_bytes()).expect("a place to say so");
        return;
    }
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*/fail/*.rs");
}
