//! Tracecast without its transport: ended spans are encoded as OTLP every 200 ms, as the export thread does, and
//! discarded.

use std::hint::black_box;
use std::sync::Mutex;
use std::time::Duration;

use tracecast::__bench::Encoder;
use tracecast::testing::{MetricsConfig, MetricsGuard, Recording, RecordingConfig};

/// Records until the process ends.
pub fn recording() -> Recording {
    let recording = Recording::start(RecordingConfig::default()).expect("nothing else records");
    std::thread::spawn(|| {
        let mut buffer = Vec::new();
        loop {
            std::thread::sleep(Duration::from_millis(200));
            buffer = drain(buffer);
        }
    });
    recording
}

/// Encodes ended spans as OTLP, in a reused buffer.
pub fn drain(buffer: Vec<u8>) -> Vec<u8> {
    static ENCODER: Mutex<Option<Encoder>> = Mutex::new(None);
    let mut encoder = ENCODER.lock().expect("nobody panics while encoding");
    let encoder = encoder.get_or_insert_with(|| Encoder::new("bench"));
    encoder.drain();
    super::saw(encoder.spans());
    black_box(encoder.take(buffer))
}

pub fn metering() -> MetricsGuard {
    MetricsGuard::start(MetricsConfig::default()).expect("nothing else meters")
}
