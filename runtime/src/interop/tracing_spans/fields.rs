//! Converts fields of spans and events to attributes.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tracing_core::field::{Field, Visit};

use crate::declare::callsite::Kind;
use crate::declare::value::OwnedValue;
use crate::record::finished::{Attribute, FinishedSpan, Status};

/// The data that was read from the fields of a span or an event.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) name: Option<String>,
    pub(super) kind: Option<Kind>,
    /// The first field named `message`: the text of an event, or an attribute of a span.
    pub(super) message: Option<String>,
    pub(super) attributes: Vec<Attribute>,
    failed: Option<bool>,
    description: Option<String>,
}

impl Fields {
    /// Reads fields. Formatting them is user code; if it panics, the fields read so far are kept.
    pub(super) fn read(record: impl FnOnce(&mut dyn Visit)) -> Self {
        let mut fields = Fields::default();
        let _ = catch_unwind(AssertUnwindSafe(|| record(&mut fields)));
        fields
    }

    /// Sets the name, kind, attributes and status of a span from the fields.
    pub(super) fn apply(self, span: &mut FinishedSpan) {
        if let Some(name) = self.name {
            span.name = Cow::Owned(name);
        }
        if let Some(kind) = self.kind {
            span.kind = kind;
        }
        let message = self.message.map(|text| Attribute { key: Cow::Borrowed("message"), value: text.into() });
        self.attributes.into_iter().chain(message).for_each(|attribute| span.set(attribute));
        match (self.failed, self.description) {
            (Some(false), _) => span.set_status(Status::Ok),
            (failed, Some(text)) if failed.is_some() || !matches!(span.status, Status::Ok) => {
                span.set_status(Status::Error(Cow::Owned(text)));
            }
            // If the status already has a description, it is kept.
            (Some(true), None) if !matches!(span.status, Status::Error(_)) => {
                span.set_status(Status::Error(Cow::Borrowed("")));
            }
            _ => {}
        }
    }

    fn text(&mut self, field: &Field, text: String) {
        match field.name() {
            "otel.name" => self.name = Some(text),
            "otel.kind" => self.kind = kind(&text).or(self.kind),
            "otel.status_code" => self.failed = failed(&text).or(self.failed),
            "otel.status_description" | "otel.status_message" => self.description = Some(text),
            "message" if self.message.is_none() => self.message = Some(text),
            _ => self.value(field, OwnedValue::from(text)),
        }
    }

    fn value(&mut self, field: &Field, value: OwnedValue) {
        self.attributes.push(Attribute { key: Cow::Borrowed(field.name()), value });
    }
}

fn kind(text: &str) -> Option<Kind> {
    let kinds = [Kind::Internal, Kind::Server, Kind::Client, Kind::Producer, Kind::Consumer];
    kinds.into_iter().find(|kind| text.eq_ignore_ascii_case(&format!("{kind:?}")))
}

fn failed(text: &str) -> Option<bool> {
    [("ok", false), ("error", true)]
        .into_iter()
        .find_map(|(name, failed)| text.eq_ignore_ascii_case(name).then_some(failed))
}

impl Visit for Fields {
    fn record_bool(&mut self, field: &Field, value: bool) {
        self.value(field, OwnedValue::Bool(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.value(field, OwnedValue::I64(value));
    }

    /// Converts a number that OTLP cannot represent to text.
    fn record_u64(&mut self, field: &Field, value: u64) {
        match i64::try_from(value) {
            Ok(value) => self.record_i64(field, value),
            Err(_) => self.text(field, value.to_string()),
        }
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.value(field, OwnedValue::F64(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, value.to_owned());
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.text(field, value.to_string());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.text(field, format!("{value:?}"));
    }
}
