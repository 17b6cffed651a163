//! What the tests of all signals use: random data, and attributes as OTLP has them.

use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue, any_value};
use tracecast::OwnedValue;

/// A generator of data that are the same in each run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// A number of any magnitude.
    pub(crate) fn number(&mut self) -> u64 {
        self.next() >> self.below(64)
    }

    pub(crate) fn double(&mut self) -> f64 {
        let number = f64::from_bits(self.next());
        if number.is_finite() { number } else { 0.5 }
    }

    /// A list, sometimes an empty one.
    pub(crate) fn list<T>(&mut self, element: impl Fn(&mut Self) -> T) -> Vec<T> {
        let len = [0, 1, 2, 5, 9, 40][self.below(6) as usize];
        (0..len).map(|_| element(self)).collect()
    }

    /// A text of at most so many characters.
    pub(crate) fn text(&mut self, most: usize) -> String {
        let len = [0, 3, 20, 36, 100, 130, 300, most][self.below(8) as usize];
        let letters = ['a', 'ü', '\n', '"', '\\', '\u{1}', '😀', '7', ' ', '\0'];
        (0..len).map(|_| letters[self.below(10) as usize]).collect()
    }
}

/// An attribute as OTLP has it.
pub(crate) fn key_value(key: &str, value: &OwnedValue) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(any(value)), ..KeyValue::default() }
}

fn any(value: &OwnedValue) -> AnyValue {
    let array =
        |values: Vec<OwnedValue>| any_value::Value::ArrayValue(ArrayValue { values: values.iter().map(any).collect() });
    let value = match value {
        OwnedValue::Bool(flag) => any_value::Value::BoolValue(*flag),
        OwnedValue::I64(number) => any_value::Value::IntValue(*number),
        OwnedValue::U64(number) if *number > i64::MAX as u64 => any_value::Value::StringValue(number.to_string()),
        OwnedValue::U64(number) => any_value::Value::IntValue(*number as i64),
        OwnedValue::F64(number) => any_value::Value::DoubleValue(*number),
        OwnedValue::Str(text) => any_value::Value::StringValue(text.to_string()),
        OwnedValue::StrArray(texts) => array(texts.iter().map(|text| OwnedValue::from(text.as_str())).collect()),
        OwnedValue::I64Array(numbers) => array(numbers.iter().copied().map(OwnedValue::I64).collect()),
        OwnedValue::F64Array(numbers) => array(numbers.iter().copied().map(OwnedValue::F64).collect()),
        OwnedValue::BoolArray(flags) => array(flags.iter().copied().map(OwnedValue::Bool).collect()),
        other => panic!("unknown value {other:?}"),
    };
    AnyValue { value: Some(value) }
}
