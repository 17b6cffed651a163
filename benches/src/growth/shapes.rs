//! Deep trees and many attributes, recorded, on one thread.

use std::hint::black_box;
use std::time::Instant;

use tracecast::prelude::*;
use tracecast::testing::{Recording, RecordingConfig};

use crate::report::{Report, Section};
use crate::stats::Median;
use crate::work::{self, Letter};

mod keys {
    use crate::work::Letter;
    tracecast::tc_keys! {
        /// The first of sixteen.
        pub label a: Letter = "bench.a";
        /// The second.
        pub label b: Letter = "bench.b";
        /// The third.
        pub label c: Letter = "bench.c";
        /// The fourth.
        pub label d: Letter = "bench.d";
        /// The fifth.
        pub label e: Letter = "bench.e";
        /// The sixth.
        pub label f: Letter = "bench.f";
        /// The seventh.
        pub label g: Letter = "bench.g";
        /// The eighth.
        pub label h: Letter = "bench.h";
        /// The ninth.
        pub label i: Letter = "bench.i";
        /// The tenth.
        pub label j: Letter = "bench.j";
        /// The eleventh.
        pub label k: Letter = "bench.k";
        /// The twelfth.
        pub label l: Letter = "bench.l";
        /// The thirteenth.
        pub label m: Letter = "bench.m";
        /// The fourteenth.
        pub label n: Letter = "bench.n";
        /// The fifteenth.
        pub label o: Letter = "bench.o";
        /// The last.
        pub label p: Letter = "bench.p";
    }
}

/// Nests spans to this depth.
#[inline(never)]
#[tc_span("Bench/Deep")]
fn deep(levels: u64) -> u64 {
    if levels > 1 { deep(black_box(levels - 1)) + 1 } else { black_box(1) }
}

#[inline(never)]
#[tc_span("Bench/One", attrs(keys::a = Letter::A))]
fn one(x: u64) -> u64 {
    black_box(x)
}

#[inline(never)]
#[tc_span("Bench/Eight", attrs(keys::a = Letter::A, keys::b = Letter::B, keys::c = Letter::C, keys::d = Letter::D,
                               keys::e = Letter::A, keys::f = Letter::B, keys::g = Letter::C, keys::h = Letter::D))]
fn eight(x: u64) -> u64 {
    black_box(x)
}

#[inline(never)]
#[tc_span("Bench/Sixteen", attrs(keys::a = Letter::A, keys::b = Letter::B, keys::c = Letter::C, keys::d = Letter::D,
                                 keys::e = Letter::A, keys::f = Letter::B, keys::g = Letter::C, keys::h = Letter::D,
                                 keys::i = Letter::A, keys::j = Letter::B, keys::k = Letter::C, keys::l = Letter::D,
                                 keys::m = Letter::A, keys::n = Letter::B, keys::o = Letter::C, keys::p = Letter::D))]
fn sixteen(x: u64) -> u64 {
    black_box(x)
}

/// The timed shapes, and the number of spans of each.
type Shape = (&'static str, u64, fn());

const SHAPES: &[Shape] = &[
    ("depth 1", 128, || repeat(128, |_| deep(black_box(1)))),
    ("depth 2", 128, || repeat(64, |_| deep(black_box(2)))),
    ("depth 8", 128, || repeat(16, |_| deep(black_box(8)))),
    ("depth 32", 128, || repeat(4, |_| deep(black_box(32)))),
    ("depth 128", 128, || repeat(1, |_| deep(black_box(128)))),
    ("0 attributes", 128, || repeat(128, work::span)),
    ("1 attribute", 128, || repeat(128, one)),
    ("4 attributes", 128, || repeat(128, work::span_four)),
    ("8 attributes", 128, || repeat(128, eight)),
    ("16 attributes", 128, || repeat(128, sixteen)),
];

fn repeat(times: u64, work: impl Fn(u64) -> u64) {
    for x in 0..times {
        black_box(work(black_box(x)));
    }
}

pub fn report(quick: bool, report: &mut Report) {
    let recording = Recording::start(RecordingConfig::default()).expect("nothing else records");
    let mut rounds = vec![Vec::new(); SHAPES.len()];
    for _ in 0..if quick { 20 } else { 1_000 } {
        for ((_, spans, run), rounds) in SHAPES.iter().zip(&mut rounds) {
            let time = work::root(|| {
                let start = Instant::now();
                run();
                start.elapsed().as_nanos() as f64
            });
            rounds.push(time / *spans as f64);
            black_box(recording.drain());
        }
    }
    let mut section = Section::new("Growth: depth of a tree, number of attributes", ["what", "ns per span"]);
    for ((name, _, _), rounds) in SHAPES.iter().zip(rounds) {
        section.row([(*name).to_owned(), Median::of(rounds).to_string()]);
    }
    report.add(section);
}
