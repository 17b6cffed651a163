//! Compressed requests.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

pub(super) fn compressed(body: &[u8]) -> Bytes {
    // The lowest level: telemetry is so repetitive that higher ones gain little for several times the work.
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::fast());
    encoder.write_all(body).and_then(|()| encoder.finish()).expect("writing to memory does not fail").into()
}
