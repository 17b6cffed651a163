//! The checked input of `label_for!`: a label type of the user's for an enum of another crate.
//!
//! `pub struct Name for path::Enum { Variant => "value", A | B => "both", _ => "other" }`

use proc_macro2::{Ident, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, LitStr, Path, Token, Visibility};

use crate::diagnostics::Errors;

/// A label for a foreign enum.
pub(super) struct Foreign {
    pub(super) attrs: Vec<Attribute>,
    pub(super) vis: Visibility,
    pub(super) name: Ident,
    /// The enum.
    pub(super) path: Path,
    pub(super) arms: Vec<Arm>,
    /// The texts; the ordinal of one is its place here.
    pub(super) values: Vec<String>,
}

/// One line of the declaration.
pub(super) struct Arm {
    /// Variants of the enum; none means all that are left.
    pub(super) variants: Vec<Ident>,
    pub(super) ordinal: u16,
}

/// Reads the declaration.
pub(super) fn parse(input: TokenStream) -> syn::Result<Foreign> {
    (|input: ParseStream| {
        let (attrs, vis) = (input.call(Attribute::parse_outer)?, input.parse()?);
        input.parse::<Token![struct]>()?;
        let name: Ident = input.parse()?;
        input.parse::<Token![for]>()?;
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
        Ok(Foreign { attrs, vis, name, path, arms, values })
    })
    .parse2(input)
}

type Line = (Vec<Ident>, LitStr);

fn line(input: ParseStream) -> syn::Result<Line> {
    let variants = match input.parse::<Option<Token![_]>>()? {
        Some(_) => Vec::new(),
        None => Vec::from_iter(Punctuated::<Ident, Token![|]>::parse_separated_nonempty(input)?),
    };
    input.parse::<Token![=>]>()?;
    Ok((variants, input.parse()?))
}

fn arms(lines: &[Line], errors: &mut Errors) -> (Vec<Arm>, Vec<String>) {
    let (mut arms, mut values): (Vec<Arm>, Vec<String>) = (Vec::new(), Vec::new());
    for (at, (variants, text)) in lines.iter().enumerate() {
        let value = text.value();
        if variants.is_empty() && at + 1 != lines.len() {
            errors.at(text, "`_` comes last: it takes all variants that are left");
        }
        if value.is_empty() {
            errors.at(text, "a value cannot be empty");
        }
        for variant in variants {
            if arms.iter().any(|arm| arm.variants.contains(variant)) {
                errors.at(variant, format_args!("variant `{variant}` is given twice; keep one of them"));
            }
        }
        // Two variants may share a value: the set stays closed.
        let ordinal = values.iter().position(|known| *known == value).unwrap_or_else(|| {
            values.push(value);
            values.len() - 1
        });
        arms.push(Arm { variants: variants.clone(), ordinal: u16::try_from(ordinal).unwrap_or(u16::MAX) });
    }
    (arms, values)
}
