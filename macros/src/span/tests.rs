//! Checks the expansions of whole attributes, and that an invalid attribute keeps its item.
//!
//! `tests/expand/<name>.rs` is the input and `<name>.expanded.rs` beside it the expected expansion. `TC_BLESS=1 cargo test`
//! rewrites the expected expansions.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

/// Splits an item into its first attribute, that attribute's arguments, and the rest.
fn split(source: &str) -> (Attr, TokenStream, TokenStream) {
    let file = source.parse::<TokenStream>().expect("the input is Rust");
    let mut tokens = file.into_iter().skip(1);
    let Some(proc_macro2::TokenTree::Group(attribute)) = tokens.next() else { panic!("an attribute comes first") };
    let mut attribute = attribute.stream().into_iter();
    let attr = match attribute.next().map(|name| name.to_string()).as_deref() {
        Some("tc_span") => Attr::Span,
        _ => Attr::Metric,
    };
    let args = attribute.next().map(|token| match token {
        proc_macro2::TokenTree::Group(args) => args.stream(),
        _ => panic!("the attribute has arguments"),
    });
    (attr, args.unwrap_or_default(), tokens.collect())
}

/// Returns the model of a function, even if its attributes have mistakes; `None` if the item is not a function.
fn read(source: &str) -> Option<Wrapped> {
    let (attr, args, item) = split(source);
    let others = if attr == Attr::Span { attributes::is_metric } else { attributes::is_span };
    let (other, item) = attributes::take(item, others);
    let Ok(Item::Function(function)) = item::parse(item, attr) else { return None };
    let other = only(&other, "one of each").expect("one of each");
    let errors = &mut Errors::default();
    Some(match attr {
        Attr::Span => wrapped(Some(args), other, *function, errors),
        Attr::Metric => wrapped(other.map(|(args, _)| args), Some((args, Site::call_site())), *function, errors),
    })
}

fn printed(expansion: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(expansion).expect("the expansion is Rust"))
}

/// Expands an item with telemetry compiled in, whether or not the feature `off` is on.
fn expanded(source: &str) -> String {
    if let Some(inside) = source.strip_prefix("tc_metrics! {") {
        let inside = inside.trim_end().strip_suffix('}').expect("a macro call and nothing else");
        return printed(crate::metrics::declare(format!("crate = ::tracecast; {inside}").parse().expect("Rust")));
    }
    printed(match read(source) {
        Some(wrapped) => expand::instrumented(&wrapped),
        None => {
            let (_, args, item) = split(source);
            attribute(args, item)
        }
    })
}

fn inputs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expand");
    let files = fs::read_dir(folder).expect("the folder of the inputs");
    let mut inputs: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    inputs.retain(|path| !path.to_string_lossy().ends_with(".expanded.rs"));
    // Only the expansion of `metrics.rs` differs with the feature; functions without telemetry are tested separately.
    inputs.retain(|path| !cfg!(feature = "off") || !path.ends_with("metrics.rs"));
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

/// Expands a function as with the feature `off`.
fn compiled_out(source: &str) -> String {
    printed(expand::compiled_out(&read(source).expect("a function")))
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
    assert!(result.contains("Tag::<R<A>>") && result.contains("|r| r.len()"), "{result}");
}

/// Checks the errors of an attribute, and that the unchanged item follows them.
#[track_caller]
fn check(source: &str, expected: &[&str]) {
    let (attr, args, item) = split(source);
    let found = if attr == Attr::Span { attribute(args, item.clone()) } else { metric_attribute(args, item.clone()) };
    let found = found.to_string();
    // The other attribute is emitted before the item with a marker, so it is left out of the comparison.
    let others = if attr == Attr::Span { attributes::is_metric } else { attributes::is_span };
    let (_, item) = attributes::take(item, others);
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
fn mistakes_of_metrics_keep_the_item() {
    check("#[tc_metric] fn f() {}", &["`tc_metric` needs a metric: write `calls = \\\"tc_f_total\\\"`"]);
    check("#[tc_metric(calls = \"f\")] const fn f() {}", &["write `tc_f_total`", "where there are no metrics"]);
    check("#[tc_metric(calls = \"tc_f_total\")] fn f();", &["has no body for a metric"]);
    check(
        "#[tc_metric(calls = \"tc_f_total\")] struct S;",
        &["`tc_metric` cannot be put on a struct, only on a function"],
    );
    check("#[tc_metric(calls = \"tc_f_total\")] impl A {}", &["put it on the methods"]);
    check("#[tc_metric(calls = \"tc_f_total\")] #[tc_metric(x)] fn f() {}", &["a function has one `tc_metric`"]);
}

#[test]
fn mistakes_of_both_are_reported_once() {
    check("#[tc_span(\"A/B\")] #[tc_metric(call = \"tc_f_total\")] fn f() {}", &["did you mean `calls`"]);
    check("#[tc_metric(calls = \"f\")] #[x::tc_span(\"a/b\")] fn f() {}", &["write `tc_f_total`", "write `A/B`"]);
    check("#[tc_span(\"A/B\")] #[tc_metric(calls = \"tc_f_total\")] struct S;", &["cannot be put on a struct"]);
    check("#[tc_span(\"A/B\")] #[tc_metric(a)] #[tc_metric(b)] fn f() {}", &["a function has one `tc_metric`"]);
    check("#[tc_metric(a)] #[tc_span(\"A/B\")] #[tc_span(\"A/B\")] fn f() {}", &["a function has one span"]);
    check("#[tc_span(\"A/B\")] #[tc_metric = 1] fn f() {}", &["options need parentheses"]);
    check("#[tc_span] #[tc_metric(calls = \"tc_f_total\")] impl A {}", &["put it on the methods"]);
    check(
        "#[tc_span(\"A/B\", future)] #[tc_metric(calls = \"tc_f_total\", construct)] fn f() -> BoxFuture<'a, u8> { g() }",
        &["`construct` contradicts `future`"],
    );
}

#[test]
fn a_taken_attribute_keeps_its_import_used() {
    let (_, args, item) = split("#[tc_metric(calls = \"f\")] #[x::tc_span(\"A/B\")] fn f() {}");
    let found = metric_attribute(args, item).to_string().replace(' ', "");
    assert!(found.ends_with("#[x::tc_span(__tc_reported)]fnf(){}"), "{found}");
    let (_, args, item) = split("#[tc_span(__tc_reported)] #[tc_metric(calls = \"f\")] fn f() {}");
    assert_eq!(attribute(args.clone(), item.clone()).to_string(), item.to_string());
    assert_eq!(metric_attribute(args, item.clone()).to_string(), item.to_string());
}

#[test]
fn the_order_of_the_two_makes_no_difference() {
    let span = "#[tc_span(\"A/B\", attrs(keys::a = x), crate = a)]";
    let metric = "#[tc_metric(calls = \"tc_f_total\", labels(keys::b = y), crate = b, no_err)]";
    let function = "#[inline] pub fn f(x: u8, y: Y) -> R { g() }";
    let above = expanded(&format!("{span} {metric} {function}"));
    assert_eq!(above, expanded(&format!("{metric} /** Docs. */ {span} {function}")).replace("/// Docs.\n", ""));
    assert!(
        !above.contains("tc_metric") && above.contains("a::__private") && !above.contains("b::__private"),
        "{above}"
    );
    assert!(above.contains("run_begun") && above.contains("::future(),\n            (),"), "{above}");
}

#[test]
fn compiled_out_the_labels_are_checked() {
    let text = "#[tc_metric(calls = \"tc_f_total\", labels(keys::a = x, keys::b = |r| r.b))] fn f(x: u8) -> R { g() }";
    let out = compiled_out(text);
    assert!(
        out.contains("if false") && out.contains("::check(") && out.contains(".labels(") && out.contains("|r| r.b"),
        "{out}"
    );
    assert!(out.contains("mistake()") && !out.contains("static"), "{out}");
}

#[test]
fn scopes() {
    let text = |tokens: &str| scope(format!("crate = x; {tokens}").parse().unwrap()).to_string();
    let made = if cfg!(feature = "off") { "Scope" } else { "enter" };
    assert!(text("\"A/B\"").contains(made), "{}", text("\"A/B\""));
    assert!(text("").contains("a scope needs a name") && text("").contains("none"));
    assert_eq!(text("\"a/b\", future").matches("compile_error").count(), 2);
}
