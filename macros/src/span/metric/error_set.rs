//! The type through which the runtime finds the error types of a function, if a static can name it.

use proc_macro2::{Ident, Span as Site, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericArgument, GenericParam, Path, PathArguments, Signature, Type};

use super::super::shape::{named_result, peel};

/// Returns `Result<(), Error>` for an error type given by the user.
pub(super) fn of_error(error: &Path) -> TokenStream {
    // Placed at the path, so that an error about it points there.
    quote_spanned!(error.span().resolved_at(Site::mixed_site())=> ::core::result::Result<(), #error>)
}

/// Returns the return type with `()` as the success type, if it is spelled like a `Result` and a static inside the function can
/// name the rest. A type whose name only ends in `Result` may not accept `()`, so it is left unchanged. `of_impl` are the
/// parameters of the surrounding `impl` block, if they are known.
pub(super) fn of_type(ty: &Type, sig: &Signature, of_impl: Option<&[Ident]>) -> Option<TokenStream> {
    let Type::Path(result) = peel(ty) else { return None };
    if result.qself.is_some() || !named_result(ty) {
        return None;
    }
    let mut result = result.clone();
    let last = result.path.segments.last_mut()?;
    if let (true, PathArguments::AngleBracketed(arguments)) = (last.ident == "Result", &mut last.arguments) {
        let success = arguments.args.iter_mut().find(|argument| matches!(argument, GenericArgument::Type(_)));
        if let Some(success) = success {
            *success = GenericArgument::Type(Type::Verbatim(quote_spanned!(success.span()=> ())));
        }
    }
    let tokens = result.to_token_stream();
    is_nameable(tokens.clone(), sig, of_impl).then_some(tokens)
}

/// Returns whether a static inside the function can name this type. A static cannot use generics of the function or of the
/// surrounding `impl` block. Generics of the block are guessed by their names, unless `of_impl` lists them.
fn is_nameable(tokens: TokenStream, sig: &Signature, of_impl: Option<&[Ident]>) -> bool {
    let mut before = [' ', ' '];
    tokens.into_iter().all(|token| {
        let is_right = match &token {
            TokenTree::Ident(word) => before == [':', ':'] || is_concrete(word, sig, of_impl),
            TokenTree::Punct(punct) => punct.as_char() != '\'',
            TokenTree::Group(group) => is_nameable(group.stream(), sig, of_impl),
            TokenTree::Literal(_) => true,
        };
        let last = if let TokenTree::Punct(punct) = &token { punct.as_char() } else { ' ' };
        before = [before[1], last];
        is_right
    })
}

fn is_concrete(word: &Ident, sig: &Signature, of_impl: Option<&[Ident]>) -> bool {
    let text = word.to_string();
    let is_parameter = |param: &GenericParam| match param {
        GenericParam::Type(param) => param.ident == *word,
        GenericParam::Const(param) => param.ident == *word,
        GenericParam::Lifetime(_) => false,
    };
    // In a method, `E` or `E2` is more likely a parameter of the `impl` block than a type.
    let looks_like_one = || {
        let mut letters = text.chars();
        let is_letter = letters.next().is_some_and(char::is_uppercase) && letters.all(|c| c.is_ascii_digit());
        is_letter && (sig.receiver().is_some() || mentions_self(sig.to_token_stream()))
    };
    !of_impl.map_or_else(looks_like_one, |parameters| parameters.contains(word))
        && text != "Self"
        && text != "impl"
        && text != "_"
        && !sig.generics.params.iter().any(is_parameter)
}

fn mentions_self(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "Self",
        TokenTree::Group(group) => mentions_self(group.stream()),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(signature: &str, expected: Option<&str>) {
        check_in(None, signature, expected);
    }

    #[track_caller]
    fn check_in(of_impl: Option<&[&str]>, signature: &str, expected: Option<&str>) {
        let sig: syn::Signature = syn::parse_str(signature).unwrap();
        let syn::ReturnType::Type(_, ty) = &sig.output else { panic!("a return type") };
        let of_impl: Option<Vec<Ident>> =
            of_impl.map(|names| names.iter().map(|name| Ident::new(name, Site::call_site())).collect());
        let found = of_type(ty, &sig, of_impl.as_deref()).map(|tokens| tokens.to_string().replace(' ', ""));
        assert_eq!(found, expected.map(|expected| expected.replace(' ', "")));
    }

    #[test]
    fn results() {
        check("fn f() -> Result<Replica, StoreError>", Some("Result<(), StoreError>"));
        check("fn f<T>() -> Result<Vec<T>, a::Error<u8>>", Some("Result<(), a::Error<u8>>"));
        check("fn f() -> io::Result<X>", Some("io::Result<()>"));
        check("fn f() -> fmt::Result", Some("fmt::Result"));
        check(
            "fn f() -> (::std::result::Result<X, Box<dyn Error>>)",
            Some("::std::result::Result<(), Box<dyn Error>>"),
        );
        check("fn f<'a>() -> Result<&'a str, Error>", Some("Result<(), Error>"));
        check("fn f() -> Result<impl Send, Error>", Some("Result<(), Error>"));
        check("fn f() -> QueryResult<User>", Some("QueryResult<User>"));
        check("fn f() -> Result<X, E>", Some("Result<(), E>"));
        check("fn f(&self) -> Result<X, IO>", Some("Result<(), IO>"));
        check("fn f() -> QueryResult<Self>", None);
        check("fn f() -> a::Result<Self>", Some("a::Result<()>"));
    }

    #[test]
    fn types_that_a_static_cannot_name() {
        check("fn f<'a>() -> Result<X, Error<'a>>", None);
        check("fn f() -> Result<X, Self::Error>", None);
        check("fn f() -> Result<X, Box<impl Error>>", None);
        check("fn f() -> Result<X, Error<_>>", None);
        check("fn f<Failure>() -> Result<X, Failure>", None);
        check("fn f<const Size: usize>() -> Result<X, Error<Size>>", None);
        check("fn f<E>() -> Result<X, E>", None);
        check("fn f(&self) -> Result<X, E>", None);
        check("fn f(of: Self) -> Result<X, E2>", None);
        check("fn f(&self) -> Result<X, (E::Error,)>", None);
        check("fn f() -> Self::Result<X>", None);
        check("fn f() -> <A as B>::Result<X>", None);
    }

    #[test]
    fn parameters_of_an_impl_block_that_are_known() {
        check_in(Some(&[]), "fn f(&self) -> Result<X, E>", Some("Result<(), E>"));
        check_in(Some(&["T"]), "fn f(of: Self) -> Result<X, E2>", Some("Result<(), E2>"));
        check_in(Some(&["T", "E"]), "fn f(&self) -> Result<X, E>", None);
        check_in(Some(&["Failure"]), "fn f(&self) -> Result<X, Box<Failure>>", None);
        check_in(Some(&[]), "fn f<E>(&self) -> Result<X, E>", None);
    }

    #[test]
    fn other_types() {
        check("fn f() -> Option<X>", None);
        check("fn f() -> (Result<X, Error>, u8)", None);
        check("fn f() -> Results", None);
    }
}
