//! The static that describes a callsite, and the check whether it is on.

use proc_macro2::{Span as Site, TokenStream};
use quote::quote_spanned;

use super::super::options::Options;
use super::fields;
use crate::section::Section;

/// `static __TC_CALLSITE`, registered at link time.
pub(super) fn declare(options: &Options, name: &str) -> TokenStream {
    let (k, kind) = (options.krate.private(), options.kind_variant());
    let section = Section::Spans.attributes();
    let keys = keys(options);
    let site = Site::mixed_site();
    let needs_parent = options.needs_parent.as_ref().map(|_| quote_spanned!(site=> .needs_parent()));
    let announce = options.announce.map(|seconds| quote_spanned!(site=> .announce(#seconds)));
    quote_spanned! {site=>
        #section
        static __TC_CALLSITE: #k::Callsite = #k::Callsite::new(#name, #k::Kind::#kind) #keys #needs_parent #announce;
    }
}

/// Begins a span that is current at once and ends in this call.
pub(super) fn enter(options: &Options) -> TokenStream {
    begin_by(options, "enter")
}

/// Begins a span that a future or a stream carries.
pub(super) fn begin(options: &Options) -> TokenStream {
    begin_by(options, "begin")
}

/// Begins the span of a body in whose closure this stands.
pub(super) fn start(options: &Options) -> TokenStream {
    let (k, site, fields) = (options.krate.private(), Site::mixed_site(), fields::closure(options));
    match &options.parent {
        None => quote_spanned!(site=> #k::start(__tc_start, #fields);),
        Some(parent) => quote_spanned!(site=> #k::start_under(__tc_start, || #parent, #fields);),
    }
}

fn begin_by(options: &Options, function: &str) -> TokenStream {
    let (k, site) = (options.krate.private(), Site::mixed_site());
    let fields = fields::closure(options);
    let call = match &options.parent {
        None => {
            let function = syn::Ident::new(function, site);
            quote_spanned!(site=> #k::#function(&__TC_CALLSITE, #fields))
        }
        Some(parent) => {
            let function = syn::Ident::new(&format!("{function}_under"), site);
            quote_spanned!(site=> #k::#function(&__TC_CALLSITE, || #parent, #fields))
        }
    };
    quote_spanned!(site=> if __TC_CALLSITE.is_on() { #call } else { ::core::option::Option::None })
}

/// The keys that a span of this callsite may carry, for the catalogue.
fn keys(options: &Options) -> Option<TokenStream> {
    let (k, site) = (options.krate.private(), Site::mixed_site());
    let fields = options.attrs.iter().chain(&options.result).chain(&options.share).map(|field| &field.key);
    let keys: Vec<TokenStream> = fields.map(|key| quote_spanned!(site=> #key)).chain(fields::database_keys(options)).collect();
    (!keys.is_empty()).then(|| quote_spanned!(site=> .keys(&[#(<#keys as #k::Key>::META),*])))
}
