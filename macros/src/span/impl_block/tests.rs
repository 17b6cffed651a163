//! Methods that get a name, and items that are unchanged.

use super::*;

#[track_caller]
fn check(args: &str, item: &str, expected: &str) {
    let found = match expand(args.parse().unwrap(), item.parse().unwrap()) {
        Ok(tokens) => tokens.to_string(),
        Err(error) => error.to_string(),
    };
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    assert!(squeezed(&found).contains(&squeezed(expected)), "{found}");
}

#[test]
fn methods_opt_in() {
    check(
        r#"component = "Store""#,
        "impl A { #[tc_span] fn load_all(&self) {} fn other() {} #[tc_span(kind = client,)] async fn r#match() {} }",
        r#"impl A { #[tc_span("Store/LoadAll")] fn load_all(&self) {} fn other() {}
           #[tc_span("Store/Match", kind = client)] async fn r#match() {} }"#,
    );
}

#[test]
fn own_names_and_databases_stay() {
    check(
        r#"component = "Store", crate = x::y"#,
        r#"impl A { #[tc_span("B/C")] fn a() {} #[x::tc_span(db(a = 1), crate = z)] fn b() {} }"#,
        r#"impl A { #[tc_span("B/C", crate = x::y)] fn a() {} #[x::tc_span(db(a = 1), crate = z)] fn b() {} }"#,
    );
}

#[test]
fn metrics_get_the_crate() {
    check(
        r#"component = "Store""#,
        "impl A { #[tc_metric(calls = a)] fn a() {} #[tc_metric(b)] #[tc_span] fn b() {} }",
        r#"impl A { #[tc_metric(calls = a, __impl_parameters())] fn a() {}
           #[tc_metric(b, __impl_parameters())] #[tc_span("Store/B")] fn b() {} }"#,
    );
    check(
        r#"component = "Store", crate = x, methods = pub"#,
        "impl A { #[tc_metric(calls = a)] fn a() {} #[tc_metric(b)] pub fn b() {} }",
        r#"impl A { #[tc_metric(calls = a, crate = x, __impl_parameters())] fn a() {}
           #[x::tc_span("Store/B", crate = x)] #[tc_metric(b, crate = x, __impl_parameters())] pub fn b() {} }"#,
    );
}

#[test]
fn metrics_get_the_parameters_of_the_block() {
    for (header, parameters) in [
        ("impl A", ""),
        ("#[impl_for] unsafe impl<'a, T: B<C>, #[x] const N: usize, E = u8> A<T, E> for B<N> where T: C", "T, N, E"),
        ("default impl<> A for B", ""),
    ] {
        let expected = format!("{header} {{ #[tc_metric(calls = a, __impl_parameters({parameters}))] fn a() {{}} }}");
        check(r#"component = "S""#, &format!("{header} {{ #[tc_metric(calls = a)] fn a() {{}} }}"), &expected);
    }
}

#[test]
fn all_public_methods() {
    check(
        r#"component = "S", methods = pub"#,
        "impl A { pub fn a() {} fn b() {} pub const fn c() {} #[tc_span] pub fn d() {} pub(crate) fn e() {} }",
        r#"impl A { #[::tracecast::tc_span("S/A")] pub fn a() {} fn b() {} pub const fn c() {}
           #[tc_span("S/D")] pub fn d() {} pub(crate) fn e() {} }"#,
    );
    check(
        r#"component = "S", methods = pub"#,
        "impl<T> A for B<T> where for<'a> T: C<'a> { type X = u8; fn a() {} }",
        r#"impl<T> A for B<T> where for<'a> T: C<'a> { type X = u8; #[::tracecast::tc_span("S/A")] fn a() {} }"#,
    );
}

#[test]
fn other_items_go_through() {
    let items =
        "impl A { #![allow(x)] const X: fn() = || {}; m! { fn } n!(y); type T = V<{ 1 }>; const Y: T = { fn z() {} z };
        fn g() -> V<{ 2 }> where A: B<{ 3 }> { body() } }";
    check(r#"component = "S""#, items, items);
}

#[test]
fn mistakes() {
    check("", "impl A {}", "needs a component");
    check(r#""A/B""#, "impl A {}", "has a component");
    check(r#"component = "s""#, "impl A {}", "write `S`");
}
