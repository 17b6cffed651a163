//! Collects the mistakes of one macro call, so that the user sees all of them at once.

use proc_macro2::TokenStream;
use quote::ToTokens;

/// Mistakes found so far; each points at the token that is wrong.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Records a mistake at `tokens`.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.add(syn::Error::new_spanned(tokens, message));
    }

    /// Records a mistake that already is an error.
    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// The value, or the mistake recorded and nothing.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    /// All mistakes as one error, or nothing.
    pub(crate) fn finish(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), Err)
    }

    /// All mistakes as `compile_error!` calls; empty if there are none.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0.map(syn::Error::into_compile_error).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn two_mistakes_are_two_errors() {
        let mut errors = Errors::default();
        errors.at(quote!(a), "first");
        errors.at(quote!(b), "second");
        assert_eq!(errors.finish().unwrap_err().into_iter().count(), 2);
    }

    #[test]
    fn no_mistake_is_no_tokens() {
        assert!(Errors::default().into_tokens().is_empty());
    }
}
