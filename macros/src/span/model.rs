//! The checked model of a function and its telemetry, from which the expansion is generated.

mod metrics;

use proc_macro2::{Group, Span as Site, TokenStream};
use syn::{ReturnType, Type};

use super::attributes;
use super::body::{Makes, Tail, hoist_inner_attributes};
use super::item::Function;
use super::options::{self, Cover, Field, Options};
use super::shape::{Made, Shape, inferred, named_result, never_result};
use super::telemetry::Telemetry;
use crate::diagnostics::Errors;

/// A function with its telemetry.
pub(crate) struct Wrapped {
    pub(crate) telemetry: Telemetry,
    pub(crate) function: Function,
    /// Inner attributes (`#![..]`) from the top of the body.
    pub(crate) hoisted: TokenStream,
    /// The body without `hoisted`.
    pub(crate) body: Group,
    pub(crate) form: Form,
    /// The value that the span observes.
    pub(crate) observe: Observe,
    /// The value that the metrics observe.
    pub(crate) judge: Observe,
    /// The type through which the metrics find the possible error types.
    pub(crate) error_set: Option<TokenStream>,
}

/// The form of the generated function.
pub(crate) enum Form {
    /// The span covers the call.
    Call,
    /// The span covers the call, and the body must not move into a closure: for `#[track_caller]`, and where the compiler infers
    /// the types of closures in the body from an `impl Fn(..)` in the signature.
    Guarded,
    /// An `async fn`, which becomes a `fn` that returns a future.
    Async,
    /// An `async fn` that has to remain one.
    KeptAsync,
    /// An `async fn` that returns a stream. The span covers the future and then the stream.
    AsyncStream,
    /// A function that returns a future, which the span covers.
    Future { opaque: bool, tail: Option<Tail> },
    /// A function that returns a stream, which the span covers.
    Stream { opaque: bool, tail: Option<Tail> },
}

/// The value that is observed at the end of a call.
pub(crate) enum Observe {
    /// No value: it is certainly not a `Result`, or the options exclude it.
    Nothing,
    /// The value, with its type where the compiler may not have inferred the type yet.
    Value(Option<Box<Type>>),
}

impl Wrapped {
    /// Checks telemetry and function against each other; adds mistakes to `errors`.
    pub(crate) fn new(telemetry: Telemetry, function: Function, errors: &mut Errors) -> Self {
        check_function(&telemetry, &function, errors);
        let (hoisted, body) = hoist_inner_attributes(&function.body);
        let (form, output) = match function.sig.asyncness {
            Some(_) => asynchronous(&telemetry, &function, errors),
            None => plain(&telemetry, &function, &body, errors),
        };
        let (options, metrics) = (&telemetry.options, telemetry.metrics.as_ref());
        match &form {
            Form::Guarded => check_guarded(options, &function, errors),
            Form::Future { tail, .. } | Form::Stream { tail, .. } => check_in_place(tail.as_ref(), &function, errors),
            _ => {}
        }
        if let (Some(err_if), true) = (&options.err_if, output.as_ref().is_some_and(never_result)) {
            errors.at(
                err_if,
                "`err_if` examines the error of a `Result`, and this function returns no `Result`; remove it",
            );
        }
        check_busy(options, &function, &form, errors);
        if let Some(metrics) = metrics {
            metrics::check(metrics, options, &function, &form, errors);
        }
        let observe = telemetry.name.as_ref().map(|_| observed(options, &options.result, &form, output.as_ref()));
        let judge = metrics.map(|metrics| observed(options, &metrics.results, &form, output.as_ref()));
        let seen = output.as_ref().filter(|_| options.no_err.is_none() && !constructs(options));
        let error_set = metrics.and_then(|metrics| metrics.error_set(seen, &function.sig));
        let (observe, judge) = (observe.unwrap_or(Observe::Nothing), judge.unwrap_or(Observe::Nothing));
        Self { telemetry, function, hoisted, body, form, observe, judge, error_set }
    }
}

impl Wrapped {
    /// Returns the location of generated code that the compiler should treat as the user's.
    pub(crate) fn site(&self) -> Site {
        self.body.span()
    }

    /// Returns the location of generated statics: inside the user's function, but not around its code, which lints would treat as
    /// part of a constant.
    pub(crate) fn opening(&self) -> Site {
        self.body.span_open()
    }
}

/// Returns the name of the span. A missing name is reported, and an empty text returned.
pub(crate) fn name(options: &Options, function: &Function, errors: &mut Errors) -> String {
    match (&options.name, &options.database) {
        (Some(name), _) => name.value(),
        (None, Some(database)) => database.static_name().unwrap_or_else(|| "db".to_owned()),
        (None, None) if options.name_mistaken => String::new(),
        (None, None) => {
            errors.at(&function.sig.ident, options::missing(&function.sig.ident));
            String::new()
        }
    }
}

fn check_function(telemetry: &Telemetry, function: &Function, errors: &mut Errors) {
    if let Some(constness) = &function.sig.constness {
        let what = if telemetry.name.is_some() { "spans" } else { "metrics" };
        errors.at(
            constness,
            format_args!(
                "a `const fn` may run at compile time, where there are no {what}; remove `const` or the attribute"
            ),
        );
    }
    if let Some(second) = function.attrs.iter().find(|attr| attributes::is_span(attr)) {
        errors.at(second, ONE_SPAN);
    }
    if let Some(second) = function.attrs.iter().find(|attr| attributes::is_metric(attr)) {
        errors.at(second, ONE_METRIC);
    }
}

fn check_guarded(options: &Options, function: &Function, errors: &mut Errors) {
    if let Some(result) = options.written("result") {
        errors
            .at(result, "a `#[track_caller]` function cannot report its result; remove `result` or `#[track_caller]`");
    }
    if let (ReturnType::Type(_, ty), None) = (&function.sig.output, &options.no_err)
        && named_result(ty)
    {
        errors
            .at(ty, "a `#[track_caller]` function cannot report its errors; add `no_err`, or remove `#[track_caller]`");
    }
}

/// Reports `busy` on a function that returns no future or stream. A return type that may be an alias of a future is accepted.
fn check_busy(options: &Options, function: &Function, form: &Form, errors: &mut Errors) {
    let is_call = matches!(form, Form::Call | Form::Guarded) && !constructs(options);
    let never_future = |ty: Type| never_result(&ty) || named_result(&ty);
    if let (Some(busy), true) = (&options.busy, is_call && return_type(function).is_none_or(never_future)) {
        errors.at(busy, "`busy` measures the time in polls, and this function returns no future or stream; remove it");
    }
}

/// Reports `#[track_caller]` on a function whose future or stream is not visibly created at the end of the body: it would be
/// created in a closure, which has another caller.
fn check_in_place(tail: Option<&Tail>, function: &Function, errors: &mut Errors) {
    let moves = tail.is_none_or(|tail| !tail.is_only_exit());
    if let (true, Some(attribute)) = (moves, attributes::track_caller(&function.attrs)) {
        errors.at(attribute, LOSES_CALLER);
    }
}

/// Returns the form of an `async fn`, and the type of its output or of the stream's items, if known.
fn asynchronous(telemetry: &Telemetry, function: &Function, errors: &mut Errors) -> (Form, Option<Type>) {
    let (options, output) = (&telemetry.options, return_type(function));
    let cover = options.cover.as_ref().map(|(cover, _)| *cover);
    match (Shape::of(&function.sig.output), cover) {
        (Shape::Stream(Made { opaque: true, output }), Some(Cover::Stream)) => return (Form::AsyncStream, output),
        (Shape::Stream(_), Some(Cover::Stream)) => errors.at(
            &function.sig.output,
            "`stream` on an `async fn` needs the return type `impl Stream<..>`; return that, or time only the construction with `construct`",
        ),
        (Shape::Stream(_), None | Some(Cover::Future)) => errors.at(&function.sig.output, makes(telemetry, "stream")),
        (_, Some(Cover::Stream)) => errors.at(&options.cover.as_ref().expect("just matched").1, NO_STREAM),
        _ => {}
    }
    match attributes::demand_async(&function.attrs) {
        true => (Form::KeptAsync, output),
        false => (Form::Async, output),
    }
}

/// Returns the form of a function that is not `async`, and the type of its value, of the future's output or of the stream's
/// items, if known.
fn plain(telemetry: &Telemetry, function: &Function, body: &Group, errors: &mut Errors) -> (Form, Option<Type>) {
    let options = &telemetry.options;
    let tail = Tail::find(body);
    let cover = options.cover.as_ref().map(|(cover, _)| *cover);
    match (Shape::of(&function.sig.output), cover) {
        (_, Some(Cover::Construct)) => (call(telemetry, function), return_type(function)),
        (Shape::Future(made), None | Some(Cover::Future)) => {
            let tail = tail.filter(|tail| tail.makes == Makes::Future);
            (Form::Future { opaque: made.opaque, tail }, made.output)
        }
        (Shape::Stream(made), None | Some(Cover::Stream)) => {
            let tail = tail.filter(|tail| tail.makes == Makes::Stream);
            (Form::Stream { opaque: made.opaque, tail }, made.output)
        }
        (_, Some(Cover::Future)) => named(options, function, Makes::Future, errors),
        (_, Some(Cover::Stream)) => named(options, function, Makes::Stream, errors),
        (_, None) => (call(telemetry, function), return_type(function)),
    }
}

/// Returns the form for the option `future` or `stream` on a type that does not look like a future or stream, because it may be
/// an alias or the user's own type. Reports the option if the type is certainly something else.
fn named(options: &Options, function: &Function, makes: Makes, errors: &mut Errors) -> (Form, Option<Type>) {
    let returned = return_type(function);
    let written = options.cover.as_ref().map(|(_, written)| written);
    let stream_for_future = matches!(Shape::of(&function.sig.output), Shape::Stream(_) | Shape::Future(_));
    if stream_for_future || returned.is_none_or(|ty| never_result(&ty)) {
        errors.at(written, if makes == Makes::Future { NO_FUTURE } else { NO_STREAM });
    }
    match makes {
        Makes::Future => (Form::Future { opaque: false, tail: None }, None),
        Makes::Stream => (Form::Stream { opaque: false, tail: None }, None),
    }
}

fn call(telemetry: &Telemetry, function: &Function) -> Form {
    let opaque = return_type(function).is_some_and(|ty| inferred(&ty).is_none()) && !telemetry.uses_result();
    if opaque || attributes::track_caller(&function.attrs).is_some() { Form::Guarded } else { Form::Call }
}

/// Decides whether the value is observed: for errors, or for `fields` that are derived from it.
fn observed(options: &Options, fields: &[Field], form: &Form, output: Option<&Type>) -> Observe {
    let of_call = matches!(form, Form::Call | Form::Async | Form::KeptAsync);
    let never = output.map_or(of_call, never_result);
    if constructs(options) || (fields.is_empty() && (never || options.no_err.is_some())) {
        return Observe::Nothing;
    }
    Observe::Value(output.filter(|_| !of_call).map(|ty| Box::new(ty.clone())))
}

fn constructs(options: &Options) -> bool {
    matches!(&options.cover, Some((Cover::Construct, _)))
}

fn return_type(function: &Function) -> Option<Type> {
    match &function.sig.output {
        ReturnType::Type(_, ty) => Some((**ty).clone()),
        ReturnType::Default => None,
    }
}

/// Returns the error for a function that returns `made`, a future or a stream, without the option that covers it.
fn makes(telemetry: &Telemetry, made: &str) -> String {
    let what = telemetry.subject();
    format!(
        "this function returns a {made}, and {what} would only time its construction; \
         add `{made}` to cover it to its end, or `construct` to time only the construction"
    )
}

pub(crate) const ONE_SPAN: &str = "a function has one span; remove one of the two `tc_span`";
pub(crate) const ONE_METRIC: &str = "a function has one `tc_metric`; put all its metrics into one";
const LOSES_CALLER: &str = "with `#[track_caller]` the function has to end with the async block that it returns, \
    as in `Box::pin(async move { .. })`; otherwise remove `#[track_caller]`, or time only the call with \
    `construct`";
const NO_FUTURE: &str = "`future` is for functions that return a future; remove it";
const NO_STREAM: &str = "`stream` is for functions that return a stream; remove it";

#[cfg(test)]
mod tests;
