//! The function that looks at a value when the span ends.

use proc_macro2::{Span as Site, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, Type};

use super::super::model::{Observe, Span};
use super::super::options::Field;
use super::super::shape::inferred;
use super::fields::site_of;

/// An expression that takes the value and the end of the span.
pub(super) fn handler(span: &Span) -> TokenStream {
    let (k, site) = (span.options.krate.private(), Site::mixed_site());
    let Observe::Value(ty) = &span.observe else {
        return quote_spanned!(site=> #k::unobserved);
    };
    let ty = annotation(ty.as_deref());
    let report = report(span);
    let fields = fields(span);
    quote_spanned!(site=> |__tc_result #ty, __tc_end| { #report #fields })
}

/// Names the type where it comes from the signature only, and the body may leave it open: `async { Ok(()) }`.
fn annotation(ty: Option<&Type>) -> Option<TokenStream> {
    let ty = inferred(ty?)?;
    Some(quote_spanned!(Site::mixed_site()=> : &#ty))
}

/// Tells an `Err` from everything else by type, not by spelling.
fn report(span: &Span) -> Option<TokenStream> {
    let (k, site) = (span.options.krate.private(), Site::mixed_site());
    let method = match (&span.options.no_err, &span.options.no_message) {
        (Some(_), _) => return None,
        (None, Some(_)) => quote_spanned!(site=> report_type),
        (None, None) => quote_spanned!(site=> report),
    };
    let report = quote_spanned!(site=> use #k::probe::*; (&&&Probe(__tc_result)).#method(__tc_end););
    // The traits of the probe must not be in scope for the user's closures.
    Some(if span.options.result.is_empty() { report } else { quote_spanned!(site=> { #report }) })
}

fn fields(span: &Span) -> Option<TokenStream> {
    (!span.options.result.is_empty()).then(|| set_fields(span, "__tc_end"))
}

/// Sets the fields of `result(..)` on `target`, from the value in `__tc_result`.
pub(super) fn set_fields(span: &Span, target: &str) -> TokenStream {
    let (k, site) = (span.options.krate.private(), Site::mixed_site());
    let target = Ident::new(target, site);
    let sets = span.options.result.iter().enumerate().map(|(index, Field { value, alias, .. })| {
        let (method, success) = (Ident::new("attr", alias.span()), quote_spanned!(site=> __tc_value));
        // A variable at the closure, because the compiler points at it if what the closure returns has the wrong type.
        let field = format_ident!("__tc_field{index}", span = value.span());
        quote_spanned! {site_of(value)=>
            let #field = #k::apply(#success, #value);
            #target.#method::<#alias>(#field);
        }
    });
    // The user's closure looks redundant only because of what is generated around it.
    quote_spanned! {site=>
        #[allow(clippy::redundant_closure, clippy::redundant_closure_for_method_calls)]
        if let ::core::option::Option::Some(__tc_value) = { use #k::probe::*; (&Probe(__tc_result)).success() } {
            #(#sets)*
        }
    }
}
