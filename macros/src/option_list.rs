//! Options with commas between them, read one by one: a mistake in one leaves the others alone.

use proc_macro2::TokenTree;
use syn::parse::ParseStream;
use syn::{Ident, Token};

/// Takes the `=` behind `option`.
pub(crate) fn equals(option: &Ident, input: ParseStream) -> syn::Result<()> {
    if input.peek(Token![:]) {
        return Err(input.error(format_args!("`{option}` takes its value after `=`, not `:`; write `{option} = ..`")));
    }
    if !input.peek(Token![=]) {
        return Err(syn::Error::new_spanned(option, format_args!("`{option}` takes a value; write `{option} = ..`")));
    }
    input.parse::<Token![=]>().map(drop)
}

/// Takes the `:` behind `option`.
pub(crate) fn colon(option: &Ident, input: ParseStream) -> syn::Result<()> {
    if input.peek(Token![=]) {
        return Err(input.error(format_args!("`{option}` takes its value after `:`, not `=`; write `{option}: ..`")));
    }
    if !input.peek(Token![:]) {
        return Err(syn::Error::new_spanned(option, format_args!("`{option}` takes a value; write `{option}: ..`")));
    }
    input.parse::<Token![:]>().map(drop)
}

/// Sees that nothing stands behind an option that is only a word.
pub(crate) fn no_value(option: &Ident, input: ParseStream) -> syn::Result<()> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(());
    }
    Err(input.error(format_args!("`{option}` takes no value; write just `{option}`")))
}

/// Takes the comma behind an option, unless it is the last.
pub(crate) fn end_of_option(input: ParseStream) -> syn::Result<()> {
    if input.is_empty() {
        return Ok(());
    }
    let error = input.error("expected `,` before the next option");
    input.parse::<Token![,]>().map(drop).map_err(|_| error)
}

/// Goes on behind the next comma, so that later mistakes are found too.
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
