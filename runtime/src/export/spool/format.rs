//! The format of files: a header of forty bytes, and the request.

use super::name::Name;
use super::{Encoding, Spooled};

/// The length of the header.
pub(super) const HEADER: usize = 40;

const MAGIC: [u8; 8] = *b"TCSPOOL\0";
/// The version of the format, to be raised with every change.
const VERSION: u16 = 1;

/// The place of the checksum, which covers all other bytes.
const SUM: std::ops::Range<usize> = 12..16;

/// Makes the header of a request. All numbers are little-endian.
pub(super) fn header(name: &Name, body: &[u8]) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&MAGIC);
    header[8..10].copy_from_slice(&VERSION.to_le_bytes());
    header[10] = signal(name.signal);
    header[11] = encoding(name.encoding);
    header[16..24].copy_from_slice(&name.items.to_le_bytes());
    header[24..32].copy_from_slice(&name.time.to_le_bytes());
    header[32..].copy_from_slice(&(body.len() as u64).to_le_bytes());
    let sum = sum(&header, body);
    header[SUM].copy_from_slice(&sum.to_le_bytes());
    header
}

/// True if the header and the length match the name. Checked before the body is read, so that a foreign file is not
/// read into memory.
pub(super) fn is_plausible(header: &[u8; HEADER], name: &Name, file_bytes: u64) -> bool {
    let body_bytes = name.bytes.saturating_sub(HEADER as u64);
    // The time is not compared, because files from the future are renamed.
    file_bytes == name.bytes
        && header[..8] == MAGIC
        && header[8..10] == VERSION.to_le_bytes()
        && header[10..12] == [signal(name.signal), encoding(name.encoding)]
        && header[16..24] == name.items.to_le_bytes()
        && header[32..] == body_bytes.to_le_bytes()
}

/// True if the checksum matches.
pub(super) fn is_whole(header: &[u8; HEADER], body: &[u8]) -> bool {
    header[SUM] == sum(header, body).to_le_bytes()
}

fn sum(header: &[u8; HEADER], body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header[..SUM.start]);
    hasher.update(&header[SUM.end..]);
    hasher.update(body);
    hasher.finalize()
}

fn signal(signal: Spooled) -> u8 {
    match signal {
        Spooled::Traces => 1,
        Spooled::Logs => 2,
    }
}

fn encoding(encoding: Encoding) -> u8 {
    match encoding {
        Encoding::Protobuf => 1,
        Encoding::Json => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: Name = Name {
        time: 3,
        writer: 0,
        number: 0,
        items: 2,
        bytes: 44,
        signal: Spooled::Traces,
        encoding: Encoding::Protobuf,
    };

    fn is_good(file: &[u8]) -> bool {
        let Some((header, body)) = file.split_first_chunk() else { return false };
        is_plausible(header, &NAME, file.len() as u64) && is_whole(header, body)
    }

    fn file() -> Vec<u8> {
        [&header(&NAME, b"body")[..], b"body"].concat()
    }

    #[test]
    fn these_are_the_bytes() {
        assert_eq!(&file()[..12], b"TCSPOOL\0\x01\0\x01\x01");
        assert_eq!(&file()[16..], b"\x02\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0body");
        let mut all = file();
        all.drain(SUM);
        assert_eq!(file()[SUM], crc32fast::hash(&all).to_le_bytes());
    }

    #[test]
    fn no_bit_may_differ_and_no_byte_may_be_missing() {
        let file = file();
        assert!(is_good(&file));
        for bit in 0..file.len() * 8 {
            let mut flipped = file.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_good(&flipped), "bit {bit}");
        }
        for length in 0..file.len() {
            assert!(!is_good(&file[..length]), "{length} bytes");
        }
        assert!(!is_good(&[&file[..], b"x"].concat()));
    }

    #[test]
    fn a_name_that_says_something_else_is_not_its_name() {
        let file = file();
        let header = file.first_chunk().unwrap();
        let plausible = |name: Name| is_plausible(header, &name, file.len() as u64);
        assert!(plausible(Name { time: 99, ..NAME }));
        assert!(!plausible(Name { items: 3, ..NAME }));
        assert!(!plausible(Name { bytes: 45, ..NAME }));
        assert!(!plausible(Name { signal: Spooled::Logs, ..NAME }));
        assert!(!plausible(Name { encoding: Encoding::Json, ..NAME }));
    }
}
