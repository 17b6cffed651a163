//! Moves the arguments of an `async fn` into its async block, just as the compiler does.
//!
//! The block rebinds every argument in the order of declaration, so that arguments drop in the same order as those of
//! the plain function, and the compiler's lints about them see the user's own bindings.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::{Attribute, FnArg, Ident, Pat, PatIdent, PatType, Receiver, ReceiverKind, Signature, Type};

use super::attributes::{is_cfg, is_lint};
use super::shape::peel;

/// Gives every argument of `sig` a plain name and returns the statements that rebind them inside the block.
///
/// `needed` says whether the fields of the span use a name, which then has to stay visible outside of the block.
pub(crate) fn rebind(sig: &mut Signature, needed: impl Fn(&str) -> bool) -> TokenStream {
    let mut statements = TokenStream::new();
    for (index, argument) in sig.inputs.iter_mut().enumerate() {
        match argument {
            FnArg::Receiver(receiver) if by_value(receiver) => statements.extend(capture(receiver)),
            FnArg::Receiver(_) => {}
            FnArg::Typed(argument) => statements.extend(rebind_one(argument, index, &needed)),
        }
    }
    statements
}

/// Without this the block would take only those fields of `self` that it uses, and the rest would drop at the call.
fn capture(receiver: &Receiver) -> TokenStream {
    let this = &receiver.self_token;
    quote_spanned!(Span::mixed_site()=> let _ = &#this;)
}

fn by_value(receiver: &Receiver) -> bool {
    match &receiver.kind {
        ReceiverKind::Typed(_, ty) => !matches!(peel(ty), Type::Reference(_)),
        ReceiverKind::Value => true,
        _ => false,
    }
}

fn rebind_one(argument: &mut PatType, index: usize, needed: &impl Fn(&str) -> bool) -> TokenStream {
    let site = Span::mixed_site();
    let attrs = split_attributes(&mut argument.attrs);
    match simple(&argument.pat) {
        Some((mutable, name)) if !name.to_string().starts_with('_') || needed(&name.to_string()) => {
            *argument.pat = plain(name.clone());
            quote_spanned!(site=> #attrs let #mutable #name = #name;)
        }
        Some((mutable, name)) => {
            let outer = format_ident!("__tc_arg{index}", span = site);
            *argument.pat = plain(outer.clone());
            quote_spanned!(site=> #attrs let #mutable #name = #outer;)
        }
        // A destructured name that the fields use is bound by the signature; the block takes what it mentions.
        None if binds_needed(&argument.pat, needed) => {
            argument.attrs.extend(attrs.moved);
            TokenStream::new()
        }
        None => {
            let outer = format_ident!("__tc_arg{index}", span = site);
            let pat = std::mem::replace(&mut *argument.pat, plain(outer.clone()));
            let cfg = &attrs.cfg;
            let whole = quote_spanned!(site=> #(#cfg)* let #outer = #outer;);
            match pat {
                Pat::Wild(_) => whole,
                pat => quote_spanned!(site=> #whole #attrs let #pat = #outer;),
            }
        }
    }
}

/// Attributes of an argument that its `let` needs.
struct LetAttributes {
    /// `#[cfg]`, which the signature keeps too.
    cfg: Vec<Attribute>,
    /// Lint levels, which only the binding can answer.
    moved: Vec<Attribute>,
}

impl ToTokens for LetAttributes {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.cfg.iter().chain(&self.moved).for_each(|attr| attr.to_tokens(tokens));
    }
}

fn split_attributes(attrs: &mut Vec<Attribute>) -> LetAttributes {
    let moved = attrs.extract_if(.., |attr| is_lint(attr)).collect();
    LetAttributes { cfg: attrs.iter().filter(|attr| is_cfg(attr)).cloned().collect(), moved }
}

/// `name` or `mut name`.
fn simple(pat: &Pat) -> Option<(TokenStream, Ident)> {
    match pat {
        Pat::Ident(PatIdent { by_ref: None, mutability, ident, subpat: None, .. }) => {
            Some((mutability.to_token_stream(), ident.clone()))
        }
        _ => None,
    }
}

fn plain(ident: Ident) -> Pat {
    Pat::Verbatim(ident.into_token_stream())
}

fn binds_needed(pat: &Pat, needed: &impl Fn(&str) -> bool) -> bool {
    words(pat.to_token_stream()).iter().any(|word| needed(word))
}

fn words(tokens: TokenStream) -> Vec<String> {
    let words = tokens.into_iter().map(|token| match token {
        proc_macro2::TokenTree::Ident(ident) if ident != "_" => vec![ident.to_string()],
        proc_macro2::TokenTree::Group(group) => words(group.stream()),
        _ => Vec::new(),
    });
    words.flatten().collect()
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[track_caller]
    fn check(inputs: TokenStream, needed: &str, signature: TokenStream, statements: TokenStream) {
        let mut sig: Signature = syn::parse2(quote!(fn f(#inputs))).unwrap();
        let found = rebind(&mut sig, |name| name == needed);
        assert_eq!(sig.to_token_stream().to_string(), quote!(fn f(#signature)).to_string());
        assert_eq!(found.to_string(), statements.to_string());
    }

    #[test]
    fn names_stay() {
        check(quote!(a: A, mut b: B), "", quote!(a: A, b: B), quote!(let a = a; let mut b = b;));
    }

    #[test]
    fn patterns_get_a_name() {
        check(
            quote!((a, b): (A, B), _: C, _d: D),
            "",
            quote!(__tc_arg0: (A, B), __tc_arg1: C, __tc_arg2: D),
            quote! {
                let __tc_arg0 = __tc_arg0; let (a, b) = __tc_arg0;
                let __tc_arg1 = __tc_arg1;
                let _d = __tc_arg2;
            },
        );
    }

    #[test]
    fn names_that_fields_use_stay_visible() {
        check(quote!(Json(a, _): Json<A>), "a", quote!(Json(a, _): Json<A>), quote!());
        check(quote!(_: A), "_", quote!(__tc_arg0: A), quote!(let __tc_arg0 = __tc_arg0;));
        check(quote!(_a: A), "_a", quote!(_a: A), quote!(let _a = _a;));
    }

    #[test]
    fn attributes_follow_the_binding() {
        check(
            quote!(#[cfg(x)] #[expect(unused_variables)] a: A),
            "",
            quote!(#[cfg(x)] a: A),
            quote!(#[cfg(x)] #[expect(unused_variables)] let a = a;),
        );
    }

    #[test]
    fn self_is_taken_whole() {
        check(quote!(mut self), "", quote!(mut self), quote!(let _ = &self;));
        check(quote!(self: Arc<Self>), "", quote!(self: Arc<Self>), quote!(let _ = &self;));
        check(quote!(&mut self), "", quote!(&mut self), quote!());
        check(quote!(self: &Self), "", quote!(self: &Self), quote!());
    }
}
