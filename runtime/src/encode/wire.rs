//! The wire format of protocol buffers, written into one buffer.
//!
//! The length of a nested message is known only after the message was written, so space for the length is reserved and filled
//! in afterwards. The length may take more bytes than necessary, so that the message need not be moved: the format allows
//! such lengths, and every reader accepts them.

/// The wire types of varints, 64-bit numbers and bytes.
const VARINT: u8 = 0;
const FIXED_64: u8 = 1;
const BYTES: u8 = 2;

/// The bytes reserved for the length of a message. A message of up to 16 KiB need not be moved.
const SHORT: usize = 2;
/// The bytes reserved for the length of a message that may be as long as a request.
const LONG: usize = 5;

/// A nested message that is being written. `Wire::close` fills in its length.
#[must_use = "a message must be closed"]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened {
    /// The position of the content.
    pub(crate) content: usize,
    room: usize,
}

/// A buffer of encoded fields.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    pub(crate) bytes: Vec<u8>,
}

/// Returns the tag of a field below 16. Tags of other fields have two bytes.
const fn tag(field: u8, kind: u8) -> u8 {
    assert!(field < 16);
    field << 3 | kind
}

/// Returns the number of bytes of a varint.
#[inline]
pub(crate) const fn varint_len(number: u64) -> usize {
    // A byte holds seven bits. Zero also takes one byte.
    ((70 - (number | 1).leading_zeros()) / 7) as usize
}

/// Writes a varint of at most ten bytes, and returns its length.
#[inline]
pub(crate) fn put_varint(place: &mut [u8], mut number: u64) -> usize {
    let mut at = 0;
    while number >= 128 {
        place[at] = number as u8 | 0x80;
        number >>= 7;
        at += 1;
    }
    place[at] = number as u8;
    at + 1
}

impl Wire {
    /// Reuses a buffer and discards its content.
    pub(crate) fn reusing(mut bytes: Vec<u8>) -> Self {
        bytes.clear();
        Wire { bytes }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes a varint without a tag.
    pub(crate) fn varint(&mut self, number: u64) {
        let mut digits = [0; 10];
        let len = put_varint(&mut digits, number);
        self.push(&digits[..len]);
    }

    pub(crate) fn number(&mut self, field: u8, number: u64) {
        self.push(&[tag(field, VARINT)]);
        self.varint(number);
    }

    pub(crate) fn number_unless_zero(&mut self, field: u8, number: u32) {
        if number > 0 {
            self.number(field, u64::from(number));
        }
    }

    /// Writes a `sint32`, in zigzag encoding.
    pub(crate) fn signed(&mut self, field: u8, number: i32) {
        let folded = (number << 1) ^ (number >> 31);
        self.number(field, u64::from(folded as u32));
    }

    #[inline]
    pub(crate) fn fixed(&mut self, field: u8, bits: u64) {
        let [a, b, c, d, e, f, g, h] = bits.to_le_bytes();
        self.push(&[tag(field, FIXED_64), a, b, c, d, e, f, g, h]);
    }

    /// Writes a packed field of 64-bit numbers; nothing if there are none.
    pub(crate) fn all_fixed(&mut self, field: u8, numbers: impl ExactSizeIterator<Item = u64>) {
        if numbers.len() > 0 {
            self.push(&[tag(field, BYTES)]);
            self.varint(numbers.len() as u64 * 8);
            numbers.for_each(|bits| self.push(&bits.to_le_bytes()));
        }
    }

    /// Writes a packed field of varints; nothing if there are none.
    pub(crate) fn all_varint(&mut self, field: u8, numbers: &[u64]) {
        if !numbers.is_empty() {
            self.push(&[tag(field, BYTES)]);
            self.varint(numbers.iter().map(|number| varint_len(*number) as u64).sum());
            numbers.iter().for_each(|number| self.varint(*number));
        }
    }

    #[inline]
    pub(crate) fn text(&mut self, field: u8, text: &str) {
        self.field_of_bytes(field, text.as_bytes());
    }

    pub(crate) fn text_unless_empty(&mut self, field: u8, text: &str) {
        if !text.is_empty() {
            self.text(field, text);
        }
    }

    #[inline(always)]
    pub(crate) fn field_of_bytes(&mut self, field: u8, bytes: &[u8]) {
        if bytes.len() < 128 {
            self.push(&[tag(field, BYTES), bytes.len() as u8]);
        } else {
            self.push(&[tag(field, BYTES)]);
            self.varint(bytes.len() as u64);
        }
        self.push(bytes);
    }

    /// Writes a text that is copied from an earlier range of the buffer.
    pub(crate) fn text_again(&mut self, field: u8, range: std::ops::Range<usize>) {
        self.push(&[tag(field, BYTES)]);
        self.varint(range.len() as u64);
        self.bytes.extend_from_within(range);
    }

    /// Begins a message that is probably shorter than 16 KiB.
    pub(crate) fn open(&mut self, field: u8) -> Opened {
        self.push(&[tag(field, BYTES), 0, 0]);
        Opened { content: self.len(), room: SHORT }
    }

    /// Begins a message that may be long.
    pub(crate) fn open_long(&mut self, field: u8) -> Opened {
        self.push(&[tag(field, BYTES), 0, 0, 0, 0, 0]);
        Opened { content: self.len(), room: LONG }
    }

    /// Returns a message whose content begins at this position. The caller writes the tag and the reserved length itself.
    #[inline]
    pub(crate) fn opened_at(&self, content: usize) -> Opened {
        Opened { content, room: SHORT }
    }

    /// Ends a message and fills in its length. Moves the content if the length needs more bytes than reserved.
    #[inline]
    pub(crate) fn close(&mut self, opened: Opened) {
        let (end, len) = (opened.content, self.len() - opened.content);
        match self.bytes.get_mut(end - SHORT..end) {
            Some([low, high]) if opened.room == SHORT && len < 1 << 14 => {
                *low = len as u8 | 0x80;
                *high = (len >> 7) as u8;
            }
            _ => self.close_any(opened, len),
        }
    }

    #[cold]
    fn close_any(&mut self, opened: Opened, mut len: usize) {
        let Opened { content, mut room } = opened;
        if varint_len(len as u64) > room {
            let more = varint_len(len as u64) - room;
            self.bytes.splice(content..content, std::iter::repeat_n(0, more));
            room += more;
        }
        let place = &mut self.bytes[content - opened.room..][..room];
        for digit in place.iter_mut() {
            *digit = len as u8 | 0x80;
            len >>= 7;
        }
        place[room - 1] &= 0x7f;
    }

    /// Writes a nested message. `write` writes its fields.
    pub(crate) fn nested(&mut self, field: u8, write: impl FnOnce(&mut Wire)) {
        let opened = self.open(field);
        write(self);
        self.close(opened);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Wire)) -> Vec<u8> {
        let mut wire = Wire::default();
        write(&mut wire);
        wire.bytes
    }

    #[test]
    fn numbers_take_seven_bits_a_byte() {
        let check = |number: u64| {
            let mut expected = Vec::new();
            prost::encoding::encode_varint(number, &mut expected);
            assert_eq!(written(|wire| wire.varint(number)), expected);
            assert_eq!(varint_len(number), expected.len());
        };
        (0..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1]).for_each(check);
        check(u64::MAX);
    }

    #[test]
    fn signed_numbers_are_folded() {
        for number in [0, -1, 1, -2, 63, -64, 64, i32::MAX, i32::MIN] {
            let mut expected = Vec::new();
            prost::encoding::sint32::encode(6, &number, &mut expected);
            assert_eq!(written(|wire| wire.signed(6, number)), expected);
        }
    }

    #[test]
    fn runs_of_numbers_are_packed() {
        let numbers = vec![0, 1, 127, 128, u64::MAX];
        let (mut fixed, mut varint) = (Vec::new(), Vec::new());
        prost::encoding::fixed64::encode_packed(6, &numbers, &mut fixed);
        prost::encoding::uint64::encode_packed(6, &numbers, &mut varint);
        assert_eq!(written(|wire| wire.all_fixed(6, numbers.iter().copied())), fixed);
        assert_eq!(written(|wire| wire.all_varint(6, &numbers)), varint);
        assert!(written(|wire| wire.all_varint(6, &[])).is_empty());
    }

    #[test]
    fn a_message_of_any_length_has_its_length() {
        for len in [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152] {
            let bytes = written(|wire| {
                wire.nested(1, |wire| wire.push(&vec![7; len]));
                wire.push(&[9]);
            });
            let mut rest = &bytes[1..];
            assert_eq!(prost::encoding::decode_varint(&mut rest), Ok(len as u64));
            assert_eq!((rest.len(), rest.last()), (len + 1, Some(&9)));
            assert!(rest[..len].iter().all(|byte| *byte == 7));
        }
    }
}
