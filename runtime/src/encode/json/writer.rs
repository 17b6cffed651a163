//! Writes messages as JSON.

use std::fmt::{self, Display, Write};

use crate::base::escape;
use crate::encode::message::Message;
use crate::formats::hex;

/// A buffer of JSON. Its methods insert the commas.
#[derive(Debug, Default)]
pub(super) struct Json {
    /// The text, in UTF-8.
    bytes: Vec<u8>,
}

impl Json {
    /// Writes an array or an object between these brackets, after a comma if one is needed.
    fn between(&mut self, [open, close]: [u8; 2], write: impl FnOnce(&mut Json)) {
        self.separate();
        self.bytes.push(open);
        write(self);
        self.bytes.push(close);
    }

    /// Writes an object, after a comma if one is needed.
    fn object(&mut self, members: impl FnOnce(&mut Json)) {
        self.between(*b"{}", members);
    }

    /// Writes the name of a member. The caller writes the value.
    fn name(&mut self, name: &str) {
        self.separate();
        // Names are constants of `encode` without characters that need escaping.
        self.bytes.reserve(name.len() + 3);
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.extend_from_slice(b"\":");
    }

    /// Writes a number of at most 32 bits, or a flag.
    fn number(&mut self, name: &str, number: impl Display) {
        self.name(name);
        self.put(number);
    }

    /// Writes a 64-bit integer, as text.
    fn long(&mut self, name: &str, number: impl Display) {
        self.name(name);
        self.quoted_number(number);
    }

    fn numbers<T: Copy>(&mut self, name: &str, numbers: &[T], write: impl Fn(&mut Json, T)) {
        self.list(name, |json| {
            for number in numbers {
                json.separate();
                write(json, *number);
            }
        });
    }

    fn put(&mut self, value: impl Display) {
        // Writing to memory does not fail.
        let _ = write!(self, "{value}");
    }

    fn quoted_number(&mut self, number: impl Display) {
        self.bytes.push(b'"');
        self.put(number);
        self.bytes.push(b'"');
    }

    /// Writes a floating-point number. JSON has no infinity and no NaN, which the JSON mapping of protocol buffers
    /// represents as text.
    fn double_value(&mut self, number: f64) {
        let _ = match number {
            number if number.is_nan() => self.write_str("\"NaN\""),
            f64::INFINITY => self.write_str("\"Infinity\""),
            f64::NEG_INFINITY => self.write_str("\"-Infinity\""),
            // `Debug` prints the shortest digits that round-trip, with an exponent if the number is far from 1.
            number => write!(self, "{number:?}"),
        };
    }

    /// Writes a comma, unless a bracket or the name of a member precedes.
    fn separate(&mut self) {
        if !matches!(self.bytes.last(), None | Some(b'{' | b'[' | b':')) {
            self.bytes.push(b',');
        }
    }
}

impl Write for Json {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// Uses the names of fields and ignores the numbers.
impl Message for Json {
    fn encode(mut buffer: Vec<u8>, write: impl FnOnce(&mut Self)) -> Vec<u8> {
        buffer.clear();
        let mut json = Json { bytes: buffer };
        json.object(write);
        json.bytes
    }

    #[cfg(has_logs)]
    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn string(&mut self, _: u8, name: &str, text: &str) {
        self.name(name);
        let _ = escape::json(self, text, |character| character < ' ');
    }

    fn boolean(&mut self, _: u8, name: &str, flag: bool) {
        self.number(name, flag);
    }

    fn uint32(&mut self, _: u8, name: &str, number: u32) {
        self.number(name, number);
    }

    fn count(&mut self, field: u8, name: &str, number: u32) {
        self.uint32(field, name, number);
    }

    fn sint32(&mut self, _: u8, name: &str, number: i32) {
        self.number(name, number);
    }

    fn int64(&mut self, _: u8, name: &str, number: i64) {
        self.long(name, number);
    }

    fn fixed32(&mut self, _: u8, name: &str, number: u32) {
        self.number(name, number);
    }

    fn fixed64(&mut self, _: u8, name: &str, number: u64) {
        self.long(name, number);
    }

    fn sfixed64(&mut self, _: u8, name: &str, number: i64) {
        self.long(name, number);
    }

    fn double(&mut self, _: u8, name: &str, number: f64) {
        self.name(name);
        self.double_value(number);
    }

    fn id(&mut self, _: u8, name: &str, bytes: &[u8]) {
        self.name(name);
        self.bytes.push(b'"');
        // An id has eight bytes or sixteen.
        for part in bytes.as_chunks().0 {
            self.bytes.extend_from_slice(&hex::of_u64(u64::from_be_bytes(*part)));
        }
        self.bytes.push(b'"');
    }

    fn packed_uint64(&mut self, _: u8, name: &str, numbers: &[u64]) {
        self.numbers(name, numbers, Json::quoted_number);
    }

    fn packed_fixed64(&mut self, _: u8, name: &str, numbers: &[u64]) {
        self.numbers(name, numbers, Json::quoted_number);
    }

    fn packed_double(&mut self, _: u8, name: &str, numbers: &[f64]) {
        self.numbers(name, numbers, Json::double_value);
    }

    fn message(&mut self, _: u8, name: &str, write: impl FnOnce(&mut Self)) {
        self.name(name);
        self.object(write);
    }

    fn long_message(&mut self, field: u8, name: &str, write: impl FnOnce(&mut Self)) {
        self.message(field, name, write);
    }

    fn list(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        self.name(name);
        self.between(*b"[]", write);
    }

    fn element(&mut self, _: u8, write: impl FnOnce(&mut Self)) {
        self.object(write);
    }

    fn long_element(&mut self, _: u8, write: impl FnOnce(&mut Self)) {
        self.object(write);
    }

    #[cfg(has_logs)]
    fn elements(&mut self, written: &Self) {
        if !written.bytes.is_empty() {
            self.separate();
            self.bytes.extend_from_slice(&written.bytes);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn check(write: impl FnOnce(&mut Json), expected: &str) {
        let mut json = Json::default();
        json.object(write);
        assert_eq!(String::from_utf8(json.bytes).unwrap(), expected);
    }

    #[test]
    fn characters_that_json_forbids_are_escaped() {
        check(
            |json| json.string(0, "t", "a\"b\\c\nd\re\tf\u{1}g\u{7f}ü\u{2028}"),
            "{\"t\":\"a\\\"b\\\\c\\nd\\re\\tf\\u0001g\u{7f}ü\u{2028}\"}",
        );
    }

    #[test]
    fn brackets_in_texts_do_not_affect_commas() {
        let texts = [("a", "{"), ("b", "["), ("c", ":"), ("d", "")];
        let write = |json: &mut Json| texts.iter().for_each(|(name, text)| json.string(0, name, text));
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
            json.list("a", |json| (0..2).for_each(|_| json.object(|_| ())));
            json.list("b", |_| ());
            json.message(0, "c", |json| json.boolean(0, "d", true));
            json.packed_fixed64(0, "e", &[1, u64::MAX]);
            json.number("f", -3_i32);
        };
        check(write, r#"{"a":[{},{}],"b":[],"c":{"d":true},"e":["1","18446744073709551615"],"f":-3}"#);
    }
}
