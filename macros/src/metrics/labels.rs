//! Reads the type of a metric, such as `Counter<(keys::source,), u64>`.

use proc_macro2::Span;
use quote::ToTokens;
use syn::{GenericArgument, Ident, Path, PathArguments, Type};

use super::kind::{self, Kind};
use crate::diagnostics::{Errors, shown};
use crate::suggest;

/// The maximum number of labels. The runtime implements sets of labels for tuples up to this size.
pub(crate) const MOST_LABELS: usize = 8;

/// Parts of a metric's type: kind, label keys, number type.
pub(super) struct MetricType {
    pub(super) kind: Kind,
    pub(super) labels: Vec<Path>,
    pub(super) number: Ident,
}

/// Reads the type; invalid arguments are reported and left out of the result.
pub(super) fn read(ty: &Type, errors: &mut Errors) -> syn::Result<MetricType> {
    let last = match ty {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last(),
        _ => None,
    };
    let Some(last) = last else {
        let message = format!("expected a kind of metric, as `Counter<(keys::source,)>`, not `{}`", shown(ty));
        return Err(syn::Error::new_spanned(ty, message));
    };
    let kind = kind(&last.ident, errors)?;
    let mut arguments = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.iter(),
        _ => return Ok(MetricType { kind, labels: Vec::new(), number: default_number(kind) }),
    };
    let labels = arguments.next().map(|argument| labels(argument, errors)).unwrap_or_default();
    let number = arguments.next().and_then(|argument| number(kind, argument, errors));
    if let Some(more) = arguments.next() {
        errors.at(more, format_args!("a `{}` takes only labels and a number type; remove this", kind.name()));
    }
    Ok(MetricType { kind, labels, number: number.unwrap_or_else(|| default_number(kind)) })
}

/// Returns the kind with this name. A typo is reported and replaced by the nearest kind, so that uses of the metric cause no
/// further errors; any other word is an error.
fn kind(word: &Ident, errors: &mut Errors) -> syn::Result<Kind> {
    let name = word.to_string();
    if let Some(kind) = Kind::named(&name) {
        return Ok(kind);
    }
    let error = syn::Error::new_spanned(word, suggest::unknown("kind of metric", &name, &kind::NAMES));
    match suggest::nearest(&name, &kind::NAMES).and_then(Kind::named) {
        Some(kind) => {
            errors.add(error);
            Ok(kind)
        }
        None => Err(error),
    }
}

fn labels(argument: &GenericArgument, errors: &mut Errors) -> Vec<Path> {
    let mut keys: Vec<Path> = Vec::new();
    match argument {
        GenericArgument::Type(Type::Tuple(tuple)) => {
            for element in &tuple.elems {
                if let Some(key) = key(element, errors) {
                    add(key, &mut keys, errors);
                }
            }
        }
        GenericArgument::Type(Type::Paren(paren)) => one(&paren.elem, paren, &mut keys, errors),
        GenericArgument::Type(ty) => one(ty, ty, &mut keys, errors),
        other => errors.at(other, "labels are a tuple of keys; write `(keys::source,)`, or `()` for none"),
    }
    keys
}

/// Reports labels that are not a tuple. A single key is still added to `keys`, so that its uses cause no further errors.
fn one(ty: &Type, written: impl ToTokens, keys: &mut Vec<Path>, errors: &mut Errors) {
    let Type::Path(path) = ty else {
        errors.at(written, "labels are a tuple of keys; write `(keys::source,)`, or `()` for none");
        return;
    };
    let name = shown(path);
    let is_number = path.path.get_ident().is_some_and(|name| ["u64", "i64", "f64"].iter().any(|number| name == number));
    match is_number {
        true => errors.at(written, format_args!("labels come before the number type; write `(), {name}`")),
        false => {
            errors.at(written, format_args!("labels are a tuple of keys; write `({name},)`"));
            keys.push(path.path.clone());
        }
    }
}

fn key(element: &Type, errors: &mut Errors) -> Option<Path> {
    match element {
        Type::Path(path) if path.qself.is_none() => Some(path.path.clone()),
        Type::Group(group) => key(&group.elem, errors),
        _ => {
            errors.at(
                element,
                "a label is given by its key, as in `keys::source`; declare it with `tracecast::tc_keys!`",
            );
            None
        }
    }
}

fn add(key: Path, keys: &mut Vec<Path>, errors: &mut Errors) {
    let name = shown(&key);
    if keys.iter().any(|known| shown(known) == name) {
        errors.at(&key, label_twice(&name));
    } else if keys.len() == MOST_LABELS {
        errors.at(&key, format_args!("a metric has at most {MOST_LABELS} labels; leave out `{name}`"));
    } else {
        keys.push(key);
    }
}

/// Returns the error for a label that is listed twice.
pub(crate) fn label_twice(name: &str) -> String {
    format!("label `{name}` is listed twice; remove one of them")
}

fn number(kind: Kind, argument: &GenericArgument, errors: &mut Errors) -> Option<Ident> {
    let given = match argument {
        GenericArgument::Type(Type::Path(path)) => path.path.get_ident(),
        _ => None,
    };
    if let Some(given) = given.filter(|given| kind.numbers().iter().any(|known| *given == known)) {
        return Some(given.clone());
    }
    let accepted = kind.numbers().iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
    let (name, given) = (kind.name(), shown(argument));
    errors.at(argument, format_args!("the number type of `{name}` is {accepted}, not `{given}`"));
    None
}

fn default_number(kind: Kind) -> Ident {
    Ident::new(kind.numbers()[0], Span::call_site())
}
