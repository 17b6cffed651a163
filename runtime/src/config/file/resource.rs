//! `resource` and `propagator` in a file.

use std::borrow::Cow;

use super::reading::{At, Reading, Unknown};
use crate::base::secret::Masked;
use crate::config::origin::Origin;
use crate::config::problem::{Severity, Wrong};
use crate::config::values::{self, Parsed};
use crate::declare::value::OwnedValue;

/// Reads the resource. Entries of `attributes` override those of `attributes_list`.
pub(super) fn read(reading: &mut Reading, at: &At<'_>) {
    let mut map = reading.map(at);
    let (single, list) = (map.get("attributes"), map.get("attributes_list"));
    if let Some(text) = reading.text(list.clone()) {
        for (name, value) in reading.value(list, values::resource_attributes).unwrap_or_default() {
            let value = text.clone().map(|_| OwnedValue::from(value));
            reading.config.settings.resource.set(&name, value);
        }
    }
    for item in reading.list(single) {
        attribute(reading, &item);
    }
    reading.config.settings.resource.schema_url = reading.text(map.get("schema_url"));
    // Service, host, process and container are always detected, so listing detectors has no effect.
    map.present("detection/development");
    map.finish(reading, Unknown::Refused);
    reading.came_from("resource", at);
    reading.config.attributes_came_from(&Origin::File(at.path.clone()));
}

fn attribute(reading: &mut Reading, at: &At<'_>) {
    let mut map = reading.map(at);
    let name = map.required(reading, "name", "the name of an attribute");
    let (name, kind) = (reading.text(name), map.get("type"));
    let kind = reading.value(kind, kind_of).unwrap_or(Kind { single: "string", array: false });
    let value = map.get("value");
    map.finish(reading, Unknown::Refused);
    let (Some(name), Some(value)) = (name, value) else { return };
    if let Some(value) = value_of(reading, &value, kind) {
        reading.config.settings.resource.set(&name, value);
    }
}

/// The type of an attribute: a single value, or an array.
#[derive(Clone, Copy)]
struct Kind {
    single: &'static str,
    array: bool,
}

fn kind_of(text: &str) -> Parsed<Kind> {
    let (single, array) = text.strip_suffix("_array").map_or((text, false), |single| (single, true));
    let known = ["string", "bool", "int", "double"].into_iter().find(|known| *known == single);
    let accepted = "string, bool, int or double, or one of these with `_array`";
    known.map(|single| Kind { single, array }).ok_or_else(|| Wrong::new("is not an attribute type", accepted))
}

fn value_of(reading: &mut Reading, at: &At<'_>, kind: Kind) -> Option<Masked<OwnedValue>> {
    if !kind.array {
        let text = reading.text(Some(at.clone()))?;
        let value = reading.value(Some(at.clone()), |text| single(text, kind.single))?;
        return Some(text.map(|_| value));
    }
    let (mut values, mut hidden) = (Vec::new(), false);
    for item in reading.list(Some(at.clone())) {
        hidden |= reading.text(Some(item.clone())).is_some_and(|text| text.is_hidden());
        values.push(reading.value(Some(item), |text| single(text, kind.single))?);
    }
    Some(Masked::new(array(values, kind.single), hidden))
}

fn single(text: &str, kind: &str) -> Parsed<OwnedValue> {
    match kind {
        "bool" => values::truth(text).map(OwnedValue::Bool),
        "int" => text.parse().map(OwnedValue::I64).map_err(|_| Wrong::new("is not a whole number", "a whole number")),
        "double" => text.parse().map(OwnedValue::F64).map_err(|_| Wrong::new("is not a number", "a number")),
        _ => Ok(OwnedValue::from(text)),
    }
}

/// Creates an array of values, all of which are of this kind.
fn array(values: Vec<OwnedValue>, kind: &str) -> OwnedValue {
    macro_rules! all {
        ($variant:ident) => {
            values
                .into_iter()
                .filter_map(|value| if let OwnedValue::$variant(value) = value { Some(value) } else { None })
        };
    }
    match kind {
        "bool" => OwnedValue::BoolArray(all!(Bool).collect()),
        "int" => OwnedValue::I64Array(all!(I64).collect()),
        "double" => OwnedValue::F64Array(all!(F64).collect()),
        _ => OwnedValue::StrArray(all!(Str).map(Cow::into_owned).collect()),
    }
}

/// Reads propagators. Entries of `composite_list` are added to those of `composite`.
pub(super) fn propagator(reading: &mut Reading, at: &At<'_>) {
    let mut map = reading.map(at);
    let mut all = Vec::new();
    for item in reading.list(map.get("composite")) {
        let Some((name, _)) = reading.choice(&item, &["tracecontext", "baggage", "b3", "b3multi"], Unknown::Ignored)
        else {
            continue;
        };
        all.extend(values::propagator(name).ok().flatten());
    }
    if let Some(at) = map.get("composite_list")
        && let Some(text) = reading.text(Some(at.clone()))
    {
        let (listed, wrong) = values::propagators(&text);
        all.extend(listed);
        // The schema allows other propagators, as in `composite`.
        wrong.into_iter().for_each(|wrong| reading.report(&at, wrong, Severity::Warning));
    }
    for propagator in all {
        if !reading.config.settings.propagators.contains(&propagator) {
            reading.config.settings.propagators.push(propagator);
        }
    }
    map.finish(reading, Unknown::Refused);
    reading.came_from("propagators", at);
}
