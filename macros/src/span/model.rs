//! The span of one function, with everything checked: the expansion only has to write it down.

use proc_macro2::{Group, TokenStream};
use syn::{ReturnType, Type};

use super::attributes;
use super::body::{Makes, Tail, hoist_inner_attributes};
use super::item::Function;
use super::options::{self, Cover, Options};
use super::shape::{Made, Shape, inferred, named_result, never_result};
use crate::diagnostics::Errors;

/// A function and its span.
pub(crate) struct Span {
    pub(crate) options: Options,
    /// `Component/Operation`, or the name of a database span as far as the compiler knows it.
    pub(crate) name: String,
    pub(crate) function: Function,
    /// Attributes that stood inside of the body.
    pub(crate) hoisted: TokenStream,
    /// The body without them.
    pub(crate) body: Group,
    pub(crate) form: Form,
    pub(crate) observe: Observe,
}

/// How the function is wrapped.
pub(crate) enum Form {
    /// The span is the call.
    Call,
    /// The span is the call, and the body must not move into a closure: for `#[track_caller]`, and where the compiler
    /// takes the types of closures in the body from an `impl Fn(..)` in the signature.
    Guarded,
    /// An `async fn`, which becomes a `fn` that returns a future.
    Async,
    /// An `async fn` that has to stay one.
    KeptAsync,
    /// An `async fn` that makes a stream, which the span covers too.
    AsyncStream,
    /// A function that returns a future, which the span covers.
    Future { opaque: bool, tail: Option<Tail> },
    /// A function that returns a stream, which the span covers.
    Stream { opaque: bool, tail: Option<Tail> },
}

/// What is looked at when the span ends.
pub(crate) enum Observe {
    /// Nothing: the value surely is no `Result`, or the user does not want it.
    Nothing,
    /// The value. Its type is given where the compiler might not know it yet at that point.
    Value(Option<Box<Type>>),
}

impl Span {
    /// Checks options and function against each other; mistakes go to `errors`.
    pub(crate) fn new(options: Options, function: Function, errors: &mut Errors) -> Self {
        let name = name(&options, &function, errors);
        check_function(&function, errors);
        let (hoisted, body) = hoist_inner_attributes(&function.body);
        let (form, output) = match function.sig.asyncness {
            Some(_) => asynchronous(&options, &function, errors),
            None => plain(&options, &function, &body, errors),
        };
        match &form {
            Form::Guarded => check_guarded(&options, &function, errors),
            Form::Future { tail, .. } | Form::Stream { tail, .. } => check_in_place(tail.as_ref(), &function, errors),
            _ => {}
        }
        let observe = observe(&options, &form, output);
        Self { options, name, function, hoisted, body, form, observe }
    }
}

fn name(options: &Options, function: &Function, errors: &mut Errors) -> String {
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

fn check_function(function: &Function, errors: &mut Errors) {
    if let Some(constness) = &function.sig.constness {
        errors.at(
            constness,
            "a `const fn` may run in the compiler, where there are no spans; remove `const` or the attribute",
        );
    }
    if let Some(second) = function.attrs.iter().find(|attr| attributes::is_span(attr)) {
        errors.at(second, "a function has one span; remove one of the two `tc_span`");
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

/// A future that is not visibly made at the end of the body is made in a closure, which has another caller.
fn check_in_place(tail: Option<&Tail>, function: &Function, errors: &mut Errors) {
    let moves = tail.is_none_or(|tail| !tail.is_only_exit());
    if let (true, Some(attribute)) = (moves, attributes::track_caller(&function.attrs)) {
        errors.at(attribute, LOSES_CALLER);
    }
}

/// The form of an `async fn`, and what its future or the items of its stream are.
fn asynchronous(options: &Options, function: &Function, errors: &mut Errors) -> (Form, Option<Type>) {
    let output = return_type(function);
    let cover = options.cover.as_ref().map(|(cover, _)| *cover);
    match (Shape::of(&function.sig.output), cover) {
        (Shape::Stream(Made { opaque: true, output }), Some(Cover::Stream)) => return (Form::AsyncStream, output),
        (Shape::Stream(_), Some(Cover::Stream)) => errors.at(
            &function.sig.output,
            "`stream` on an `async fn` needs the return type `impl Stream<..>`; return that, or time only the making with `construct`",
        ),
        (Shape::Stream(_), None | Some(Cover::Future)) => errors.at(&function.sig.output, MAKES_STREAM),
        (_, Some(Cover::Stream)) => errors.at(&options.cover.as_ref().expect("just matched").1, NO_STREAM),
        _ => {}
    }
    match attributes::demand_async(&function.attrs) {
        true => (Form::KeptAsync, output),
        false => (Form::Async, output),
    }
}

/// The form of any other function, and what is observed of it.
fn plain(options: &Options, function: &Function, body: &Group, errors: &mut Errors) -> (Form, Option<Type>) {
    let tail = Tail::find(body);
    let cover = options.cover.as_ref().map(|(cover, _)| *cover);
    let makes = tail.as_ref().map(|tail| tail.makes);
    match (Shape::of(&function.sig.output), cover) {
        (_, Some(Cover::Construct)) => (call(options, function), return_type(function)),
        (Shape::Future(made), None) if makes != Some(Makes::Future) => {
            errors.at(&function.sig.output, MAKES_FUTURE);
            (Form::Future { opaque: made.opaque, tail: None }, None)
        }
        (Shape::Future(made), None | Some(Cover::Future)) => (Form::Future { opaque: made.opaque, tail }, made.output),
        (Shape::Stream(made), None) if makes != Some(Makes::Stream) => {
            errors.at(&function.sig.output, MAKES_STREAM);
            (Form::Stream { opaque: made.opaque, tail: None }, None)
        }
        (Shape::Stream(made), None | Some(Cover::Stream)) => (Form::Stream { opaque: made.opaque, tail }, made.output),
        (_, Some(Cover::Future)) => named(options, function, Makes::Future, errors),
        (_, Some(Cover::Stream)) => named(options, function, Makes::Stream, errors),
        (_, None) => (call(options, function), return_type(function)),
    }
}

/// `future` or `stream` on a type that does not look like one: an alias or a type of the user may be one all the same.
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

fn call(options: &Options, function: &Function) -> Form {
    let opaque = return_type(function).is_some_and(|ty| inferred(&ty).is_none()) && options.result.is_empty();
    if opaque || attributes::track_caller(&function.attrs).is_some() { Form::Guarded } else { Form::Call }
}

fn observe(options: &Options, form: &Form, output: Option<Type>) -> Observe {
    let of_call = matches!(form, Form::Call | Form::Async | Form::KeptAsync);
    let constructs = matches!(&options.cover, Some((Cover::Construct, _)));
    let never = match &output {
        Some(ty) => never_result(ty),
        None => of_call,
    };
    if constructs || (options.result.is_empty() && (never || options.no_err.is_some())) {
        return Observe::Nothing;
    }
    Observe::Value(output.filter(|_| !of_call).map(Box::new))
}

fn return_type(function: &Function) -> Option<Type> {
    match &function.sig.output {
        ReturnType::Type(_, ty) => Some((**ty).clone()),
        ReturnType::Default => None,
    }
}

const MAKES_FUTURE: &str = "this returns a future, and a span would only time its construction; \
    add `future` to cover it to its end, or `construct` if the construction is meant";
const MAKES_STREAM: &str = "this returns a stream, and a span would only time its construction; \
    add `stream` to cover it to its end, or `construct` if the construction is meant";
const LOSES_CALLER: &str = "with `#[track_caller]` what is returned has to be made by an async block at the end of \
    the function, as in `Box::pin(async move { .. })`; else remove `#[track_caller]`, or time only the call with \
    `construct`";
const NO_FUTURE: &str = "`future` is for functions that return a future; remove it";
const NO_STREAM: &str = "`stream` is for functions that return a stream; remove it";

#[cfg(test)]
mod tests;
