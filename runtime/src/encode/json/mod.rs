//! The same requests as OTLP/JSON: names in lowerCamelCase, ids in hex, integers of 64 bits as text, enums as numbers.
//!
//! It is for collectors that take nothing else, so it is written from plain data and not from records.

#[cfg(all(feature = "logs", not(target_family = "wasm"), not(loom)))]
mod logs;
mod metrics;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod scan;
mod trace;
mod writer;

#[cfg(all(feature = "logs", not(target_family = "wasm"), not(loom)))]
pub(crate) use self::logs::logs_request;
pub(crate) use self::metrics::metrics_request;
pub(crate) use self::trace::trace_request;

use self::writer::Json;
use crate::declare::value::Value;
use crate::encode::attribute::with_unsigned;
use crate::encode::resource::{EncodedResource, SCOPE_NAME, SCOPE_VERSION};

/// A request of spans or of metrics: `names` are those of its three levels, of which `scopes` writes the second.
fn request_of_scopes(resource: &EncodedResource, names: [&str; 3], scopes: impl FnOnce(&mut Json)) -> Vec<u8> {
    let mut json = Json::default();
    json.object(|json| {
        json.array(names[0], |json| {
            json.object(|json| {
                json.member("resource", |json| json.object(|json| resource_attributes(json, resource)));
                json.array(names[1], scopes);
                if let Some(url) = &resource.schema_url {
                    json.text("schemaUrl", url);
                }
            });
        });
    });
    json.into_bytes()
}

/// What comes from us.
fn own_scope(json: &mut Json, name: &str, items: impl FnOnce(&mut Json)) {
    let scope = |json: &mut Json| {
        json.text("name", SCOPE_NAME);
        json.text("version", SCOPE_VERSION);
    };
    json.object(|json| array_of_scope(json, name, scope, items));
}

fn array_of_scope(json: &mut Json, name: &str, scope: impl FnOnce(&mut Json), items: impl FnOnce(&mut Json)) {
    json.member("scope", |json| json.object(scope));
    json.array(name, items);
}

fn resource_attributes(json: &mut Json, resource: &EncodedResource) {
    json.array("attributes", |json| {
        resource.attributes.iter().for_each(|(key, value)| attribute(json, key, value.as_value()));
    });
}

fn attribute(json: &mut Json, key: &str, value: Value<'_>) {
    json.object(|json| {
        json.text("key", key);
        json.member("value", |json| any_value(json, value));
    });
}

fn any_value(json: &mut Json, value: Value<'_>) {
    if let Value::U64(number) = value {
        return with_unsigned(number, |value| any_value(json, value));
    }
    json.object(|json| match value {
        Value::Str(text) | Value::Static(text) => json.text("stringValue", text),
        Value::I64(number) => json.long("intValue", number),
        Value::F64(number) => json.double("doubleValue", number),
        Value::Bool(flag) => json.flag("boolValue", flag),
        Value::StrArray(texts) => array_value(json, texts.iter().map(|text| Value::Str(text))),
        Value::I64Array(numbers) => array_value(json, numbers.iter().copied().map(Value::I64)),
        Value::F64Array(numbers) => array_value(json, numbers.iter().copied().map(Value::F64)),
        Value::BoolArray(flags) => array_value(json, flags.iter().copied().map(Value::Bool)),
        Value::U64(_) | Value::Absent | Value::Label(_) => {}
    });
}

fn array_value<'a>(json: &mut Json, values: impl Iterator<Item = Value<'a>>) {
    json.member("arrayValue", |json| {
        json.object(|json| json.array("values", |json| values.for_each(|value| any_value(json, value))));
    });
}
