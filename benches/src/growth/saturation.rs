//! More and more spans a second until some are dropped: where that is, that telemetry says so, and that whoever makes the spans
//! does not notice.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::end_to_end::beside::{self, Outcome};
use crate::end_to_end::{self, Receiver, libraries};
use crate::report::{Report, Section, figure};

pub fn report(quick: bool, report: &mut Report) {
    let seconds = if quick { 1 } else { 4 };
    let rates: &[u64] =
        if quick { &[200_000] } else { &[100_000, 200_000, 500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000] };
    let columns = [
        "asked for, spans a second",
        "made",
        "exported",
        "dropped",
        "said to be dropped",
        "by reason",
        "most memory so far, MiB",
        "ns per span, median",
        "99 %",
    ];
    let title = format!("Growth: spans a second from one thread over OTLP/HTTP, {seconds} s each");
    let mut section = Section::new(title, columns);
    for &rate in rates {
        section.row(at(rate, seconds));
    }
    section.note(
        "Where the thread cannot make as many as asked for, it makes as many as it can. Dropped is made less exported; said to \
         be dropped is what the report at shutdown counts, and the reasons are those of `tc_spans_dropped_total`. The limit for \
         buffers is the default, 64 MiB; memory is that of the whole process, with the receiver. Times are those of bursts of one millisecond's spans, divided by their \
         number; the collector and the receiver run on the same processors.",
    );
    report.add(section);
    report.add(beside_others(quick));
}

/// The highest of some rates at which a library loses nothing, and what happens at the next one.
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

/// How many spans a second were asked for, and what became of them.
type Tried = (u64, Outcome);

/// The last rate at which nothing was dropped, and the first at which something was.
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

fn at(rate: u64, seconds: u64) -> [String; 9] {
    let receiver = Receiver::start();
    let telemetry = end_to_end::config(&receiver).init().expect("telemetry starts");
    telemetry.flush(Duration::from_secs(10));
    let (began, step) = (Instant::now(), rate / 1_000);
    let (mut made, mut bursts) = (0_u64, Vec::new());
    for millisecond in 0..seconds * 1_000 {
        if began.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
        let start = Instant::now();
        for span in 0..step {
            black_box(end_to_end::two(black_box(span)));
        }
        bursts.push(start.elapsed().as_nanos() as f64 / step as f64);
        made += step;
        while began.elapsed() < Duration::from_millis(millisecond + 1) {
            std::hint::spin_loop();
        }
    }
    let took = began.elapsed().as_secs_f64();
    telemetry.flush(Duration::from_secs(30));
    let reasons = reasons(&telemetry.handle().render_prometheus());
    let report = telemetry.shutdown(Duration::from_secs(30));
    bursts.sort_by(f64::total_cmp);
    let at = |share: f64| figure(bursts[((bursts.len() - 1) as f64 * share) as usize]);
    let made_a_second = format!("{made} ({:.0} a second)", made as f64 / took);
    let dropped = made.saturating_sub(report.spans_exported);
    [
        rate.to_string(),
        made_a_second,
        report.spans_exported.to_string(),
        dropped.to_string(),
        report.spans_dropped.to_string(),
        reasons,
        figure(beside::memory().unwrap_or(f64::NAN)),
        at(0.5),
        at(0.99),
    ]
}

/// How many spans were dropped, by reason, in the text for Prometheus.
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
