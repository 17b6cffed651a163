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

use super::body::{is_lone_expression, regroup};
use super::model::{Form, Span};

/// The function, with its span unless telemetry is compiled out.
pub(crate) fn function(span: &Span) -> TokenStream {
    if cfg!(feature = "off") { compiled_out(span) } else { instrumented(span) }
}

/// The function with its span.
pub(crate) fn instrumented(span: &Span) -> TokenStream {
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

/// The function without its span.
pub(crate) fn compiled_out(span: &Span) -> TokenStream {
    off::function(span)
}

/// The function around a new body; `sig` is its signature.
///
/// The braces stay the user's: the compiler takes an item that ends in our tokens for ours, and would no longer say that
/// it is never used.
fn with_body(span: &Span, sig: &impl ToTokens, body: TokenStream) -> TokenStream {
    with_group(span, sig, &regroup(&span.body, body))
}

/// The body after some statements of ours, as a block of its own.
///
/// Only an expression without anything around it goes without its braces, of which the compiler would warn as needless.
/// Our own statements in the user's block would have clippy warn that items at its top come late.
fn after(statements: &TokenStream, body: &Group) -> TokenStream {
    match is_lone_expression(body) {
        true => {
            let expression = body.stream();
            quote_spanned!(Site::mixed_site()=> #statements #expression)
        }
        false => quote_spanned!(Site::mixed_site()=> #statements #body),
    }
}

fn with_group(span: &Span, sig: &impl ToTokens, body: &Group) -> TokenStream {
    let (attrs, vis, hoisted) = (&span.function.attrs, &span.function.vis, &span.hoisted);
    quote_spanned!(Site::mixed_site()=> #(#attrs)* #hoisted #vis #sig #body)
}
