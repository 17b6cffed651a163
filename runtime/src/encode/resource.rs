//! Encodes the parts that all requests share: the resource and the scopes.

use crate::declare::callsite::scope_of;
use crate::declare::metric::MetricMeta;
use crate::declare::scope::{CrateScope, ExternalScope};
use crate::declare::value::OwnedValue;
use crate::encode::message::{self, Message, pairs};
use crate::encode::wire::{Opened, Wire};
use crate::meter::snapshot::MetricPoints;
use crate::record::finished::FinishedSpan;

/// The resource attributes of this process, and their encoding.
#[derive(Clone, Debug)]
pub(crate) struct EncodedResource {
    pub(crate) attributes: Vec<(String, OwnedValue)>,
    pub(crate) schema_url: Option<String>,
    /// The protobuf fields of a `ResourceSpans`, `ResourceMetrics` or `ResourceLogs`, without its scopes.
    pub(crate) bytes: Vec<u8>,
}

impl EncodedResource {
    pub(crate) fn new(attributes: &[(String, OwnedValue)]) -> Self {
        EncodedResource { attributes: attributes.to_vec(), schema_url: None, bytes: Vec::new() }.encoded()
    }

    /// Sets the URL of the schema that defines the attribute names.
    pub(crate) fn with_schema_url(mut self, schema_url: &str) -> Self {
        self.schema_url = Some(schema_url.to_owned());
        self.encoded()
    }

    fn encoded(mut self) -> Self {
        let mut wire = Wire::default();
        self.describe(&mut wire);
        self.bytes = wire.bytes;
        self
    }

    /// Writes the fields of a `ResourceSpans`, `ResourceMetrics` or `ResourceLogs` without its scopes.
    fn describe(&self, m: &mut impl Message) {
        m.message(1, "resource", |m| message::attributes(m, 1, pairs(&self.attributes)));
        if let Some(url) = &self.schema_url {
            m.string(3, "schemaUrl", url);
        }
    }

    /// Encodes a request of spans, metrics or logs into `buffer`; `scopes` writes its scopes. `names` are the JSON names
    /// of the lists of resources and of scopes, in which the three kinds of requests differ.
    pub(crate) fn request<M: Message>(
        &self,
        names: [&str; 2],
        buffer: Vec<u8>,
        scopes: impl FnOnce(&mut M),
    ) -> Vec<u8> {
        let [resources, of_scopes] = names;
        M::encode(buffer, |m| {
            m.list(resources, |m| {
                m.long_element(1, |m| {
                    self.describe(m);
                    m.list(of_scopes, scopes);
                });
            });
        })
    }

    /// Begins a protobuf request. The caller then writes the scopes, and ends the request.
    pub(crate) fn begin(&self, wire: &mut Wire) -> Request {
        let resource = wire.open_long(1);
        wire.push(&self.bytes);
        Request { resource, scope: None }
    }
}

/// A protobuf request that is being written.
#[must_use = "a request must be ended"]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    resource: Opened,
    scope: Option<Opened>,
}

impl Request {
    /// Ends the open scope, if there is one, and begins the next one. The caller writes the fields of the new scope.
    pub(crate) fn next_scope(&mut self, wire: &mut Wire) {
        self.scope.take().into_iter().for_each(|scope| wire.close(scope));
        self.scope = Some(wire.open_long(2));
    }

    pub(crate) fn end(self, wire: &mut Wire) {
        self.scope.into_iter().for_each(|scope| wire.close(scope));
        wire.close(self.resource);
    }
}

/// Writes the scope of a `ScopeSpans`, `ScopeMetrics` or `ScopeLogs`.
pub(crate) fn scope(m: &mut impl Message, name: &str, version: Option<&str>, attributes: &[(String, OwnedValue)]) {
    m.message(1, "scope", |m| {
        m.string_unless_empty(1, "name", name);
        version.into_iter().for_each(|version| m.string(2, "version", version));
        message::attributes(m, 3, pairs(attributes));
    });
}

/// The code that a scope stands for: the source of its spans or metrics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Of<'a> {
    /// A crate that declares spans or metrics with our macros.
    Crate(CrateScope),
    /// A library that uses the API of OpenTelemetry or `tracing`.
    External(&'a ExternalScope),
}

impl<'a> Of<'a> {
    pub(crate) fn span(span: &'a FinishedSpan) -> Self {
        span.scope.as_deref().map_or_else(|| Of::Crate(scope_of(span.crate_lines)), Of::External)
    }

    pub(crate) fn metric(metric: &'a MetricPoints) -> Self {
        let ours = || Of::Crate(metric.meta.map_or(CrateScope::OWN, MetricMeta::scope));
        metric.scope.as_deref().map_or_else(ours, Of::External)
    }
}

/// Writes the fields of a `ScopeSpans` or `ScopeMetrics`; `items` writes the spans or metrics.
pub(crate) fn of_scope<M: Message>(m: &mut M, of: Of<'_>, items: impl FnOnce(&mut M)) {
    match of {
        Of::Crate(CrateScope { name, version }) => scope(m, name, Some(version), &[]),
        Of::External(of) => scope(m, &of.name, of.version.as_deref(), &of.attributes),
    }
    items(m);
    if let Of::External(ExternalScope { schema_url: Some(url), .. }) = of {
        m.string_unless_empty(3, "schemaUrl", url);
    }
}

/// Writes items grouped by scope, each scope as an element of a list. Scopes are in the order of their first items.
pub(crate) fn scopes<'a, M: Message, T>(
    m: &mut M,
    items: &'a [T],
    of: impl Fn(&'a T) -> Of<'a>,
    write: impl Fn(&mut M, &mut dyn Iterator<Item = &'a T>),
) {
    let mut scopes: Vec<Of<'a>> = Vec::new();
    for scope in items.iter().map(&of) {
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    for scope in scopes {
        let mut own = items.iter().filter(|item| of(item) == scope);
        m.long_element(2, |m| of_scope(m, scope, |m| write(m, &mut own)));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
    use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, any_value};
    use prost::Message;

    use super::*;

    fn any(value: any_value::Value) -> AnyValue {
        AnyValue { value: Some(value) }
    }

    #[test]
    fn a_resource_keeps_all_types() {
        use any_value::Value;
        let array =
            |values: Vec<Value>| Value::ArrayValue(ArrayValue { values: values.into_iter().map(any).collect() });
        let texts = ["a", "", "ü"];
        let cases = [
            (OwnedValue::Str("daemon".into()), Value::StringValue("daemon".into())),
            (OwnedValue::I64(-7), Value::IntValue(-7)),
            (OwnedValue::F64(0.25), Value::DoubleValue(0.25)),
            (OwnedValue::Bool(true), Value::BoolValue(true)),
            (
                OwnedValue::StrArray(texts.map(String::from).to_vec()),
                array(texts.map(|text| Value::StringValue(text.into())).to_vec()),
            ),
            (OwnedValue::I64Array(vec![0, -1]), array(vec![Value::IntValue(0), Value::IntValue(-1)])),
            (OwnedValue::F64Array(vec![0.0, 2.5]), array(vec![Value::DoubleValue(0.0), Value::DoubleValue(2.5)])),
            (OwnedValue::BoolArray(vec![false, true]), array(vec![Value::BoolValue(false), Value::BoolValue(true)])),
            (OwnedValue::StrArray(Vec::new()), array(Vec::new())),
        ];
        let attributes: Vec<_> =
            cases.iter().enumerate().map(|(at, (value, _))| (format!("k{at}"), value.clone())).collect();
        let resource = EncodedResource::new(&attributes).with_schema_url("https://example.org/1.42");
        let mut wire = Wire::default();
        let mut begun = resource.begin(&mut wire);
        begun.next_scope(&mut wire);
        of_scope(&mut wire, Of::Crate(CrateScope { name: "store", version: "1.2.3" }), |_| {});
        begun.end(&mut wire);
        let request = ExportTraceServiceRequest::decode(&wire.bytes[..]).unwrap();
        let [spans] = &request.resource_spans[..] else { panic!("one resource") };
        assert_eq!(spans.schema_url, "https://example.org/1.42");
        let read = &spans.resource.as_ref().unwrap().attributes;
        assert_eq!(read.len(), cases.len());
        for (at, ((_, expected), read)) in cases.iter().zip(read).enumerate() {
            assert_eq!((&read.key, &read.value), (&format!("k{at}"), &Some(any(expected.clone()))));
        }
        let scope = spans.scope_spans[0].scope.as_ref().unwrap();
        assert_eq!((scope.name.as_str(), scope.version.as_str()), ("store", "1.2.3"));
    }
}
