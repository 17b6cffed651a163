//! Compressed requests and answers.

use std::io::{Read, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::ANSWER_BYTES;

pub(super) fn compressed(body: &[u8]) -> Bytes {
    // The lowest level: telemetry repeats itself so much that higher ones gain little for several times the work.
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::fast());
    encoder.write_all(body).and_then(|()| encoder.finish()).expect("writing to memory does not fail").into()
}

/// What an answer was before it was compressed, unless it is wrong or too long.
pub(super) fn decompressed(body: &[u8]) -> Option<Vec<u8>> {
    let mut read = Vec::new();
    GzDecoder::new(body).take(ANSWER_BYTES as u64 + 1).read_to_end(&mut read).ok()?;
    (read.len() <= ANSWER_BYTES).then_some(read)
}
