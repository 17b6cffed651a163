//! `#[derive(TcLabel)]` and `label_for!`: closed sets of values, of an enum of the user's or of another crate.

mod derived;
mod expand;
mod foreign;

use proc_macro2::TokenStream;

use crate::diagnostics::Errors;
use crate::krate::Krate;

/// The derive on an enum without fields.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(input) = errors.keep(syn::parse2(input)) else {
        return errors.into_tokens();
    };
    let label = derived::Derived::new(&input, &mut errors);
    match errors.finish() {
        Ok(()) => expand::derived(&label),
        Err(error) => error.into_compile_error(),
    }
}

/// The inside of `label_for!`, behind `crate = path;`.
pub(crate) fn foreign(input: TokenStream) -> TokenStream {
    let (krate, input) = Krate::split(input);
    match foreign::parse(input) {
        Ok(label) => expand::foreign(&label, &krate),
        Err(error) => error.into_compile_error(),
    }
}

#[cfg(test)]
mod tests;
