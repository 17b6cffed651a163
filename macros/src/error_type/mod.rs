//! `#[derive(TcError)]`: derives the closed set of `error.type` values of an error.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Data, DataEnum, DeriveInput, Generics};

use crate::case::Case;
use crate::derive_input;
use crate::diagnostics::Errors;
use crate::krate::Krate;

/// Expands `#[derive(TcError)]` on an enum or a struct.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(input) = errors.keep(syn::parse2(input)) else {
        return errors.into_tokens();
    };
    let model = ErrorType::new(&input, &mut errors);
    match errors.finish() {
        Ok(()) => expand(&model),
        Err(error) => error.into_compile_error(),
    }
}

/// An error type and the `error.type` values of its variants.
struct ErrorType<'a> {
    krate: Krate,
    name: &'a Ident,
    generics: &'a Generics,
    types: Types,
}

enum Types {
    One(String),
    PerVariant(Vec<(Ident, String)>),
}

impl<'a> ErrorType<'a> {
    fn new(input: &'a DeriveInput, errors: &mut Errors) -> Self {
        let allowed: &[&str] = match &input.data {
            Data::Enum(_) => &["rename_all", "crate"],
            _ => &["rename", "crate"],
        };
        let helper = derive_input::read(&input.attrs, "tc_error", allowed, errors);
        helper.krate.check("#[tc_error(crate = path::to::tracecast)]", errors);
        let types = match &input.data {
            Data::Enum(data) => Types::PerVariant(variants(data, helper.rename_all.unwrap_or(Case::Verbatim), errors)),
            Data::Struct(_) => Types::One(text(helper.rename, &input.ident, Case::Verbatim)),
            Data::Union(data) => {
                errors.at(data.union_token, "`TcError` supports enums and structs, not unions; use an enum");
                Types::One(String::new())
            }
        };
        Self { krate: helper.krate, name: &input.ident, generics: &input.generics, types }
    }
}

fn variants(data: &DataEnum, case: Case, errors: &mut Errors) -> Vec<(Ident, String)> {
    let mut read = |variant: &syn::Variant| {
        let helper = derive_input::read(&variant.attrs, "tc_error", &["rename"], errors);
        (variant.ident.clone(), text(helper.rename, &variant.ident, case))
    };
    data.variants.iter().map(&mut read).collect()
}

fn text(rename: Option<syn::LitStr>, name: &Ident, case: Case) -> String {
    let name = name.to_string();
    rename.map_or_else(|| case.apply(name.strip_prefix("r#").unwrap_or(&name)), |text| text.value())
}

fn expand(model: &ErrorType) -> TokenStream {
    let (k, name) = (model.krate.private(), model.name);
    let (generics, arguments, bounds) = model.generics.split_for_impl();
    let (types, of_value) = match &model.types {
        Types::One(text) => (vec![text], quote!(#text)),
        Types::PerVariant(variants) => {
            let arms = variants.iter().map(|(variant, text)| quote!(Self::#variant { .. } => #text,));
            (distinct(variants), quote!(match *self { #(#arms)* }))
        }
    };
    quote! {
        #[automatically_derived]
        #[allow(deprecated)]
        impl #generics #k::TcError for #name #arguments #bounds {
            const TYPES: &'static [&'static str] = &[#(#types),*];
            fn error_type(&self) -> &'static str {
                #of_value
            }
        }
    }
}

/// Returns the values of all variants. A value that several variants share is listed once.
fn distinct(variants: &[(Ident, String)]) -> Vec<&String> {
    let mut types: Vec<&String> = Vec::new();
    for (_, text) in variants {
        if !types.contains(&text) {
            types.push(text);
        }
    }
    types
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, part: &str) {
        let found = derive(input.parse().unwrap()).to_string();
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        assert!(squeezed(&found).contains(&squeezed(part)), "{found}");
    }

    #[test]
    fn names_of_variants() {
        check(
            "enum E<T: A> where T: B { Timeout(T), #[tc_error(rename = \"io\")] Io { a: u8 }, Gone }",
            "&[\"Timeout\", \"io\", \"Gone\"]",
        );
        check("enum E<T: A> { Timeout(T) }", "impl<T: A> ::tracecast::__private::TcError for E<T>");
        check("#[tc_error(rename_all = \"snake_case\")] enum E { NotFound }", "Self::NotFound { .. } => \"not_found\"");
        check("#[tc_error(crate = a::b)] struct Failed;", "impl a::b::__private::TcError for Failed");
        check("struct Failed { why: u8 }", "&[\"Failed\"]");
        check("enum Never {}", "match *self {}");
    }

    #[test]
    fn mistakes() {
        check("union U { a: u8 }", "`TcError` supports enums and structs");
        check("enum E { #[tc_error(renam = \"a\")] A }", "did you mean `rename`");
        check("#[tc_error(rename = \"a\")] enum E { A }", "`rename` belongs on a variant");
        check("#[tc_error(rename_all = \"a\")] struct E;", "`rename_all` belongs on an enum");
        check("#[tc_error(rename = \"a\", rename = \"b\")] struct E;", "option `rename` is given twice");
        check("#[tc_error(rename)] struct E;", "`rename` takes a value");
    }
}
