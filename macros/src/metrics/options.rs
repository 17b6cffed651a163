//! The options of a metric in `tc_metrics!`: `{ unit: "By", budget: 5000 }`.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, LitStr};

use super::kind::Kind;
use super::settings::{self, Buckets, Settings};
use crate::diagnostics::Errors;
use crate::option_list::{colon, end_of_option, no_value, skip_option};
use crate::suggest;

const OPTIONS: [&str; 4] = ["unit", "budget", "buckets", "exponential"];

/// The options of a metric, as far as they could be parsed.
#[derive(Default)]
pub(super) struct Options {
    pub(super) unit: Option<LitStr>,
    pub(super) settings: Settings,
    seen: Vec<Ident>,
}

/// Reads the options between the braces.
pub(super) fn read(input: ParseStream, kind: Kind, errors: &mut Errors) -> Options {
    let mut options = Options::default();
    while !input.is_empty() {
        let read = options.one(input, kind, errors).and_then(|()| end_of_option(input));
        if let Err(error) = read {
            errors.add(error);
            skip_option(input);
        }
    }
    options
}

impl Options {
    fn one(&mut self, input: ParseStream, kind: Kind, errors: &mut Errors) -> syn::Result<()> {
        let option = input.call(Ident::parse_any).map_err(|error| {
            syn::Error::new(error.span(), "expected an option, as in `unit: \"By\"` or `budget: 5000`")
        })?;
        let text = option.to_string();
        if !OPTIONS.contains(&text.as_str()) {
            return Err(syn::Error::new_spanned(&option, suggest::unknown("option", &text, &OPTIONS)));
        }
        self.check(&option, kind, errors);
        self.seen.push(option.clone());
        if text == "exponential" {
            self.settings.buckets.get_or_insert(Buckets::Exponential);
            return no_value(&option, input);
        }
        colon(&option, input)?;
        match text.as_str() {
            "unit" => self.unit = Some(unit(input)?),
            "budget" => self.settings.budget = Some(settings::budget(input)?),
            _ => {
                let buckets = settings::buckets(input, "buckets: BOUNDS", errors)?;
                self.settings.buckets.get_or_insert(buckets);
            }
        }
        Ok(())
    }

    /// Reports an option that occurs twice, is not allowed for this kind of metric, or contradicts an earlier option.
    fn check(&self, option: &Ident, kind: Kind, errors: &mut Errors) {
        let of_buckets = option == "buckets" || option == "exponential";
        if self.seen.contains(option) {
            errors.at(option, format_args!("option `{option}` is given twice; keep one of them"));
        } else if of_buckets && kind != Kind::Histogram {
            errors.at(option, format_args!("`{option}` is for histograms, and this is a `{}`; remove it", kind.name()));
        } else if of_buckets && self.settings.buckets.is_some() {
            errors.at(option, settings::CONTRADICTION);
        }
    }
}

fn unit(input: ParseStream) -> syn::Result<LitStr> {
    let expected = "expected a unit, as in `unit: \"By\"`";
    input.parse().map_err(|error: syn::Error| syn::Error::new(error.span(), expected))
}
