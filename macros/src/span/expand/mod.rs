//! Generates the code of a span, of metrics, or of both. Nothing here can fail.
//!
//! The tokens of the common forms have the location of the user's body, as if written by the user: code with other locations is
//! checked again whenever a line above it changes. All other tokens have `Span::mixed_site`, so that our locals and the user's
//! never clash. Nothing comes from the prelude, paths are absolute, and the tokens of the body are passed through unchanged.

mod asynchronous;
mod call;
mod callsite;
mod fields;
mod made;
mod meter;
mod observer;
mod off;
mod scope;

use proc_macro2::{Delimiter, Group, Span as Site, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};

pub(crate) use callsite::plain as plain_callsite;
pub(crate) use observer::{of_type, otherwise};
pub(crate) use scope::{scope, scope_error};

use super::body::{is_lone_expression, regroup};
use super::model::{Form, Wrapped};

/// Generates the function with its telemetry, or without if telemetry is compiled out.
pub(crate) fn function(wrapped: &Wrapped) -> TokenStream {
    if cfg!(feature = "off") { compiled_out(wrapped) } else { instrumented(wrapped) }
}

/// Generates the function with its telemetry.
pub(crate) fn instrumented(wrapped: &Wrapped) -> TokenStream {
    match &wrapped.form {
        Form::Call => call::observed(wrapped),
        Form::Guarded => call::guarded(wrapped),
        Form::Async => asynchronous::future(wrapped),
        Form::KeptAsync => asynchronous::kept(wrapped),
        Form::AsyncStream => asynchronous::stream(wrapped),
        Form::Future { opaque, tail } => made::future(wrapped, *opaque, tail.as_ref()),
        Form::Stream { opaque, tail } => made::stream(wrapped, *opaque, tail.as_ref()),
    }
}

/// Generates the function without its telemetry, and checks the user's expressions.
pub(crate) fn compiled_out(wrapped: &Wrapped) -> TokenStream {
    off::function(wrapped)
}

/// Generates the function with a new body; `sig` is its signature.
///
/// Keeps the user's braces: if an item ends in our tokens, the compiler treats it as generated, and no longer warns that it is
/// unused.
fn with_body(wrapped: &Wrapped, sig: &impl ToTokens, body: TokenStream) -> TokenStream {
    with_group(wrapped, sig, &regroup(&wrapped.body, body))
}

/// Generates our statements, followed by the body as a nested block.
///
/// Only a single expression is written without braces, which the compiler would report as needless. If our statements and the body
/// were in one block, clippy would report the body's items, because they follow statements.
fn after(statements: &TokenStream, body: &Group, site: Site) -> TokenStream {
    match is_lone_expression(body) {
        true => {
            let expression = body.stream();
            quote_spanned!(site=> #statements #expression)
        }
        false => quote_spanned!(site=> #statements #body),
    }
}

/// Wraps our statements and the body in the user's braces, in which lints look for the end of a function. If the statements bind
/// variables, a second pair of braces inside has our edition: before edition 2024 the temporaries at the end of a block, which may
/// borrow these variables, outlive them.
fn in_our_edition(tokens: &TokenStream, binds: bool, site: Site) -> Group {
    let braces = |tokens, site| {
        let mut block = Group::new(Delimiter::Brace, tokens);
        block.set_span(site);
        block
    };
    let inside = match binds {
        true => TokenTree::from(braces(tokens.clone(), site.resolved_at(Site::mixed_site()))).into(),
        false => tokens.clone(),
    };
    braces(inside, site)
}

fn with_group(wrapped: &Wrapped, sig: &impl ToTokens, body: &Group) -> TokenStream {
    let (attrs, vis, hoisted) = (&wrapped.function.attrs, &wrapped.function.vis, &wrapped.hoisted);
    quote_spanned!(Site::mixed_site()=> #(#attrs)* #hoisted #vis #sig #body)
}
