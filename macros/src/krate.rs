//! The path to the runtime crate in generated code.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

/// `::tracecast`, or what the user gave with `crate = path`.
#[derive(Clone)]
pub(crate) struct Krate(TokenStream);

impl Krate {
    pub(crate) fn new(path: TokenStream) -> Self {
        Self(path)
    }

    /// Whether what is being compiled is the runtime crate itself.
    pub(crate) fn is_being_compiled() -> bool {
        std::env::var_os("CARGO_CRATE_NAME").is_some_and(|name| name == "tracecast")
    }

    /// The path itself, for what is public.
    pub(crate) fn root(&self) -> &TokenStream {
        &self.0
    }

    /// The module of everything that generated code may touch.
    pub(crate) fn private(&self) -> TokenStream {
        let path = &self.0;
        quote!(#path::__private)
    }

    /// The same, placed at `site`, for errors that should point there.
    pub(crate) fn private_at(&self, site: Span) -> TokenStream {
        let place = |mut token: TokenTree| {
            token.set_span(site.resolved_at(token.span()));
            token
        };
        self.private().into_iter().map(place).collect()
    }

    /// A reference to the source of the statics in this file: which crate declares them.
    pub(crate) fn source(&self) -> TokenStream {
        let (k, variable) = (self.private(), |name| std::env::var(name).unwrap_or_default());
        // Snapshots of expansions do not change with our own version.
        let (name, version) = match cfg!(test) {
            true => ("store".to_owned(), "1.2.3".to_owned()),
            false => (variable("CARGO_PKG_NAME"), variable("CARGO_PKG_VERSION")),
        };
        quote_spanned!(Span::mixed_site()=> &#k::source(#name, #version))
    }

    /// Splits `crate = path;` from the front of what a `macro_rules!` of the runtime passes on.
    pub(crate) fn split(input: TokenStream) -> (Self, TokenStream) {
        let mut tokens = input.into_iter();
        let is_end = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';');
        let path = tokens.by_ref().skip(2).take_while(|token| !is_end(token)).collect();
        (Self(path), tokens.collect())
    }
}

impl Default for Krate {
    fn default() -> Self {
        Self(quote!(::tracecast))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_takes_the_path() {
        let (krate, rest) = Krate::split(quote!(crate = ::a::b; c; d));
        assert_eq!(krate.private().to_string(), quote!(::a::b::__private).to_string());
        assert_eq!(rest.to_string(), quote!(c; d).to_string());
    }
}
