//! End to end with each library, in a process of its own: one thread records spans at a fixed rate, a receiver in the
//! same process counts them, and the rest of the process's time is the library's.

use std::process::Command;
use std::time::{Duration, Instant};

use super::UUID;
use super::libraries::{self, Library};
use super::receiver::Receiver;
use crate::chart::{Bar, Chart};
use crate::cpu;
use crate::report::{Section, figure};

/// The outcome of one library's spans.
pub struct Outcome {
    /// Spans that ended on the calling thread, and how long that took, in seconds.
    pub made: f64,
    pub seconds: f64,
    /// Spans that the receiver got by the time the library reported that it had exported all.
    pub received: f64,
    /// Spans that had not arrived when the last one was recorded.
    pub behind: f64,
    /// Spans that the library reports as dropped; NaN if it reports none.
    pub said: f64,
    pub requests: f64,
    pub mebibytes: f64,
    /// Nanoseconds per span on the calling thread, in bursts of a millisecond: median and 99th percentile.
    pub median: f64,
    pub late: f64,
    /// Nanoseconds of processor time of all other threads except the receiver's, per received span.
    pub background: f64,
    /// The peak memory of the process, in MiB.
    pub memory: f64,
}

const FIGURES: usize = 11;

impl Outcome {
    pub fn dropped(&self) -> f64 {
        self.made - self.received
    }

    pub fn said(&self) -> String {
        if self.said.is_finite() { format!("{:.0}", self.said) } else { "does not say".to_owned() }
    }

    /// Nanoseconds of a span on all threads.
    fn both(&self) -> f64 {
        self.median + self.background
    }

    fn row(&self, library: &str) -> [String; COLUMNS.len()] {
        let whole = |number: f64| format!("{number:.0}");
        [
            library.to_owned(),
            whole(self.made),
            whole(self.received),
            whole(self.dropped()),
            self.said(),
            whole(self.requests),
            format!("{:.1}", self.mebibytes),
            figure(self.median),
            figure(self.late),
            figure(self.background),
            figure(self.both()),
            figure(self.memory),
        ]
    }

    fn figures(&self) -> [f64; FIGURES] {
        let Outcome { made, seconds, received, behind, said, requests, mebibytes, median, late, background, memory } =
            *self;
        [made, seconds, received, behind, said, requests, mebibytes, median, late, background, memory]
    }

    fn of(
        [made, seconds, received, behind, said, requests, mebibytes, median, late, background, memory]: [f64; FIGURES],
    ) -> Self {
        Outcome { made, seconds, received, behind, said, requests, mebibytes, median, late, background, memory }
    }
}

/// The columns of the table.
const COLUMNS: [&str; 12] = [
    "library",
    "made",
    "received",
    "dropped",
    "said to be dropped",
    "requests",
    "MiB sent",
    "calling thread, ns per span, median",
    "99 %",
    "background, ns of processor time per span received",
    "both",
    "most memory, MiB",
];

/// The end-to-end table, and a chart of the cost per span.
pub fn section(quick: bool) -> (Section, Chart) {
    let (libraries, time) = match quick {
        true => (&[libraries::OURS, libraries::SDK][..], Duration::from_millis(200)),
        false => (&libraries::ALL[..], Duration::from_secs(5)),
    };
    let rate = super::SPANS_A_SECOND;
    let title =
        format!("The whole way beside others: {rate} spans a second with 2 attributes, {} s", time.as_secs_f64());
    let (mut section, mut bars) = (Section::new(title, COLUMNS), Vec::new());
    for library in libraries {
        let outcome = measure(library, rate, time);
        section.row(outcome.row(library));
        let value = outcome.both();
        bars.push(Bar { label: (*library).to_owned(), value, ours: *library == libraries::OURS });
    }
    section.note(NOTE);
    (section, Chart { title: "A span from its start to the receiver, processor time of all threads", unit: "ns", bars })
}

const NOTE: &str = "Each in a process of its own, with its default settings, over OTLP/HTTP with protobuf to the same receiver, \
    which counts spans: opentelemetry_sdk 0.33 with its batch processor and opentelemetry-otlp with its blocking client, \
    tracing-opentelemetry 0.34 on top of that, fastrace 0.7 with fastrace-opentelemetry 0.19 and the same exporter. Every \
    millisecond is a trace: a root, and 99 spans below it. The background is all processor time of the process but the calling \
    thread's and the receiver's, until everything was handed on. tracing-opentelemetry adds place, thread, target and level to \
    every span by default; fastrace has texts only. The SDK says what it dropped by an event of `tracing`, when it is shut down; \
    fastrace does not count it, and was given some more flushes than its documentation asks for. foundations is not here: it \
    sends Jaeger's format over UDP, or OTLP over gRPC, and not over HTTP.";

/// Starts another process of this program that records spans at this rate.
pub fn measure(library: &str, rate: u64, time: Duration) -> Outcome {
    let output = Command::new(std::env::current_exe().expect("the path of this program"))
        .args(["--whole-way", library, &rate.to_string(), &time.as_millis().to_string()])
        .output()
        .expect("this program starts");
    assert!(output.status.success(), "{library}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    parse(&text).unwrap_or_else(|| panic!("{library}: {text}"))
}

fn parse(text: &str) -> Option<Outcome> {
    let figures: Option<Vec<f64>> = text.split_whitespace().map(|figure| figure.parse().ok()).collect();
    figures?.try_into().ok().map(Outcome::of)
}

/// The work of that other process.
pub fn run_here(library: &str, rate: &str, milliseconds: &str) {
    let time = Duration::from_millis(milliseconds.parse().expect("a time"));
    let outcome = run(library, rate.parse().expect("a rate"), time);
    println!("{}", outcome.figures().map(|figure| figure.to_string()).join(" "));
}

fn run(name: &str, rate: u64, time: Duration) -> Outcome {
    let receiver = Receiver::start();
    let library = libraries::start(name, &receiver);
    // Connections are made, and threads have started.
    library.burst(UUID, 9);
    library.flush();
    let (first, requests, bytes) = (receiver.spans(), receiver.requests(), receiver.bytes());
    let (caller, began) = (cpu::Thread::current(), Instant::now());
    let background = || cpu::of_process().saturating_sub(caller.now()).saturating_sub(receiver.processor_time());
    let before = background();
    let (made, bursts) = keep_pace(library.as_ref(), rate, time);
    let seconds = began.elapsed().as_secs_f64();
    let behind = made.saturating_sub(receiver.spans() - first);
    let said = library.finish();
    let received = (receiver.spans() - first) as f64;
    let at = |share: f64| bursts[((bursts.len() - 1) as f64 * share) as usize];
    Outcome {
        made: made as f64,
        seconds,
        received,
        behind: behind as f64,
        said: said.map_or(f64::NAN, |said| said as f64),
        requests: (receiver.requests() - requests) as f64,
        mebibytes: (receiver.bytes() - bytes) as f64 / f64::from(1 << 20),
        median: at(0.5),
        late: at(0.99),
        background: background().saturating_sub(before).as_nanos() as f64 / received,
        memory: memory().unwrap_or(f64::NAN),
    }
}

/// Records a burst every millisecond, or as often as the thread can. Returns the number of spans, and the sorted
/// nanoseconds per span of the bursts.
fn keep_pace(library: &dyn Library, rate: u64, time: Duration) -> (u64, Vec<f64>) {
    let (began, step) = (Instant::now(), rate / 1_000);
    let mut bursts = Vec::with_capacity(time.as_millis() as usize);
    for millisecond in 1..=time.as_millis() as u64 {
        let start = Instant::now();
        if start - began >= time {
            break;
        }
        library.burst(UUID, step - 1);
        bursts.push(start.elapsed().as_nanos() as f64 / step as f64);
        while began.elapsed() < Duration::from_millis(millisecond) {
            std::hint::spin_loop();
        }
    }
    let made = bursts.len() as u64 * step;
    bursts.sort_by(f64::total_cmp);
    (made, bursts)
}

/// Returns the peak memory of this process, on Linux.
pub fn memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok().map(|kibibytes| kibibytes / 1_024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_get_from_one_process_to_the_other() {
        let figures: [f64; FIGURES] = std::array::from_fn(|at| at as f64 + 0.5);
        let text = figures.map(|figure| figure.to_string()).join(" ");
        let outcome = parse(&text).expect("as many as were written");
        assert_eq!(outcome.figures(), figures);
        assert_eq!(outcome.dropped(), figures[0] - figures[2]);
        assert!(parse("1 2 3").is_none());
    }

    #[test]
    fn who_does_not_count_does_not_say_none() {
        let said = |said| Outcome { said, ..Outcome::of([0.0; FIGURES]) }.said();
        assert_eq!(said(f64::NAN), "does not say");
        assert_eq!(said(7.0), "7");
    }
}
