//! The catalogue, which lists what the link sections of this program hold: as a dashboard, as JSON, and compared.
//!
//! The modules share these sections: a metric or span that two of them declare is one entry, so they use different names.
#![cfg(all(feature = "otlp", not(miri)))]

mod as_a_dashboard;
pub mod as_json;
mod compared;
