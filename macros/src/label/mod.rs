//! `#[derive(TcLabel)]` and `tc_label_for!`: make an enum, of this crate or of another one, a closed set of label values.

mod derived;
mod expand;
mod label_for;

use proc_macro2::TokenStream;

use crate::diagnostics::Errors;
use crate::krate::Krate;

/// Expands `#[derive(TcLabel)]` on an enum without fields.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(input) = errors.keep(syn::parse2(input)) else {
        return errors.into_tokens();
    };
    let label = derived::Derived::new(&input, &mut errors);
    // An enum with invalid values still becomes a label; otherwise each of its uses would cause another error.
    let expanded =
        if label.is_plain && !label.values.is_empty() { expand::derived(&label) } else { TokenStream::new() };
    let mut tokens = errors.into_tokens();
    tokens.extend(expanded);
    tokens
}

/// Expands the input of `tc_label_for!`, after `crate = path;`.
pub(crate) fn label_for(input: TokenStream) -> TokenStream {
    let (krate, input) = Krate::split(input);
    match label_for::parse(input) {
        Ok(label) => expand::label_for(&label, &krate),
        Err(error) => error.into_compile_error(),
    }
}

#[cfg(test)]
mod tests;
