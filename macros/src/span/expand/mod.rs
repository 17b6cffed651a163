//! Writes the generated code of a span, of metrics, or of both. Nothing here can fail.
//!
//! The tokens of the common forms have the place of the user's body, as if the user had written them: the compiler checks
//! again what has other tokens whenever a line above it changes. All else has `Span::mixed_site`, so that our locals and
//! the user's never meet. Nothing comes from the prelude, paths are absolute, and the body goes through as the tokens that
//! came in.

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

/// The function, with its telemetry unless that is compiled out.
pub(crate) fn function(wrapped: &Wrapped) -> TokenStream {
    if cfg!(feature = "off") { compiled_out(wrapped) } else { instrumented(wrapped) }
}

/// The function with its telemetry.
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

/// The function without its telemetry.
pub(crate) fn compiled_out(wrapped: &Wrapped) -> TokenStream {
    off::function(wrapped)
}

/// The function around a new body; `sig` is its signature.
///
/// The braces stay the user's: the compiler takes an item that ends in our tokens for ours, and would no longer say that
/// it is never used.
fn with_body(wrapped: &Wrapped, sig: &impl ToTokens, body: TokenStream) -> TokenStream {
    with_group(wrapped, sig, &regroup(&wrapped.body, body))
}

/// The body after some statements of ours, as a block of its own.
///
/// Only an expression without anything around it goes without its braces, of which the compiler would warn as needless.
/// Our own statements in the user's block would have clippy warn that items at its top come late.
fn after(statements: &TokenStream, body: &Group, site: Site) -> TokenStream {
    match is_lone_expression(body) {
        true => {
            let expression = body.stream();
            quote_spanned!(site=> #statements #expression)
        }
        false => quote_spanned!(site=> #statements #body),
    }
}

/// Our statements and the body in the user's braces, within which lints look for the end of a function. If the statements bind variables,
/// there are braces of ours inside: before the edition of 2024 the temporaries at the end of a block, which may borrow these variables,
/// live longer than they do.
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
