//! Times, as ratios in one run: the rounds of all competitors are interleaved, and their best ones are compared.

use std::hint::black_box;
use std::time::Instant;

use fastrace::collector::{Config, Reporter, SpanContext, SpanRecord};
use fastrace::prelude::Span as FastSpan;
use tracecast::{Recording, RecordingConfig};

use crate::{alloc, work};

/// Calls in a round: about as many spans as a chunk or two can hold.
const CALLS: u64 = 200;
const UUIDS: [&str; 2] = ["1b4e28ba-2fa1-11d2-883f-0016d3cca427", "6fa459ea-ee8a-3ca4-894e-db77e160355e"];

struct Discard;

impl Reporter for Discard {
    fn report(&mut self, spans: Vec<SpanRecord>) {
        black_box(spans);
    }
}

type Contender = (&'static str, fn());

const CONTENDERS: &[Contender] = &[
    ("limit", || {
        let mut record = [0; 8];
        repeat(|x| work::limit(x, &mut record));
    }),
    ("recorded, 0 attributes", || repeat(work::span)),
    ("recorded, 4 attributes", || repeat(work::span_four)),
    ("recorded, 2 static texts", || repeat(work::span_static)),
    ("recorded, 2 strings of 36 bytes", || repeat(|x| work::span_strings(x, UUIDS[0], UUIDS[1]))),
    ("fastrace, 0 attributes", || repeat(work::fastrace_span)),
    ("fastrace, 4 attributes", || repeat(work::fastrace_four)),
    ("fastrace, 2 strings of 36 bytes", || repeat(|x| work::fastrace_strings(x, UUIDS[0], UUIDS[1]))),
];

fn repeat(mut work: impl FnMut(u64) -> u64) {
    for call in 0..CALLS {
        black_box(work(black_box(call)));
    }
}

/// Nanoseconds per call, in each round.
pub struct Timed {
    pub name: &'static str,
    pub rounds: Vec<f64>,
}

impl Timed {
    /// Those that have these names, not timed yet.
    pub fn of(names: impl Iterator<Item = &'static str>) -> Vec<Self> {
        names.map(|name| Timed { name, rounds: Vec::new() }).collect()
    }

    /// The round that was disturbed least: whatever else the machine does only adds to it.
    pub fn best(&self) -> f64 {
        self.rounds.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub fn median(&self) -> f64 {
        if self.rounds.is_empty() {
            return f64::NAN;
        }
        let mut rounds = self.rounds.clone();
        rounds.sort_by(f64::total_cmp);
        rounds[rounds.len() / 2]
    }
}

pub fn print(quick: bool) {
    fastrace::set_reporter(Discard, Config::default());
    let recording = Recording::start(RecordingConfig::default()).expect("nothing else records");
    let timed = measure(if quick { 20 } else { 2_000 }, &recording);
    let of = |name: &str| timed.iter().find(|timed| timed.name == name).map_or(f64::NAN, Timed::best);
    println!("## Time per call, best of interleaved rounds\n");
    println!("| what | ns | median | x limit | x fastrace | target |\n|---|---|---|---|---|---|");
    for contender in &timed {
        let rival =
            if contender.name == "limit" { String::new() } else { contender.name.replace("recorded", "fastrace") };
        println!(
            "| {} | {:.1} | {:.1} | {:.2} | {} | {} |",
            contender.name,
            contender.best(),
            contender.median(),
            contender.best() / of("limit"),
            figure(contender.best() / of(&rival)),
            target(contender.name)
        );
    }
    let allocations = work::root(|| alloc::count(|| repeat(|x| work::span_strings(x, UUIDS[0], UUIDS[1]))));
    println!("\n{allocations} allocations in {CALLS} spans with two strings of 36 bytes.\n");
}

/// Not everything has a rival, or was measured.
pub fn figure(figure: f64) -> String {
    if figure.is_finite() { format!("{figure:.2}") } else { "-".to_owned() }
}

fn target(name: &str) -> &'static str {
    match name {
        "recorded, 0 attributes" => "<= 1.3 x limit, <= 0.5 x fastrace",
        "recorded, 4 attributes" => "<= 1.5 x limit, <= 0.5 x fastrace",
        _ => "",
    }
}

fn measure(rounds: usize, recording: &Recording) -> Vec<Timed> {
    let mut timed = Timed::of(CONTENDERS.iter().map(|(name, _)| *name));
    for _ in 0..rounds {
        for ((_, run), timed) in CONTENDERS.iter().zip(&mut timed) {
            timed.rounds.push(round(*run));
            // The reader's work is not the caller's: spans are taken out between the rounds.
            black_box(recording.drain());
        }
    }
    fastrace::flush();
    timed
}

/// One round, below a root of each system, so that all spans are recorded children.
fn round(run: fn()) -> f64 {
    let root = FastSpan::root("root", SpanContext::random());
    let _parent = root.set_local_parent();
    work::root(|| {
        let start = Instant::now();
        run();
        start.elapsed().as_nanos() as f64 / CALLS as f64
    })
}
