//! Raises the rate of spans, on one thread and on many, until some are dropped: shows the limit, its cause, that
//! telemetry reports it, and that the recording threads are not slowed down.

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::cpu;
use crate::end_to_end::beside::{self, Outcome};
use crate::end_to_end::{self, Receiver, libraries};
use crate::report::{Report, Section, figure};

/// The number of recording threads, and the total rate of spans per second.
const LOADS: [(u64, &[u64]); 4] = [
    (1, &[100_000, 200_000, 500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000]),
    (2, &[500_000, 1_000_000, 2_000_000, 4_000_000]),
    (8, &[500_000, 1_000_000, 2_000_000, 4_000_000]),
    (64, &[500_000, 1_000_000, 2_000_000, 4_000_000]),
];

const QUICK_LOADS: [(u64, &[u64]); 2] = [(1, &[200_000]), (8, &[200_000])];

const COLUMNS: [&str; 12] = [
    "threads",
    "asked for, spans a second",
    "made a second",
    "exported a second",
    "dropped",
    "said to be dropped",
    "by reason",
    "gave way",
    "export thread, % of a core",
    "most memory, MiB",
    "ns per span, median",
    "99 %",
];

pub fn report(quick: bool, report: &mut Report) {
    let (loads, milliseconds) = if quick { (&QUICK_LOADS[..], 300) } else { (&LOADS[..], 2_000) };
    let title =
        format!("Growth: spans a second of several threads over OTLP/HTTP, {} s each", milliseconds as f64 / 1e3);
    let mut section = Section::new(title, COLUMNS);
    for (threads, rates) in loads {
        for rate in *rates {
            section.row(measure(*threads, *rate, milliseconds));
        }
    }
    section.note(format!(
        "Each in a process of its own, with the default limit for buffers, 64 MiB. Threads that cannot make as many as asked for make as many \
         as they can. Exported a second is what the receiver got while they did; dropped is made less exported in the end; said to be \
         dropped is what the report at shutdown counts, and the reasons are those of `tc_spans_dropped_total`. What gave way is the export thread if it \
         took more than 80 % of a core; or else the processors, of which there are {}, if they were busy; or else the buffers. Memory and processors \
         are those of the whole process, with the receiver. Times are those of bursts of one millisecond's spans of a thread, divided by their \
         number, with what other threads ran meanwhile.",
        processors()
    ));
    report.add(section);
    report.add(beside_others(quick));
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Finds the highest rate without a loss, and the outcome of the next one.
fn beside_others(quick: bool) -> Section {
    let (libraries, time) = match quick {
        true => (&[libraries::SDK][..], Duration::from_millis(200)),
        false => (&libraries::ALL[..], Duration::from_secs(2)),
    };
    let rates: &[u64] = if quick { &[100_000] } else { &[100_000, 200_000, 500_000, 1_000_000, 2_000_000] };
    let columns = [
        "library",
        "asked for a second, and nothing dropped",
        "behind then",
        "most memory then, MiB",
        "asked for, and some dropped",
        "of",
        "dropped",
        "said to be dropped",
        "ns per span, median",
        "99 %",
    ];
    let title = format!("Growth: spans a second until some are dropped, beside others, {} s each", time.as_secs_f64());
    let mut section = Section::new(title, columns);
    for library in libraries {
        let (good, bad) = tried(library, rates, time);
        section.row(limits(library, good.as_ref(), bad.as_ref()));
    }
    section.note(
        "Default settings, in a process each, with a root every millisecond. Who cannot make as many as asked for makes as many \
         as it can. Behind is how many spans the receiver had not got \
         when the last one was made; who has no bound for them keeps them all in memory. Times are those of the last rate that \
         was tried. The SDK says that it drops by an event of `tracing`, once when it begins and with their number at shutdown; \
         fastrace does not count them, and logs an export that failed by `log`.",
    );
    section
}

/// The requested rate, and the outcome of the spans.
type Tried = (u64, Outcome);

/// The highest rate without drops, and the lowest with drops.
fn tried(library: &str, rates: &[u64], time: Duration) -> (Option<Tried>, Option<Tried>) {
    let mut good = None;
    for &rate in rates {
        let outcome = beside::measure(library, rate, time);
        if outcome.dropped() > 0.0 {
            return (good, Some((rate, outcome)));
        }
        good = Some((rate, outcome));
    }
    (good, None)
}

fn limits(library: &str, good: Option<&Tried>, bad: Option<&Tried>) -> [String; 10] {
    let of = |tried: Option<&Tried>, cell: &dyn Fn(&Outcome) -> String| {
        tried.map_or_else(|| "-".to_owned(), |(_, outcome)| cell(outcome))
    };
    let rate = |tried: Option<&Tried>| {
        let text = |(rate, outcome): &Tried| format!("{rate} (made {:.0})", outcome.made / outcome.seconds);
        tried.map_or_else(|| "none of them".to_owned(), text)
    };
    let last = bad.or(good);
    [
        library.to_owned(),
        rate(good),
        of(good, &|outcome| format!("{:.0}", outcome.behind)),
        of(good, &|outcome| figure(outcome.memory)),
        rate(bad),
        of(bad, &|outcome| format!("{:.0}", outcome.made)),
        of(bad, &|outcome| format!("{:.0}", outcome.dropped())),
        of(bad, &Outcome::said),
        of(last, &|outcome| figure(outcome.median)),
        of(last, &|outcome| figure(outcome.late)),
    ]
}

/// Starts another process of this program that records spans at this rate.
fn measure(threads: u64, rate: u64, milliseconds: u64) -> [String; COLUMNS.len()] {
    let output = Command::new(std::env::current_exe().expect("the path of this program"))
        .args(["--rate", &threads.to_string(), &rate.to_string(), &milliseconds.to_string()])
        .output()
        .expect("this program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let cells: Vec<String> = text.trim_end().split('\t').map(str::to_owned).collect();
    cells.try_into().unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// The work of that other process.
pub fn run_here(threads: &str, rate: &str, milliseconds: &str) {
    let number = |text: &str| text.parse().expect("a number");
    println!("{}", at(number(threads), number(rate), Duration::from_millis(number(milliseconds))).join("\t"));
}

fn at(threads: u64, rate: u64, time: Duration) -> [String; COLUMNS.len()] {
    let receiver = Receiver::start();
    let telemetry = end_to_end::config(&receiver).init().expect("telemetry starts");
    telemetry.flush(Duration::from_secs(10));
    let export_thread = || end_to_end::cpu_of("tracecast").unwrap_or_default();
    let (exporting, all, received) = (export_thread(), cpu::of_process(), receiver.spans());
    let began = Instant::now();
    let (made, mut bursts) = record(threads, (rate / threads / 1_000).max(1), time);
    let took = began.elapsed().as_secs_f64();
    let share = |now: Duration, before: Duration| now.saturating_sub(before).as_secs_f64() / took;
    let (exporting, all) = (share(export_thread(), exporting), share(cpu::of_process(), all));
    let exported = (receiver.spans() - received) as f64 / took;
    telemetry.flush(Duration::from_secs(30));
    let reasons = reasons(&telemetry.handle().render_prometheus());
    let report = telemetry.shutdown(Duration::from_secs(30));
    let dropped = made.saturating_sub(report.spans_exported);
    let gave_way = match dropped {
        0 => "-",
        _ if exporting > 0.8 => "export thread",
        _ if all > 0.9 * processors() as f64 => "processors",
        _ => "buffers",
    };
    bursts.sort_by(f64::total_cmp);
    let at = |share: f64| figure(bursts[((bursts.len() - 1) as f64 * share) as usize]);
    [
        threads.to_string(),
        rate.to_string(),
        format!("{:.0}", made as f64 / took),
        format!("{exported:.0}"),
        dropped.to_string(),
        report.spans_dropped.to_string(),
        reasons,
        gave_way.to_owned(),
        format!("{:.0}", exporting * 100.0),
        figure(beside::memory().unwrap_or(f64::NAN)),
        at(0.5),
        at(0.99),
    ]
}

/// Records a burst on each thread every millisecond, or as often as possible. Returns the number of spans, and the
/// nanoseconds per span of each burst.
fn record(threads: u64, step: u64, time: Duration) -> (u64, Vec<f64>) {
    let began = Instant::now();
    let one = || {
        let mut bursts = Vec::with_capacity(time.as_millis() as usize);
        for millisecond in 1..=time.as_millis() as u64 {
            let start = Instant::now();
            if start - began >= time {
                break;
            }
            for span in 0..step {
                black_box(end_to_end::two(black_box(span)));
            }
            bursts.push(start.elapsed().as_nanos() as f64 / step as f64);
            let next = Duration::from_millis(millisecond);
            // A single thread does not sleep, so that wake-ups are not timed; several threads yield the processors to
            // each other.
            if threads > 1 {
                std::thread::sleep(next.saturating_sub(began.elapsed()));
            }
            while began.elapsed() < next {
                std::hint::spin_loop();
            }
        }
        bursts
    };
    let bursts: Vec<f64> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        all.into_iter().flat_map(|thread| thread.join().expect("it ends")).collect()
    });
    (bursts.len() as u64 * step, bursts)
}

/// Reads the dropped spans by reason from the Prometheus text.
fn reasons(text: &str) -> String {
    let of_line = |line: &str| {
        let (labels, count) = line.strip_prefix("tc_spans_dropped_total{")?.rsplit_once(' ')?;
        let reason = labels.split("reason=\"").nth(1)?.split('"').next()?;
        (count != "0").then(|| format!("{reason} {count}"))
    };
    let all: Vec<String> = text.lines().filter_map(of_line).collect();
    if all.is_empty() { "-".to_owned() } else { all.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_found_in_the_text_for_prometheus() {
        let text = "# TYPE tc_spans_dropped counter\ntc_spans_dropped_total{reason=\"span_buffer_full\"} 7\n\
                    tc_spans_dropped_total{a=\"b\",reason=\"refused\"} 0\ntc_spans_exported_total 3\n";
        assert_eq!(reasons(text), "span_buffer_full 7");
        assert_eq!(reasons(""), "-");
    }
}
