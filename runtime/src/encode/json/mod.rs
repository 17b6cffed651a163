//! The same requests as OTLP/JSON: names in lowerCamelCase, ids in hex, integers of 64 bits as text, enums as numbers.
//!
//! It is for collectors that take nothing else, so it is written from plain data and not from records.

mod foreign;
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
use crate::declare::attribute::AttributeValue;
use crate::encode::attribute::Scalar;
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
        resource.attributes.iter().for_each(|(key, value)| any_attribute(json, key, value));
    });
}

fn any_attribute(json: &mut Json, key: &str, value: &AttributeValue) {
    match value.scalars() {
        Ok(scalar) => attribute(json, key, scalar),
        Err(scalars) => json.object(|json| {
            json.text("key", key);
            json.member("value", |json| json.object(|json| array_value(json, &scalars)));
        }),
    }
}

fn array_value(json: &mut Json, scalars: &[Scalar<'_>]) {
    json.member("arrayValue", |json| {
        json.object(|json| json.array("values", |json| scalars.iter().for_each(|scalar| any_value(json, *scalar))));
    });
}

fn attribute(json: &mut Json, key: &str, value: Scalar<'_>) {
    json.object(|json| {
        json.text("key", key);
        json.member("value", |json| any_value(json, value));
    });
}

fn any_value(json: &mut Json, value: Scalar<'_>) {
    json.object(|json| match value {
        Scalar::Str(text) => json.text("stringValue", text),
        Scalar::I64(number) => json.long("intValue", number),
        Scalar::F64(number) => json.double("doubleValue", number),
        Scalar::Bool(flag) => json.flag("boolValue", flag),
    });
}
