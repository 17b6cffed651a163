//! The pattern of an argument: its bindings, and how the span's fields access them.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Ident, Pat, PatIdent};

/// Returns whether `pat` binds a variable that the body may assign to, and borrows nothing.
pub(crate) fn binds_mutable(pat: &Pat) -> bool {
    let names = bindings(pat);
    names.iter().any(|name| name.mutability.is_some()) && names.iter().all(|name| name.by_ref.is_none())
}

/// Returns whether `pat` borrows mutably from the argument.
pub(crate) fn borrows_mutably(pat: &Pat) -> bool {
    bindings(pat).iter().any(|name| name.by_ref.is_some() && name.mutability.is_some())
}

/// Returns whether `pat` only borrows from the argument, so that it may be applied twice.
pub(crate) fn only_borrows(pat: &Pat) -> bool {
    bindings(pat).iter().all(|name| name.by_ref.is_some())
}

/// Returns whether `pat` borrows nothing from the argument.
pub(crate) fn only_takes(pat: &Pat) -> bool {
    bindings(pat).iter().all(|name| name.by_ref.is_none())
}

/// Returns the names that `pat` binds.
pub(crate) fn names(pat: &Pat) -> Vec<Ident> {
    bindings(pat).into_iter().map(|name| name.ident).collect()
}

/// Makes the bindings of `pat` immutable, and gives our hygiene to those that the span's fields do not need.
///
/// Returns a pattern and its value, which bind the user's variables again inside the block.
pub(crate) fn split(pat: &mut Pat, needed: impl Fn(&str) -> bool) -> (TokenStream, TokenStream) {
    let before = bindings(pat);
    each(pat, &mut |name| {
        name.mutability = None;
        if !needed(&name.ident.to_string()) {
            name.ident.set_span(name.ident.span().resolved_at(Span::mixed_site()));
        }
    });
    let (inner, outer) = (before.iter().map(without_inner), names(pat));
    match before.len() {
        1 => (quote_spanned!(Span::mixed_site()=> #(#inner)*), quote_spanned!(Span::mixed_site()=> #(#outer)*)),
        _ => (quote_spanned!(Span::mixed_site()=> (#(#inner),*)), quote_spanned!(Span::mixed_site()=> (#(#outer),*))),
    }
}

fn without_inner(name: &PatIdent) -> TokenStream {
    PatIdent { subpat: None, ..name.clone() }.into_token_stream()
}

/// Returns each binding of `pat` once, even if several cases of an or-pattern contain it.
fn bindings(pat: &Pat) -> Vec<PatIdent> {
    let mut found: Vec<PatIdent> = Vec::new();
    each(&mut pat.clone(), &mut |name| {
        if found.iter().all(|known| known.ident != name.ident) {
            found.push(name.clone());
        }
    });
    found
}

fn each(pat: &mut Pat, f: &mut impl FnMut(&mut PatIdent)) {
    match pat {
        Pat::Ident(name) => {
            f(name);
            if let Some((_, inner)) = &mut name.subpat {
                each(inner, f);
            }
        }
        Pat::Or(or) => or.cases.iter_mut().for_each(|case| each(case, f)),
        Pat::Paren(paren) => each(&mut paren.pat, f),
        Pat::Reference(reference) => each(&mut reference.pat, f),
        Pat::Slice(slice) => slice.elems.iter_mut().for_each(|part| each(part, f)),
        Pat::Struct(fields) => fields.fields.iter_mut().for_each(|field| each(&mut field.pat, f)),
        Pat::Tuple(tuple) => tuple.elems.iter_mut().for_each(|part| each(part, f)),
        Pat::TupleStruct(tuple) => tuple.elems.iter_mut().for_each(|part| each(part, f)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::parse::Parser;

    use super::*;

    fn parse(pat: TokenStream) -> Pat {
        Pat::parse_multi.parse2(pat).unwrap()
    }

    #[track_caller]
    fn check(pat: TokenStream, outside: TokenStream, inner: TokenStream, outer: TokenStream) {
        let mut pat = parse(pat);
        let (found_inner, found_outer) = split(&mut pat, |name| name == "a");
        assert_eq!(pat.to_token_stream().to_string(), outside.to_string());
        assert_eq!(found_inner.to_string(), inner.to_string());
        assert_eq!(found_outer.to_string(), outer.to_string());
    }

    #[test]
    fn patterns_are_split() {
        check(quote!((mut a, _b)), quote!((a, _b)), quote!((mut a, _b)), quote!((a, _b)));
        check(quote!(S { mut a, .. }), quote!(S { a, .. }), quote!(mut a), quote!(a));
        check(quote!(w @ [&a, ..]), quote!(w @ [&a, ..]), quote!((w, a)), quote!((w, a)));
        check(quote!(Ok(a) | Err(a)), quote!(Ok(a) | Err(a)), quote!(a), quote!(a));
    }

    #[test]
    fn kinds_of_bindings() {
        let pat = |tokens: TokenStream| parse(tokens);
        assert!(binds_mutable(&pat(quote!((mut a, b)))) && !binds_mutable(&pat(quote!((a, &mut b)))));
        assert!(!binds_mutable(&pat(quote!((mut a, ref b)))) && !binds_mutable(&pat(quote!(ref mut a))));
        assert!(borrows_mutably(&pat(quote!((a, ref mut b)))) && !borrows_mutably(&pat(quote!(mut a))));
        assert!(only_borrows(&pat(quote!((ref a, _)))) && !only_borrows(&pat(quote!((ref a, b)))));
        assert!(only_takes(&pat(quote!((a, &b)))) && !only_takes(&pat(quote!((a, ref b)))));
    }
}
