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

    /// The same as if the user had written it at `site`: so the compiler need not look at the code again when only lines
    /// above it were changed. A path that was given has its own place already.
    pub(crate) fn private_as_of(&self, site: Span) -> TokenStream {
        let path = match self.0.to_string() == Self::default().0.to_string() {
            true => quote_spanned!(site=> ::tracecast),
            false => self.0.clone(),
        };
        quote_spanned!(site=> #path::__private)
    }

    /// A reference to the source of the keys or metrics in this file: which crate declares them.
    pub(crate) fn source(&self) -> TokenStream {
        let (k, (name, version)) = (self.private(), declaring_crate());
        quote_spanned!(Span::mixed_site()=> &#k::Source::here(#name, #version))
    }

    /// Splits `crate = path;` from the front of what a `macro_rules!` of the runtime passes on.
    pub(crate) fn split(input: TokenStream) -> (Self, TokenStream) {
        let mut tokens = input.into_iter();
        let is_end = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';');
        let path = tokens.by_ref().skip(2).take_while(|token| !is_end(token)).collect();
        (Self(path), tokens.collect())
    }
}

/// The name and the version of the crate that is being compiled.
pub(crate) fn declaring_crate() -> (String, String) {
    let variable = |name| std::env::var(name).unwrap_or_default();
    // Snapshots of expansions do not change with our own version.
    match cfg!(test) {
        true => ("store".to_owned(), "1.2.3".to_owned()),
        false => (variable("CARGO_PKG_NAME"), variable("CARGO_PKG_VERSION")),
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
