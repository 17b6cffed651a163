//! Parses the item under an attribute. The body of a function is never parsed: it remains one group of tokens.

use proc_macro2::{Delimiter, Group, Span as Site, TokenStream, TokenTree};
use syn::buffer::Cursor;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Signature, Token, Visibility};

/// A function with a body.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: Group,
}

/// The attribute that is being expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attr {
    Span,
    Metric,
}

impl Attr {
    fn name(self) -> &'static str {
        if self == Self::Span { "tc_span" } else { "tc_metric" }
    }

    fn subject(self) -> &'static str {
        if self == Self::Span { "a span" } else { "a metric" }
    }

    /// Returns the items on which the attribute is allowed.
    fn places(self) -> &'static str {
        if self == Self::Span { "a function or an `impl` block" } else { "a function" }
    }
}

/// An item that supports spans.
pub(crate) enum Item {
    Function(Box<Function>),
    /// An `impl` block, and its location.
    Impl(Site),
}

/// Keywords that may precede `fn`.
const QUALIFIERS: [&str; 6] = ["const", "async", "unsafe", "extern", "safe", "default"];

/// Other items: their first word, and their name in errors.
const OTHERS: [(&str, &str); 12] = [
    ("struct", "a struct"),
    ("enum", "an enum"),
    ("union", "a union"),
    ("trait", "a trait"),
    ("mod", "a module"),
    ("type", "a type alias"),
    ("static", "a static"),
    ("const", "a constant"),
    ("use", "an import"),
    ("extern", "an extern block"),
    ("macro_rules", "a macro"),
    ("let", "a variable"),
];

/// Parses the item under an attribute; the error names the supported items.
pub(crate) fn parse(tokens: TokenStream, attribute: Attr) -> syn::Result<Item> {
    let mut has_rest = TokenStream::new();
    let item = (|input: ParseStream| {
        let item = item(input, attribute)?;
        has_rest = input.parse()?;
        Ok(item)
    })
    .parse2(tokens)?;
    match (&item, has_rest.is_empty()) {
        (Item::Function(_), false) => Err(syn::Error::new_spanned(has_rest, "expected the end of the function")),
        _ => Ok(item),
    }
}

fn item(input: ParseStream, attribute: Attr) -> syn::Result<Item> {
    let attrs = input.call(Attribute::parse_outer)?;
    let vis = input.parse()?;
    let words = leading_words(input.cursor());
    if words.last().is_some_and(|word| word == "impl") {
        return Ok(Item::Impl(input.span()));
    }
    if words.last().is_none_or(|word| word != "fn") {
        return Err(wrong_item(input, &words, attribute));
    }
    let sig: Signature = input.parse()?;
    if input.peek(Token![;]) {
        let what = attribute.subject();
        let message = format!("this method has no body for {what}; annotate the implementation, or add a default body");
        return Err(syn::Error::new_spanned(&sig.ident, message));
    }
    let body = match input.parse()? {
        TokenTree::Group(group) => group,
        other => return Err(syn::Error::new_spanned(other, "expected the body of the function")),
    };
    Ok(Item::Function(Box::new(Function { attrs, vis, sig, body: unwrapped(body) })))
}

/// Unwraps a body that was passed through `macro_rules!` as `$body:block`, which adds invisible delimiters.
fn unwrapped(body: Group) -> Group {
    let mut inside = body.stream().into_iter();
    match (body.delimiter(), inside.next(), inside.next()) {
        (Delimiter::None, Some(TokenTree::Group(inner)), None) => unwrapped(inner),
        _ => body,
    }
}

/// Returns the qualifiers at the start of an item and the word after them.
fn leading_words(mut cursor: Cursor) -> Vec<String> {
    let mut words = Vec::new();
    loop {
        if let Some((word, rest)) = cursor.ident() {
            words.push(word.to_string());
            if !QUALIFIERS.contains(&words[words.len() - 1].as_str()) {
                return words;
            }
            cursor = rest;
        } else if let (Some((_, rest)), false) = (cursor.literal(), words.is_empty()) {
            cursor = rest; // The ABI in `extern "C" fn`.
        } else {
            return words;
        }
    }
}

fn wrong_item(input: ParseStream, words: &[String], attribute: Attr) -> syn::Error {
    let found = words.iter().rev().find_map(|word| OTHERS.iter().find(|(start, _)| start == word));
    match found {
        Some((_, kind)) => {
            let (name, places) = (attribute.name(), attribute.places().replace("or an", "or on an"));
            input.error(format_args!("`{name}` cannot be put on {kind}, only on {places}"))
        }
        None => input.error(format_args!("expected {}", attribute.places())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = match parse(text.parse().unwrap(), Attr::Span) {
            Ok(Item::Impl(_)) => "impl".to_owned(),
            Ok(Item::Function(function)) => format!("fn {}", function.sig.ident),
            Err(error) => error.to_string(),
        };
        assert!(found.contains(expected), "{found}");
    }

    #[test]
    fn functions_and_impls() {
        check("#[inline] pub(crate) async unsafe fn f<T>(x: T) -> [u8; 2] where T: A {}", "fn f");
        check("pub unsafe extern \"C\" fn f() {}", "fn f");
        check("const fn f() {}", "fn f");
        check("unsafe impl<T> A for B {}", "impl");
    }

    #[test]
    fn other_items_are_named() {
        check("pub struct A;", "cannot be put on a struct");
        check("const A: u32 = 1;", "cannot be put on a constant");
        check("unsafe trait A {}", "cannot be put on a trait");
        check("extern \"C\" { fn f(); }", "cannot be put on an extern block");
        check("fn f();", "has no body");
        check("1 + 2", "expected a function");
        check("pub fn", "expected identifier");
    }
}
