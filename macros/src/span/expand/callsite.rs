//! Generates the static of a callsite, and the code that begins a span or metrics there.

use proc_macro2::{Span as Site, TokenStream};
use quote::quote_spanned;

use super::super::model::Wrapped;
use super::super::options::Options;
use super::super::telemetry::Telemetry;
use super::{fields, meter};
use crate::krate::{Krate, declaring_crate};

/// Generates `static __TC_CALLSITE`, registered at link time, after the metrics and the aliases of the keys.
pub(super) fn declare(wrapped: &Wrapped) -> TokenStream {
    let meter = meter::declare(wrapped);
    let callsite = declare_at(&wrapped.telemetry, wrapped.opening());
    quote_spanned!(wrapped.opening()=> #meter #callsite)
}

/// Generates `static __TC_CALLSITE` and the aliases of the keys, without the metrics.
pub(super) fn declare_at(telemetry: &Telemetry, site: Site) -> TokenStream {
    let options = &telemetry.options;
    let k = options.krate.private_as_of(site);
    let new = new(telemetry, site);
    let keys = keys(options, site);
    let kind = options.kind_variant().map(|kind| quote_spanned!(site=> .of_kind(#k::Kind::#kind)));
    let needs_parent = options.needs_parent.as_ref().map(|_| quote_spanned!(site=> .needs_parent()));
    let heartbeat = options.heartbeat.map(|seconds| quote_spanned!(site=> .heartbeat(#seconds)));
    let busy = options.busy.as_ref().map(|_| quote_spanned!(site=> .busy()));
    let names_parent = options.parent.as_ref().map(|_| quote_spanned!(site=> .names_parent()));
    let meter = telemetry.metrics.as_ref().map(|_| quote_spanned!(site=> .meter(&__TC_METER)));
    let aliases = fields::aliases(options);
    let item = quote_spanned! {site=>
        static __TC_CALLSITE: #k::Callsite = #new #kind #keys #names_parent #needs_parent #heartbeat #busy #meter;
    };
    let item = options.krate.in_spans(&item, site);
    quote_spanned!(site=> #aliases #item)
}

/// Generates `static __TC_CALLSITE` of a span with nothing but a name. `place` is the location of the name.
pub(crate) fn plain(krate: &Krate, name: &str, place: Site, site: Site) -> TokenStream {
    let (k, new) = (krate.private_as_of(site), named(krate, name, place));
    krate.in_spans(&quote_spanned!(site=> static __TC_CALLSITE: #k::Callsite = #new;), site)
}

fn new(telemetry: &Telemetry, site: Site) -> TokenStream {
    let place = telemetry.options.name.as_ref().map_or(site, syn::LitStr::span);
    named(&telemetry.options.krate, telemetry.name.as_deref().unwrap_or_default(), place)
}

/// Generates the call that creates the callsite from its name and crate. The location of the name becomes that of the callsite.
fn named(krate: &Krate, name: &str, place: Site) -> TokenStream {
    let (package, version) = declaring_crate();
    let (text, bytes) = (format!("{name}\n{package}\n{version}"), name.len() as u16);
    let k = krate.private_as_of(place);
    quote_spanned!(place=> #k::callsite(#text, #bytes))
}

/// Generates the callsite argument of the runtime's functions.
pub(super) fn reference(telemetry: &Telemetry, site: Site) -> TokenStream {
    let k = telemetry.options.krate.private_as_of(site);
    match telemetry.metrics {
        Some(_) => quote_spanned!(site=> #k::Metered(&__TC_CALLSITE)),
        None => quote_spanned!(site=> &__TC_CALLSITE),
    }
}

/// Returns whether the telemetry is only a span: no metrics, no fields and no `parent` option.
pub(super) fn is_plain(telemetry: &Telemetry) -> bool {
    telemetry.metrics.is_none() && telemetry.options.parent.is_none() && !telemetry.options.has_fields()
}

/// Generates the expression that begins the span and metrics of a future or stream. `bindings` bind the variables that the fields
/// use.
pub(super) fn begin(telemetry: &Telemetry, bindings: &TokenStream, site: Site) -> TokenStream {
    let (k, reference) = (telemetry.options.krate.private_as_of(site), reference(telemetry, site));
    let begin = beginning(telemetry, site);
    match bindings.is_empty() {
        true => quote_spanned!(site=> #k::begin(#reference, |__tc_begin| #begin)),
        false => quote_spanned!(site=> #k::begin(#reference, |__tc_begin| { #bindings #begin; })),
    }
}

/// Generates the expression that begins the span and metrics, and returns a guard of the entered span.
pub(super) fn enter(telemetry: &Telemetry, site: Site) -> TokenStream {
    let (k, reference) = (telemetry.options.krate.private_as_of(site), reference(telemetry, site));
    let begin = beginning(telemetry, site);
    quote_spanned!(site=> #k::enter(#reference, |__tc_begin| #begin))
}

/// Generates the calls of `__tc_begin` that set labels, parent and fields.
pub(super) fn beginning(telemetry: &Telemetry, site: Site) -> TokenStream {
    let options = &telemetry.options;
    let labels = telemetry.metrics.as_ref().map(|metrics| {
        let labels = meter::labels(metrics, &options.krate);
        quote_spanned!(site=> .labels(#labels))
    });
    let start = match (&telemetry.name, &options.parent) {
        (None, _) => quote_spanned!(site=> .start()),
        (Some(_), None) => {
            let fields = fields::closure(options, site);
            quote_spanned!(site=> .span(#fields))
        }
        (Some(_), Some(parent)) => {
            let fields = fields::closure(options, site);
            // Placed at the parent, so that a type error in it points there.
            quote_spanned!(fields::site_of(parent)=> .span_under(|| #parent, #fields))
        }
    };
    quote_spanned!(site=> __tc_begin #labels #start)
}

/// Generates the list of keys that a span of this callsite may have, for the catalogue.
fn keys(options: &Options, site: Site) -> Option<TokenStream> {
    let k = options.krate.private_as_of(site);
    let fields = options.attrs.iter().chain(&options.result).chain(&options.share).map(|field| &field.alias);
    let keys: Vec<TokenStream> =
        fields.map(|key| quote_spanned!(site=> #key)).chain(fields::database_keys(options)).collect();
    (!keys.is_empty()).then(|| quote_spanned!(site=> .keys(&(&[#(<#keys as #k::Key>::META),*] as &[_]))))
}
