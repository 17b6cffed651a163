//! The static that describes a callsite, and the check whether it is on.

use proc_macro2::{Span as Site, TokenStream};
use quote::quote_spanned;

use super::super::model::Wrapped;
use super::super::options::Options;
use super::super::telemetry::Telemetry;
use super::runtime::beginning;
use super::{fields, meter};

/// `static __TC_CALLSITE`, registered at link time, behind the metrics and the aliases of the keys.
pub(super) fn declare(wrapped: &Wrapped) -> TokenStream {
    let meter = meter::declare(wrapped);
    let callsite = declare_alone(&wrapped.telemetry);
    quote_spanned!(Site::mixed_site()=> #meter #callsite)
}

/// The same without the metrics.
pub(super) fn declare_alone(telemetry: &Telemetry) -> TokenStream {
    let (site, options) = (Site::mixed_site(), &telemetry.options);
    let (k, source) = (options.krate.private(), options.krate.source());
    let Some(name) = &telemetry.name else {
        return quote_spanned! {site=>
            #k::in_section! { spans
                static __TC_CALLSITE: #k::Callsite = #k::Callsite::metered(&__TC_METER, #source);
            }
        };
    };
    let keys = keys(options);
    let kind = options.kind_variant().map(|kind| quote_spanned!(site=> .of_kind(#k::Kind::#kind)));
    let needs_parent = options.needs_parent.as_ref().map(|_| quote_spanned!(site=> .needs_parent()));
    let announce = options.announce.map(|seconds| quote_spanned!(site=> .announce(#seconds)));
    let meter = telemetry.metrics.as_ref().map(|_| quote_spanned!(site=> .meter(&__TC_METER)));
    let aliases = fields::aliases(options.fields());
    quote_spanned! {site=>
        #aliases
        #k::in_section! { spans
            static __TC_CALLSITE: #k::Callsite =
                #k::Callsite::new(#name, #source) #kind #keys #needs_parent #announce #meter;
        }
    }
}

/// Begins a span that is current at once and ends in this call.
pub(super) fn enter(telemetry: &Telemetry) -> TokenStream {
    begin_by("enter", telemetry, &TokenStream::new())
}

/// Begins a span that a future or a stream carries.
pub(super) fn begin(telemetry: &Telemetry) -> TokenStream {
    begin_with(telemetry, &TokenStream::new())
}

/// The same, after statements that bind what its fields use.
pub(super) fn begin_with(telemetry: &Telemetry, bindings: &TokenStream) -> TokenStream {
    begin_by("begin", telemetry, bindings)
}

/// Begins the span of a body in whose closure this stands.
pub(super) fn start(telemetry: &Telemetry) -> TokenStream {
    let call = call(telemetry, "start", &quote_spanned!(Site::mixed_site()=> __tc_start));
    quote_spanned!(Site::mixed_site()=> #call;)
}

fn begin_by(function: &str, telemetry: &Telemetry, bindings: &TokenStream) -> TokenStream {
    let site = Site::mixed_site();
    let call = call(telemetry, function, &quote_spanned!(site=> &__TC_CALLSITE));
    quote_spanned!(site=> if __TC_CALLSITE.is_on() { #bindings #call } else { ::core::option::Option::None })
}

/// A call of the runtime's `function`, or of its variant for a parent, for metrics, or for metrics alone.
fn call(telemetry: &Telemetry, function: &str, first: &TokenStream) -> TokenStream {
    let options = &telemetry.options;
    // A type error in the parent should point at the parent.
    let site = options.parent.as_ref().map_or_else(Site::mixed_site, fields::site_of);
    let parent = options.parent.as_ref().map(|parent| quote_spanned!(site=> || #parent));
    let fields = telemetry.name.as_ref().map(|_| fields::closure(options));
    let labels = telemetry.metrics.as_ref().map(|metrics| meter::labels(metrics, &options.krate));
    let arguments = [Some(first.clone()), parent, fields, labels].into_iter().flatten();
    let (k, function) = (options.krate.private_at(site), beginning(function, telemetry, site));
    quote_spanned!(site=> #k::#function(#(#arguments),*))
}

/// The keys that a span of this callsite may carry, for the catalogue.
fn keys(options: &Options) -> Option<TokenStream> {
    let (k, site) = (options.krate.private(), Site::mixed_site());
    let fields = options.attrs.iter().chain(&options.result).chain(&options.share).map(|field| &field.alias);
    let keys: Vec<TokenStream> =
        fields.map(|key| quote_spanned!(site=> #key)).chain(fields::database_keys(options)).collect();
    (!keys.is_empty()).then(|| quote_spanned!(site=> .keys(&[#(<#keys as #k::Key>::META),*])))
}
