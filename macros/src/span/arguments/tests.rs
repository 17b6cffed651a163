//! Checks how arguments are rebound.

use quote::quote;

use super::*;

#[track_caller]
fn check(inputs: TokenStream, needed: &str, signature: TokenStream, statements: TokenStream) -> String {
    let mut sig: Signature = syn::parse2(quote!(fn f(#inputs))).unwrap();
    let found = rebind(&mut sig, |name| name == needed);
    assert_eq!(sig.to_token_stream().to_string(), quote!(fn f(#signature)).to_string());
    assert_eq!(found.block.to_string(), statements.to_string());
    found.fields.to_string()
}

#[test]
fn names_stay() {
    check(quote!(a: A, mut b: B), "", quote!(a: A, b: B), quote!(let a = a; let mut b = b;));
    check(quote!(a: A, a: B), "", quote!(a: A, __tc_arg1: B), quote!(let a = a; let a = __tc_arg1;));
}

#[test]
fn patterns_get_a_name() {
    check(
        quote!((a, b): (A, B), _: C, _d: D, ref mut e: E),
        "",
        quote!(__tc_arg0: (A, B), __tc_arg1: C, __tc_arg2: D, __tc_arg3: E),
        quote! {
            let __tc_arg0 = __tc_arg0; let (a, b) = __tc_arg0;
            let __tc_arg1 = __tc_arg1;
            let _d = { __tc_arg2 };
            let mut __tc_arg3 = __tc_arg3; let ref mut e = __tc_arg3;
        },
    );
}

#[test]
fn names_that_fields_use_are_read() {
    check(quote!(a: A), "a", quote!(a: A), quote!(let a = a; let _ = &a;));
    check(quote!(#[cfg(x)] a: A), "a", quote!(#[cfg(x)] a: A), quote!(#[cfg(x)] let a = a; #[cfg(x)] let _ = &a;));
    check(quote!(_a: A), "_a", quote!(_a: A), quote!(let _a = _a; let _ = &_a;));
    check(quote!(_: A), "_", quote!(__tc_arg0: A), quote!(let __tc_arg0 = __tc_arg0;));
}

#[test]
fn patterns_that_fields_use() {
    let statements = quote!(let (mut a, _b) = (a, _b); let _ = &a;);
    let fields = check(quote!((mut a, _b): (A, B)), "a", quote!((a, _b): (A, B)), statements);
    assert_eq!(fields, "");

    let statements = quote!(let __tc_arg0 = __tc_arg0; let ref a = __tc_arg0; let _ = &a;);
    let fields = check(quote!(ref a: A), "a", quote!(__tc_arg0: A), statements);
    assert_eq!(fields, quote!(let ref a = __tc_arg0; let _ = &a;).to_string());

    check(quote!((a, ref b): (A, B)), "a", quote!((a, ref b): (A, B)), quote!());
}

#[test]
fn attributes_follow_the_binding() {
    check(
        quote!(#[cfg(x)] #[expect(unused_variables)] a: A),
        "",
        quote!(#[cfg(x)] a: A),
        quote!(#[cfg(x)] #[expect(unused_variables)] let a = a;),
    );
    check(
        quote!(#[expect(non_snake_case)] A: A),
        "A",
        quote!(#[allow(non_snake_case)] A: A),
        quote!(#[expect(non_snake_case)] let A = A; let _ = &A;),
    );
}

#[test]
fn closures_rebind_what_may_be_assigned() {
    let inputs = quote!(mut a: &A, b: &B, mut c: C, (mut d, e): (u8, u8), ref mut f: [u8; 2]);
    let mut sig: Signature = syn::parse2(quote!(fn f(#inputs))).unwrap();
    let found = rebind_mutable(&mut sig);
    let signature = quote!(a: &A, b: &B, mut c: C, __tc_arg3: (u8, u8), ref mut f: [u8; 2]);
    assert_eq!(sig.to_token_stream().to_string(), quote!(fn f(#signature)).to_string());
    assert_eq!(found.to_string(), quote!(let mut a = a; let (mut d, e) = __tc_arg3;).to_string());
}

#[test]
fn self_is_taken_whole() {
    check(quote!(mut self), "", quote!(mut self), quote!(let _ = &self;));
    check(quote!(self: Arc<Self>), "", quote!(self: Arc<Self>), quote!(let _ = &self;));
    check(quote!(&mut self), "", quote!(&mut self), quote!());
    check(quote!(self: &Self), "", quote!(self: &Self), quote!());
}
