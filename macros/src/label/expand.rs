//! Generates implementations of `Label`, `ClosedLabel` and related traits.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::derived::Derived;
use super::label_for::{Arm, ExternalLabel};
use crate::krate::Krate;

/// Generates the implementations for the user's own enum.
pub(super) fn derived(label: &Derived) -> TokenStream {
    let (k, name) = (label.krate.private(), &label.name);
    let texts: Vec<&String> = label.values.iter().map(|(_, text)| text).collect();
    let variants: Vec<_> = label.values.iter().map(|(variant, _)| variant).collect();
    let ordinals = 0..texts.len();
    let ordinal = quote!(match self { #(Self::#variants => #ordinals,)* });
    let fallback = match &label.other {
        Some(other) => quote!(::core::option::Option::Some(Self::#other)),
        None => quote!(::core::option::Option::None),
    };
    let from_value =
        quote!(match value { #(#texts => ::core::option::Option::Some(Self::#variants),)* _ => #fallback });
    implement(&k, &quote!(#name), &texts, &ordinal, &from_value)
}

/// Generates a label type for an enum of another crate.
pub(super) fn label_for(label: &ExternalLabel, krate: &Krate) -> TokenStream {
    let (k, ExternalLabel { attrs, vis, name, path, .. }) = (krate.private(), label);
    let arms = label.arms.iter().map(|arm| arm_of(path, arm));
    // If a variant is missing, the compiler's error points at the matched expression, which therefore has the location of the
    // user's path.
    let place = path.segments.last().map_or_else(Span::call_site, |last| last.ident.span());
    let argument = Ident::new("value", place.resolved_at(Span::mixed_site()));
    let matched = quote_spanned!(argument.span()=> *#argument);
    let texts: Vec<&String> = label.values.iter().collect();
    let ordinals = 0..u16::try_from(texts.len()).unwrap_or(u16::MAX);
    let from_value = quote!(match value { #(#texts => ::core::option::Option::Some(Self(#ordinals)),)* _ => ::core::option::Option::None });
    let label = implement(&k, &quote!(#name), &texts, &quote!(self.0 as usize), &from_value);
    let value = into_value(&k, name, &quote!(#path));
    let value_of_reference = into_value(&k, name, &quote!(&#path));
    quote! {
        #(#attrs)*
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::cmp::PartialEq, ::core::cmp::Eq)]
        #vis struct #name(u16);
        impl ::core::convert::From<&#path> for #name {
            fn from(#argument: &#path) -> Self {
                Self(match #matched { #(#arms)* })
            }
        }
        impl ::core::convert::From<#path> for #name {
            fn from(value: #path) -> Self {
                <Self as ::core::convert::From<&#path>>::from(&value)
            }
        }
        #label
        #value
        #value_of_reference
    }
}

fn arm_of(path: &syn::Path, arm: &Arm) -> TokenStream {
    let Arm { variants, ordinal } = arm;
    match variants.is_empty() {
        true => quote!(_ => #ordinal,),
        false => quote!(#(#path::#variants { .. })|* => #ordinal,),
    }
}

fn into_value(k: &TokenStream, name: &syn::Ident, source: &TokenStream) -> TokenStream {
    quote! {
        impl #k::IntoValue<#name> for #source {
            fn with_value<R>(self, f: impl ::core::ops::FnOnce(#k::Value<'_>) -> R) -> R {
                #k::IntoValue::<#name>::with_value(<#name as ::core::convert::From<#source>>::from(self), f)
            }
        }
    }
}

fn implement(
    k: &TokenStream,
    name: &TokenStream,
    texts: &[&String],
    ordinal: &TokenStream,
    from_value: &TokenStream,
) -> TokenStream {
    let count = texts.len();
    let (last, first) = texts.split_last().map_or(("", &[][..]), |(last, first)| (last.as_str(), first));
    let ordinals = 0..first.len();
    let none = texts.iter().position(|text| *text == "none");
    let none =
        none.map(|none| quote!(const NONE: ::core::option::Option<usize> = ::core::option::Option::Some(#none);));
    quote! {
        #[automatically_derived]
        impl #k::Label for #name {
            const CARDINALITY: usize = #count;
            #none
            #[inline]
            fn ordinal(self) -> usize {
                #ordinal
            }
            fn value(ordinal: usize) -> #k::LabelText {
                #k::LabelText::Borrowed(match ordinal { #(#ordinals => #first,)* _ => #last })
            }
        }
        #[automatically_derived]
        impl #k::ClosedLabel for #name {
            const VALUES: &'static [&'static str] = &[#(#texts),*];
            fn from_value(value: &str) -> ::core::option::Option<Self> {
                #from_value
            }
        }
    }
}
