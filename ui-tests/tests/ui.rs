//! What the compiler says of mistakes, and that it says nothing of what is right.
//!
//! `ui/<macro>/fail/<mistake>.rs` makes one mistake, and the `.stderr` beside it is all that a user gets to read of it.
//! The programs in `ui/<macro>/pass` compile and run. The texts are those of the stable toolchain that the workspace is
//! tested with; another one words some of them differently. `TRYBUILD=overwrite cargo test -p tracecast-ui-tests`
//! writes them anew: read every change as a user would before it is committed.

#[test]
fn mistakes_are_explained_at_the_users_own_tokens() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*/fail/*.rs");
}

#[test]
fn right_programs_compile_and_run() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/*/pass/*.rs");
}
