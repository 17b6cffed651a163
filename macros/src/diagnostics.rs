//! Collects the errors of one macro call, so that the user sees all of them at once.

use proc_macro2::TokenStream;
use quote::ToTokens;

/// The errors found so far; each points at the token that caused it.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Adds an error at `tokens`.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.add(syn::Error::new_spanned(tokens, message));
    }

    /// Adds an existing error.
    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Returns the value, or adds the error and returns `None`.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    /// Returns all errors combined into one, or `Ok`.
    pub(crate) fn finish(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), Err)
    }

    /// Returns all errors as `compile_error!` calls; empty if there are none.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0.map(syn::Error::into_compile_error).unwrap_or_default()
    }
}

/// Returns tokens as text with the spacing that a user would write; `TokenStream::to_string` puts a space between any two tokens.
pub(crate) fn shown(tokens: impl ToTokens) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut text = String::new();
    for token in tokens.to_token_stream().to_string().split(' ') {
        let spaced = match (text.chars().last(), token.chars().next()) {
            (Some(last), Some(next)) => last == ',' || is_word(last) && is_word(next),
            _ => false,
        };
        text.extend(spaced.then_some(' '));
        text.push_str(token);
    }
    text
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
    fn types_are_shown_as_they_are_written() {
        assert_eq!(shown(quote!(Vec<u8>)), "Vec<u8>");
        assert_eq!(shown(quote!(&'static str)), "&'static str");
        assert_eq!(shown(quote!(a::Map<K, dyn V>)), "a::Map<K, dyn V>");
    }

    #[test]
    fn no_mistake_is_no_tokens() {
        assert!(Errors::default().into_tokens().is_empty());
    }
}
