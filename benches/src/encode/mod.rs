//! Encoding of records to OTLP bytes: the export's cost per span, in time and instructions.

#[cfg(feature = "peers")]
mod sdk;

use std::hint::black_box;
use std::time::Instant;

use tracecast::__bench::Encoder;
use tracecast::prelude::*;
use tracecast::testing::{Recording, RecordingConfig};

use crate::report::{Report, Section, figure};
use crate::stats::Median;
use crate::timed::Timed;
use crate::{alloc, callgrind, work};

/// Spans per round: the default batch size.
const SPANS: u64 = 512;
const UUID: &str = "1b4e28ba-2fa1-11d2-883f-0016d3cca427";

/// The name of the count, and the function that records the span.
type Contender = (&'static str, fn(u64));

const CONTENDERS: &[Contender] = &[
    ("0 attributes", |spans| repeat(spans, work::span)),
    (TWO, |spans| repeat(spans, two)),
    ("4 attributes", |spans| repeat(spans, four)),
    ("4 labels", |spans| repeat(spans, work::span_four)),
    ("2 strings of 36 bytes", |spans| repeat(spans, |x| work::span_strings(x, UUID, UUID))),
    (TWO_REDACTED, |spans| repeat(spans, two)),
    (FOUR_REDACTED, |spans| repeat(spans, four)),
];

const TWO: &str = "2 attributes";
const TWO_REDACTED: &str = "2 attributes, with a redaction hook";
const FOUR_REDACTED: &str = "4 attributes, with a redaction hook";

/// The limits of the ratio to the SDK's encoder.
const TARGETS: [(&str, f64); 2] = [(TWO, 0.075), (TWO_REDACTED, 0.11)];

/// Returns the encoder of the contender with this name; its hook reads each text and changes none, as most hooks do.
fn encoder(contender: &str) -> Encoder {
    let encoder = Encoder::new("bench");
    match contender {
        TWO_REDACTED | FOUR_REDACTED => encoder.with_redaction(|_, text| text.contains("hunter2").then(String::new)),
        _ => encoder,
    }
}

/// Records spans including their root.
fn repeat(spans: u64, work: impl Fn(u64) -> u64) {
    work::root(|| {
        for call in 1..spans {
            black_box(work(black_box(call)));
        }
    });
}

/// A string and a number, as in most spans.
#[inline(never)]
#[tc_span("Bench/Two", attrs(tracecast::keys::tensor::artifact = UUID, tracecast::keys::size_bytes = x))]
fn two(x: u64) -> u64 {
    black_box(x)
}

#[inline(never)]
#[tc_span("Bench/FourMixed", attrs(tracecast::keys::tensor::artifact = UUID, tracecast::keys::size_bytes = x,
                                   work::keys::one = work::Letter::A, tracecast::keys::device = 3_u32))]
fn four(x: u64) -> u64 {
    black_box(x)
}

/// The measurements of one contender.
struct Row {
    encoded: Timed,
    plain: Timed,
    bytes: u64,
}

pub fn report(quick: bool, report: &mut Report) {
    let recording = Recording::start(RecordingConfig::default()).expect("nothing else records");
    let mut encoders: Vec<_> = CONTENDERS.iter().map(|(name, _)| encoder(name)).collect();
    let (rows, theirs) = measure(if quick { 20 } else { 1_000 }, &recording, &mut encoders);
    let columns = ["what", "ns, best", "median", "instructions", "bytes", "ns to plain data"];
    let mut section = Section::new("From records to OTLP bytes, per span, in interleaved rounds", columns);
    for Row { encoded, plain, bytes } in &rows {
        if let Some((_, target)) = TARGETS.iter().find(|(name, _)| *name == encoded.name) {
            let ratio = Median::of_ratios(&encoded.rounds, &theirs.rounds).value;
            let peer = format!("opentelemetry_sdk: 1.00, {} ns", figure(theirs.median().value));
            report.goal(
                format!("records to OTLP bytes, {}", encoded.name),
                ratio,
                *target,
                "x the SDK's encoder",
                peer,
            );
        }
        let counted = if quick && encoded.name != TWO { String::new() } else { instructions(encoded.name) };
        let (best, median, plain) = (figure(encoded.best()), encoded.median().to_string(), figure(plain.best()));
        section.row([encoded.name.to_owned(), best, median, counted, bytes.to_string(), plain]);
    }
    if !theirs.rounds.is_empty() {
        let (best, median) = (figure(theirs.best()), theirs.median().to_string());
        section.row([theirs.name.to_owned(), best, median, String::new(), String::new(), String::new()]);
    }
    let spans = CONTENDERS.len() as u64 * SPANS;
    section.note(format!(
        "{} allocations in {spans} spans, in a buffer that is large enough.",
        allocations(&mut encoders)
    ));
    report.add(section);
}

/// Instructions alone.
pub fn count(report: &mut Report) {
    let mut section = Section::new("From records to OTLP bytes: instructions per span", ["what", "instructions"]);
    let names: Vec<&str> = CONTENDERS.iter().map(|(name, _)| *name).collect();
    for (name, instructions) in names.iter().zip(callgrind::at_once(&names, |name| instructions(name))) {
        section.row([(*name).to_owned(), instructions]);
    }
    report.add(section);
}

/// Our encoder and, if it is built, the SDK's.
fn measure(rounds: usize, recording: &Recording, encoders: &mut [Encoder]) -> (Vec<Row>, Timed) {
    let timed = || Timed::of(CONTENDERS.iter().map(|(name, _)| *name));
    let mut rows: Vec<_> =
        timed().into_iter().zip(timed()).map(|(encoded, plain)| Row { encoded, plain, bytes: 0 }).collect();
    let mut theirs = Timed { name: "2 attributes, the SDK's encoder", rounds: Vec::new() };
    let mut buffer = Vec::new();
    for _ in 0..rounds {
        #[cfg(feature = "peers")]
        theirs.rounds.push(sdk::round());
        for (((_, record), row), encoder) in CONTENDERS.iter().zip(&mut rows).zip(&mut *encoders) {
            record(SPANS);
            let start = Instant::now();
            encoder.drain();
            row.encoded.rounds.push(per_span(start));
            buffer = encoder.take(buffer);
            row.bytes = buffer.len() as u64 / SPANS;
            record(SPANS);
            let start = Instant::now();
            black_box(recording.drain());
            row.plain.rounds.push(per_span(start));
        }
    }
    (rows, theirs)
}

/// Returns the allocations of the second of two equal drains: the first makes the buffer large enough.
fn allocations(encoders: &mut [Encoder]) -> u64 {
    let of_one = |((_, record), encoder): (&Contender, &mut Encoder)| {
        record(SPANS);
        encoder.drain();
        let buffer = encoder.take(Vec::new());
        encoder.take(buffer);
        record(SPANS);
        alloc::count(|| encoder.drain())
    };
    CONTENDERS.iter().zip(encoders).map(of_one).sum()
}

fn per_span(start: Instant) -> f64 {
    start.elapsed().as_nanos() as f64 / SPANS as f64
}

/// Encodes the spans of one contender, under callgrind. The first round is not counted: it sees new labels and grows
/// the buffer.
pub fn run_here(contender: &str, spans: u64) {
    let (_, record) = CONTENDERS.iter().find(|(name, _)| *name == contender).expect("a known contender");
    let _recording = Recording::start(RecordingConfig::default()).expect("nothing else records");
    let mut encoder = encoder(contender);
    record(spans);
    encoder.drain();
    let buffer = encoder.take(Vec::new());
    encoder.take(buffer);
    record(spans);
    tracecast_encoded(&mut encoder);
}

/// Callgrind counts only inside this function.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn tracecast_encoded(encoder: &mut Encoder) {
    encoder.drain();
}

/// Instructions per span: the difference between two runs of different length, without the fixed cost of a drain.
fn instructions(contender: &str) -> String {
    let (few, many) = (500, 5_500);
    match (collected(contender, few), collected(contender, many)) {
        (Some(few_count), Some(many_count)) => {
            format!("{:.0}", many_count.saturating_sub(few_count) as f64 / (many - few) as f64)
        }
        _ => "no valgrind".to_owned(),
    }
}

fn collected(contender: &str, spans: u64) -> Option<u64> {
    callgrind::collected("tracecast_encoded", &["--encode-count", contender, &spans.to_string()])
}
