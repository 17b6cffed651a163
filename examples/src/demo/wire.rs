//! The parts of OTLP that all signals share.

use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::resource::v1::Resource;

pub(crate) type Attributes = Vec<(String, String)>;

/// Returns the name of a process in the fleet.
pub(crate) fn process(resource: Option<&Resource>) -> String {
    let attributes = resource.map(|resource| attributes(&resource.attributes)).unwrap_or_default();
    let instance = attributes.into_iter().find(|(name, _)| name == "service.instance.id");
    instance.map_or("unknown".to_owned(), |(_, name)| name)
}

pub(crate) fn attributes(wire: &[KeyValue]) -> Attributes {
    wire.iter().map(|pair| (pair.key.clone(), pair.value.as_ref().map(text).unwrap_or_default())).collect()
}

pub(crate) fn text(value: &AnyValue) -> String {
    match &value.value {
        Some(any_value::Value::StringValue(text)) => text.clone(),
        Some(any_value::Value::IntValue(number)) => number.to_string(),
        Some(any_value::Value::DoubleValue(number)) => number.to_string(),
        Some(any_value::Value::BoolValue(flag)) => flag.to_string(),
        Some(any_value::Value::ArrayValue(all)) => all.values.iter().map(text).collect::<Vec<_>>().join(", "),
        _ => String::new(),
    }
}

pub(crate) fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}
