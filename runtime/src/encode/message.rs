//! Describes OTLP messages once for both encodings, protocol buffers and JSON.
//!
//! A function that describes a message calls a method of `Message` for each field that has a value, with the field's number
//! and its name in JSON. The methods are named after the types of protocol buffers.

use crate::declare::value::{OwnedValue, Value, formatted};

/// Writes the fields of a message in one of the two encodings.
pub(crate) trait Message: Default {
    /// Encodes a whole message into `buffer`, whose old content is discarded.
    fn encode(buffer: Vec<u8>, write: impl FnOnce(&mut Self)) -> Vec<u8>;

    /// Returns the number of bytes written so far.
    #[cfg(has_logs)]
    fn len(&self) -> usize;

    fn string(&mut self, field: u8, name: &str, text: &str);

    fn string_unless_empty(&mut self, field: u8, name: &str, text: &str) {
        if !text.is_empty() {
            self.string(field, name, text);
        }
    }

    fn boolean(&mut self, field: u8, name: &str, flag: bool);

    /// Writes a `uint32` or an enum.
    fn uint32(&mut self, field: u8, name: &str, number: u32);

    /// Writes a `uint32` that is usually zero. A zero is omitted in protocol buffers and written in JSON.
    fn count(&mut self, field: u8, name: &str, number: u32);

    fn sint32(&mut self, field: u8, name: &str, number: i32);

    fn int64(&mut self, field: u8, name: &str, number: i64);

    fn fixed32(&mut self, field: u8, name: &str, number: u32);

    fn fixed64(&mut self, field: u8, name: &str, number: u64);

    fn sfixed64(&mut self, field: u8, name: &str, number: i64);

    fn double(&mut self, field: u8, name: &str, number: f64);

    /// Writes a trace id or a span id.
    fn id(&mut self, field: u8, name: &str, bytes: &[u8]);

    fn packed_uint64(&mut self, field: u8, name: &str, numbers: &[u64]);

    fn packed_fixed64(&mut self, field: u8, name: &str, numbers: &[u64]);

    fn packed_double(&mut self, field: u8, name: &str, numbers: &[f64]);

    fn message(&mut self, field: u8, name: &str, write: impl FnOnce(&mut Self));

    /// Writes a message that is probably longer than 16 KiB.
    fn long_message(&mut self, field: u8, name: &str, write: impl FnOnce(&mut Self));

    /// Writes a repeated field. `write` writes its elements.
    fn list(&mut self, name: &str, write: impl FnOnce(&mut Self));

    /// Writes an element of a list.
    fn element(&mut self, field: u8, write: impl FnOnce(&mut Self));

    /// Writes an element of a list that is probably longer than 16 KiB.
    fn long_element(&mut self, field: u8, write: impl FnOnce(&mut Self));

    /// Appends elements of a list that are already encoded.
    #[cfg(has_logs)]
    fn elements(&mut self, written: &Self);

    /// Writes a repeated field with one message per item.
    fn messages<T>(
        &mut self,
        field: u8,
        name: &str,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        self.list(name, |m| items.into_iter().for_each(|item| m.element(field, |m| write(m, item))));
    }

    /// Writes a `KeyValue` element of a list.
    fn key_value(&mut self, field: u8, key: &str, value: Value<'_>) {
        self.element(field, |m| {
            m.string(1, "key", key);
            m.message(2, "value", |m| any_value(m, value));
        });
    }
}

/// Writes the field of an `AnyValue`; nothing for an absent value or a label.
pub(crate) fn any_value(m: &mut impl Message, value: Value<'_>) {
    match value {
        Value::Str(text) | Value::Static(text) => text_value(m, text),
        Value::Bool(flag) => m.boolean(2, "boolValue", flag),
        Value::I64(number) => m.int64(3, "intValue", number),
        Value::U64(number) => with_unsigned(number, |value| any_value(m, value)),
        Value::F64(number) => m.double(4, "doubleValue", number),
        Value::Array(array) => {
            m.message(5, "arrayValue", |m| m.messages(1, "values", array.iter().map(Value::of_element), any_value));
        }
        Value::Absent | Value::Label(_) => {}
    }
}

/// Writes the field of an `AnyValue` that is a text.
pub(crate) fn text_value(m: &mut impl Message, text: &str) {
    m.string(1, "stringValue", text);
}

/// Writes a repeated field of attributes.
pub(crate) fn attributes<'a>(
    m: &mut impl Message,
    field: u8,
    attributes: impl IntoIterator<Item = (&'a str, Value<'a>)>,
) {
    m.list("attributes", |m| attributes.into_iter().for_each(|(key, value)| m.key_value(field, key, value)));
}

/// Borrows owned attributes for [`attributes`].
pub(crate) fn pairs<K: AsRef<str>>(attributes: &[(K, OwnedValue)]) -> impl Iterator<Item = (&str, Value<'_>)> {
    attributes.iter().map(|(key, value)| (key.as_ref(), value.as_value()))
}

/// Calls `f` with an unsigned number as an OTLP value. A number above `i64::MAX` becomes text, as OpenTelemetry specifies,
/// because a clamped number would be wrong without notice.
pub(crate) fn with_unsigned<R>(number: u64, f: impl FnOnce(Value<'_>) -> R) -> R {
    match i64::try_from(number) {
        Ok(number) => f(Value::I64(number)),
        Err(_) => formatted(&number, |digits| f(Value::Str(digits))),
    }
}
