//! Generates the values recorded when a span begins: attributes, shared keys, links.

use proc_macro2::{Span as Site, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Ident, Path};

use super::super::options::{AdHoc, Database, Field, FieldKey, Options};
use crate::krate::Krate;

/// Generates the closure that fills a new span.
pub(super) fn closure(options: &Options, site: Site) -> TokenStream {
    if !options.has_fields() {
        return quote_spanned!(site=> |_| {});
    }
    let (start, statements) = (start(), statements(options));
    quote_spanned!(site=> |#start| { #statements })
}

/// Generates the statements that fill a new span, `__tc_start`.
pub(super) fn statements(options: &Options) -> TokenStream {
    let mut statements = TokenStream::new();
    if let Some(database) = &options.database {
        statements.extend(of_database(options, database));
    }
    statements.extend(options.attrs.iter().map(|field| set(options, "attr", field)));
    statements.extend(options.share.iter().map(|field| set(options, "share", field)));
    statements.extend(options.links.iter().map(link));
    statements
}

/// Generates an alias for each declared key, and a type for each key declared where it is recorded. All other generated code uses
/// these names, so that an unresolved path gives one error.
pub(super) fn aliases(options: &Options) -> TokenStream {
    let alias = |Field { key, alias, .. }: &Field| match key {
        FieldKey::Declared(key) => {
            let key = apart_from_variables(key);
            quote_spanned!(Site::mixed_site()=> type #alias = #key;)
        }
        FieldKey::AdHoc(key) => ad_hoc(key, alias, &options.krate),
    };
    options.fields().map(alias).collect()
}

/// Generates a key that is declared where it is recorded.
fn ad_hoc(AdHoc { name, ty }: &AdHoc, alias: &Ident, krate: &Krate) -> TokenStream {
    let (k, source) = (krate.private(), krate.source());
    let ty = ty.clone().unwrap_or_else(|| quote_spanned!(Site::mixed_site()=> #k::AnyAttribute));
    // The caller's location is the key's place in the catalogue.
    let meta = quote_spanned!(name.span()=> __TcMeta::ad_hoc::<#ty>(#name, #source));
    quote_spanned! {Site::mixed_site()=>
        enum #alias {}
        impl #k::Key for #alias {
            type Value = #ty;
            const META: &'static #k::KeyMeta = {
                use #k::KeyMeta as __TcMeta;
                &#meta
            };
        }
    }
}

/// Separates a key from the function's variables. Otherwise an unknown single word would resolve to the argument of that name,
/// and the error would be about the type of the argument.
pub(super) fn apart_from_variables(key: &Path) -> TokenStream {
    let Some(word) = key.get_ident() else { return key.to_token_stream() };
    let mut word = word.clone();
    word.set_span(word.span().resolved_at(Site::mixed_site()));
    word.into_token_stream()
}

/// Returns the built-in keys of a database span.
pub(super) fn database_keys(options: &Options) -> Vec<TokenStream> {
    let parts = options.database.iter().flat_map(|database| &database.parts);
    parts.map(|part| database_key(options, part.key)).collect()
}

fn database_key(options: &Options, name: &str) -> TokenStream {
    let (krate, name) = (options.krate.root(), format_ident!("{name}"));
    quote_spanned!(Site::mixed_site()=> #krate::keys::db::#name)
}

fn set(options: &Options, method: &str, field: &Field) -> TokenStream {
    let Field { value, alias, .. } = field;
    let (start, method, recorded) = (start(), Ident::new(method, alias.span()), recorded(options, value));
    quote_spanned!(site_of(value)=> #start.#method::<#alias>(#recorded);)
}

/// Generates the recorded value. A field or element that is not `Copy` is recorded by reference, because the body may move it.
fn recorded(options: &Options, value: &Expr) -> TokenStream {
    match value {
        Expr::Field(_) | Expr::Index(_) => {
            let site = site_of(value);
            let k = options.krate.private_at(site);
            quote_spanned!(site=> #k::Place::of(&#value).value())
        }
        Expr::Group(group) => recorded(options, &group.expr),
        _ => value.to_token_stream(),
    }
}

fn link(context: &Expr) -> TokenStream {
    let start = start();
    quote_spanned!(site_of(context)=> #start.link(#context);)
}

/// Returns the location of a value, so that type errors in it point there.
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
                let (key, value) = (database_key(options, part.key), recorded(options, &part.value));
                quote_spanned!(site=> __tc_start.attr::<#key>(#value);)
            })
            .collect();
    }
    // The name and the attributes use the same values, and each expression runs once. The `match` keeps temporaries alive.
    let (mut values, mut names) = (Vec::new(), Vec::new());
    let (mut texts, mut sets) = (TokenStream::new(), TokenStream::new());
    for part in &database.parts {
        let (key, local) = (database_key(options, part.key), format_ident!("__tc_{}", part.key, span = site));
        let text = text(&part.value, &local);
        texts.extend(quote_spanned!(site=> let #local = #text;));
        sets.extend(quote_spanned!(site=> __tc_start.attr::<#key>(#local);));
        values.push(recorded(options, &part.value));
        names.push(local);
    }
    quote_spanned! {site=>
        match (#(#values,)*) {
            (#(#names,)*) => {
                #texts
                __tc_start.name(::core::format_args!("{}.{}", __tc_collection_name, __tc_operation_name));
                #sets
            }
        }
    }
}

/// Generates the text in `local`, which holds `value`; if it is not a text, the error points at the value.
fn text(value: &Expr, local: &Ident) -> TokenStream {
    let site = site_of(value);
    let local = Ident::new(&local.to_string(), site);
    let path = quote_spanned!(site=> ::core::convert::AsRef::<::core::primitive::str>::as_ref);
    quote_spanned!(site=> #path(&#local))
}
