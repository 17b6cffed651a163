//! Span names: `Component/Operation`, both in ASCII UpperCamelCase.

use proc_macro2::{Ident, Span};
use syn::LitStr;

use crate::case::{is_upper_camel, upper_camel};

/// Returns the error of an invalid span name, with a suggestion; `None` if the name is valid.
pub(super) fn error(name: &str) -> Option<String> {
    if is_right(name) {
        return None;
    }
    if !name.is_ascii() {
        return Some(format!("span name `{name}` is not ASCII; write for example `StoreDaemon/Load`"));
    }
    match name.split_once('/') {
        Some((component, "")) if is_upper_camel(component) => {
            Some(format!("span name `{name}` has no operation; write it after the `/`, as in `{name}Load`"))
        }
        Some(_) => Some(match corrected(name) {
            Some(better) => {
                format!("span name `{name}` is not `Component/Operation` in UpperCamelCase; write `{better}`")
            }
            None => {
                format!("span name `{name}` is not `Component/Operation` in UpperCamelCase, as in `StoreDaemon/Load`")
            }
        }),
        None if name.is_empty() => {
            Some("a span's name cannot be empty; write for example `StoreDaemon/Load`".to_owned())
        }
        None => {
            let operation = Some(upper_camel(name)).filter(|name| is_upper_camel(name)).unwrap_or("Load".into());
            Some(format!(
                "span name `{name}` has no component; write `Component/{operation}`, as in `StoreDaemon/{operation}`"
            ))
        }
    }
}

/// Returns whether a span name is valid.
pub(crate) fn is_right(name: &str) -> bool {
    matches!(name.split_once('/'), Some((component, operation)) if is_upper_camel(component) && is_upper_camel(operation))
}

/// The error if the name is not a string literal.
pub(super) const NOT_LITERAL: &str = "the name of a span has to be a string literal in first place, \
    as in `\"StoreDaemon/Load\"`; for a name known only at run time use `tracecast::Span::builder`";

/// Returns the error for a name on an `impl` block.
pub(super) fn for_component(name: &str) -> String {
    let component = upper_camel(name.split('/').next().unwrap_or_default());
    let component = if is_upper_camel(&component) { &component } else { "StoreDaemon" };
    format!("an `impl` block has a component, not a name; write `component = \"{component}\"`")
}

/// Returns the error of an invalid `component` of an `impl` block; `None` if the component is valid.
pub(super) fn component_error(name: &str) -> Option<String> {
    if is_upper_camel(name) {
        return None;
    }
    let better = upper_camel(name);
    Some(match is_upper_camel(&better) {
        true => format!("component `{name}` is not in UpperCamelCase; write `{better}`"),
        false => format!("component `{name}` is not in UpperCamelCase, as in `StoreDaemon`"),
    })
}

/// Returns the span name of a method in an `impl` block with a component.
pub(crate) fn for_function(component: &str, function: &Ident, span: Span) -> LitStr {
    LitStr::new(&format!("{component}/{}", operation(function)), span)
}

/// Returns the error for a function whose span has no name.
pub(crate) fn missing(function: &Ident) -> String {
    let operation = operation(function);
    format!(
        "a span needs a name: write `#[tc_span(\"Component/{operation}\")]`, \
         or put `#[tc_span(component = \"Component\")]` on the `impl` block"
    )
}

fn operation(function: &Ident) -> String {
    let name = function.to_string();
    upper_camel(name.strip_prefix("r#").unwrap_or(&name))
}

/// Returns a valid name: the first part becomes the component, all other parts together the operation. `None` if that is not
/// valid.
fn corrected(name: &str) -> Option<String> {
    let parts: Vec<String> = name.split('/').map(upper_camel).filter(|part| !part.is_empty()).collect();
    let (component, operation) = (parts.first()?, parts.get(1..)?.concat());
    (is_upper_camel(component) && is_upper_camel(&operation)).then(|| format!("{component}/{operation}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &str) {
        let error = error(name).unwrap_or_default();
        assert!(error.contains(expected) && error.is_empty() == expected.is_empty(), "{error}");
    }

    #[test]
    fn right_names() {
        check("StoreDaemon/Load", "");
        check("A/B2c", "");
    }

    #[test]
    fn wrong_names_are_corrected() {
        check("store_daemon/load-replica", "write `StoreDaemon/LoadReplica`");
        check("StoreDaemon/Replica/Load", "write `StoreDaemon/ReplicaLoad`");
        check("Store Daemon/Load", "write `StoreDaemon/Load`");
        check("Load", "write `Component/Load`");
        check("?", "write `Component/Load`");
        check("", "cannot be empty");
        check("Store/", "as in `Store/Load`");
        check("/Load", "as in `StoreDaemon/Load`");
        check("Ä/Ö", "is not ASCII");
        check("1a/2b", "as in `StoreDaemon/Load`");
    }

    #[test]
    fn operation_from_function() {
        let ident = |name| Ident::new_raw(name, Span::call_site());
        assert_eq!(for_function("Store", &ident("load_replica"), Span::call_site()).value(), "Store/LoadReplica");
        assert!(missing(&ident("match")).contains("Component/Match"));
        assert!(component_error("store").unwrap().contains("write `Store`"));
    }
}
