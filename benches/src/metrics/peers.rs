//! The same metrics with peers, each as its documentation shows.

mod autometrics;
mod metrics;
mod opentelemetry;
mod prometheus;

use super::Contender;
use crate::work::Letter;

/// Starts all peers, once per process.
pub fn contenders() -> Vec<Contender> {
    metrics::install();
    opentelemetry::install();
    let mut all = opentelemetry::CONTENDERS.to_vec();
    all.extend_from_slice(metrics::CONTENDERS);
    all.extend_from_slice(prometheus::CONTENDERS);
    all.extend_from_slice(autometrics::CONTENDERS);
    all
}

/// Returns the text of a label.
fn text(letter: Letter) -> &'static str {
    match letter {
        Letter::A => "a",
        Letter::B => "b",
        Letter::C => "c",
        Letter::D => "d",
    }
}
