//! Lines of a `tracing_subscriber::fmt` layer of the program, with the ids of our traces.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tracecast::logs::with_ids;
use tracecast::testing::{Recording, RecordingConfig};
use tracecast::{Context, SpanId, TraceId};
use tracing::info;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::turn::turn;

/// Keeps each write as one text.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<String>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().push(String::from_utf8(bytes.to_vec()).unwrap());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The writes of a `fmt` layer for an event outside of a context, and for one inside of a remote context.
macro_rules! written {
    ($layer:expr, $($event:tt)+) => {{
        let _turn = turn();
        let _recording = Recording::start(RecordingConfig::default()).unwrap();
        let kept = Kept::default();
        let writer = kept.clone();
        let layer = $layer.with_writer(move || with_ids(writer.clone()));
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            info!($($event)+);
            context().run(|| info!($($event)+));
        });
        let written = kept.0.lock().unwrap().clone();
        <[String; 2]>::try_from(written).expect("one write for each event")
    }};
}

fn context() -> Context {
    Context::remote(TraceId(0x4bf9 << 112), SpanId(7), true)
}

const IDS: &str = "trace_id=4bf90000000000000000000000000000 span_id=0000000000000007";

#[test]
fn a_json_line_gets_members() {
    for flat in [false, true] {
        let [outside, inside] = written!(fmt::layer().json().flatten_event(flat).without_time(), bytes = 5, "loaded");
        let (outside, mut inside): (Value, Value) =
            (serde_json::from_str(&outside).unwrap(), serde_json::from_str(&inside).unwrap());
        let members = inside.as_object_mut().unwrap();
        assert_eq!(members.remove("trace_id"), Some(json!("4bf90000000000000000000000000000")));
        assert_eq!(members.remove("span_id"), Some(json!("0000000000000007")));
        assert_eq!(members.remove("trace_flags"), Some(json!("01")));
        assert_eq!(inside, outside, "nothing else changes");
    }
}

#[test]
fn a_line_of_text_ends_with_the_ids() {
    let [outside, inside] = written!(fmt::layer().without_time().with_ansi(false), bytes = 5, "loaded");
    assert_eq!(outside, " INFO logs::fmt_layer: loaded bytes=5\n");
    assert_eq!(inside, format!(" INFO logs::fmt_layer: loaded bytes=5 {IDS}\n"));
}

#[test]
fn colours_and_further_lines_stay() {
    let [outside, inside] = written!(fmt::layer().without_time().with_ansi(true).compact(), "loaded");
    assert!(outside.contains("\x1b[32m"), "{outside:?}");
    assert_eq!(inside, format!("{} {IDS}\n", outside.trim_end()));
    let [outside, inside] = written!(fmt::layer().without_time().with_ansi(false).pretty(), "loaded");
    assert!(outside.ends_with("\n\n"), "{outside:?}");
    assert_eq!(inside, format!("{} {IDS}\n\n", outside.trim_end()));
}

#[test]
fn text_in_braces_is_no_json() {
    let bare = || fmt::layer().without_time().with_level(false).with_target(false).with_ansi(false);
    let [_, inside] = written!(bare(), "{{no json}}");
    assert_eq!(inside, format!("{{no json}} {IDS}\n"));
    let [_, inside] = written!(bare(), "{{}}");
    assert_eq!(serde_json::from_str::<Value>(&inside).unwrap()["span_id"], "0000000000000007");
}

#[test]
fn a_failing_writer_is_the_callers_error() {
    struct Failing;
    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }
    let _turn = turn();
    let _recording = Recording::start(RecordingConfig::default()).unwrap();
    let mut writer = with_ids(Failing);
    context().run(|| assert_eq!(writer.write(b"a\n").unwrap_err().kind(), io::ErrorKind::StorageFull));
    assert_eq!(writer.flush().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}
