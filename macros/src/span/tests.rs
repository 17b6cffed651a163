//! Whole attributes: what they expand to, and that a mistake keeps the item.
//!
//! `tests/expand/<name>.rs` is the input and `<name>.expanded.rs` beside it what it becomes. `TC_BLESS=1 cargo test`
//! writes the latter anew.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

/// An item of a test with its `#[tc_span(..)]` taken off: the arguments and the rest.
fn split(source: &str) -> (TokenStream, TokenStream) {
    let file = source.parse::<TokenStream>().expect("the input is Rust");
    let mut tokens = file.into_iter().skip(1);
    let Some(proc_macro2::TokenTree::Group(attribute)) = tokens.next() else { panic!("`#[tc_span(..)]` comes first") };
    let args = attribute.stream().into_iter().nth(1).map(|token| match token {
        proc_macro2::TokenTree::Group(args) => args.stream(),
        _ => panic!("`#[tc_span(..)]` has arguments"),
    });
    (args.unwrap_or_default(), tokens.collect())
}

fn span(args: TokenStream, function: Function) -> model::Span {
    let mut errors = Errors::default();
    model::Span::new(options::read(args, Place::Function, &mut errors), function, &mut errors)
}

fn printed(expansion: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(expansion).expect("the expansion is Rust"))
}

/// What an item becomes with telemetry compiled in, whether or not the feature `off` is on.
fn expanded(source: &str) -> String {
    let (args, item) = split(source);
    printed(match item::parse(item.clone()) {
        Ok(Item::Function(function)) => expand::instrumented(&span(args, *function)),
        _ => attribute(args, item),
    })
}

fn inputs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expand");
    let files = fs::read_dir(folder).expect("the folder of the inputs");
    let mut inputs: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    inputs.retain(|path| !path.to_string_lossy().ends_with(".expanded.rs"));
    inputs.sort();
    inputs
}

#[test]
fn expansions_are_as_recorded() {
    for input in inputs() {
        let found = expanded(&fs::read_to_string(&input).expect("an input"));
        let recorded = input.with_extension("expanded.rs");
        if std::env::var_os("TC_BLESS").is_some() {
            fs::write(&recorded, &found).expect("a file to write");
        }
        let expected = fs::read_to_string(&recorded).unwrap_or_default();
        assert_eq!(found, expected, "{}: if this is meant, run with TC_BLESS=1", input.display());
    }
}

/// What a function becomes under the feature `off`.
fn compiled_out(source: &str) -> String {
    let (args, item) = split(source);
    let Ok(Item::Function(function)) = item::parse(item) else { panic!("a function") };
    printed(expand::compiled_out(&span(args, *function)))
}

#[test]
fn compiled_out_the_function_stays() {
    let same = "async fn f(x: u8) -> u8 {\n    x + 1\n}\n";
    assert_eq!(compiled_out(&format!("#[tc_span(\"A/B\")] {same}")), same);
}

#[test]
fn compiled_out_the_types_are_checked() {
    let attrs = compiled_out("#[tc_span(\"A/B\", attrs(keys::a = x))] fn f(x: u8) -> u8 { let y = x; y }");
    assert!(attrs.contains("if false") && attrs.contains("let y = x;") && !attrs.contains("static"), "{attrs}");
    let result = compiled_out("#[tc_span(\"A/B\", result(keys::a = |r| r.len()))] async fn f() -> R<A> { g() }");
    assert!(result.contains("unreachable_value::<R<A>>()") && result.contains("|r| r.len()"), "{result}");
}

/// The errors of an attribute, after which the item must follow unchanged.
#[track_caller]
fn check(source: &str, expected: &[&str]) {
    let (args, item) = split(source);
    let found = attribute(args, item.clone()).to_string();
    assert!(found.ends_with(&item.to_string()), "{found}");
    assert_eq!(found.matches("compile_error").count(), expected.len(), "{found}");
    for part in expected {
        assert!(found.contains(part), "{found}");
    }
}

#[test]
fn mistakes_keep_the_item() {
    check("#[tc_span] fn f() {}", &["a span needs a name"]);
    check("#[tc_span(\"a/b\", knd = client)] const fn f() {}", &["write `A/B`", "did you mean `kind`", "`const fn`"]);
    check("#[tc_span(\"A/B\")] fn f();", &["has no body"]);
    check("#[tc_span(\"A/B\")] pub struct S;", &["cannot be put on a struct"]);
    check("#[tc_span(\"A/B\", attrs(keys::a = ))] fn f() {}", &["expected an expression"]);
    check("#[tc_span(\"A/B\", attrs(keys::))] fn f() {}", &["expected path segment"]);
    check("#[tc_span(kind = )] fn f() {}", &["expected a kind", "a span needs a name"]);
}

#[test]
fn scopes() {
    let text = |tokens: &str| scope(format!("crate = x; {tokens}").parse().unwrap()).to_string();
    assert!(text("\"A/B\"").contains("Scope"));
    assert!(text("").contains("a scope needs a name") && text("").contains("none"));
    assert_eq!(text("\"a/b\", future").matches("compile_error").count(), 2);
}
