//! Attributes that are declared where they are recorded: `attrs("http.request.header.x" = value)`.
//!
//! A static cannot have the type of an expression in a function. So the catalogue contains the type of such an attribute only if
//! the type is declared, `"tc.retries": u64 = ..`, or if the tokens of the value show it: a literal, a comparison, a cast, or an
//! argument whose type the signature names. For other values the type is determined at recording, and the catalogue lists it as
//! any.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::ParseStream;
use syn::{BinOp, Expr, FnArg, GenericArgument, Lit, LitStr, Pat, PathArguments, Signature, Token, Type, UnOp};

use crate::diagnostics::Errors;
use crate::keys;

/// The name of an attribute, and its type if it is known.
pub(crate) struct AdHoc {
    pub(crate) name: LitStr,
    pub(crate) ty: Option<TokenStream>,
}

impl ToTokens for AdHoc {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.name.to_tokens(tokens);
    }
}

impl AdHoc {
    /// Parses the name, and the type if one is declared.
    pub(super) fn parse(input: ParseStream, errors: &mut Errors) -> syn::Result<Self> {
        let name: LitStr = input.parse()?;
        keys::check_wire(&name, errors);
        let ty = match input.parse::<Option<Token![:]>>()? {
            Some(_) => errors.keep(keys::ad_hoc_type(&input.parse()?)),
            None => None,
        };
        Ok(AdHoc { name, ty })
    }

    /// Determines the type from the tokens of the value, if they show it; a declared type is kept.
    pub(super) fn infer_type(&mut self, value: &Expr, signature: Option<&Signature>) {
        if self.ty.is_none() {
            self.ty = of_value(value, signature).map(Kind::into_tokens);
        }
    }
}

/// The type of an exported value.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    One(Scalar),
    List(Scalar),
}

#[derive(Clone, Copy, PartialEq)]
enum Scalar {
    Str,
    U64,
    I64,
    F64,
    Bool,
}

impl Kind {
    fn into_tokens(self) -> TokenStream {
        let scalar = |scalar| match scalar {
            Scalar::Str => quote!(::core::primitive::str),
            Scalar::U64 => quote!(::core::primitive::u64),
            Scalar::I64 => quote!(::core::primitive::i64),
            Scalar::F64 => quote!(::core::primitive::f64),
            Scalar::Bool => quote!(::core::primitive::bool),
        };
        match self {
            Self::One(one) => scalar(one),
            Self::List(Scalar::Str) => quote!([&'static ::core::primitive::str]),
            Self::List(element) => {
                let element = scalar(element);
                quote!([#element])
            }
        }
    }
}

fn of_value(value: &Expr, signature: Option<&Signature>) -> Option<Kind> {
    let of = |inner: &Expr| of_value(inner, signature);
    match value {
        Expr::Paren(paren) => of(&paren.expr),
        Expr::Group(group) => of(&group.expr),
        Expr::Reference(reference) => of(&reference.expr),
        // Without the signature: the closure's parameters may have the names of arguments.
        Expr::Closure(closure) => of_value(&closure.body, None),
        Expr::Lit(literal) => of_literal(&literal.lit).map(Kind::One),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => match &*unary.expr {
            Expr::Lit(literal) => of_literal(&literal.lit).map(Kind::One),
            _ => None,
        },
        Expr::Binary(binary) => compares(&binary.op).then_some(Kind::One(Scalar::Bool)),
        Expr::Cast(cast) => of_type(&cast.ty),
        Expr::Macro(called) => {
            let name = &called.mac.path.segments.last()?.ident;
            (name == "format" || name == "format_args").then_some(Kind::One(Scalar::Str))
        }
        Expr::Array(array) => match of(array.elems.first()?)? {
            Kind::One(element) => Some(Kind::List(element)),
            Kind::List(_) => None,
        },
        Expr::Path(path) => of_type(argument(signature?, path.path.get_ident()?)?),
        _ => None,
    }
}

fn of_literal(literal: &Lit) -> Option<Scalar> {
    match literal {
        Lit::Str(_) => Some(Scalar::Str),
        Lit::Bool(_) => Some(Scalar::Bool),
        Lit::Int(number) if number.suffix().is_empty() => Some(Scalar::I64),
        Lit::Int(number) => scalar(number.suffix()),
        Lit::Float(_) => Some(Scalar::F64),
        _ => None,
    }
}

fn compares(op: &BinOp) -> bool {
    let ordered = matches!(op, BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_));
    ordered || matches!(op, BinOp::Eq(_) | BinOp::Ne(_) | BinOp::And(_) | BinOp::Or(_))
}

/// Returns the type of the argument with this name.
fn argument<'a>(signature: &'a Signature, name: &syn::Ident) -> Option<&'a Type> {
    signature.inputs.iter().find_map(|argument| match argument {
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(pattern) if pattern.ident == *name => Some(&*typed.ty),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    })
}

fn of_type(ty: &Type) -> Option<Kind> {
    let list = |element: &Type| match of_type(element)? {
        Kind::One(element) => Some(Kind::List(element)),
        Kind::List(_) => None,
    };
    match ty {
        Type::Reference(reference) => of_type(&reference.elem),
        Type::Paren(paren) => of_type(&paren.elem),
        Type::Group(group) => of_type(&group.elem),
        Type::Slice(slice) => list(&slice.elem),
        Type::Array(array) => list(&array.elem),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let inner = match &last.arguments {
                PathArguments::None => return scalar(&last.ident.to_string()).map(Kind::One),
                PathArguments::AngleBracketed(arguments) => {
                    arguments.args.iter().find_map(|argument| match argument {
                        GenericArgument::Type(ty) => Some(ty),
                        _ => None,
                    })?
                }
                PathArguments::Parenthesized(_) => return None,
            };
            match last.ident.to_string().as_str() {
                "Vec" => list(inner),
                "Box" | "Arc" | "Cow" => of_type(inner).filter(|kind| *kind == Kind::One(Scalar::Str)),
                // A `bool` key takes no `Option`.
                "Option" => of_type(inner).filter(|kind| *kind != Kind::One(Scalar::Bool)),
                _ => None,
            }
        }
        _ => None,
    }
}

fn scalar(name: &str) -> Option<Scalar> {
    match name {
        "str" | "String" => Some(Scalar::Str),
        "u8" | "u16" | "u32" | "u64" | "usize" => Some(Scalar::U64),
        "i8" | "i16" | "i32" | "i64" | "isize" => Some(Scalar::I64),
        "f32" | "f64" => Some(Scalar::F64),
        "bool" => Some(Scalar::Bool),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn the_tokens_of_a_value_tell_its_type() {
        let signature: Signature = parse_quote!(
            fn f(&self, name: &str, tags: &[String], size: Option<usize>, flag: Option<bool>, own: Own, (a, b): (u8, u8))
        );
        let inferred = |value: Expr| {
            let tokens = of_value(&value, Some(&signature)).map(|kind| kind.into_tokens().to_string().replace(' ', ""));
            tokens.map_or_else(String::new, |tokens| tokens.replace("::core::primitive::", ""))
        };
        let cases: [(Expr, &str); 22] = [
            (parse_quote!("x"), "str"),
            (parse_quote!(7), "i64"),
            (parse_quote!(-7), "i64"),
            (parse_quote!(7_u32), "u64"),
            (parse_quote!(0.5), "f64"),
            (parse_quote!(true), "bool"),
            (parse_quote!(a.b() > c && d), "bool"),
            (parse_quote!(self.n as u32), "u64"),
            (parse_quote!(format_args!("{x}")), "str"),
            (parse_quote!(&["a", "b"]), "[&'staticstr]"),
            (parse_quote!([1.0]), "[f64]"),
            (parse_quote!(name), "str"),
            (parse_quote!(&(tags)), "[&'staticstr]"),
            (parse_quote!(size), "u64"),
            (parse_quote!(|name| name), ""),
            (parse_quote!(|n| n as i32), "i64"),
            (parse_quote!(flag), ""),
            (parse_quote!(own), ""),
            (parse_quote!(a), ""),
            (parse_quote!(self.name), ""),
            (parse_quote!(name.len()), ""),
            (parse_quote!([[1]]), ""),
        ];
        for (value, expected) in cases {
            let shown = value.to_token_stream().to_string();
            assert_eq!(inferred(value), expected, "{shown}");
        }
    }
}
