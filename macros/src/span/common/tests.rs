use proc_macro2::TokenStream;

use super::super::item::{self, Attr, Item};
use super::super::on_function;
use super::expand;

/// Checks whether the item is expanded here, and if so, that the other modules expand it to the same tokens.
#[track_caller]
fn check(text: &str, is_common: bool) {
    let args: TokenStream = "\"Store/Load\"".parse().unwrap();
    let tokens: TokenStream = text.parse().unwrap();
    let found = expand(&args, &tokens);
    assert_eq!(found.is_some(), is_common && cfg!(not(feature = "off")), "{text}");
    let Some(found) = found else { return };
    let Ok(Item::Function(function)) = item::parse(tokens, Attr::Span) else { panic!("{text}") };
    let expected = on_function(Some(args), None, *function).unwrap();
    // Tokens read by `syn` are printed with other spaces.
    let squeezed = |tokens: TokenStream| tokens.to_string().split_whitespace().collect::<String>();
    assert_eq!(squeezed(found), squeezed(expected));
}

#[test]
fn common_functions_expand_as_all_others_do() {
    for text in [
        "fn f() {}",
        "/// Loads.\n #[inline] pub(crate) fn f<'a, T: Fn(&T) -> u8, const N: usize>(&'a self, x: &[T], n: u64) { a; b }",
        "pub fn f(&mut self, map: HashMap<A, B>, n: usize) -> Result<Vec<u8>, E> where A: B { Ok(()) }",
        "fn f(self, _: u8, at: *const u8, call: fn(u8) -> u8) -> io::Result<()> { x }",
        "fn f(x: u8) -> Self { x }",
        "fn f(x: u8) -> LoadResult { x }",
        "fn f(x: u8) -> LoadResult<u8> { x }",
        "fn f(x: u8) -> fmt::Result { x }",
        "fn f(x: u8,) -> a::Bytes<'_> { x }",
        "fn f(x: std::time::Duration) -> std::vec::Vec<u8> { x }",
        "fn f() -> &'static [u8] { x }",
        "fn f() -> (u8, u16) { x }",
        "fn f() -> [u8; 4] { x }",
    ] {
        check(text, true);
    }
}

#[test]
fn all_others_are_left_alone() {
    for text in [
        "async fn f() {}",
        "const fn f() {}",
        "unsafe fn f() {}",
        "extern \"C\" fn f() {}",
        "fn f();",
        "fn f() { #![allow(dead_code)] }",
        "#[track_caller] fn f() {}",
        "#[tracecast::tc_metric(calls = \"tc_a_total\")] fn f() {}",
        "fn f(mut x: u8) {}",
        "fn f((a, b): (u8, u8)) {}",
        "fn f(self: Arc<Self>) {}",
        "fn f(mut self) {}",
        "fn f(#[cfg(unix)] x: u8) {}",
        "fn f() -> ! { loop {} }",
        "fn f() -> impl Iterator { x }",
        "fn f() -> Vec<Box<dyn A>> { x }",
        "fn f() -> Box<u8> { x }",
        "fn f() -> BoxFuture<'static, u8> { x }",
        "fn f() -> Self::Future { x }",
        "fn f() -> <A as B>::C { x }",
        "fn f() -> (u8) { x }",
        "impl A {}",
        "struct A;",
    ] {
        check(text, false);
    }
}

#[test]
fn other_options_are_left_alone() {
    for args in ["", "Load", "\"load\"", "\"Store/Lo\\x61d\"", "\"Store/Load\", kind = client", "r\"Store/Load\""] {
        assert!(expand(&args.parse().unwrap(), &"fn f() {}".parse().unwrap()).is_none(), "{args}");
    }
}
