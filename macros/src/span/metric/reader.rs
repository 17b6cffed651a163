//! Parses the options of `tc_metric` one by one, so that one attribute reports all of its mistakes.

use proc_macro2::{Span as Site, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, LitStr, Path, Token};

use super::super::options::{self, Field};
use super::{ErrorType, Instrument, Metrics, Role};
use crate::diagnostics::{Errors, shown};
use crate::metrics::{self, Buckets, CONTRADICTION, Kind, MOST_LABELS};
use crate::option_list::{end_of_option, equals, no_value, skip_option};
use crate::suggest;

const OPTIONS: [&str; 18] = [
    "calls",
    "errors",
    "duration",
    "in_flight",
    "first_item",
    "per_item",
    "items",
    "labels",
    "budget",
    "buckets",
    "exponential",
    "error_type",
    "future",
    "stream",
    "construct",
    "no_err",
    "err_if",
    "crate",
];

/// The option through which an `impl` block with `tc_span` passes its generic parameters to its methods. Not for users.
pub(crate) const IMPL_PARAMETERS: &str = "__impl_parameters";

/// Parses the options of the attribute at `place`; adds mistakes to `errors`.
pub(crate) fn read(tokens: TokenStream, place: Site, errors: &mut Errors) -> Metrics {
    let mut metrics = Metrics::none_at(place);
    let result = (|input: ParseStream| {
        while !input.is_empty() {
            let read = metrics.one(input, errors).and_then(|()| end_of_option(input));
            if let Err(error) = read {
                errors.add(error);
                skip_option(input);
            }
        }
        Ok(())
    })
    .parse2(tokens);
    errors.keep(result);
    metrics.check(errors);
    metrics
}

impl Metrics {
    fn one(&mut self, input: ParseStream, errors: &mut Errors) -> syn::Result<()> {
        let option = option(input).inspect_err(|_| self.mistaken = true)?;
        let text = option.to_string();
        if self.written(&text).is_some() {
            errors.at(&option, format_args!("option `{text}` is given twice; keep one of them"));
        }
        self.seen.push(option.clone());
        if self.shared.flag(&option) {
            return no_value(&option, input);
        }
        match text.as_str() {
            "exponential" => {
                self.divide(&option, Buckets::Exponential, errors);
                no_value(&option, input)
            }
            "labels" => self.labels(&option, input, errors),
            IMPL_PARAMETERS => {
                let inside;
                syn::parenthesized!(inside in input);
                let parameters = Punctuated::<Ident, Token![,]>::parse_terminated(&inside)?;
                self.impl_parameters = Some(parameters.into_iter().collect());
                Ok(())
            }
            _ => {
                equals(&option, input)?;
                self.assigned(&option, &text, input, errors)
            }
        }
    }

    /// Parses the right side of `option = value`.
    fn assigned(&mut self, option: &Ident, text: &str, input: ParseStream, errors: &mut Errors) -> syn::Result<()> {
        match text {
            "budget" => self.settings.budget = Some(metrics::budget(input)?),
            "buckets" => {
                let buckets = metrics::buckets(input, "buckets = BOUNDS", errors)?;
                self.divide(option, buckets, errors);
            }
            "error_type" => self.error_type = error_type(input)?,
            "err_if" => self.shared.set_err_if(option, input.parse()?),
            "crate" => self.shared.set_crate(option, options::path(input)?),
            _ => self.metric(text, input, errors)?,
        }
        Ok(())
    }

    fn metric(&mut self, text: &str, input: ParseStream, errors: &mut Errors) -> syn::Result<()> {
        let Some(role) = Role::named(text) else { return Ok(()) };
        let expected = format!("expected the name of a metric, as in `{}`", example(role));
        let name: LitStr = input.parse().map_err(|error: syn::Error| syn::Error::new(error.span(), expected))?;
        role.check(&name, errors);
        if self.instruments.iter().any(|known| known.role == role) {
            return Ok(());
        }
        if let Some(first) = self.instruments.iter().find(|known| known.name.value() == name.value()) {
            let first = first.role.name();
            errors.at(&name, format_args!("name `{}` is already used by `{first}`; choose another name", name.value()));
        }
        self.instruments.push(Instrument { role, name });
        Ok(())
    }

    fn labels(&mut self, option: &Ident, input: ParseStream, errors: &mut Errors) -> syn::Result<()> {
        if !input.peek(syn::token::Paren) {
            return Err(syn::Error::new_spanned(option, "`labels` takes a list; write `labels(keys::source = ..)`"));
        }
        let inside;
        syn::parenthesized!(inside in input);
        let labels = options::labels(&inside, errors);
        if let Some(Field { key, .. }) = labels.get(MOST_LABELS) {
            let name = shown(key);
            errors.at(key, format_args!("a metric has at most {MOST_LABELS} labels; leave out `{name}`"));
        }
        (self.results, self.labels) = labels.into_iter().partition(|label| is_closure(&label.value));
        // Skips the rest after a mistake, so that it causes no second error.
        inside.parse::<TokenStream>().map(drop)
    }

    fn divide(&mut self, option: &Ident, buckets: Buckets, errors: &mut Errors) {
        if self.settings.buckets.is_some() && self.seen.iter().filter(|seen| *seen == option).count() == 1 {
            errors.at(option, CONTRADICTION);
        }
        self.settings.buckets.get_or_insert(buckets);
    }

    /// Reports options that have no effect in this combination.
    fn check(&self, errors: &mut Errors) {
        // The set of metrics is known only if it has no mistakes.
        if self.mistaken || self.is_empty() {
            return;
        }
        if let Some(Field { key, .. }) = self.results.first().filter(|_| !self.has(Role::carries_result)) {
            let name = shown(key);
            errors.at(
                key,
                format_args!("no metric here can have label `{name}`, which comes from the result: {CARRIERS}"),
            );
        }
        let divides = ["buckets", "exponential"].into_iter().find_map(|name| self.written(name));
        if let Some(option) = divides.filter(|_| !self.has(|role| role.kind() == Kind::Histogram)) {
            let duration = example(Role::Duration);
            errors.at(option, format_args!("`{option}` is for histograms; add `{duration}` or remove it"));
        }
        if let Some(option) = self.written("error_type").filter(|_| !self.has(Role::has_error_type)) {
            errors.at(option, "`error_type` is for `calls` and `errors`; add one of them or remove it");
        }
    }
}

/// Parses the word that starts an option.
fn option(input: ParseStream) -> syn::Result<Ident> {
    if input.peek(LitStr) {
        return Err(syn::Error::new_spanned(input.parse::<LitStr>()?, BARE_NAME));
    }
    let option = input.call(Ident::parse_any).map_err(|error| syn::Error::new(error.span(), NO_OPTION))?;
    let text = option.to_string();
    if options::is_only_of_span(&text) {
        let message = format!("`{text}` belongs in `tc_span`; a metric has `labels(..)`");
        return Err(syn::Error::new_spanned(&option, message));
    }
    if text != IMPL_PARAMETERS && !OPTIONS.contains(&text.as_str()) {
        return Err(syn::Error::new_spanned(&option, suggest::unknown("option", &text, &OPTIONS)));
    }
    Ok(option)
}

fn is_closure(value: &Expr) -> bool {
    match value {
        Expr::Closure(_) => true,
        Expr::Paren(paren) => is_closure(&paren.expr),
        Expr::Group(group) => is_closure(&group.expr),
        _ => false,
    }
}

/// Parses the path of an error type, or `none`.
fn error_type(input: ParseStream) -> syn::Result<ErrorType> {
    let expected = "expected the type of an error, as in `error_type = StoreError`, or `error_type = none`";
    let path: Path = input.parse().map_err(|error: syn::Error| syn::Error::new(error.span(), expected))?;
    Ok(if path.is_ident("none") { ErrorType::None } else { ErrorType::Given(path) })
}

/// Returns an example of the option for a metric of this role.
fn example(role: Role) -> &'static str {
    match role {
        Role::Calls => "calls = \"tc_loads_total\"",
        Role::Errors => "errors = \"tc_load_errors_total\"",
        Role::Duration => "duration = \"tc_load_seconds\"",
        Role::InFlight => "in_flight = \"tc_loads_in_flight\"",
        Role::FirstItem => "first_item = \"tc_first_token_seconds\"",
        Role::PerItem => "per_item = \"tc_token_seconds\"",
        Role::Items => "items = \"tc_tokens_total\"",
    }
}

const NO_OPTION: &str = "expected an option, as in `calls = \"tc_loads_total\"` or `labels(keys::source = source)`";
const BARE_NAME: &str = "a metric name needs an option; write `calls = \"tc_loads_total\"` or `duration = ..`";
const CARRIERS: &str = "add `calls`, `errors` or `duration`, or give a value that is known at the call";

#[cfg(test)]
mod tests;
