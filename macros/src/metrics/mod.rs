//! `tc_metrics!`: declarations of metrics. `#[tc_metric]` shares the checks of names, labels and settings.

mod conventional;
mod expand;
mod kind;
mod labels;
mod model;
mod names;
mod options;
mod prefix;
mod settings;
mod units;

use proc_macro2::TokenStream;

pub(crate) use expand::{Declaration, checked, label_of};
pub(crate) use kind::Kind;
pub(crate) use labels::{MOST_LABELS, label_twice};
pub(crate) use names::check as check_name;
pub(crate) use prefix::Prefix;
pub(crate) use settings::{Buckets, CONTRADICTION, Settings, buckets, budget};
pub(crate) use units::{of as unit_of, with as with_unit, without as without_unit};

use crate::krate::Krate;

/// Expands the input of `tc_metrics!`, after `crate = path;`.
pub(crate) fn declare(input: TokenStream) -> TokenStream {
    let (krate, input) = Krate::split(input);
    let (metrics, errors) = model::parse(input);
    // Metrics with mistakes are declared too, if they could be parsed, so that each mistake gives one error.
    let mut tokens = errors.into_tokens();
    tokens.extend(metrics.iter().map(|metric| expand::metric(metric, &krate)));
    if !metrics.is_empty() {
        tokens.extend(Prefix::current().dependency());
    }
    tokens
}

#[cfg(test)]
mod tests;
