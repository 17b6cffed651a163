//! Generates the types and impls of one key.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Attribute, Ident};

use super::model::{Key, KeyType, Kind};
use crate::entries::docs;
use crate::krate::Krate;

/// Generates a key: an empty enum, because a unit struct would clash with variables of the same name. A function of the same name
/// represents the key where a value is needed.
pub(super) fn key(key: &Key, krate: &Krate) -> TokenStream {
    let (k, Key { attrs, vis, name, .. }) = (krate.private(), key);
    let on_impl: Vec<&Attribute> = attrs.iter().filter(|attr| attr.path().is_ident("cfg")).collect();
    let allow = attrs.iter().any(|attr| attr.path().is_ident("deprecated")).then(|| quote!(#[allow(deprecated)]));
    let on_impl = quote!(#(#on_impl)* #allow);
    let (value, meta, extra) = (value(key, &k), meta(key, krate), extra(key, &k, &on_impl));
    // Has the location of the type: if the type is less public than the key, the compiler's error points there.
    let value = quote_spanned!(value.span().resolved_at(Span::mixed_site())=> type Value = #value;);
    // Has the location of the user's words, because the compiler shows the declaration in errors about misspelled keys.
    let declaration = quote_spanned!(name.span().resolved_at(Span::mixed_site())=> #vis enum #name {});
    quote! {
        #(#attrs)*
        #[allow(non_camel_case_types)]
        #declaration
        #on_impl
        #[doc(hidden)]
        #[allow(dead_code, non_snake_case)]
        #vis const fn #name() -> #k::KeyOf<#name> {
            #k::KeyOf::new()
        }
        #on_impl
        impl #k::Key for #name {
            #value
            const META: &'static #k::KeyMeta = #meta;
        }
        #extra
    }
}

fn value(key: &Key, k: &TokenStream) -> TokenStream {
    let name = &key.name;
    match &key.ty {
        KeyType::Given(ty) => quote!(#ty),
        KeyType::Index(size) => quote!(#k::Index<#size>),
        KeyType::Interned(size) => quote!(#k::Interned<#size, #name>),
    }
}

/// Generates the static that describes the key. Unless telemetry is compiled out, the static is registered at link time.
fn meta(key: &Key, krate: &Krate) -> TokenStream {
    let (k, source) = (&krate.private(), krate.source());
    let (value, wire, docs) = (value(key, k), &key.wire, docs(&key.attrs));
    // The whole call has the location of the user's own word, because the caller's location is the key's place in the catalogue.
    let place = key.name.span();
    let (meta, constructor) = (Ident::new("__TcMeta", place), Ident::new(constructor(key.kind), place));
    let call = quote_spanned!(place=> #meta::#constructor::<#value>(#wire, #docs, #source));
    let options = &key.options;
    let item = quote!(static META: #meta = #call #(.#options())*;);
    let item = if cfg!(feature = "off") { item } else { quote!(#k::in_section! { keys #item }) };
    quote! {{
        use #k::KeyMeta as #meta;
        #item
        &META
    }}
}

fn constructor(kind: Kind) -> &'static str {
    match kind {
        Kind::Label => "label",
        Kind::Id => "id",
        Kind::Measure => "measure",
    }
}

/// Generates the impls that only labels have: `LabelKey`, and the table of an interned label.
fn extra(key: &Key, k: &TokenStream, on_impl: &TokenStream) -> TokenStream {
    let name = &key.name;
    let label = (key.kind == Kind::Label).then(|| label(name, k, on_impl));
    let table = match &key.ty {
        KeyType::Interned(size) => Some(quote! {
            #on_impl
            impl #k::InternedKey for #name {
                fn table() -> &'static #k::InternTable {
                    static TABLE: #k::InternTable = #k::InternTable::new(#size);
                    &TABLE
                }
                fn handle(ordinal: ::core::primitive::usize) -> Self::Value {
                    #k::Interned::of(ordinal)
                }
            }
        }),
        _ => None,
    };
    quote!(#label #table)
}

/// Generates the impl that allows the key to label metrics. The compiler's error about a key that is not a label lists the impls
/// of `LabelKey`. The impls of built-in keys are hidden from the list, because it should show the user's own keys. The hiding
/// attribute is generated in the runtime only: it does not resolve in a crate without a prelude.
fn label(name: &Ident, k: &TokenStream, on_impl: &TokenStream) -> TokenStream {
    let quiet = Krate::is_being_compiled().then(|| quote!(#[diagnostic::do_not_recommend]));
    let site = name.span().resolved_at(Span::mixed_site());
    let (start, body) = (quote_spanned!(site=> impl), quote_spanned!(site=> { type Itself = #name; }));
    quote!(#on_impl #quiet #start #k::LabelKey for #name #body)
}
