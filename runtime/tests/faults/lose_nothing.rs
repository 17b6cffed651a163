//! A receiver that fails in any of eight ways, over HTTP and gRPC, with a spool and without. At each look every span is
//! accounted for; when the receiver is well again all of them arrive, each once; and the end comes in time. With a spool
//! this holds also for what was left when the program ended.
//!
//! Each case is a program of its own, because telemetry runs once in a process.

use std::time::{Duration, Instant};

use tracecast::config::{Config, Protocol, Spool};
use tracecast::prelude::*;
use tracecast::{Guard, Report};

use crate::child::Child;
use crate::faulty::{Faulty, Folder, Mood, distinct, wait_until};

tc_metrics! {
    /// Calls, so that there is another signal on the way to the same receiver.
    static CALLS: Counter = "tc_fault_calls_total";
}

#[tc_span("Fault/Work", attrs(tracecast::keys::size_bytes = number))]
fn work(number: u64) {
    CALLS.add(1, ());
}

/// Spans at a time: three requests.
const MANY: u64 = 1_500;
const LONG: Duration = Duration::from_secs(20);
/// The promise: who gives it a second has the program back after this.
const SECOND: Duration = Duration::from_secs(1);
const PROMISED: Duration = Duration::from_millis(1_200);
/// How long an answer of a black hole is waited for. A receiver that is well has answered before, on a busy machine too;
/// else it would get some spans twice.
const SILENCE: Duration = Duration::from_secs(2);

const FAULTS: [(&str, Mood); 8] = [
    ("absent", Mood::Absent),
    ("dying", Mood::Dying),
    ("black-hole", Mood::BlackHole),
    ("resetting", Mood::Resets),
    ("unavailable", Mood::Unavailable),
    // Far from the second after which the program ends: what is answered just then may come twice.
    ("slow", Mood::Slow(Duration::from_secs(2))),
    ("garbage", Mood::Garbage),
    ("stranger", Mood::Stranger),
];
const PROTOCOLS: [(&str, Protocol); 2] = [("http", Protocol::HttpProtobuf), ("grpc", Protocol::Grpc)];

#[derive(Clone, Copy, Debug)]
struct Case {
    fault: Mood,
    protocol: Protocol,
    spool: bool,
}

impl Case {
    /// From its name, as `black-hole grpc spool`.
    fn of(name: &str) -> Self {
        let [fault, protocol, kept] = name.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let fault = FAULTS.iter().find(|(name, _)| *name == fault).unwrap().1;
        let protocol = PROTOCOLS.iter().find(|(name, _)| *name == protocol).unwrap().1;
        Case { fault, protocol, spool: kept == "spool" }
    }

    fn start(&self, receiver: &Faulty, folder: &Folder) -> Guard {
        let mut config = receiver.configure(Config::new());
        if self.fault == Mood::BlackHole {
            config = config.with_timeout(SILENCE);
        }
        if self.spool {
            config = config.with_spool(Spool::new(&folder.0));
        }
        config.init().unwrap()
    }

    /// How long to look at it: in a black hole, until it is known to be one.
    fn look(&self) -> Duration {
        Duration::from_millis(200) + if self.fault == Mood::BlackHole { SILENCE } else { Duration::ZERO }
    }
}

/// Every span is somewhere, and all of them are those that were made.
#[track_caller]
fn accounted(report: &Report, made: u64) {
    let Report { spans_ended, spans_exported, spans_dropped, spans_pending, spans_spooled, .. } = *report;
    assert_eq!(spans_ended, spans_exported + spans_dropped + spans_pending + spans_spooled, "{report}");
    assert_eq!(spans_ended, made, "{report}");
}

/// One run of a case; gives how long the end took.
fn run(case: Case) -> Duration {
    let receiver = Faulty::start(case.protocol, Mood::Up, case.fault == Mood::Stranger);
    let folder = Folder::new("faults");
    let mut made = 0;
    let mut make = |many| {
        (made..made + many).for_each(work);
        made += many;
        made
    };

    // In all but one case the fault hits a connection that is in use.
    if case.fault == Mood::Absent {
        receiver.set(Mood::Absent);
    }
    let telemetry = case.start(&receiver, &folder);
    if case.fault != Mood::Absent {
        let made = make(100);
        let report = telemetry.flush(LONG);
        accounted(&report, made);
        assert_eq!((report.spans_exported, report.complete), (made, true), "{report}");
    }

    receiver.set(case.fault);
    let made_well = make(MANY);
    let report = telemetry.flush(case.look());
    accounted(&report, made_well);
    println!("in the middle: {report}");
    assert_eq!(report.spans_dropped, 0, "{report}");
    assert!(report.spans_pending + report.spans_spooled > 0, "{report}");

    receiver.set(Mood::Up);
    let arrived = made_well;
    receiver.wait_for(arrived as usize);
    wait_until("an empty disk", || telemetry.flush(LONG).spans_spooled == 0);
    let report = telemetry.flush(LONG);
    accounted(&report, made_well);
    assert_eq!((report.spans_exported, report.spans_dropped), (arrived, 0), "{report}");
    assert_eq!(receiver.spans().len() as u64, arrived, "each once");

    receiver.set(case.fault);
    let made = make(MANY);
    let began = Instant::now();
    let report = telemetry.shutdown(SECOND);
    let took = began.elapsed();
    println!("at the end, after {took:?}: {report}");
    accounted(&report, made);
    receiver.set(Mood::Up);
    assert_eq!(report.spans_dropped, 0, "{report}");
    if !case.spool {
        assert!(report.spans_pending > 0 && report.spans_spooled == 0, "{report}");
        assert_eq!(receiver.spans().len() as u64, report.spans_exported);
        return took;
    }
    assert!(report.spans_pending == 0 && report.spans_spooled > 0, "{report}");
    arrives_after_a_restart(case, &receiver, &folder, &report);
    took
}

/// What is on disk arrives, each span once, and is not taken for what this run made.
fn arrives_after_a_restart(case: Case, receiver: &Faulty, folder: &Folder, before: &Report) {
    let telemetry = case.start(receiver, folder);
    receiver.wait_for(before.spans_ended as usize);
    wait_until("the count of what was replayed", || telemetry.flush(LONG).spans_replayed == before.spans_spooled);
    let report = telemetry.shutdown(LONG);
    println!("after a restart: {report}");
    accounted(&report, 0);
    assert_eq!(
        (receiver.spans().len(), distinct(&receiver.spans())),
        (before.spans_ended as usize, before.spans_ended as usize)
    );
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0, "nothing stays on disk");
}

/// What each program does.
#[test]
fn program() {
    let Some(name) = crate::child::role() else { return };
    let took = run(Case::of(&name));
    println!("{} after {took:?}", if took <= PROMISED { "in time" } else { "late" });
}

/// Runs the fault with each protocol, with a spool and without, all at once.
#[track_caller]
fn check(fault: &str) {
    let kinds = [("http", "memory"), ("http", "spool"), ("grpc", "memory"), ("grpc", "spool")];
    let mut names: Vec<_> = kinds.iter().map(|(protocol, kept)| format!("{fault} {protocol} {kept}")).collect();
    // A machine that is busy with something else may make one of them late; not three times.
    for _ in 0..3 {
        let running: Vec<_> =
            names.drain(..).map(|name| (Child::new(module_path!(), "program", &name).spawn(), name)).collect();
        for (running, name) in running {
            let output = running.end();
            assert!(output.succeeded, "{name}: {}", output.text);
            println!("{name}: {}", output.text);
            if !output.text.contains("in time after ") {
                names.push(name);
            }
        }
        if names.is_empty() {
            return;
        }
    }
    panic!("too late each time: {names:?}");
}

#[test]
fn a_receiver_that_is_down_at_the_start_and_up_later() {
    check("absent");
}

#[test]
fn a_receiver_that_dies_midway() {
    check("dying");
}

#[test]
fn a_black_hole() {
    check("black-hole");
}

#[test]
fn a_receiver_that_resets_connections() {
    check("resetting");
}

#[test]
fn a_receiver_that_is_unavailable_for_a_while() {
    check("unavailable");
}

#[test]
fn a_slow_receiver() {
    check("slow");
}

#[test]
fn a_receiver_that_sends_garbage() {
    check("garbage");
}

#[test]
fn a_receiver_with_a_certificate_of_another_authority() {
    check("stranger");
}
