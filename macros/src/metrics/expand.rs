//! Generates the static of one metric.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, LitStr, Path};

use super::kind::Kind;
use super::model::Metric;
use crate::entries::docs;
use crate::krate::Krate;

/// Generates the static of a metric. Unless telemetry is compiled out, the static is registered at link time. All checks are
/// inside the static, so that an attribute such as `#[cfg]` applies to them.
pub(super) fn metric(metric: &Metric, krate: &Krate) -> TokenStream {
    let (k, Metric { attrs, vis, name, labels, number, wire, unit, settings, .. }) = (krate.private(), metric);
    let kind = Ident::new(metric.kind.name(), Span::mixed_site());
    let labels = labels.iter().map(|key| label_of(key, last_word(key), krate));
    let labels = quote!((#(#labels,)*));
    let (buckets, budget) = (settings.of_buckets(), settings.of_budget());
    let place = name.span();
    let declaration = Declaration {
        kind: metric.kind,
        labels: Ident::new("__TcLabels", place).into_token_stream(),
        number: number.clone(),
        name: wire,
        unit,
        description: docs(attrs),
        place,
        settings: quote!(#buckets #budget),
    };
    let (given, meta, source) = (&declaration.labels, declaration.tokens(krate), krate.source());
    let check = check(&Ident::new("__tc_meta", Span::mixed_site()), wire.span());
    // The labels are written in the type only, and inferred elsewhere, so that an unresolved path gives one error.
    let value = quote_spanned! {Span::mixed_site()=> {
        const fn __tc_declare<#given: #k::LabelSet>(
            __tc_source: &'static #k::Source,
        ) -> (#k::MetricMeta, #k::#kind<#given, #number>) {
            let __tc_meta = #meta;
            (__tc_meta, #k::#kind::new(__tc_meta, __tc_source))
        }
        let (__tc_meta, __tc_metric) = __tc_declare(#source);
        #check
        __tc_metric
    }};
    // The static starts and ends with the location of the user's name, so that the compiler points there if another item has the
    // same name.
    let site = place.resolved_at(Span::call_site());
    let (start, end) = (quote_spanned!(site=> static), quote_spanned!(site=> ;));
    let item = quote!(#(#attrs)* #vis #start #name: #k::#kind<#labels, #number> = #value #end);
    if cfg!(feature = "off") { item } else { quote!(#k::in_section! { metrics #item }) }
}

/// Returns the location of a path's last word; the whole path has no single location.
fn last_word(path: &Path) -> Span {
    path.segments.last().map_or_else(|| path.span(), |last| last.ident.span())
}

/// Generates the type `LabelOf<key>`; if the key is not a label, the compiler's error points at `place`.
pub(crate) fn label_of(key: &impl ToTokens, place: Span, krate: &Krate) -> TokenStream {
    let site = place.resolved_at(Span::mixed_site());
    let k = krate.private_at(site);
    quote_spanned!(site=> #k::LabelOf<#key>)
}

/// The parts of the expression that describes a metric.
pub(crate) struct Declaration<'a> {
    pub(crate) kind: Kind,
    /// The type of the labels: a tuple of keys.
    pub(crate) labels: TokenStream,
    pub(crate) number: Ident,
    pub(crate) name: &'a LitStr,
    pub(crate) unit: &'a str,
    pub(crate) description: String,
    /// The metric's location in the catalogue.
    pub(crate) place: Span,
    /// Calls on the description that add settings, such as `.budget(5000)`.
    pub(crate) settings: TokenStream,
}

impl Declaration<'_> {
    /// Generates the expression that describes the metric.
    pub(crate) fn tokens(&self, krate: &Krate) -> TokenStream {
        let Self { labels, number, name, unit, description, place, settings, .. } = self;
        let (k, kind) = (krate.private(), Ident::new(self.kind.name(), Span::mixed_site()));
        // The whole call has the location of the user's own word, because the caller's location is the metric's place in the
        // catalogue.
        let (metric, constructor) = (Ident::new("__TcMetric", *place), Ident::new("meta", *place));
        let call = quote_spanned!(*place=> #metric::<#labels, #number>::#constructor(#name, #unit, #description));
        quote_spanned! {Span::mixed_site()=> {
            use #k::#kind as #metric;
            #call #settings
        }}
    }
}

/// Generates a constant with the description of a metric, and a check of the constant, whose compile error points at `place`.
pub(crate) fn checked(constant: &Ident, meta: &TokenStream, place: Span, krate: &Krate) -> TokenStream {
    let (k, check) = (krate.private(), check(constant, place));
    quote_spanned! {Span::mixed_site()=>
        const #constant: #k::MetricMeta = #meta;
        const _: () = #check;
    }
}

/// Generates a check whose compile error explains an invalid metric.
fn check(meta: &Ident, place: Span) -> TokenStream {
    let site = place.resolved_at(Span::mixed_site());
    let panic = quote_spanned!(site=> ::core::panic!("{}", __tc_mistake.as_str()));
    quote_spanned! {site=>
        if let ::core::option::Option::Some(__tc_mistake) = #meta.mistake() { #panic }
    }
}
