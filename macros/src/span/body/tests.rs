//! Bodies with and without a visible tail.

use quote::quote;

use super::*;

fn body(text: &str) -> Group {
    Group::new(Delimiter::Brace, text.parse().unwrap())
}

/// Checks the kind of the tail, and the body with the target replaced by `X`.
#[track_caller]
fn check(text: &str, makes: Makes, rewritten: &str) {
    let body = body(text);
    let tail = Tail::find(&body).expect("a visible tail");
    assert_eq!(tail.makes, makes);
    let found = tail.rewrite(&body, |_| quote!(X)).map(|body| body.stream().to_string());
    assert_eq!(found.unwrap_or_default(), rewritten.parse::<TokenStream>().unwrap().to_string());
}

#[test]
fn async_blocks() {
    check("async { 1 }", Makes::Future, "X");
    check("let a = 1; if a { b(); } async move { a }", Makes::Future, "let a = 1; if a { b(); } X");
    check("let x = a as u32; async move { x }.boxed()", Makes::Future, "let x = a as u32; X.boxed()");
    check("async move {}.boxed_local()", Makes::Future, "X.boxed_local()");
}

#[test]
fn pinned_blocks() {
    check("f(); Box::pin(async move { 1 })", Makes::Future, "f(); Box::pin(X)");
    check("::std::boxed::Box::pin(async { 1 },)", Makes::Future, "::std::boxed::Box::pin(X)");
    check("Box::pin(async {}) as Pin<Box<dyn A>>", Makes::Future, "Box::pin(X) as Pin<Box<dyn A>>");
    check("if a {} std::boxed::Box::pin(async {})", Makes::Future, "if a {} std::boxed::Box::pin(X)");
}

#[test]
fn streams() {
    check("async_stream::stream! { yield 1; }", Makes::Stream, "X");
    check("Box::pin(try_stream! { yield 1; })", Makes::Stream, "Box::pin(X)");
}

#[test]
fn a_second_way_out_is_not_rewritten() {
    check("if a { return Box::pin(async {}); } Box::pin(async {})", Makes::Future, "");
    check("return Box::pin(async {})", Makes::Future, "");
    check("return async {}", Makes::Future, "");
}

#[test]
fn a_return_inside_the_block_is_its_own() {
    check("Box::pin(async { return 1; })", Makes::Future, "Box::pin(X)");
}

#[test]
fn hidden_tails() {
    for text in
        ["inner()", "", "async {};", "wrap(async {})", "Box::pin(inner())", "a.b(Box::pin(async {}))", "x = async {}"]
    {
        assert!(Tail::find(&body(text)).is_none(), "{text}");
    }
    assert!(Tail::find(&body("match a { _ => Box::pin(async {}) }")).is_none());
}

#[test]
fn inner_attributes_move_out() {
    let (hoisted, rest) = hoist_inner_attributes(&body("#![allow(a)] #![doc = \"b\"] #[c] let d = 1;"));
    assert_eq!(hoisted.to_string().replace(' ', ""), r##"#[allow(a)]#[doc="b"]"##);
    assert_eq!(rest.stream().to_string().replace(' ', ""), "#[c]letd=1;");
}

#[test]
fn mentioned_names() {
    assert!(mentions(quote!(f(&[b.a])), "b"));
    assert!(mentions(quote!(a[..b]), "b"));
    assert!(!mentions(quote!(a.b(c.b, d::b)), "b"));
    assert!(mentions(quote!(format!("{b}")), "b"));
    assert!(mentions(quote!(format!("{:>b$}", 1)), "b"));
    assert!(mentions(quote!(format!("{type}")), "r#type"));
    assert!(!mentions(quote!(f(&[a.c])), "b"));
    assert!(!mentions(quote!(format!("{bb}", bb = "b")), "b"));
}

#[test]
fn lone_expressions() {
    for text in ["1", "", "a(b; c)", "match a { _ => { b; } }"] {
        assert!(is_lone_expression(&body(text)), "{text}");
    }
    for text in ["a;", "let a = 1; a", "fn a() {} a()"] {
        assert!(!is_lone_expression(&body(text)), "{text}");
    }
}
