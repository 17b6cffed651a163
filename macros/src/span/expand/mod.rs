//! Writes the generated code of a span. Nothing here can fail.
//!
//! Every token of ours has `Span::mixed_site`, so that our locals and the user's never meet. Nothing comes from the
//! prelude, paths are absolute, and the body goes through as the tokens that came in.

mod asynchronous;
mod call;
mod callsite;
mod fields;
mod handler;
mod made;
mod off;
mod scope;

use proc_macro2::{Group, Span as Site, TokenStream};
use quote::{ToTokens, quote_spanned};

pub(crate) use scope::{scope, scope_error};

use super::model::{Form, Span};

/// The function with its span.
pub(crate) fn function(span: &Span) -> TokenStream {
    if cfg!(feature = "off") {
        return off::function(span);
    }
    match &span.form {
        Form::Call => call::observed(span),
        Form::Guarded => call::guarded(span),
        Form::Async => asynchronous::future(span),
        Form::KeptAsync => asynchronous::kept(span),
        Form::AsyncStream => asynchronous::stream(span),
        Form::Future { opaque, tail } => made::future(span, *opaque, tail.as_ref()),
        Form::Stream { opaque, tail } => made::stream(span, *opaque, tail.as_ref()),
    }
}

/// The function around a new body; `sig` is its signature.
fn with_body(span: &Span, sig: &impl ToTokens, body: &TokenStream) -> TokenStream {
    let (attrs, vis, hoisted) = (&span.function.attrs, &span.function.vis, &span.hoisted);
    quote_spanned!(Site::mixed_site()=> #(#attrs)* #hoisted #vis #sig { #body })
}

/// The function with its own body, to which something was added.
fn with_group(span: &Span, body: &Group) -> TokenStream {
    let (attrs, vis, hoisted, sig) = (&span.function.attrs, &span.function.vis, &span.hoisted, &span.function.sig);
    quote_spanned!(Site::mixed_site()=> #(#attrs)* #hoisted #vis #sig #body)
}
