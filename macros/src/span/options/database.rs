//! `db(system = .., collection = .., operation = ..)`: the database form of a span.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Ident, Lit, Token};

use crate::diagnostics::Errors;
use crate::suggest;

/// The options of `db(...)`, and the built-in key of each.
const PARTS: [(&str, &str); 5] = [
    ("system", "system_name"),
    ("collection", "collection_name"),
    ("operation", "operation_name"),
    ("namespace", "namespace"),
    ("query", "query_text"),
];
const REQUIRED: [&str; 3] = ["system", "collection", "operation"];

/// One attribute of a database span.
pub(crate) struct Part {
    /// The name of its key in `tracecast::keys::db`.
    pub(crate) key: &'static str,
    pub(crate) value: Expr,
}

/// The attributes of a database span, from which its name is made.
pub(crate) struct Database {
    pub(crate) parts: Vec<Part>,
}

impl Database {
    /// Returns `collection.operation`; `None` unless both are literals.
    pub(crate) fn static_name(&self) -> Option<String> {
        let text = |key| self.parts.iter().find(|part| part.key == key).and_then(|part| literal(&part.value));
        Some(format!("{}.{}", text("collection_name")?, text("operation_name")?))
    }
}

/// Parses the content of `db(...)`; unknown, repeated and missing parts are reported.
pub(super) fn database(written: &Ident, input: ParseStream, errors: &mut Errors) -> Database {
    let parsed = Punctuated::<(Ident, Expr), Token![,]>::parse_terminated_with(input, part);
    let Some(given) = errors.keep(parsed) else {
        return Database { parts: Vec::new() };
    };
    let mut parts: Vec<Part> = Vec::new();
    for (name, value) in given {
        match PARTS.iter().find(|(known, _)| name == known) {
            None => errors.at(&name, suggest::unknown("option", &name.to_string(), &PARTS.map(|(name, _)| name))),
            Some((_, key)) if parts.iter().any(|part| part.key == *key) => {
                errors.at(&name, format_args!("`{name}` is given twice; keep one of them"));
            }
            Some((_, key)) => {
                check_text(&name, &value, errors);
                parts.push(Part { key, value });
            }
        }
    }
    check_required(written, &parts, errors);
    Database { parts }
}

fn check_text(name: &Ident, value: &Expr, errors: &mut Errors) {
    if let Expr::Lit(ExprLit { lit, .. }) = value
        && !matches!(lit, Lit::Str(_))
    {
        errors.at(value, format_args!("`{name}` takes text, as in `{name} = \"..\"`"));
    }
}

fn check_required(written: &Ident, parts: &[Part], errors: &mut Errors) {
    let is_missing =
        |name: &&str| !PARTS.iter().any(|(known, key)| known == name && parts.iter().any(|part| part.key == *key));
    let missing: Vec<String> =
        REQUIRED.iter().filter(|name| is_missing(name)).map(|name| format!("`{name} = ..`")).collect();
    if !missing.is_empty() {
        errors.at(written, format_args!("`db` needs {}", missing.join(" and ")));
    }
}

fn part(input: ParseStream) -> syn::Result<(Ident, Expr)> {
    let name = input.call(Ident::parse_any)?;
    input.parse::<Token![=]>()?;
    Ok((name, input.parse()?))
}

fn literal(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        Expr::Group(group) => literal(&group.expr),
        _ => None,
    }
}
