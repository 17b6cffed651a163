//! The path to the runtime crate in generated code.

use std::cell::Cell;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

use crate::diagnostics::Errors;
use crate::manifest::Manifest;

/// The path of the runtime: `::tracecast` under the name that the manifest gives it, or the path of `crate = path`.
#[derive(Clone)]
pub(crate) struct Krate {
    path: TokenStream,
    origin: Origin,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Given by the user, or by a macro of the runtime, which passes its own path.
    Given,
    /// A dependency in the manifest, or there is no manifest to read.
    Dependency,
    /// The manifest has no dependency on the runtime.
    Nowhere,
}

impl Krate {
    pub(crate) fn new(path: TokenStream) -> Self {
        Self { path, origin: Origin::Given }
    }

    /// Reports a missing dependency on the runtime as one error, instead of one per path in generated code. The error suggests
    /// `option`, which sets the path.
    pub(crate) fn check(&self, option: &str, errors: &mut Errors) {
        if self.origin == Origin::Nowhere {
            let message = format!(
                "`tracecast` is not a dependency in this crate's Cargo.toml; add it, or name the module that re-exports it: `{option}`"
            );
            errors.add(syn::Error::new(Span::call_site(), message));
        }
    }

    /// Returns false if the manifest has no dependency on the runtime and no path was given.
    pub(crate) fn is_found(&self) -> bool {
        self.origin != Origin::Nowhere
    }

    /// Returns whether the crate being compiled is the runtime itself.
    pub(crate) fn is_being_compiled() -> bool {
        std::env::var_os("CARGO_CRATE_NAME").is_some_and(|name| name == "tracecast")
    }

    /// Returns the path of the runtime crate, for its public items.
    pub(crate) fn root(&self) -> &TokenStream {
        &self.path
    }

    /// Returns the path of the module with everything that generated code may use.
    pub(crate) fn private(&self) -> TokenStream {
        let path = &self.path;
        quote!(#path::__private)
    }

    /// Returns the path of the private module, with its tokens located at `site`, so that compile errors point there.
    pub(crate) fn private_at(&self, site: Span) -> TokenStream {
        let place = |mut token: TokenTree| {
            token.set_span(site.resolved_at(token.span()));
            token
        };
        self.private().into_iter().map(place).collect()
    }

    /// Returns the path of the private module, with the location of the user's code at `site`: then the compiler need not check
    /// the code again when only lines above it change. A path that was given keeps its own location.
    pub(crate) fn private_as_of(&self, site: Span) -> TokenStream {
        if self.origin == Origin::Given {
            return self.private();
        }
        let place = |mut token: TokenTree| {
            token.set_span(site);
            token
        };
        self.private().into_iter().map(place).collect()
    }

    /// Generates the reference to the `Source` of the keys or metrics in this file: the declaring crate and its version.
    pub(crate) fn source(&self) -> TokenStream {
        let (k, (name, version)) = (self.private(), declaring_crate());
        quote_spanned!(Span::mixed_site()=> &#k::Source::here(#name, #version))
    }

    /// Puts a static into the link section of spans. For ELF targets the attributes are generated directly, because a call of
    /// `in_section!` compiles more slowly. The attributes have our hygiene, so that the user's crate may forbid unsafe code.
    pub(crate) fn in_spans(&self, item: &TokenStream, site: Span) -> TokenStream {
        if IS_ELF.get() {
            let attributes = quote_spanned!(Span::mixed_site()=> #[used] #[unsafe(link_section = "tc2_spans")]);
            return quote_spanned!(site=> #attributes #item);
        }
        let k = self.private_as_of(site);
        quote_spanned!(site=> #k::in_section! { spans #item })
    }

    /// Splits off `crate = path;`, with which a `macro_rules!` of the runtime starts the input; returns the path and the rest.
    pub(crate) fn split(input: TokenStream) -> (Self, TokenStream) {
        let mut tokens = input.into_iter();
        let is_end = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';');
        let path = tokens.by_ref().skip(2).take_while(|token| !is_end(token)).collect();
        (Self::new(path), tokens.collect())
    }
}

thread_local! {
    /// True while the entry point for ELF targets expands.
    static IS_ELF: Cell<bool> = const { Cell::new(false) };
}

/// Runs `expand` for a target whose object files are ELF. The runtime is compiled for the target, so its re-export of `tc_span`
/// selects the entry point that calls this function.
pub(crate) fn for_elf<R>(expand: impl FnOnce() -> R) -> R {
    IS_ELF.set(true);
    let expanded = expand();
    IS_ELF.set(false);
    expanded
}

/// Returns the name and version of the crate being compiled.
pub(crate) fn declaring_crate() -> (String, String) {
    let variable = |name| std::env::var(name).unwrap_or_default();
    // Snapshots of expansions must not change with our own version.
    match cfg!(test) {
        true => ("store".to_owned(), "1.2.3".to_owned()),
        false => (variable("CARGO_PKG_NAME"), variable("CARGO_PKG_VERSION")),
    }
}

impl Default for Krate {
    fn default() -> Self {
        // Unit tests expand for a crate that depends on the runtime.
        let manifest = if cfg!(test) { None } else { Manifest::current() };
        let (name, origin) = match manifest.as_ref().map(|manifest| manifest.runtime.as_deref()) {
            None => ("tracecast", Origin::Dependency),
            Some(Some(name)) => (name, Origin::Dependency),
            Some(None) => ("tracecast", Origin::Nowhere),
        };
        let name = Ident::new(name, Span::call_site());
        Self { path: quote!(::#name), origin }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_that_is_nowhere_is_one_error() {
        let mut errors = Errors::default();
        Krate { path: quote!(::tracecast), origin: Origin::Nowhere }.check("crate = path::to::tracecast", &mut errors);
        let message = errors.finish().unwrap_err().to_string();
        assert!(message.contains("not a dependency") && message.contains("`crate = path::to::tracecast`"), "{message}");
        let mut errors = Errors::default();
        Krate::new(quote!(a::b)).check("", &mut errors);
        Krate::default().check("", &mut errors);
        errors.finish().unwrap();
    }

    #[test]
    fn split_takes_the_path() {
        let (krate, rest) = Krate::split(quote!(crate = ::a::b; c; d));
        assert_eq!(krate.private().to_string(), quote!(::a::b::__private).to_string());
        assert_eq!(rest.to_string(), quote!(c; d).to_string());
    }
}
