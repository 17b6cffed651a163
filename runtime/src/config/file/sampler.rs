//! Samplers in a file.

use super::reading::{At, Reading, Unknown};
use crate::config::problem::{Severity, Wrong};
use crate::config::values;
use crate::record::sampling::Sampler;

const KINDS: &[&str] = &["always_on", "always_off", "trace_id_ratio_based", "probability/development", "parent_based"];

/// Reads a sampler. Of a parent-based one only `root` is used, because children always follow their parent.
pub(super) fn read(reading: &mut Reading, at: &At<'_>) -> Option<Sampler> {
    let (kind, at) = reading.choice(at, KINDS, Unknown::Ignored)?;
    let mut map = reading.map(&at);
    let sampler = match kind {
        "always_on" => Some(Sampler::AlwaysOn),
        "always_off" => Some(Sampler::AlwaysOff),
        "parent_based" => {
            let root = map.get("root");
            let root = root.map_or(Some(Sampler::AlwaysOn), |at| read(reading, &at));
            for (key, expected) in PARENTS {
                if let Some(at) = map.get(key) {
                    parent(reading, &at, expected);
                }
            }
            root
        }
        _ => match map.get("ratio") {
            Some(at) => reading.value(Some(at), values::ratio).map(Sampler::Ratio),
            None => Some(Sampler::Ratio(1.0)),
        },
    };
    map.finish(reading, Unknown::Refused);
    sampler
}

/// The only supported sampler for the children of each kind of parent, which is also the schema's default.
const PARENTS: [(&str, &str); 4] = [
    ("remote_parent_sampled", "always_on"),
    ("remote_parent_not_sampled", "always_off"),
    ("local_parent_sampled", "always_on"),
    ("local_parent_not_sampled", "always_off"),
];

/// Reports a sampler for children that would not follow their parent.
fn parent(reading: &mut Reading, at: &At<'_>, expected: &'static str) {
    let Some((kind, choice)) = reading.choice(at, KINDS, Unknown::Ignored) else { return };
    if kind != expected {
        let wrong = Wrong::new("is not supported: children follow their parent", expected);
        reading.report(&choice, wrong, Severity::Warning);
    }
}
