//! `key = value` lists and expression lists.

use quote::ToTokens;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Expr, Path, Token};

use crate::diagnostics::Errors;

/// One `key = value` of `attrs`, `share` or `result`.
pub(crate) struct Field {
    pub(crate) key: Path,
    pub(crate) value: Expr,
}

/// Reads the inside of `attrs(...)`; a key that comes twice is a mistake.
pub(super) fn fields(input: ParseStream, errors: &mut Errors) -> Vec<Field> {
    let parsed = Punctuated::<Field, Token![,]>::parse_terminated_with(input, field);
    let mut known: Vec<(String, Field)> = Vec::new();
    for field in errors.keep(parsed).unwrap_or_default() {
        let name = field.key.to_token_stream().to_string();
        if known.iter().any(|(other, _)| *other == name) {
            let name = name.replace(' ', "");
            errors.at(&field.key, format_args!("key `{name}` is given twice; keep one of them"));
        } else {
            known.push((name, field));
        }
    }
    known.into_iter().map(|(_, field)| field).collect()
}

/// Reads the inside of `links(...)`.
pub(super) fn expressions(input: ParseStream, errors: &mut Errors) -> Vec<Expr> {
    let parsed = Punctuated::<Expr, Token![,]>::parse_terminated(input);
    errors.keep(parsed).unwrap_or_default().into_iter().collect()
}

fn field(input: ParseStream) -> syn::Result<Field> {
    let key = input.call(Path::parse_mod_style)?;
    if !input.peek(Token![=]) || input.peek2(Token![,]) {
        let name = key.to_token_stream().to_string().replace(' ', "");
        return Err(syn::Error::new_spanned(&key, format_args!("key `{name}` has no value; write `{name} = value`")));
    }
    input.parse::<Token![=]>()?;
    Ok(Field { key, value: input.parse()? })
}
