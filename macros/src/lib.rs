//! The macros of Tracecast. Use them through the crate `tracecast`, which re-exports and documents them.
//!
//! This file holds entry points only. Below them everything works on `proc_macro2`, so that unit tests can call it.
//! Each macro is parse, model, expand: the model makes all checks, the expansion cannot fail, and logic lives in the
//! runtime crate rather than in generated code.
#![forbid(unsafe_code)]

mod case;
mod derive_input;
mod diagnostics;
mod entries;
mod error_type;
mod keys;
mod krate;
mod label;
mod manifest;
mod metrics;
mod option_list;
mod span;
mod suggest;

use proc_macro::TokenStream;

/// Makes a span of every call of a function; see `tracecast::tc_span`.
#[proc_macro_attribute]
pub fn tc_span(args: TokenStream, item: TokenStream) -> TokenStream {
    span::attribute(args.into(), item.into()).into()
}

/// The same, for a target with ELF files; see `tracecast::tc_span`.
#[proc_macro_attribute]
pub fn __tc_span_elf(args: TokenStream, item: TokenStream) -> TokenStream {
    krate::for_elf(|| span::attribute(args.into(), item.into()).into())
}

/// Makes metrics of the calls of a function; see `tracecast::tc_metric`.
#[proc_macro_attribute]
pub fn tc_metric(args: TokenStream, item: TokenStream) -> TokenStream {
    span::metric_attribute(args.into(), item.into()).into()
}

/// Implementation of `tracecast::tc_scope!`, which passes its own path first.
#[doc(hidden)]
#[proc_macro]
pub fn __scope(input: TokenStream) -> TokenStream {
    span::scope(input.into()).into()
}

/// Implementation of `tracecast::tc_keys!`, which passes its own path first.
#[doc(hidden)]
#[proc_macro]
pub fn __keys(input: TokenStream) -> TokenStream {
    keys::declare(input.into()).into()
}

/// Implementation of `tracecast::tc_metrics!`, which passes its own path first.
#[doc(hidden)]
#[proc_macro]
pub fn __metrics(input: TokenStream) -> TokenStream {
    metrics::declare(input.into()).into()
}

/// Implementation of `tracecast::tc_label_for!`, which passes its own path first.
#[doc(hidden)]
#[proc_macro]
pub fn __label_for(input: TokenStream) -> TokenStream {
    label::label_for(input.into()).into()
}

/// Makes an enum a closed set of label values; see `tracecast::TcLabel`.
#[proc_macro_derive(TcLabel, attributes(tc_label))]
pub fn derive_label(input: TokenStream) -> TokenStream {
    label::derive(input.into()).into()
}

/// Gives an error type its closed set of `error.type` values; see `tracecast::TcError`.
#[proc_macro_derive(TcError, attributes(tc_error))]
pub fn derive_error(input: TokenStream) -> TokenStream {
    error_type::derive(input.into()).into()
}
