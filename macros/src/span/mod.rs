//! `#[tc_span]` and `tc_scope!`: from tokens to a checked model to generated code.

mod arguments;
mod attributes;
mod body;
mod expand;
mod impl_block;
mod item;
mod model;
mod options;
mod pattern;
mod shape;

use proc_macro2::{Span, TokenStream};
use quote::quote;

use self::item::{Function, Item};
use self::options::Place;
use crate::diagnostics::Errors;
use crate::krate::Krate;

/// The attribute `#[tc_span(args)]` on `item`.
pub(crate) fn attribute(args: TokenStream, item: TokenStream) -> TokenStream {
    let expanded = match item::parse(item.clone()) {
        Ok(Item::Function(function)) => on_function(args, *function),
        Ok(Item::Impl) => impl_block::expand(args, item.clone()),
        Err(error) => Err(error),
    };
    expanded.unwrap_or_else(|error| {
        // Keeps the item, so that one mistake gives one error.
        let error = error.into_compile_error();
        quote!(#error #item)
    })
}

fn on_function(args: TokenStream, function: Function) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let options = options::read(args, Place::Function, &mut errors);
    let span = model::Span::new(options, function, &mut errors);
    errors.finish()?;
    Ok(expand::function(&span))
}

/// The inside of `tc_scope!`, behind `crate = path;`.
pub(crate) fn scope(input: TokenStream) -> TokenStream {
    let (krate, tokens) = Krate::split(input);
    let mut errors = Errors::default();
    let mut options = options::read(tokens, Place::Scope, &mut errors);
    options.krate = krate.clone();
    if options.name.is_none() && !options.name_mistaken {
        let message = "a scope needs a name: `tc_scope!(\"Component/Operation\")`";
        errors.add(syn::Error::new(Span::call_site(), message));
    }
    match (&options.name, errors.finish()) {
        (Some(name), Ok(())) => expand::scope(&options, &name.value()),
        (_, error) => expand::scope_error(&krate, error.err()),
    }
}

#[cfg(test)]
mod tests;
