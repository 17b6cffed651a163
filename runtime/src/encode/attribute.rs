//! Attributes in protobuf: `KeyValue` messages.

use crate::declare::value::Value;
use crate::encode::message::any_value;
use crate::encode::wire::{Wire, put_varint};

/// Writes a field that is a `KeyValue`. If the value is a text, its bytes are written last. The caller resolves labels
/// and omits absent values: both would be written without a value.
///
/// Most attributes are short, so that each length fits into one byte; for these, writing takes a few small copies.
#[inline(always)]
pub(crate) fn key_value(wire: &mut Wire, tag: u8, key: &str, value: Value<'_>) {
    if let Value::Str(text) = value {
        let (len, text_len) = (key.len() + text.len() + 6, text.len() as u8);
        if len < 128 {
            wire.push(&[tag, len as u8, 1 << 3 | 2, key.len() as u8]);
            wire.push(key.as_bytes());
            wire.push(&[2 << 3 | 2, text_len + 2, 1 << 3 | 2, text_len]);
            wire.push(text.as_bytes());
            return;
        }
    } else if key.len() < 100
        && let Some((number, used)) = short(value)
    {
        wire.push(&[tag, (2 + key.len() + used) as u8, 1 << 3 | 2, key.len() as u8]);
        wire.push(key.as_bytes());
        // Copies the whole buffer and truncates: a copy of constant size is a few moves.
        wire.push(&number);
        wire.bytes.truncate(wire.len() - (number.len() - used));
        return;
    }
    any_key_value(wire, tag, key, value);
}

/// Encodes a number or a flag. Returns the buffer and the number of bytes used in it; `None` for other values and for
/// numbers above `i64::MAX`.
// Always inlined: a call would return the buffer through memory.
#[inline(always)]
fn short(value: Value<'_>) -> Option<([u8; 16], usize)> {
    let mut field = [0; 16];
    let mut integer = |number: u64| {
        field[2] = 3 << 3;
        1 + put_varint(&mut field[3..], number)
    };
    let len = match value {
        Value::I64(number) => integer(number as u64),
        Value::U64(number) if i64::try_from(number).is_ok() => integer(number),
        Value::Bool(flag) => {
            field[2..4].copy_from_slice(&[2 << 3, u8::from(flag)]);
            2
        }
        Value::F64(number) => {
            field[2] = 4 << 3 | 1;
            field[3..11].copy_from_slice(&number.to_le_bytes());
            9
        }
        _ => return None,
    };
    field[..2].copy_from_slice(&[2 << 3 | 2, len as u8]);
    Some((field, len + 2))
}

#[cold]
fn any_key_value(wire: &mut Wire, tag: u8, key: &str, value: Value<'_>) {
    let start = wire.len();
    wire.nested(tag >> 3, |wire| {
        wire.text(1, key);
        wire.nested(2, |wire| any_value(wire, value));
    });
    wire.bytes[start] = tag;
}

/// Like `key_value`, with the number of the field instead of its tag. Not inlined, for callers outside the fast path of
/// spans.
#[inline(never)]
pub(crate) fn field(wire: &mut Wire, field: u8, key: &str, value: Value<'_>) {
    key_value(wire, field << 3 | 2, key, value);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
    use prost::Message;

    use super::*;

    fn check(value: Value<'_>, expected: &any_value::Value) {
        for key in [1, 99, 100, 117, 121, 122, 130].map(|len| "k".repeat(len)) {
            let mut wire = Wire::default();
            key_value(&mut wire, 77, &key, value);
            assert_eq!(wire.bytes[0], 77);
            let read = KeyValue::decode_length_delimited(&wire.bytes[1..]).unwrap();
            assert_eq!((&read.key, read.value.unwrap().value.as_ref()), (&key, Some(expected)));
        }
    }

    #[test]
    fn values_keep_their_types() {
        check(Value::Bool(false), &any_value::Value::BoolValue(false));
        check(Value::Bool(true), &any_value::Value::BoolValue(true));
        for number in [0, 1, -1, i64::MIN, i64::MAX] {
            check(Value::I64(number), &any_value::Value::IntValue(number));
        }
        for number in [0.0, -0.5, f64::INFINITY, f64::MIN_POSITIVE] {
            check(Value::F64(number), &any_value::Value::DoubleValue(number));
        }
        for len in [0, 1, 100, 120, 127, 128, 200, 20_000] {
            let text = "x".repeat(len);
            check(Value::Str(&text), &any_value::Value::StringValue(text.clone()));
        }
    }

    #[test]
    fn a_number_too_large_for_an_integer_is_text() {
        let text = |number| {
            crate::encode::message::with_unsigned(number, |value| match value {
                Value::Str(text) => Some(text.to_owned()),
                _ => None,
            })
        };
        check(Value::U64(7), &any_value::Value::IntValue(7));
        check(Value::U64(u64::MAX), &any_value::Value::StringValue(u64::MAX.to_string()));
        assert_eq!(text(i64::MAX as u64), None);
        assert_eq!(text(i64::MAX as u64 + 1).as_deref(), Some("9223372036854775808"));
        assert_eq!(text(u64::MAX).as_deref(), Some("18446744073709551615"));
    }
}
