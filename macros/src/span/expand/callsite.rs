//! The static that describes a callsite, and the check whether it is on.

use proc_macro2::{Ident, Span as Site, TokenStream};
use quote::{format_ident, quote_spanned};

use super::super::options::Options;
use super::fields;
use crate::section::Section;

/// `static __TC_CALLSITE`, registered at link time, and the aliases of the keys.
pub(super) fn declare(options: &Options, name: &str) -> TokenStream {
    let (k, kind) = (options.krate.private(), options.kind_variant());
    let section = Section::Spans.attributes();
    let keys = keys(options);
    let site = Site::mixed_site();
    let needs_parent = options.needs_parent.as_ref().map(|_| quote_spanned!(site=> .needs_parent()));
    let announce = options.announce.map(|seconds| quote_spanned!(site=> .announce(#seconds)));
    let aliases = fields::aliases(options);
    quote_spanned! {site=>
        #aliases
        #section
        static __TC_CALLSITE: #k::Callsite = #k::Callsite::new(#name, #k::Kind::#kind) #keys #needs_parent #announce;
    }
}

/// Begins a span that is current at once and ends in this call.
pub(super) fn enter(options: &Options) -> TokenStream {
    begin_by("enter", options, &TokenStream::new())
}

/// Begins a span that a future or a stream carries.
pub(super) fn begin(options: &Options) -> TokenStream {
    begin_with(options, &TokenStream::new())
}

/// The same, after statements that bind what its fields use.
pub(super) fn begin_with(options: &Options, bindings: &TokenStream) -> TokenStream {
    begin_by("begin", options, bindings)
}

/// Begins the span of a body in whose closure this stands.
pub(super) fn start(options: &Options) -> TokenStream {
    let call = call(options, "start", &quote_spanned!(Site::mixed_site()=> __tc_start));
    quote_spanned!(Site::mixed_site()=> #call;)
}

fn begin_by(function: &str, options: &Options, bindings: &TokenStream) -> TokenStream {
    let site = Site::mixed_site();
    let call = call(options, function, &quote_spanned!(site=> &__TC_CALLSITE));
    quote_spanned!(site=> if __TC_CALLSITE.is_on() { #bindings #call } else { ::core::option::Option::None })
}

/// A call of the runtime's `function`, or of its variant that takes a parent.
fn call(options: &Options, function: &str, first: &TokenStream) -> TokenStream {
    let fields = fields::closure(options);
    let Some(parent) = &options.parent else {
        let (k, function) = (options.krate.private(), Ident::new(function, Site::mixed_site()));
        return quote_spanned!(Site::mixed_site()=> #k::#function(#first, #fields));
    };
    // A type error in the parent should point at the parent.
    let site = fields::site_of(parent);
    let (k, function) = (options.krate.private_at(site), format_ident!("{function}_under", span = site));
    quote_spanned!(site=> #k::#function(#first, || #parent, #fields))
}

/// The keys that a span of this callsite may carry, for the catalogue.
fn keys(options: &Options) -> Option<TokenStream> {
    let (k, site) = (options.krate.private(), Site::mixed_site());
    let fields = options.attrs.iter().chain(&options.result).chain(&options.share).map(|field| &field.alias);
    let keys: Vec<TokenStream> =
        fields.map(|key| quote_spanned!(site=> #key)).chain(fields::database_keys(options)).collect();
    (!keys.is_empty()).then(|| quote_spanned!(site=> .keys(&[#(<#keys as #k::Key>::META),*])))
}
