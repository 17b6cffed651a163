//! The measurements of a function's calls that become metrics.

use proc_macro2::{Ident, Span as Site};
use quote::format_ident;
use syn::LitStr;

use crate::diagnostics::Errors;
use crate::metrics::{self, Kind};

/// One metric of a function.
pub(crate) struct Instrument {
    pub(crate) role: Role,
    pub(crate) name: LitStr,
}

/// The measurement that a metric records.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Calls,
    Errors,
    Duration,
    InFlight,
    FirstItem,
    PerItem,
    Items,
}

impl Role {
    /// All roles, in the order of `NAMES`.
    const ALL: [Self; 7] =
        [Self::Calls, Self::Errors, Self::Duration, Self::InFlight, Self::FirstItem, Self::PerItem, Self::Items];
    const NAMES: [&str; 7] = ["calls", "errors", "duration", "in_flight", "first_item", "per_item", "items"];

    /// Returns the role of the option with this name, if there is one.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Returns the option's name, which is also the name of its method in the runtime.
    pub(crate) fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Calls | Self::Errors | Self::Items => Kind::Counter,
            Self::InFlight => Kind::UpDownCounter,
            Self::Duration | Self::FirstItem | Self::PerItem => Kind::Histogram,
        }
    }

    /// Returns `s` for roles that measure times, and an empty text for roles that count calls or items.
    pub(crate) fn unit(self) -> &'static str {
        if self.kind() == Kind::Histogram { "s" } else { "" }
    }

    /// Returns the exported description; `what` is the span or the function.
    pub(crate) fn description(self, what: &str) -> String {
        match self {
            Self::Calls => format!("Calls of `{what}`"),
            Self::Errors => format!("Failed calls of `{what}`"),
            Self::Duration => format!("Duration of `{what}`"),
            Self::InFlight => format!("Calls of `{what}` in progress"),
            Self::FirstItem => format!("Time to the first item of `{what}`"),
            Self::PerItem => format!("Time between two items of `{what}`"),
            Self::Items => format!("Items of `{what}`"),
        }
    }

    /// Returns whether the role is measured at the end of the call, so that its metric may have labels from the result.
    pub(crate) fn carries_result(self) -> bool {
        matches!(self, Self::Calls | Self::Errors | Self::Duration)
    }

    /// Returns whether metrics of this role distinguish error types.
    pub(crate) fn has_error_type(self) -> bool {
        matches!(self, Self::Calls | Self::Errors)
    }

    pub(crate) fn is_of_stream(self) -> bool {
        matches!(self, Self::FirstItem | Self::PerItem | Self::Items)
    }

    /// Returns the name of the metric's static in generated code.
    pub(crate) fn variable(self) -> Ident {
        format_ident!("__TC_{}", self.name().to_uppercase(), span = Site::mixed_site())
    }

    /// Reports a name that is invalid, or whose unit is not that of this role.
    pub(super) fn check(self, name: &LitStr, errors: &mut Errors) {
        let (kind, text) = (self.kind(), name.value());
        if !metrics::check_name(name, kind, errors) || metrics::unit_of(kind, &text) == self.unit() {
            return;
        }
        errors.at(
            name,
            match self.unit() {
                "s" => {
                    let better = metrics::with_unit(kind, &text, "seconds");
                    format!("`{}` is measured in seconds; write `{better}`", self.name())
                }
                _ => {
                    let better = metrics::without_unit(kind, &text);
                    format!("`{}` is a count and has no unit; write `{better}`", self.name())
                }
            },
        );
    }
}
