//! A span keeps what its limits allow, and says how much it left out.

use tracecast::prelude::*;
use tracecast::testing::{FinishedSpan, Limits, RecordingConfig};
use tracecast::{Context, OwnedValue, Static};

use crate::turn::{start_recording, turn};

mod keys {
    tracecast::tc_keys! {
        /// Text.
        pub id text: str = "test.text";
        /// More text.
        pub id more: str = "test.more";
        /// A number.
        pub measure number: u64 = "test.number";
        /// A difference.
        pub measure difference: i64 = "test.difference";
        /// A share.
        pub measure share: f64 = "test.share";
        /// A flag.
        pub id flag: bool = "test.flag";
    }
}

fn record(limits: impl FnOnce(&mut Limits), inside: impl FnOnce()) -> FinishedSpan {
    record_all(limits, inside).pop().unwrap()
}

/// All spans, the outermost last.
fn record_all(limits: impl FnOnce(&mut Limits), inside: impl FnOnce()) -> Vec<FinishedSpan> {
    let _turn = turn();
    let recording = start_recording(RecordingConfig::default().with_limits(limits));
    {
        let _scope = tc_scope!("Limit/Span");
        inside();
    }
    recording.drain()
}

fn text(span: &FinishedSpan, name: &str) -> String {
    span.attribute(name).unwrap().to_string()
}

#[test]
fn attributes_events_and_links_have_limits() {
    let limits = |limits: &mut Limits| {
        (limits.attributes, limits.events) = (2, 1);
        (limits.links, limits.attributes_per_event) = (1, 1);
    };
    let span = record(limits, || {
        let current = tracecast::current();
        current.set(keys::text, "kept");
        current.set(keys::number, 1_u64);
        current.set(keys::share, 0.5);
        current.event_with("kept", |event| {
            event.set(keys::number, 1_u64);
            event.set(keys::text, "left out");
        });
        current.event("left out");
        current.link(Context::remote(tracecast::TraceId(1), tracecast::SpanId(2), true));
        current.link(Context::remote(tracecast::TraceId(1), tracecast::SpanId(3), true));
        current.link(Context::default());
    });
    assert_eq!((span.attributes.len(), span.events.len(), span.links.len()), (2, 1, 1));
    assert_eq!((span.dropped_attributes, span.dropped_events, span.dropped_links), (2, 1, 1));
    assert_eq!(span.events[0].attributes.len(), 1);
}

#[test]
fn the_limit_holds_for_attributes_of_the_annotation_too() {
    let limits = |limits: &mut Limits| limits.attributes = 1;
    let spans = record_all(limits, || {
        let _scope =
            tc_scope!("Limit/Inner", attrs(keys::number = 1_u64, keys::text = Static("no"), keys::more = "no"));
    });
    assert_eq!((spans[0].attributes.len(), spans[0].dropped_attributes), (1, 2));
}

#[test]
fn texts_are_cut_between_characters() {
    let limits = |limits: &mut Limits| limits.value_bytes = 5;
    let span = record(limits, || {
        tracecast::current().set(keys::text, "añoñ");
        tracecast::current().set(keys::more, Static("static text"));
    });
    assert_eq!((text(&span, "test.text").as_str(), text(&span, "test.more").as_str()), ("año", "stati"));
}

#[test]
fn a_key_set_again_keeps_its_last_value_however_often() {
    let span = record(
        |_| (),
        || {
            for n in 0..1000_u64 {
                tracecast::current().set(keys::number, n);
            }
            tracecast::current().set(keys::text, "first");
            tracecast::current().set(keys::text, "second");
        },
    );
    assert_eq!((text(&span, "test.number").as_str(), text(&span, "test.text").as_str()), ("999", "second"));
    assert_eq!((span.attributes.len(), span.dropped_attributes), (2, 0));
}

#[test]
fn every_type_of_value_comes_back_as_it_went_in() {
    let span = record(
        |_| (),
        || {
            let current = tracecast::current();
            current.set(keys::text, "");
            current.set(keys::number, u64::MAX);
            current.set(keys::difference, i64::MIN);
            current.set(keys::share, -0.0);
            current.set(keys::flag, true);
            current.set(keys::more, None::<&str>);
        },
    );
    let values: Vec<_> = span.attributes.iter().map(|attribute| attribute.value.clone()).collect();
    let share = OwnedValue::F64(-0.0);
    assert_eq!(
        values,
        [OwnedValue::from(""), OwnedValue::U64(u64::MAX), OwnedValue::I64(i64::MIN), share, OwnedValue::Bool(true)]
    );
}

#[test]
fn a_span_may_be_much_larger_than_its_block() {
    let long = "0123456789".repeat(300);
    let span = record(
        |_| (),
        || {
            let current = tracecast::current();
            current.set(keys::text, &long);
            for _ in 0..40 {
                current.event_with("step", |event| event.set(keys::number, 7_u64));
            }
            current.set(keys::more, &long);
        },
    );
    assert_eq!((text(&span, "test.text"), text(&span, "test.more")), (long.clone(), long));
    assert_eq!((span.events.len(), span.events[39].attributes.len()), (40, 1));
}

#[test]
fn a_span_is_never_larger_than_a_chunk() {
    let long = "x".repeat(4096);
    let span = record(
        |_| (),
        || {
            let _scope = tracecast::current();
            for _ in 0..10 {
                tracecast::current().event_with("large", |event| event.set(keys::text, &long));
            }
        },
    );
    assert!(span.events.len() >= 3, "{}", span.events.len());
    assert!(span.dropped_attributes + span.dropped_events > 0);
    assert_eq!(span.events.len() as u32 + span.dropped_events, 10);
}

#[test]
#[cfg(all(target_pointer_width = "64", not(miri)))]
fn texts_that_live_for_ever_are_cut_to_their_limits() {
    // One byte more than 4 GiB, of pages that are never touched. The first character takes two bytes, so that a length
    // which wraps around would end inside of it.
    let mut bytes = vec![0_u8; (1 << 32) + 1];
    bytes[..2].copy_from_slice("é".as_bytes());
    // SAFETY: a character and zeros are UTF-8.
    let huge: &'static str = unsafe { std::str::from_utf8_unchecked(bytes.leak()) };
    let span = record(
        |_| (),
        || {
            tracecast::current().set(keys::text, Static(huge));
            tracecast::current().event(huge);
        },
    );
    assert_eq!(span.events[0].name.len(), 4096);
    assert!(span.events[0].name.starts_with('é'));
    assert_eq!(span.attribute("test.text").map(|value| value.to_string().len()), Some(4096));
}
