//! Attributes as OTLP has them: a key and a value that says its type.

use crate::declare::attribute::AttributeValue;
use crate::declare::value::OwnedValue;
use crate::encode::wire::{Wire, put_varint, varint_len};

/// A value on its way to the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar<'a> {
    Str(&'a str),
    I64(i64),
    F64(f64),
    Bool(bool),
}

impl AttributeValue {
    /// Itself, or the values of an array.
    pub(crate) fn scalars(&self) -> Result<Scalar<'_>, Vec<Scalar<'_>>> {
        Ok(match self {
            AttributeValue::Str(text) => Scalar::Str(text),
            AttributeValue::I64(number) => Scalar::I64(*number),
            AttributeValue::F64(number) => Scalar::F64(*number),
            AttributeValue::Bool(flag) => Scalar::Bool(*flag),
            AttributeValue::StrArray(texts) => return Err(texts.iter().map(|text| Scalar::Str(text)).collect()),
            AttributeValue::I64Array(numbers) => return Err(numbers.iter().copied().map(Scalar::I64).collect()),
            AttributeValue::F64Array(numbers) => return Err(numbers.iter().copied().map(Scalar::F64).collect()),
            AttributeValue::BoolArray(flags) => return Err(flags.iter().copied().map(Scalar::Bool).collect()),
        })
    }
}

/// The digits of a number that OTLP's integers cannot hold. It travels as text, as the specification of OpenTelemetry
/// has it: cut to the largest integer it would be a wrong number that looks like a right one.
pub(crate) struct Digits {
    bytes: [u8; 20],
    start: usize,
}

impl Digits {
    #[cold]
    pub(crate) fn of(mut number: u64) -> Self {
        let mut digits = Digits { bytes: [b'0'; 20], start: 20 };
        loop {
            digits.start -= 1;
            digits.bytes[digits.start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return digits;
            }
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[self.start..]).unwrap_or_default()
    }
}

/// Hands an unsigned number to `f` as OTLP can hold it.
#[inline]
pub(crate) fn with_unsigned<R>(number: u64, f: impl FnOnce(Scalar<'_>) -> R) -> R {
    let digits;
    f(match i64::try_from(number) {
        Ok(number) => Scalar::I64(number),
        Err(_) => {
            digits = Digits::of(number);
            Scalar::Str(digits.as_str())
        }
    })
}

/// Hands the value of a finished span to `f` as OTLP can hold it.
pub(crate) fn with_owned<R>(value: &OwnedValue, f: impl FnOnce(Scalar<'_>) -> R) -> R {
    match value {
        OwnedValue::Bool(flag) => f(Scalar::Bool(*flag)),
        OwnedValue::I64(number) => f(Scalar::I64(*number)),
        OwnedValue::U64(number) => with_unsigned(*number, f),
        OwnedValue::F64(number) => f(Scalar::F64(*number)),
        OwnedValue::Str(text) => f(Scalar::Str(text)),
    }
}

impl Scalar<'_> {
    /// Bytes of the `AnyValue`.
    fn len(self) -> usize {
        match self {
            Scalar::Str(text) => 1 + varint_len(text.len() as u64) + text.len(),
            Scalar::I64(number) => 1 + varint_len(number as u64),
            Scalar::F64(_) => 9,
            Scalar::Bool(_) => 2,
        }
    }

    /// Writes the `AnyValue`.
    pub(crate) fn write(self, wire: &mut Wire) {
        match self {
            Scalar::Str(text) => wire.text(1, text),
            Scalar::Bool(flag) => wire.push(&[2 << 3, u8::from(flag)]),
            Scalar::I64(number) => wire.number(3, number as u64),
            Scalar::F64(number) => wire.double(4, number),
        }
    }
}

/// Writes a field that is a `KeyValue`. If the value is a text, it is the last that is written.
///
/// What most attributes are takes few and short copies: every length in it is one byte.
#[inline]
pub(crate) fn key_value(wire: &mut Wire, tag: u8, key: &str, value: Scalar<'_>) {
    if let Scalar::Str(text) = value {
        let (len, text_len) = (key.len() + text.len() + 6, text.len() as u8);
        if len < 128 {
            wire.push(&[tag, len as u8, 1 << 3 | 2, key.len() as u8]);
            wire.push(key.as_bytes());
            wire.push(&[2 << 3 | 2, text_len + 2, 1 << 3 | 2, text_len]);
            wire.push(text.as_bytes());
            return;
        }
    } else if key.len() < 100 {
        let (number, used) = short(value);
        wire.push(&[tag, (2 + key.len() + used) as u8, 1 << 3 | 2, key.len() as u8]);
        wire.push(key.as_bytes());
        // All of it and back again: a copy of a known size is a few moves.
        wire.push(&number);
        wire.bytes.truncate(wire.len() - (number.len() - used));
        return;
    }
    any_key_value(wire, tag, key, value);
}

/// The field of a value that is no text, and how many bytes of it are used.
#[inline]
fn short(value: Scalar<'_>) -> ([u8; 16], usize) {
    let mut field = [0; 16];
    let len = match value {
        Scalar::Bool(flag) => {
            field[2..4].copy_from_slice(&[2 << 3, u8::from(flag)]);
            2
        }
        Scalar::F64(number) => {
            field[2] = 4 << 3 | 1;
            field[3..11].copy_from_slice(&number.to_le_bytes());
            9
        }
        Scalar::I64(number) => {
            field[2] = 3 << 3;
            1 + put_varint(&mut field[3..], number as u64)
        }
        Scalar::Str(_) => 0,
    };
    field[..2].copy_from_slice(&[2 << 3 | 2, len as u8]);
    (field, len + 2)
}

#[cold]
fn any_key_value(wire: &mut Wire, tag: u8, key: &str, value: Scalar<'_>) {
    let value_len = value.len();
    let len = 2 + varint_len(key.len() as u64) + key.len() + varint_len(value_len as u64) + value_len;
    wire.push(&[tag]);
    wire.varint(len as u64);
    wire.text(1, key);
    wire.push(&[2 << 3 | 2]);
    wire.varint(value_len as u64);
    value.write(wire);
}

/// Writes a field that is a `KeyValue`.
pub(crate) fn field(wire: &mut Wire, field: u8, key: &str, value: Scalar<'_>) {
    key_value(wire, field << 3 | 2, key, value);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
    use prost::Message;

    use super::*;

    fn check(value: Scalar<'_>, expected: &any_value::Value) {
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
        check(Scalar::Bool(false), &any_value::Value::BoolValue(false));
        check(Scalar::Bool(true), &any_value::Value::BoolValue(true));
        for number in [0, 1, -1, i64::MIN, i64::MAX] {
            check(Scalar::I64(number), &any_value::Value::IntValue(number));
        }
        for number in [0.0, -0.5, f64::INFINITY, f64::MIN_POSITIVE] {
            check(Scalar::F64(number), &any_value::Value::DoubleValue(number));
        }
        for len in [0, 1, 100, 120, 127, 128, 200, 20_000] {
            let text = "x".repeat(len);
            check(Scalar::Str(&text), &any_value::Value::StringValue(text.clone()));
        }
    }

    #[test]
    fn a_number_too_large_for_an_integer_is_text() {
        let text = |number| {
            with_unsigned(number, |value| match value {
                Scalar::Str(text) => Some(text.to_owned()),
                _ => None,
            })
        };
        assert_eq!(text(i64::MAX as u64), None);
        assert_eq!(text(i64::MAX as u64 + 1).as_deref(), Some("9223372036854775808"));
        assert_eq!(text(u64::MAX).as_deref(), Some("18446744073709551615"));
    }
}
