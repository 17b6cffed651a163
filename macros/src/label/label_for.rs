//! The checked input of `tc_label_for!`: a label type of this crate for an enum of another crate.
//!
//! `pub struct Name for path::Enum { Variant => "value", A | B => "both", _ => "other" }`

use proc_macro2::{Ident, Literal, TokenStream};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, LitStr, Path, Token, Visibility};

use crate::diagnostics::Errors;

/// A label type for an enum of another crate.
pub(super) struct ExternalLabel {
    pub(super) attrs: Vec<Attribute>,
    pub(super) vis: Visibility,
    pub(super) name: Ident,
    /// The path of the enum.
    pub(super) path: Path,
    pub(super) arms: Vec<Arm>,
    /// The distinct values; the index of a value is its ordinal.
    pub(super) values: Vec<String>,
}

/// One line of the declaration: `A | B => "text"`.
pub(super) struct Arm {
    /// The variants on the left side. Empty for `_`, which matches all remaining variants.
    pub(super) variants: Vec<Ident>,
    /// The ordinal of the value, with the location of its text: the compiler suggests missing variants there.
    pub(super) ordinal: Literal,
}

/// Parses and checks the declaration.
pub(super) fn parse(input: TokenStream) -> syn::Result<ExternalLabel> {
    (|input: ParseStream| {
        let (attrs, vis) = (input.call(Attribute::parse_outer)?, input.parse()?);
        take::<Token![struct]>(input)?;
        let name: Ident = input.parse()?;
        take::<Token![for]>(input)?;
        let path = input.call(Path::parse_mod_style)?;
        let inside;
        syn::braced!(inside in input);
        let lines = Punctuated::<_, Token![,]>::parse_terminated_with(&inside, line)?;
        let mut errors = Errors::default();
        if lines.is_empty() {
            errors.at(&name, "a label needs at least one value: `Variant => \"value\"`");
        }
        let (arms, values) = arms(&Vec::from_iter(lines), &mut errors);
        errors.finish()?;
        Ok(ExternalLabel { attrs, vis, name, path, arms, values })
    })
    .parse2(input)
}

/// Parses a keyword of `struct Name for path`; the error shows the whole form.
fn take<T: Parse>(input: ParseStream) -> syn::Result<T> {
    let expected = "expected `struct Name for path::Enum { Variant => \"value\", .. }`";
    input.parse().map_err(|error: syn::Error| syn::Error::new(error.span(), expected))
}

/// One parsed line: the variants, or `_`, and the text.
struct Line {
    variants: Vec<Ident>,
    rest: Option<Token![_]>,
    text: LitStr,
}

fn line(input: ParseStream) -> syn::Result<Line> {
    let rest: Option<Token![_]> = input.parse()?;
    let variants = match rest {
        Some(_) => Vec::new(),
        None => Vec::from_iter(Punctuated::<Ident, Token![|]>::parse_separated_nonempty(input)?),
    };
    input.parse::<Token![=>]>()?;
    Ok(Line { variants, rest, text: input.parse()? })
}

fn arms(lines: &[Line], errors: &mut Errors) -> (Vec<Arm>, Vec<String>) {
    let (mut arms, mut values): (Vec<Arm>, Vec<String>) = (Vec::new(), Vec::new());
    for (at, Line { variants, rest, text }) in lines.iter().enumerate() {
        let value = text.value();
        if rest.is_some() && at + 1 != lines.len() {
            errors.at(rest, "`_` must come last: it matches all remaining variants");
        }
        if value.is_empty() {
            errors.at(text, "a value cannot be empty; write its text");
        }
        for variant in variants {
            if arms.iter().any(|arm| arm.variants.contains(variant)) {
                errors.at(variant, format_args!("variant `{variant}` is given twice; keep one of them"));
            }
        }
        // Variants may share a value: the set is still closed.
        let ordinal = values.iter().position(|known| *known == value).unwrap_or_else(|| {
            values.push(value);
            values.len() - 1
        });
        let mut ordinal = Literal::u16_suffixed(u16::try_from(ordinal).unwrap_or(u16::MAX));
        ordinal.set_span(text.span());
        arms.push(Arm { variants: variants.clone(), ordinal });
    }
    (arms, values)
}
