//! Checks the metrics of a function against the function.

use syn::Ident;

use super::super::attributes;
use super::super::item::Function;
use super::super::metric::{Metrics, Role};
use super::super::options::{Cover, Field, Options};
use super::super::shape::Shape;
use super::Form;
use crate::case::Case;
use crate::diagnostics::{Errors, shown};

/// Reports metrics that this function cannot have.
pub(super) fn check(metrics: &Metrics, options: &Options, function: &Function, form: &Form, errors: &mut Errors) {
    if metrics.is_empty() {
        errors.add(syn::Error::new(metrics.place, missing(&function.sig.ident)));
    }
    let constructs = matches!(options.cover, Some((Cover::Construct, _)));
    check_stream(metrics, constructs, function, form, errors);
    let why = match form {
        _ if constructs => "the result is not known when the call ends",
        Form::Stream { .. } | Form::AsyncStream => "a stream has no single result",
        Form::Guarded if attributes::track_caller(&function.attrs).is_some() => {
            "a `#[track_caller]` function cannot report its result"
        }
        _ => return,
    };
    for Field { key, value, .. } in &metrics.results {
        let key = shown(key);
        errors.at(value, format_args!("{why}; give label `{key}` a value that is known at the call"));
    }
}

fn check_stream(metrics: &Metrics, constructs: bool, function: &Function, form: &Form, errors: &mut Errors) {
    let is_stream = matches!(form, Form::Stream { .. } | Form::AsyncStream);
    // A function that returns a stream without covering it was already reported.
    let reported = !constructs && matches!(Shape::of(&function.sig.output), Shape::Stream(_));
    if is_stream || reported {
        return;
    }
    let names = metrics.instruments.iter().map(|instrument| instrument.role).filter(|role| role.is_of_stream());
    for option in names.filter_map(|role| metrics.written(role.name())) {
        let other = if constructs { ", or `construct`" } else { "" };
        errors.at(option, format_args!("`{option}` is for functions that return a stream; remove it{other}"));
    }
}

/// Returns the error for a `tc_metric` without a metric.
fn missing(function: &Ident) -> String {
    let name = Case::Snake.apply(function.to_string().trim_start_matches("r#"));
    let calls = Role::Calls.name();
    format!("`tc_metric` needs a metric: write `{calls} = \"tc_{name}_total\"` or `duration = \"tc_{name}_seconds\"`")
}
