//! The path to the runtime crate in generated code.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote;

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
