//! The checked input of `tc_metrics!`, such as `pub static LOADS: Counter<(keys::source,)> = "tc_loads_total";`.

use proc_macro2::{Delimiter, Ident, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, LitStr, Path, Token, Type, Visibility};

use super::kind::Kind;
use super::options::{self, Options};
use super::settings::Settings;
use super::{conventional, labels, names, units};
use crate::diagnostics::Errors;
use crate::entries::{self, take};

/// The declaration of one metric.
pub(super) struct Metric {
    pub(super) attrs: Vec<Attribute>,
    pub(super) vis: Visibility,
    /// The name of the static.
    pub(super) name: Ident,
    pub(super) kind: Kind,
    pub(super) labels: Vec<Path>,
    pub(super) number: Ident,
    /// The exported name.
    pub(super) wire: LitStr,
    pub(super) unit: String,
    pub(super) settings: Settings,
}

/// Parses all declarations. A metric with a wrong name, unit, label or option is reported and still returned; a declaration with
/// a syntax error or an unknown kind is not.
pub(super) fn parse(input: TokenStream) -> (Vec<Metric>, Errors) {
    let (mut metrics, mut errors): (Vec<Metric>, _) = (Vec::new(), Errors::default());
    for entry in entries::split(input, "metric", &mut errors) {
        let parsed = (|input: ParseStream| metric(input, &mut errors)).parse2(entry);
        metrics.extend(errors.keep(parsed));
    }
    (metrics, errors)
}

fn metric(input: ParseStream, errors: &mut Errors) -> syn::Result<Metric> {
    let (attrs, vis) = (input.call(Attribute::parse_outer)?, input.parse()?);
    take::<Token![static]>(input, || {
        "a metric is a static; write `static LOADS: Counter = \"tc_loads_total\";`".into()
    })?;
    let name: Ident = input.parse()?;
    take::<Token![:]>(input, || format!("metric `{name}` has no type; write `{name}: Counter` or another kind"))?;
    let ty: Type = input.parse()?;
    let ty = labels::read(&ty, errors)?;
    take::<Token![=]>(input, || format!("metric `{name}` has no exported name; write `= \"tc_..\"`"))?;
    let wire =
        take::<LitStr>(input, || "the name of a metric has to be a string literal, as in `\"tc_loads_total\"`".into())?;
    let options = braces(input, ty.kind, errors)?;
    let unit = match conventional::is(&wire.value()) {
        true => unit_of_convention(&wire, options.unit.as_ref(), errors),
        false => {
            let right = names::check(&wire, ty.kind, errors);
            unit(&wire, ty.kind, options.unit.as_ref().filter(|_| right), errors)
        }
    };
    Ok(Metric {
        attrs,
        vis,
        name,
        kind: ty.kind,
        labels: ty.labels,
        number: ty.number,
        wire,
        unit,
        settings: options.settings,
    })
}

/// Parses the options after the name, and the end of the declaration.
fn braces(input: ParseStream, kind: Kind, errors: &mut Errors) -> syn::Result<Options> {
    if input.peek(Token![;]) {
        return input.parse::<Token![;]>().map(|_| Options::default());
    }
    let is_brace = input.cursor().any_group().is_some_and(|(_, delimiter, ..)| delimiter == Delimiter::Brace);
    if !is_brace {
        return Err(input.error("expected `;` or options, as in `{ budget: 5000 };`"));
    }
    let inside;
    syn::braced!(inside in input);
    let options = options::read(&inside, kind, errors);
    input.parse::<Token![;]>()?;
    Ok(options)
}

/// Returns the declared unit if it fits the name, else the unit that follows from the name. A declared unit that does not fit is
/// reported.
fn unit(wire: &LitStr, kind: Kind, written: Option<&LitStr>, errors: &mut Errors) -> String {
    let name = wire.value();
    let follows = units::of(kind, &name).to_owned();
    let Some(written) = written else { return follows };
    match units::mistake(kind, &name, &written.value()) {
        Some(mistake) => {
            errors.at(written, mistake);
            follows
        }
        None => written.value(),
    }
}

/// Checks a name of the semantic conventions and its unit. Returns the declared unit; empty if it is missing.
fn unit_of_convention(wire: &LitStr, written: Option<&LitStr>, errors: &mut Errors) -> String {
    let (name, unit) = (wire.value(), written.map(LitStr::value));
    if let Some(mistake) = conventional::mistake(&name) {
        errors.at(wire, mistake);
    } else if let Some(mistake) = conventional::unit_mistake(&name, unit.as_deref()) {
        errors.at(written.unwrap_or(wire), mistake);
    }
    unit.unwrap_or_default()
}
