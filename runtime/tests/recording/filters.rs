//! Every callsite is listed with its place and can be switched by name, while the program runs.

use tracecast::prelude::*;
use tracecast::testing::{Recording, RecordingConfig};
use tracecast::{Filter, Kind, Span};

use crate::turn::{start_recording, turn};

/// Where `load` is declared.
const LOAD: u32 = line!() + 2;

#[tc_span("Store/Load", kind = client, attrs(tracecast::keys::tensor::source = tracecast::keys::tensor::SourceType::Disk))]
fn load() {
    heartbeat();
}

#[tc_span("Store/Heartbeat")]
fn heartbeat() {
    other();
}

#[tc_span("Other/Work")]
fn other() {}

#[tc_span("Generic/Never")]
#[expect(dead_code, reason = "listed though nobody calls it")]
fn never<T: Default>() -> T {
    T::default()
}

fn names(recording: &Recording) -> Vec<String> {
    let mut spans = recording.drain();
    spans.sort_by_key(|span| span.start_unix_nanos);
    spans.iter().map(|span| span.name.to_string()).collect()
}

#[test]
fn filters_are_hot_transparent_and_hold_for_names_made_at_run_time() {
    let _turn = turn();
    let recording = start_recording(RecordingConfig::default());
    let filter = |text: &str| recording.set_filter(text.parse::<Filter>().unwrap());
    load();
    assert_eq!(names(&recording), ["Store/Load", "Store/Heartbeat", "Other/Work"]);

    filter("Store/Heartbeat=off");
    load();
    let spans = recording.drain();
    let [inner, outer] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!((&*inner.name, &*outer.name), ("Other/Work", "Store/Load"));
    assert_eq!(inner.parent_span_id, Some(outer.span_id), "the span between them is transparent");

    filter("*=off, Other=on, Made=off");
    load();
    Span::builder("Made/AtRunTime", Kind::Internal).start().end();
    assert_eq!(names(&recording), ["Other/Work"]);

    // An open guard finishes as it began.
    filter("");
    let open = tc_scope!("Store/Open");
    filter("Store=off");
    drop(open);
    load();
    assert_eq!(names(&recording), ["Store/Open", "Other/Work"]);

    filter("");
    Span::builder("Made/AtRunTime", Kind::Internal).start().end();
    assert_eq!(names(&recording), ["Made/AtRunTime"]);
}

#[test]
fn the_catalogue_lists_every_callsite_with_its_place() {
    if cfg!(miri) {
        return;
    }
    let catalogue = tracecast::catalogue();
    let text = catalogue.to_markdown();
    let load = text.lines().find(|line| line.starts_with("| `Store/Load` | Client | tc.source.type | ")).unwrap();
    assert!(load.ends_with(&format!("recording/filters.rs:{LOAD} |")), "{load}");
    assert!(text.contains("| `Generic/Never` | "), "also in a generic nobody instantiates");
    assert!(catalogue.conflicts().is_empty());
}
