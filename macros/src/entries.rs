//! Splits and parses declarations that end in `= "name" { options };`, as those of keys and metrics do.

use proc_macro2::{Delimiter, Punct, Spacing, Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

use crate::diagnostics::Errors;

/// Splits the input into declarations, so that an error in one does not affect the others. Each declaration ends with its `;`, to
/// which errors about missing parts point; a `;` that is missing after the name or the options is reported and added. `what`
/// names the kind of declaration in errors.
pub(crate) fn split(input: TokenStream, what: &str, errors: &mut Errors) -> Vec<TokenStream> {
    let (mut entries, mut entry) = (Vec::new(), TokenStream::new());
    let mut tokens = input.into_iter().peekable();
    let mut named = false;
    while let Some(token) = tokens.next() {
        named = is_string(&token) || named && is_brace(&token);
        entry.extend([token.clone()]);
        let ends = is_punct(&token, ';');
        // The name is the last part; all tokens after it except its options belong to the next declaration.
        let missing = match tokens.peek() {
            Some(next) if ends || is_punct(next, ';') || is_brace(next) => None,
            Some(next) if named && is_punct(next, ',') => tokens.next(),
            Some(_) if !named => None,
            _ => (!ends).then_some(token),
        };
        if let Some(at) = &missing {
            errors.at(at, format_args!("expected `;` after this {what}"));
            entry.extend(semicolon(at.span()));
        }
        if ends || missing.is_some() {
            entries.push(std::mem::take(&mut entry));
            named = false;
        }
    }
    entries
}

/// Parses a `T`; if it is missing, the error is `message`.
pub(crate) fn take<T: Parse>(input: ParseStream, message: impl FnOnce() -> String) -> syn::Result<T> {
    input.parse().map_err(|error: syn::Error| syn::Error::new(error.span(), message()))
}

/// Returns the text of the doc comments among `attrs`, one line per attribute; empty if there are none.
pub(crate) fn docs(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

pub(crate) fn is_punct(token: &TokenTree, expected: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == expected)
}

fn is_brace(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

fn is_string(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Literal(literal) if matches!(Lit::new(literal.clone()), Lit::Str(_)))
}

fn semicolon(place: Span) -> Option<TokenTree> {
    let mut punct = Punct::new(';', Spacing::Alone);
    punct.set_span(place);
    Some(punct.into())
}
