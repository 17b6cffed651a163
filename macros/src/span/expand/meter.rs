//! Generates the metrics of a function: their statics, and the values of their labels.

use proc_macro2::{Ident, Span as Site, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::super::metric::{Instrument, Metrics, Role};
use super::super::model::Wrapped;
use super::super::options::{Field, FieldKey};
use super::fields;
use crate::krate::Krate;
use crate::metrics::{Declaration, Kind, Prefix, checked, label_of};

/// Generates every metric, registered at link time, and `static __TC_METER`, which refers to all of them; `None` for a function
/// without metrics.
pub(super) fn declare(wrapped: &Wrapped) -> Option<TokenStream> {
    let (metrics, k, site) = (wrapped.telemetry.metrics.as_ref()?, krate(wrapped).private(), Site::mixed_site());
    let (checks, source) = (checks(wrapped), krate(wrapped).source());
    let statics = metrics.instruments.iter().map(|Instrument { role, .. }| {
        let (variable, meta) = (role.variable(), meta_of(*role));
        quote_spanned!(site=> #k::in_section! { metrics static #variable: #k::Metric = #k::Metric::new(#meta, #source); })
    });
    let parts = metrics.instruments.iter().map(|Instrument { role, .. }| {
        let (method, variable) = (format_ident!("{}", role.name()), role.variable());
        quote_spanned!(site=> .#method(&#variable))
    });
    let results = metrics.results.first().map(|first| {
        let results = metrics.results.iter().map(|label| or_none(label, &k));
        // Placed at the key, so that an error about the key equals the one at its value.
        let tuple = quote_spanned!(first.alias.span()=> (#(#results,)*));
        quote_spanned!(site=> .results::<#tuple>())
    });
    Some(quote_spanned! {site=>
        #checks
        #(#statics)*
        static __TC_METER: #k::Meter = #k::Meter::new() #(#parts)* #results;
    })
}

/// Generates the aliases of the labels, the list of error types, and for each metric a constant with its check. All of these
/// remain when telemetry is compiled out. `None` if there are no metrics.
pub(super) fn checks(wrapped: &Wrapped) -> Option<TokenStream> {
    let (metrics, krate) = (wrapped.telemetry.metrics.as_ref()?, krate(wrapped));
    let aliases = label_aliases(metrics, krate);
    let (errors, dependency) = (error_types(wrapped), Prefix::current().dependency());
    let metas = metrics.instruments.iter().map(|instrument| {
        let meta = meta(wrapped, metrics, instrument);
        checked(&meta_of(instrument.role), &meta, instrument.name.span(), krate)
    });
    Some(quote_spanned!(Site::mixed_site()=> #aliases #dependency #errors #(#metas)*))
}

/// Generates the closure that computes the values of the labels.
pub(super) fn labels(metrics: &Metrics, krate: &Krate) -> TokenStream {
    let (k, site) = (krate.private(), Site::mixed_site());
    let calls = metrics.labels.iter().map(|Field { value, alias, .. }| {
        let method = Ident::new("label", alias.span());
        quote_spanned!(fields::site_of(value)=> .#method::<#alias>(#value))
    });
    quote_spanned!(site=> || #k::Labels::new() #(#calls)*)
}

/// Generates an alias for the key of each label; all other generated code uses the alias.
fn label_aliases(metrics: &Metrics, krate: &Krate) -> TokenStream {
    let alias = |Field { key, alias, .. }: &Field| match key {
        FieldKey::Declared(key) => {
            let key = label_of(&fields::apart_from_variables(key), key.span(), krate);
            Some(quote_spanned!(Site::mixed_site()=> type #alias = #key;))
        }
        // A label given by name instead of by key was already rejected.
        FieldKey::AdHoc(_) => None,
    };
    metrics.labels.iter().chain(&metrics.results).filter_map(alias).collect()
}

/// Generates a constant with the error types, shared by all metrics that have them as a label. `None` if no metric has them.
fn error_types(wrapped: &Wrapped) -> Option<TokenStream> {
    let (set, k) = (wrapped.error_set.as_ref()?, krate(wrapped).private());
    Some(quote_spanned! {Site::mixed_site()=>
        const __TC_ERROR_TYPES: &[&::core::primitive::str] = {
            use #k::FallbackTypes as _;
            <#k::ErrorSet<#set>>::TYPES
        };
    })
}

/// Generates the expression that describes a metric.
///
/// The labels are set as a list, not as types, so that a key that is not a label gives one error, at its value.
fn meta(wrapped: &Wrapped, metrics: &Metrics, instrument: &Instrument) -> TokenStream {
    let (k, Instrument { role, name }) = (krate(wrapped).private(), instrument);
    let (outcome, errors) = (outcome(*role), role.has_error_type().then(|| given_errors(wrapped)));
    let (buckets, budget) = (metrics.settings.of_buckets(), metrics.settings.of_budget());
    let buckets = buckets.filter(|_| role.kind() == Kind::Histogram);
    let declaration = Declaration {
        kind: role.kind(),
        labels: quote_spanned!(Site::mixed_site()=> ()),
        number: Ident::new(role.kind().numbers()[0], Site::mixed_site()),
        name,
        unit: role.unit(),
        description: role.description(&subject(wrapped)),
        place: name.span(),
        settings: quote!(#outcome #errors #buckets #budget),
    };
    let keys = metrics.labels.iter().map(|label| label.alias.to_token_stream());
    let results = metrics.results.iter().filter(|_| role.carries_result()).map(|label| or_none(label, &k));
    with_labels(declaration.tokens(krate(wrapped)), &keys.chain(results).collect::<Vec<_>>(), &k)
}

fn with_labels(meta: TokenStream, keys: &[TokenStream], k: &TokenStream) -> TokenStream {
    if keys.is_empty() {
        return meta;
    }
    quote_spanned!(Site::mixed_site()=> #meta.labelled(&[#(<#keys as #k::Key>::META),*]))
}

/// Returns the name of the span, or else of the function, for the descriptions of the metrics.
fn subject(wrapped: &Wrapped) -> String {
    let name = wrapped.telemetry.options.name.as_ref().map(syn::LitStr::value);
    name.unwrap_or_else(|| wrapped.function.sig.ident.to_string())
}

/// Generates the call that adds the outcome as a label; `None` for metrics without this label.
fn outcome(role: Role) -> Option<TokenStream> {
    match role {
        Role::Calls => Some(quote_spanned!(Site::mixed_site()=> .outcomes())),
        Role::Errors => Some(quote_spanned!(Site::mixed_site()=> .failures())),
        _ => None,
    }
}

fn given_errors(wrapped: &Wrapped) -> Option<TokenStream> {
    wrapped.error_set.as_ref().map(|_| quote_spanned!(Site::mixed_site()=> .error_types(__TC_ERROR_TYPES)))
}

/// Generates the type of a label from the result; its value may be missing, for example after an error.
fn or_none(label: &Field, k: &TokenStream) -> TokenStream {
    let alias = &label.alias;
    quote_spanned!(alias.span()=> #k::OrNone<#alias>)
}

fn meta_of(role: Role) -> Ident {
    format_ident!("{}_META", role.variable())
}

fn krate(wrapped: &Wrapped) -> &Krate {
    &wrapped.telemetry.options.krate
}
