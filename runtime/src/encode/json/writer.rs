//! Writes JSON as it comes.

use std::fmt::{Display, Write};

use crate::base::escape;
use crate::encode::message::Message;

/// JSON in the making. Commas are put where they belong.
#[derive(Debug, Default)]
pub(super) struct Json {
    text: String,
}

impl Json {
    /// An object as a value of its own: in an array, after a name, or as the whole.
    pub(super) fn object(&mut self, members: impl FnOnce(&mut Json)) {
        self.separate();
        self.text.push('{');
        members(self);
        self.text.push('}');
    }

    /// A member that `value` writes.
    pub(super) fn member(&mut self, name: &str, value: impl FnOnce(&mut Json)) {
        self.separate();
        // Names are ours: nothing in them has to be escaped.
        self.text.push('"');
        self.text.push_str(name);
        self.text.push_str("\":");
        value(self);
    }

    pub(super) fn array(&mut self, name: &str, elements: impl FnOnce(&mut Json)) {
        self.member(name, |json| {
            json.text.push('[');
            elements(json);
            json.text.push(']');
        });
    }

    pub(super) fn text(&mut self, name: &str, text: &str) {
        self.member(name, |json| json.quoted(text));
    }

    pub(super) fn text_unless_empty(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.text(name, text);
        }
    }

    /// An id, or an integer of 64 bits: text that nothing has to be escaped in.
    pub(super) fn plain(&mut self, name: &str, text: impl Display) {
        self.member(name, |json| json.plain_value(text));
    }

    pub(super) fn long(&mut self, name: &str, number: impl Into<i128>) {
        self.plain(name, number.into());
    }

    pub(super) fn number(&mut self, name: &str, number: impl Into<i64>) {
        let number = number.into();
        self.member(name, |json| json.put(number));
    }

    fn numbers<T: Copy>(&mut self, name: &str, numbers: &[T], write: impl Fn(&mut Json, T)) {
        self.array(name, |json| {
            for number in numbers {
                json.separate();
                write(json, *number);
            }
        });
    }

    fn put(&mut self, value: impl Display) {
        // Writing to a string does not fail.
        let _ = write!(self.text, "{value}");
    }

    fn plain_value(&mut self, text: impl Display) {
        self.put(format_args!("\"{text}\""));
    }

    /// JSON has no infinity and no NaN; protocol buffers write them as text.
    fn double_value(&mut self, number: f64) {
        match number {
            number if number.is_nan() => self.text.push_str("\"NaN\""),
            f64::INFINITY => self.text.push_str("\"Infinity\""),
            f64::NEG_INFINITY => self.text.push_str("\"-Infinity\""),
            // The shortest digits that give the number back, with an exponent where it is far from 1.
            number => self.put(format_args!("{number:?}")),
        }
    }

    fn quoted(&mut self, text: &str) {
        // Writing to a string does not fail.
        let _ = escape::json(&mut self.text, text, |character| character < ' ');
    }

    /// A comma, unless this is the first of its object or array, or the value behind a name.
    fn separate(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(['{', '[', ':']) {
            self.text.push(',');
        }
    }
}

/// OTLP/JSON has names instead of the numbers of fields.
impl Message for Json {
    fn encode(mut buffer: Vec<u8>, write: impl FnOnce(&mut Self)) -> Vec<u8> {
        buffer.clear();
        let mut json = Json { text: String::from_utf8(buffer).unwrap_or_default() };
        json.object(write);
        json.text.into_bytes()
    }

    #[cfg(all(feature = "logs", not(target_family = "wasm"), not(loom)))]
    fn len(&self) -> usize {
        self.text.len()
    }

    fn string(&mut self, _: u8, name: &str, text: &str) {
        self.text(name, text);
    }

    fn boolean(&mut self, _: u8, name: &str, flag: bool) {
        self.member(name, |json| json.put(flag));
    }

    fn uint32(&mut self, _: u8, name: &str, number: u32) {
        self.number(name, number);
    }

    fn sint32(&mut self, _: u8, name: &str, number: i32) {
        self.number(name, number);
    }

    fn int64(&mut self, _: u8, name: &str, number: i64) {
        self.plain(name, number);
    }

    #[cfg(all(feature = "logs", not(target_family = "wasm"), not(loom)))]
    fn fixed32(&mut self, _: u8, name: &str, number: u32) {
        self.number(name, number);
    }

    fn fixed64(&mut self, _: u8, name: &str, number: u64) {
        self.plain(name, number);
    }

    fn sfixed64(&mut self, _: u8, name: &str, number: i64) {
        self.plain(name, number);
    }

    fn double(&mut self, _: u8, name: &str, number: f64) {
        self.member(name, |json| json.double_value(number));
    }

    fn id(&mut self, _: u8, name: &str, bytes: &[u8]) {
        self.member(name, |json| {
            json.text.push('"');
            for byte in bytes {
                let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value & 15)]);
                json.text.extend([digit(byte >> 4), digit(*byte)]);
            }
            json.text.push('"');
        });
    }

    fn packed_uint64(&mut self, _: u8, name: &str, numbers: &[u64]) {
        self.numbers(name, numbers, Json::plain_value);
    }

    fn packed_fixed64(&mut self, _: u8, name: &str, numbers: &[u64]) {
        self.numbers(name, numbers, Json::plain_value);
    }

    fn packed_double(&mut self, _: u8, name: &str, numbers: &[f64]) {
        self.numbers(name, numbers, Json::double_value);
    }

    fn message(&mut self, _: u8, name: &str, write: impl FnOnce(&mut Self)) {
        self.member(name, |json| json.object(write));
    }

    fn long_message(&mut self, field: u8, name: &str, write: impl FnOnce(&mut Self)) {
        self.message(field, name, write);
    }

    fn list(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        self.array(name, write);
    }

    fn element(&mut self, _: u8, write: impl FnOnce(&mut Self)) {
        self.object(write);
    }

    fn long_element(&mut self, _: u8, write: impl FnOnce(&mut Self)) {
        self.object(write);
    }

    #[cfg(all(feature = "logs", not(target_family = "wasm"), not(loom)))]
    fn elements(&mut self, written: &Self) {
        if !written.text.is_empty() {
            self.separate();
            self.text.push_str(&written.text);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn check(write: impl FnOnce(&mut Json), expected: &str) {
        let mut json = Json::default();
        json.object(write);
        assert_eq!(json.text, expected);
    }

    #[test]
    fn what_json_does_not_take_is_escaped() {
        check(
            |json| json.text("t", "a\"b\\c\nd\re\tf\u{1}g\u{7f}ü\u{2028}"),
            "{\"t\":\"a\\\"b\\\\c\\nd\\re\\tf\\u0001g\u{7f}ü\u{2028}\"}",
        );
    }

    #[test]
    fn a_text_does_not_mislead_the_commas() {
        let texts = [("a", "{"), ("b", "["), ("c", ":"), ("d", "")];
        let write = |json: &mut Json| texts.iter().for_each(|(name, text)| json.text(name, text));
        check(write, r#"{"a":"{","b":"[","c":":","d":""}"#);
    }

    #[test]
    fn doubles_are_short_and_exact() {
        let numbers = [0.0, -0.0, 1.0, 0.1, 1e300, 5e-324, -123.456];
        check(|json| json.packed_double(0, "d", &numbers), r#"{"d":[0.0,-0.0,1.0,0.1,1e300,5e-324,-123.456]}"#);
        let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        check(|json| json.packed_double(0, "d", &special), r#"{"d":["NaN","Infinity","-Infinity"]}"#);
    }

    #[test]
    fn nested_values_have_their_commas() {
        let write = |json: &mut Json| {
            json.array("a", |json| (0..2).for_each(|_| json.object(|_| ())));
            json.array("b", |_| ());
            json.member("c", |json| json.object(|json| json.boolean(0, "d", true)));
            json.packed_fixed64(0, "e", &[1, u64::MAX]);
            json.number("f", -3_i32);
        };
        check(write, r#"{"a":[{},{}],"b":[],"c":{"d":true},"e":["1","18446744073709551615"],"f":-3}"#);
    }
}
