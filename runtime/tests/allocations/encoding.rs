//! On the way from records to a request nothing is allocated, once the buffer is large enough and labels were met.

#![cfg(feature = "otlp")]

use tracecast::__bench::Encoder;
use tracecast::prelude::*;
use tracecast::testing::RecordingConfig;
use tracecast::{Context, keys};

use crate::counting::ALLOCATIONS;
use crate::turn::{start_recording, turn};

/// A label whose text is made anew, text, a key twice, an event, a link, an error.
#[tc_span("Encode/Work", attrs(keys::device = 3_u32, keys::tensor::artifact = artifact, keys::size_bytes = u64::MAX),
          result(keys::tensor::artifact = |_| "another"))]
fn work(artifact: &str) -> Result<(), std::fmt::Error> {
    tracecast::current().event_with("step", |event| event.set(keys::device, 5_u32));
    tracecast::current().link(Context::current());
    if artifact.is_empty() { Err(std::fmt::Error) } else { Ok(()) }
}

#[tc_span("Encode/Root", share(keys::tensor::replica = "shared"))]
fn root() {
    for _ in 0..200 {
        let _ = (work("some"), work(""));
    }
}

#[test]
fn hundreds_of_spans_make_no_allocation() {
    let _turn = turn();
    let _recording = start_recording(RecordingConfig::default());
    let mut encoder = Encoder::new("allocations");
    root();
    encoder.drain();
    let buffer = encoder.take(Vec::new());
    encoder.take(buffer);
    root();
    let before = ALLOCATIONS.get();
    encoder.drain();
    assert_eq!((ALLOCATIONS.get() - before, encoder.spans()), (0, 401));
}
