//! The metrics of a function: their statics, and the values of their labels.

use proc_macro2::{Ident, Span as Site, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::super::metric::{Instrument, Metrics, Role};
use super::super::model::Wrapped;
use super::super::options::Field;
use super::fields;
use crate::krate::Krate;
use crate::metrics::{Declaration, Prefix, checked};
use crate::section::Section;

/// Every metric, registered at link time, and `static __TC_METER`, which knows them all; nothing if there are none.
pub(super) fn declare(wrapped: &Wrapped) -> Option<TokenStream> {
    let (metrics, k, site) = (wrapped.telemetry.metrics.as_ref()?, krate(wrapped).private(), Site::mixed_site());
    let (checks, section) = (checks(wrapped), Section::Metrics.attributes());
    let statics = metrics.instruments.iter().map(|Instrument { role, .. }| {
        let (variable, meta) = (role.variable(), meta_of(*role));
        quote_spanned!(site=> #section static #variable: #k::Metric = #k::Metric::new(#meta);)
    });
    let parts = metrics.instruments.iter().map(|Instrument { role, .. }| {
        let (method, variable) = (format_ident!("{}", role.name()), role.variable());
        quote_spanned!(site=> .#method(&#variable))
    });
    let results = metrics.results.iter().map(|label| or_none(label, &k));
    let results = (!metrics.results.is_empty()).then(|| quote_spanned!(site=> .results::<(#(#results,)*)>()));
    Some(quote_spanned! {site=>
        #checks
        #(#statics)*
        static __TC_METER: #k::Meter = #k::Meter::new() #(#parts)* #results;
    })
}

/// The aliases of the labels, and a constant for each metric with the check of it. They stay with telemetry off.
pub(super) fn checks(wrapped: &Wrapped) -> Option<TokenStream> {
    let (metrics, krate) = (wrapped.telemetry.metrics.as_ref()?, krate(wrapped));
    let aliases = fields::aliases(metrics.labels.iter().chain(&metrics.results));
    let (errors, dependency) = (error_types(wrapped), Prefix::current().dependency());
    let metas = metrics.instruments.iter().map(|instrument| {
        let meta = meta(wrapped, metrics, instrument).tokens(krate);
        checked(&meta_of(instrument.role), &meta, instrument.name.span(), krate)
    });
    Some(quote_spanned!(Site::mixed_site()=> #aliases #dependency #errors #(#metas)*))
}

/// The types of errors, once for all metrics that carry them.
fn error_types(wrapped: &Wrapped) -> Option<TokenStream> {
    let (set, k) = (wrapped.error_set.as_ref()?, krate(wrapped).private());
    Some(quote_spanned! {Site::mixed_site()=>
        const __TC_ERROR_TYPES: &[&::core::primitive::str] = {
            #[allow(unused_imports)]
            use #k::FallbackTypes as _;
            <#k::ErrorSet<#set>>::TYPES
        };
    })
}

fn meta<'a>(wrapped: &Wrapped, metrics: &'a Metrics, instrument: &'a Instrument) -> Declaration<'a> {
    let (k, Instrument { role, name }) = (krate(wrapped).private(), instrument);
    let labels = metrics.labels.iter().map(|label| &label.alias);
    let results = metrics.results.iter().filter(|_| role.knows_result()).map(|label| or_none(label, &k));
    let labels = quote_spanned!(Site::mixed_site()=> (#(#labels,)* #(#results,)*));
    let (outcome, errors) = (outcome(*role), role.tells_errors().then(|| given_errors(wrapped)));
    let (buckets, budget) = (metrics.settings.of_buckets(), metrics.settings.of_budget());
    let buckets = buckets.filter(|_| role.unit() == "s");
    Declaration {
        kind: role.kind(),
        labels,
        number: Ident::new(role.kind().numbers()[0], Site::mixed_site()),
        name,
        unit: role.unit(),
        description: role.description(&subject(wrapped)),
        place: name.span(),
        settings: quote!(#outcome #errors #buckets #budget),
    }
}

/// What the descriptions are about.
fn subject(wrapped: &Wrapped) -> String {
    let name = wrapped.telemetry.options.name.as_ref().map(syn::LitStr::value);
    name.unwrap_or_else(|| wrapped.function.sig.ident.to_string())
}

/// The call by which a metric tells outcomes apart.
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

/// A label from the result, which is missing where there is none.
fn or_none(label: &Field, k: &TokenStream) -> TokenStream {
    let alias = &label.alias;
    quote_spanned!(Site::mixed_site()=> #k::OrNone<#alias>)
}

fn meta_of(role: Role) -> Ident {
    format_ident!("{}_META", role.variable())
}

fn krate(wrapped: &Wrapped) -> &Krate {
    &wrapped.telemetry.options.krate
}

/// The closure that gives the labels their values.
pub(super) fn labels(metrics: &Metrics, krate: &Krate) -> TokenStream {
    let (k, site) = (krate.private(), Site::mixed_site());
    let calls = metrics.labels.iter().map(|Field { value, alias, .. }| {
        let method = Ident::new("label", alias.span());
        quote_spanned!(fields::site_of(value)=> .#method::<#alias>(#value))
    });
    quote_spanned!(site=> || #k::Labels::new() #(#calls)*)
}
