//! Parses lists of `key = value`, and lists of expressions.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, LitStr, Path, Token};

use super::ad_hoc::AdHoc;
use crate::diagnostics::{Errors, shown};
use crate::metrics::label_twice;

/// The key of a field.
pub(crate) enum FieldKey {
    /// A declared key, by its path.
    Declared(Path),
    /// A key that is declared where it is recorded, by its name.
    AdHoc(AdHoc),
}

impl ToTokens for FieldKey {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            FieldKey::Declared(path) => path.to_tokens(tokens),
            FieldKey::AdHoc(ad_hoc) => ad_hoc.to_tokens(tokens),
        }
    }
}

/// One `key = value` of `attrs`, `share` or `result`.
pub(crate) struct Field {
    pub(crate) key: FieldKey,
    pub(crate) value: Expr,
    /// The alias of the key in generated code, with the location of the key in the user's code.
    pub(crate) alias: Ident,
}

/// Parses the content of `attrs(...)`; a repeated key is an error.
pub(super) fn attributes(input: ParseStream, errors: &mut Errors) -> Vec<Field> {
    read(input, "Attr", errors)
}

/// Parses the content of `share(...)`.
pub(super) fn shared(input: ParseStream, errors: &mut Errors) -> Vec<Field> {
    read(input, SHARE, errors)
}

/// Parses the content of `labels(...)` of a metric.
pub(crate) fn labels(input: ParseStream, errors: &mut Errors) -> Vec<Field> {
    read(input, LABELS, errors)
}

/// Parses a list of fields; a repeated key is an error. `list` becomes part of the aliases, to keep those of different lists
/// apart.
fn read(input: ParseStream, list: &str, errors: &mut Errors) -> Vec<Field> {
    let mut parsed: Vec<(FieldKey, Expr)> = Vec::new();
    while !input.is_empty() {
        match field(input, list, errors) {
            Ok(field) => parsed.push(field),
            Err(error) => {
                errors.add(error);
                break;
            }
        }
        if !input.is_empty() && errors.keep(input.parse::<Token![,]>()).is_none() {
            break;
        }
    }
    let mut fields: Vec<Field> = Vec::new();
    for (key, value) in parsed {
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

/// Parses the content of `result(...)`, whose values are functions of the result.
pub(super) fn results(input: ParseStream, errors: &mut Errors) -> Vec<Field> {
    let fields = read(input, "Result", errors);
    for Field { key, value, .. } in &fields {
        if let Expr::Lit(value) = value {
            let key = shown(key);
            errors.at(
                value,
                format_args!("`result` takes a closure: `{key} = |value| ..`; a fixed value belongs in `attrs`"),
            );
        }
    }
    fields
}

/// Parses the content of `links(...)`.
pub(super) fn expressions(input: ParseStream, errors: &mut Errors) -> Vec<Expr> {
    let parsed = Punctuated::<Expr, Token![,]>::parse_terminated(input);
    errors.keep(parsed).unwrap_or_default().into_iter().collect()
}

fn field(input: ParseStream, list: &str, errors: &mut Errors) -> syn::Result<(FieldKey, Expr)> {
    let key = if input.peek(LitStr) { named(input, list, errors)? } else { FieldKey::Declared(declared(input)?) };
    if !input.peek(Token![=]) || input.peek2(Token![,]) {
        return Err(syn::Error::new_spanned(&key, no_value(list, &shown(&key))));
    }
    let equals: Token![=] = input.parse()?;
    if input.is_empty() {
        return Err(syn::Error::new_spanned(equals, "expected an expression after `=`"));
    }
    Ok((key, input.parse()?))
}

/// Parses a key given by its name, which `labels` and `share` reject.
fn named(input: ParseStream, list: &str, errors: &mut Errors) -> syn::Result<FieldKey> {
    match list {
        LABELS => Err(input.error(LABEL_BY_NAME)),
        SHARE => Err(input.error(SHARED_BY_NAME)),
        _ => AdHoc::parse(input, errors).map(FieldKey::AdHoc),
    }
}

/// Parses a key given by its path.
fn declared(input: ParseStream) -> syn::Result<Path> {
    let key = input.call(Path::parse_mod_style)?;
    if input.peek(Token![.]) {
        return Err(syn::Error::new_spanned(&key, NO_PATH));
    }
    Ok(key)
}

fn no_value(list: &str, name: &str) -> String {
    match list {
        LABELS => format!("label `{name}` has no value; write `{name} = ..`"),
        _ => format!("key `{name}` has no value; write `{name} = value`"),
    }
}

/// Returns the error for a repeated key.
fn twice(list: &str, name: &str) -> String {
    match list {
        LABELS => label_twice(name),
        _ => format!("key `{name}` is given twice; keep one of them"),
    }
}

/// The list of a metric's labels.
const LABELS: &str = "Label";
const SHARE: &str = "Share";
const NO_PATH: &str = "a key is given by its Rust path, as in `keys::artifact = ..`; \
    declare it with `tracecast::tc_keys!` if there is none";
const LABEL_BY_NAME: &str = "a label has to be a declared key, because the compiler counts its values; \
    declare one with `tracecast::tc_keys!` and name it by its Rust path, as in `keys::source = ..`";
const SHARED_BY_NAME: &str = "a shared key has to be declared, because every span below has it; \
    declare it with `tracecast::tc_keys!` and name it by its Rust path, as in `keys::session = ..`";

/// Returns the alias, placed at the last word of the key, so that an error about the key points there.
fn alias(key: &FieldKey, list: &str, index: usize) -> Ident {
    let last = key.to_token_stream().into_iter().last();
    let place = last.as_ref().map_or_else(proc_macro2::Span::call_site, TokenTree::span);
    format_ident!("__Tc{list}{index}", span = place)
}
