//! The macros of Tracecast. Use them through the crate `tracecast`, which re-exports and documents them.
//!
//! This file contains entry points only. All other code works on `proc_macro2`, so that unit tests can call it. Each macro works
//! in three steps: parse, model, expand. The model does all checks, so the expansion cannot fail. Logic belongs to the runtime
//! crate rather than to generated code.
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

/// Records a span for each call of a function; see `tracecast::tc_span`.
#[proc_macro_attribute]
pub fn tc_span(args: TokenStream, item: TokenStream) -> TokenStream {
    span::attribute(args.into(), item.into()).into()
}

/// Records a span for each call of a function, on targets whose object files are ELF; see `tracecast::tc_span`.
#[proc_macro_attribute]
pub fn __tc_span_elf(args: TokenStream, item: TokenStream) -> TokenStream {
    krate::for_elf(|| span::attribute(args.into(), item.into()).into())
}

/// Measures the calls of a function; see `tracecast::tc_metric`.
#[proc_macro_attribute]
pub fn tc_metric(args: TokenStream, item: TokenStream) -> TokenStream {
    span::metric_attribute(args.into(), item.into()).into()
}

/// Implements `tracecast::tc_scope!`, which starts the input with `crate = path;`, the path of the runtime.
#[doc(hidden)]
#[proc_macro]
pub fn __scope(input: TokenStream) -> TokenStream {
    span::scope(input.into()).into()
}

/// Implements `tracecast::tc_keys!`, which starts the input with `crate = path;`, the path of the runtime.
#[doc(hidden)]
#[proc_macro]
pub fn __keys(input: TokenStream) -> TokenStream {
    keys::declare(input.into()).into()
}

/// Implements `tracecast::tc_metrics!`, which starts the input with `crate = path;`, the path of the runtime.
#[doc(hidden)]
#[proc_macro]
pub fn __metrics(input: TokenStream) -> TokenStream {
    metrics::declare(input.into()).into()
}

/// Implements `tracecast::tc_label_for!`, which starts the input with `crate = path;`, the path of the runtime.
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

/// Derives the closed set of `error.type` values of an error; see `tracecast::TcError`.
#[proc_macro_derive(TcError, attributes(tc_error))]
pub fn derive_error(input: TokenStream) -> TokenStream {
    error_type::derive(input.into()).into()
}
