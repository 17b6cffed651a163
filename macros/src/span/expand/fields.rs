//! What is evaluated when a span begins: attributes, shared keys, links.

use proc_macro2::{Span as Site, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Ident};

use super::super::options::{Database, Field, Options};

/// The closure that fills a new span.
pub(super) fn closure(options: &Options) -> TokenStream {
    let (k, site) = (options.krate.private(), Site::mixed_site());
    if !options.has_fields() {
        return quote_spanned!(site=> #k::no_fields);
    }
    let statements = statements(options);
    quote_spanned!(site=> |__tc_start| { #statements })
}

/// The statements of that closure; they use `__tc_start`.
pub(super) fn statements(options: &Options) -> TokenStream {
    let mut statements = TokenStream::new();
    if let Some(database) = &options.database {
        statements.extend(of_database(options, database));
    }
    statements.extend(options.attrs.iter().map(|field| set("attr", field)));
    statements.extend(options.share.iter().map(|field| set("share", field)));
    statements.extend(options.links.iter().map(link));
    statements
}

/// The built-in keys that a database span carries.
pub(super) fn database_keys(options: &Options) -> Vec<TokenStream> {
    let parts = options.database.iter().flat_map(|database| &database.parts);
    parts.map(|part| database_key(options, part.key)).collect()
}

fn database_key(options: &Options, name: &str) -> TokenStream {
    let (krate, name) = (options.krate.root(), format_ident!("{name}"));
    quote_spanned!(Site::mixed_site()=> #krate::keys::db::#name)
}

fn set(method: &str, field: &Field) -> TokenStream {
    let Field { key, value } = field;
    let start = start();
    let site = site_of(value);
    let method = Ident::new(method, site);
    quote_spanned!(site=> #start.#method::<#key, _>(#value);)
}

fn link(context: &Expr) -> TokenStream {
    let start = start();
    quote_spanned!(site_of(context)=> #start.link(#context);)
}

/// A type error in a value should point at the value.
pub(super) fn site_of(value: &Expr) -> Site {
    value.span().resolved_at(Site::mixed_site())
}

fn start() -> Ident {
    Ident::new("__tc_start", Site::mixed_site())
}

fn of_database(options: &Options, database: &Database) -> TokenStream {
    let site = Site::mixed_site();
    if database.static_name().is_some() {
        return database
            .parts
            .iter()
            .map(|part| {
                let (key, value) = (database_key(options, part.key), &part.value);
                quote_spanned!(site=> __tc_start.attr::<#key, _>(#value);)
            })
            .collect();
    }
    // The name and the attributes use the same values, and each expression runs once. The `match` keeps temporaries.
    let (mut values, mut names, mut sets) = (Vec::new(), Vec::new(), TokenStream::new());
    for part in &database.parts {
        let (key, local) = (database_key(options, part.key), format_ident!("__tc_{}", part.key, span = site));
        values.push(&part.value);
        sets.extend(quote_spanned!(site=> __tc_start.attr::<#key, _>(::core::convert::AsRef::<::core::primitive::str>::as_ref(&#local));));
        names.push(local);
    }
    quote_spanned! {site=>
        match (#(#values,)*) {
            (#(#names,)*) => {
                __tc_start.name(::core::format_args!("{}.{}", __tc_collection_name, __tc_operation_name));
                #sets
            }
        }
    }
}
