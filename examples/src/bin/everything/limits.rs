//! A span that exceeds every limit.

use tracecast::prelude::*;
use tracecast::{Context, SpanId, TraceId, current};

use super::made::{Link, Watch, attributes, int, text};
use super::spans::{Phase, keys};
use super::{EVENTS, LINKS, VALUE_BYTES};

mod many {
    tracecast::tc_keys! {
        /// Text that is too long.
        pub(crate) id long: str = "tc.long";
        /// One of many.
        pub(crate) id a00: u64 = "tc.a00";
        /// One of many.
        pub(crate) id a01: u64 = "tc.a01";
        /// One of many.
        pub(crate) id a02: u64 = "tc.a02";
        /// One of many.
        pub(crate) id a03: u64 = "tc.a03";
        /// One of many.
        pub(crate) id a04: u64 = "tc.a04";
        /// One of many.
        pub(crate) id a05: u64 = "tc.a05";
        /// One of many.
        pub(crate) id a06: u64 = "tc.a06";
        /// One of many.
        pub(crate) id a07: u64 = "tc.a07";
    }
}

/// Exceeds every limit.
#[tc_span("Everything/Limited")]
pub(crate) fn limited(watch: Watch) {
    watch.inside("Everything/Limited", "internal", []);
    let long = "ü".repeat(VALUE_BYTES as usize);
    let cut = "ü".repeat(VALUE_BYTES as usize / 2);
    let span = current();
    span.set(many::long, &long);
    span.set(keys::phase, Phase::Decode);
    span.set(keys::maybe, Some(Phase::Decode));
    span.set(keys::slot, 0_u32);
    span.set(keys::warm, true);
    span.set(keys::note, "n");
    span.set(keys::serial, 1_u64);
    span.set(keys::offset, 1);
    span.set(many::a00, 0_u64);
    span.set(many::a01, 1_u64);
    span.set(many::a02, 2_u64);
    span.set(many::a03, 3_u64);
    span.set(many::a04, 4_u64);
    span.set(many::a05, 5_u64);
    span.set(many::a06, 6_u64);
    span.set(many::a07, 7_u64);
    // These exceed the limit.
    span.set(keys::ratio, 0.5);
    span.set(keys::balance, 1);
    watch.with(|made| {
        made.attributes = attributes([
            ("tc.long", text(&cut)),
            ("tc.phase", text("gen")),
            ("tc.maybe", text("gen")),
            ("tc.slot", text("0")),
            ("tc.warm", text("true")),
            ("tc.note", text("n")),
            ("tc.serial", int(1)),
            ("tc.offset", int(1)),
        ]);
        made.attributes.extend((0..8).map(|at| (format!("tc.a0{at}"), int(at))));
        made.dropped_attributes = 2;
    });
    for _ in 0..EVENTS {
        watch.event("kept", attributes([]), || span.event("kept"));
    }
    span.event("one more");
    let links: Vec<_> = (1..=5).map(|id| Context::remote(TraceId(9), SpanId(id), true)).collect();
    span.link(&links);
    watch.with(|made| {
        made.links = links.iter().take(LINKS as usize).map(Link::to).collect();
        (made.dropped_events, made.dropped_links) = (1, 3);
    });
    watch.ending();
}
