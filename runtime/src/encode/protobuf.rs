//! Writes messages as protobuf.

use crate::declare::value::Value;
use crate::encode::attribute;
use crate::encode::message::Message;
use crate::encode::wire::Wire;

/// Uses the field numbers and ignores the names.
impl Message for Wire {
    fn encode(buffer: Vec<u8>, write: impl FnOnce(&mut Self)) -> Vec<u8> {
        let mut wire = Wire::reusing(buffer);
        write(&mut wire);
        wire.bytes
    }

    #[cfg(has_logs)]
    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn string(&mut self, field: u8, _: &str, text: &str) {
        self.text(field, text);
    }

    fn boolean(&mut self, field: u8, _: &str, flag: bool) {
        self.number(field, u64::from(flag));
    }

    fn uint32(&mut self, field: u8, _: &str, number: u32) {
        self.number(field, u64::from(number));
    }

    fn count(&mut self, field: u8, _: &str, number: u32) {
        self.number_unless_zero(field, number);
    }

    fn sint32(&mut self, field: u8, _: &str, number: i32) {
        self.signed(field, number);
    }

    fn int64(&mut self, field: u8, _: &str, number: i64) {
        self.number(field, number as u64);
    }

    #[inline]
    fn fixed32(&mut self, field: u8, _: &str, number: u32) {
        let [a, b, c, d] = number.to_le_bytes();
        match field {
            // The flags of a span are field 16, which has a two-byte tag.
            16.. => self.push(&[(field << 3) | 0x85, field >> 4, a, b, c, d]),
            _ => self.push(&[field << 3 | 5, a, b, c, d]),
        }
    }

    fn fixed64(&mut self, field: u8, _: &str, number: u64) {
        self.fixed(field, number);
    }

    fn sfixed64(&mut self, field: u8, _: &str, number: i64) {
        self.fixed(field, number as u64);
    }

    fn double(&mut self, field: u8, _: &str, number: f64) {
        self.fixed(field, number.to_bits());
    }

    fn id(&mut self, field: u8, _: &str, bytes: &[u8]) {
        self.field_of_bytes(field, bytes);
    }

    fn packed_uint64(&mut self, field: u8, _: &str, numbers: &[u64]) {
        self.all_varint(field, numbers);
    }

    fn packed_fixed64(&mut self, field: u8, _: &str, numbers: &[u64]) {
        self.all_fixed(field, numbers.iter().copied());
    }

    fn packed_double(&mut self, field: u8, _: &str, numbers: &[f64]) {
        self.all_fixed(field, numbers.iter().map(|number| number.to_bits()));
    }

    fn message(&mut self, field: u8, _: &str, write: impl FnOnce(&mut Self)) {
        self.nested(field, write);
    }

    fn long_message(&mut self, field: u8, _: &str, write: impl FnOnce(&mut Self)) {
        self.long_element(field, write);
    }

    fn list(&mut self, _: &str, write: impl FnOnce(&mut Self)) {
        write(self);
    }

    fn element(&mut self, field: u8, write: impl FnOnce(&mut Self)) {
        self.nested(field, write);
    }

    fn long_element(&mut self, field: u8, write: impl FnOnce(&mut Self)) {
        let opened = self.open_long(field);
        write(self);
        self.close(opened);
    }

    #[cfg(has_logs)]
    fn elements(&mut self, written: &Self) {
        self.push(&written.bytes);
    }

    fn key_value(&mut self, field: u8, key: &str, value: Value<'_>) {
        attribute::field(self, field, key, value);
    }
}
