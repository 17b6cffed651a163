//! `#[derive(TcLabel)]` and `tc_label_for!`: closed sets of values, of an enum of the user's or of another crate.

mod derived;
mod expand;
mod label_for;

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
    // An enum whose values are wrong is a label all the same, or each of its uses would give an error too.
    let expanded =
        if label.is_plain && !label.values.is_empty() { expand::derived(&label) } else { TokenStream::new() };
    let mut tokens = errors.into_tokens();
    tokens.extend(expanded);
    tokens
}

/// The inside of `tc_label_for!`, behind `crate = path;`.
pub(crate) fn label_for(input: TokenStream) -> TokenStream {
    let (krate, input) = Krate::split(input);
    match label_for::parse(input) {
        Ok(label) => expand::label_for(&label, &krate),
        Err(error) => error.into_compile_error(),
    }
}

#[cfg(test)]
mod tests;
