//! A cache of encoded labels: most labels have few values, and the text of some would be formatted again for each span.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::declare::key::KeyMeta;
use crate::declare::value::Value;
use crate::encode::attribute::key_value;
use crate::encode::wire::Wire;

/// The largest number of cached values. Further values are encoded each time.
const MOST: usize = 8_192;

/// Encoded `KeyValue`s by the key's address and the value's ordinal. The first byte of each is the field's tag. Entries
/// stay valid, because the text of an ordinal never changes.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    known: HashMap<(usize, usize), Place, BuildHasherDefault<Mixer>>,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    start: usize,
    end: usize,
    text: usize,
}

impl Labels {
    /// Writes a label as a `KeyValue` field, and caches it. Returns the length of its text, which is written last.
    // Always inlined: because of its two callers, with and without a redaction hook, the compiler would not do so itself.
    #[inline(always)]
    pub(crate) fn write(&mut self, wire: &mut Wire, tag: u8, key: &'static KeyMeta, ordinal: usize) -> usize {
        let id = (std::ptr::from_ref(key).addr(), ordinal);
        if let Some(place) = self.known.get(&id) {
            let before = wire.len();
            wire.push(&self.bytes[place.start..place.end]);
            wire.bytes[before] = tag;
            return place.text;
        }
        self.write_new(wire, tag, key, id)
    }

    #[cold]
    fn write_new(&mut self, wire: &mut Wire, tag: u8, key: &'static KeyMeta, id: (usize, usize)) -> usize {
        let (text, before) = (key.label_text(id.1), wire.len());
        key_value(wire, tag, key.name, Value::Str(&text));
        if self.known.len() < MOST {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(&wire.bytes[before..]);
            self.known.insert(id, Place { start, end: self.bytes.len(), text: text.len() });
        }
        text.len()
    }
}

/// A hasher for addresses and small numbers. Peers cannot choose these, so a random seed is not needed.
#[derive(Debug, Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.0 = (self.0.rotate_left(29) ^ number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::declare::key::Key;
    use crate::declare::keys::device;
    use crate::declare::keys::tensor::source;

    #[test]
    fn a_label_reads_the_same_the_second_time() {
        let mut labels = Labels::default();
        let mut written = |key: &'static KeyMeta, ordinal| {
            let mut wire = Wire::default();
            let text = labels.write(&mut wire, 7, key, ordinal);
            assert_eq!(wire.bytes[0], 7);
            String::from_utf8(wire.bytes[wire.len() - text..].to_vec()).unwrap()
        };
        for _ in 0..2 {
            assert_eq!(written(device::META, 3), "3");
            assert_eq!(written(device::META, 16), "other");
            assert_eq!(written(source::META, 1), "disk");
        }
    }
}
