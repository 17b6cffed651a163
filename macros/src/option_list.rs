//! Parses comma-separated options one by one, so that a mistake in one does not affect the others.

use proc_macro2::TokenTree;
use syn::parse::ParseStream;
use syn::{Ident, Token};

/// Consumes the `=` after `option`.
pub(crate) fn equals(option: &Ident, input: ParseStream) -> syn::Result<()> {
    if input.peek(Token![:]) {
        return Err(input.error(format_args!("`{option}` takes its value after `=`, not `:`; write `{option} = ..`")));
    }
    if !input.peek(Token![=]) {
        return Err(syn::Error::new_spanned(option, format_args!("`{option}` takes a value; write `{option} = ..`")));
    }
    input.parse::<Token![=]>().map(drop)
}

/// Consumes the `:` after `option`.
pub(crate) fn colon(option: &Ident, input: ParseStream) -> syn::Result<()> {
    if input.peek(Token![=]) {
        return Err(input.error(format_args!("`{option}` takes its value after `:`, not `=`; write `{option}: ..`")));
    }
    if !input.peek(Token![:]) {
        return Err(syn::Error::new_spanned(option, format_args!("`{option}` takes a value; write `{option}: ..`")));
    }
    input.parse::<Token![:]>().map(drop)
}

/// Returns an error if a value follows `option`, which takes none.
pub(crate) fn no_value(option: &Ident, input: ParseStream) -> syn::Result<()> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(());
    }
    Err(input.error(format_args!("`{option}` takes no value; write just `{option}`")))
}

/// Consumes the comma after an option; the last option needs none.
pub(crate) fn end_of_option(input: ParseStream) -> syn::Result<()> {
    if input.is_empty() {
        return Ok(());
    }
    let error = input.error("expected `,` before the next option");
    input.parse::<Token![,]>().map(drop).map_err(|_| error)
}

/// Skips past the next comma, so that parsing continues with the next option after a mistake.
pub(crate) fn skip_option(input: ParseStream) {
    while !input.is_empty() {
        if input.parse::<Token![,]>().is_ok() {
            return;
        }
        if input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}
