//! `key = value` lists and expression lists.

use proc_macro2::TokenTree;
use quote::{ToTokens, format_ident};
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, LitStr, Path, Token};

use crate::diagnostics::{Errors, shown};
use crate::metrics::label_twice;

/// One `key = value` of `attrs`, `share` or `result`.
pub(crate) struct Field {
    pub(crate) key: Path,
    pub(crate) value: Expr,
    /// What generated code calls the key: a word of our own, placed where the user named the key.
    pub(crate) alias: Ident,
}

/// Reads the inside of `attrs(...)`; a key that comes twice is a mistake. `list` tells the aliases of two lists apart.
pub(super) fn fields(input: ParseStream, list: &str, errors: &mut Errors) -> Vec<Field> {
    read(input, list, field, errors)
}

/// Reads the inside of `labels(...)` of a metric.
pub(crate) fn labels(input: ParseStream, errors: &mut Errors) -> Vec<Field> {
    read(input, LABELS, label, errors)
}

fn read(
    input: ParseStream,
    list: &str,
    field: fn(ParseStream) -> syn::Result<(Path, Expr)>,
    errors: &mut Errors,
) -> Vec<Field> {
    let parsed = Punctuated::<(Path, Expr), Token![,]>::parse_terminated_with(input, field);
    let mut fields: Vec<Field> = Vec::new();
    for (key, value) in errors.keep(parsed).unwrap_or_default() {
        let name = shown(&key);
        if fields.iter().any(|known| shown(&known.key) == name) {
            errors.at(&key, twice(list, &name));
        } else {
            let alias = alias(&key, list, fields.len());
            fields.push(Field { key, value, alias });
        }
    }
    fields
}

/// Reads the inside of `result(...)`, whose values are functions of the result.
pub(super) fn results(input: ParseStream, errors: &mut Errors) -> Vec<Field> {
    let fields = fields(input, "Result", errors);
    for Field { key, value, .. } in &fields {
        if let Expr::Lit(value) = value {
            let key = shown(key);
            errors.at(
                value,
                format_args!("`result` takes a closure: `{key} = |value| ..`; a fixed value is for `attrs`"),
            );
        }
    }
    fields
}

/// Reads the inside of `links(...)`.
pub(super) fn expressions(input: ParseStream, errors: &mut Errors) -> Vec<Expr> {
    let parsed = Punctuated::<Expr, Token![,]>::parse_terminated(input);
    errors.keep(parsed).unwrap_or_default().into_iter().collect()
}

fn field(input: ParseStream) -> syn::Result<(Path, Expr)> {
    if input.peek(LitStr) {
        return Err(input.error(NO_PATH));
    }
    let key = input.call(Path::parse_mod_style)?;
    if input.peek(Token![.]) {
        return Err(syn::Error::new_spanned(&key, NO_PATH));
    }
    if !input.peek(Token![=]) || input.peek2(Token![,]) {
        let name = shown(&key);
        return Err(syn::Error::new_spanned(&key, format_args!("key `{name}` has no value; write `{name} = value`")));
    }
    let equals: Token![=] = input.parse()?;
    if input.is_empty() {
        return Err(syn::Error::new_spanned(equals, "expected an expression after `=`"));
    }
    Ok((key, input.parse()?))
}

fn label(input: ParseStream) -> syn::Result<(Path, Expr)> {
    let ahead = input.fork();
    match ahead.call(Path::parse_mod_style) {
        Ok(key) if ahead.is_empty() || ahead.peek(Token![,]) => {
            let name = shown(&key);
            let message = format!("label `{name}` is never given a value; write `{name} = ..`");
            Err(syn::Error::new_spanned(key, message))
        }
        _ => field(input),
    }
}

/// The error for a key that comes twice.
fn twice(list: &str, name: &str) -> String {
    match list {
        LABELS => label_twice(name),
        _ => format!("key `{name}` is given twice; keep one of them"),
    }
}

/// What tells the labels of a metric from the lists of a span.
const LABELS: &str = "Label";
const NO_PATH: &str = "a key is named by its Rust path, as in `keys::artifact = ..`; \
    declare it with `tracecast::tc_keys!` if there is none";

/// Placed at the last word of the key, so that an error about the key points there.
fn alias(key: &Path, list: &str, index: usize) -> Ident {
    let last = key.to_token_stream().into_iter().last();
    let place = last.as_ref().map_or_else(proc_macro2::Span::call_site, TokenTree::span);
    format_ident!("__Tc{list}{index}", span = place)
}
