//! Spans: those of annotated functions, scope guards, and manual spans.

mod call;
mod enter;
mod manual;
mod relatives;
mod scope;
mod start;

pub use self::call::{Begin, begin, check, enter, run, run_begun, run_observed, run_probed};
pub(crate) use self::call::{Call, Returned, end_metrics, ended};
#[cfg(has_otlp)]
pub(crate) use self::enter::end_entered_as_panicked;
pub(crate) use self::enter::{OnStack, finish, start_clock, start_reading};
pub use self::manual::Span;
pub use self::relatives::{IntoLinks, IntoParent};
pub use self::scope::Scope;
pub use self::start::Start;
pub(crate) use self::start::{End, fail, link};
