//! What becomes of spans when the program is killed, when the receiver comes late, and when its answer is lost.

use std::collections::BTreeSet;
use std::io::Read;
use std::thread;
use std::time::{Duration, Instant};

use tracecast::Guard;
use tracecast::config::{Config, Protocol, Signal, Spool};
use tracecast::prelude::*;

use crate::child::{Child, Running};
use crate::faulty::{Faulty, Folder, Mood, distinct, wait_until};
use crate::turn::turn;

#[tc_span("Fault/Step", attrs(tracecast::keys::size_bytes = number))]
fn step(number: u64) {
    let _ = number;
}

const LONG: Duration = Duration::from_secs(20);
const PROTOCOLS: [Protocol; 2] = [Protocol::HttpProtobuf, Protocol::Grpc];

/// A service that makes so many spans a second, for so long.
const LATE_RATE: u64 = 195;
const LATE_SECONDS: u64 = 16;

/// Spans a second of a program whose backend comes and goes. While it is away several MiB come together.
const FLAPPING_RATE: u64 = 16_000;
const FLAPPING_LIMIT: &str = "16MiB";

/// How many spans a second the program makes that is killed, how many at a time, and after how many it is.
const DOOMED_RATE: u64 = 1_000;
const DOOMED_STEP: u64 = 10;
const DOOMED_LIFE: u64 = 2_500;
/// The same for a program that fills several chunks of memory between two looks: 5,000 a second.
const FAST_STEP: u64 = 50;
const FAST_LIFE: u64 = 12_500;
/// How long spans wait for others, as the program is told; and how often finished ones are taken, at the latest.
const DELAY: Duration = Duration::from_millis(200);
const TAKEN_EVERY: Duration = Duration::from_millis(200);
/// How long it may take to write one request to the disk, on a machine that is busy.
const WRITING: Duration = Duration::from_millis(600);

/// What each program does.
#[test]
fn program() {
    let Some(what) = crate::child::role() else { return };
    let telemetry = tracecast::try_init().unwrap();
    match what.as_str() {
        "doomed" => make_for_ever(DOOMED_STEP),
        "doomed fast" => make_for_ever(FAST_STEP),
        "flapping" => {
            let ended = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
            let seen = ended.clone();
            thread::spawn(move || {
                let _ = std::io::stdin().read(&mut [0]);
                seen.store(true, std::sync::atomic::Ordering::Relaxed);
            });
            let mut made = 0;
            while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                (made..made + FLAPPING_RATE / 20).for_each(step);
                made += FLAPPING_RATE / 20;
                thread::sleep(Duration::from_millis(50));
            }
            let report = telemetry.shutdown(LONG);
            println!("{report}");
            assert_eq!((report.spans_ended, report.spans_exported), (made, made), "{report}");
        }
        "heir" => {
            let _ = std::io::stdin().read(&mut [0]);
            println!("{}", telemetry.shutdown(LONG));
        }
        "late" => {
            println!("started");
            let began = Instant::now();
            for number in 0..LATE_RATE * LATE_SECONDS {
                let at = Duration::from_secs(number) / LATE_RATE as u32;
                thread::sleep(at.saturating_sub(began.elapsed()));
                step(number);
            }
            let report = telemetry.shutdown(LONG);
            println!("{report}");
            let made = LATE_RATE * LATE_SECONDS;
            assert_eq!((report.spans_ended, report.spans_exported), (made, made), "{report}");
        }
        other => panic!("no program is called {other}"),
    }
}

/// Makes so many spans every 10 ms, and says how many before it does.
fn make_for_ever(step_size: u64) -> ! {
    let mut made = 0;
    loop {
        println!("making {};", made + step_size);
        (made..made + step_size).for_each(step);
        made += step_size;
        thread::sleep(Duration::from_millis(1_000 * DOOMED_STEP / DOOMED_RATE));
    }
}

fn spawn(role: &str, receiver: &Faulty, more: &[(&'static str, String)]) -> Running {
    let variables = [&receiver.variables()[..], more].concat();
    let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Child::new(module_path!(), "program", role).variables(&variables).spawn()
}

#[test]
fn a_receiver_that_comes_after_eight_of_sixteen_seconds_gets_everything() {
    let all = PROTOCOLS.map(|protocol| {
        let receiver = Faulty::start(protocol, Mood::Absent, false);
        let running = spawn("late", &receiver, &[]);
        (receiver, running)
    });
    all.iter().for_each(|(_, running)| running.wait_for("started"));
    thread::sleep(Duration::from_secs(8));
    for (receiver, _) in &all {
        assert_eq!(receiver.connections(), 0);
        receiver.set(Mood::Up);
    }
    for (receiver, running) in all {
        let output = running.end();
        assert!(output.succeeded, "{}", output.text);
        let (spans, made) = (receiver.spans(), (LATE_RATE * LATE_SECONDS) as usize);
        assert_eq!((spans.len(), distinct(&spans)), (made, made), "{}", output.text);
        println!("{} spans: {}", spans.len(), output.text);
    }
}

/// Kills a program whose receiver is down and that has a spool; gives how many spans were made at most, and which arrived
/// after another program has found the spool.
fn kill(protocol: Protocol, role: &str, life: u64) -> (u64, Vec<u64>) {
    let folder = Folder::new("faults-killed");
    let receiver = Faulty::start(protocol, Mood::Absent, false);
    let more = [
        ("TC_SPOOL_DIR", folder.0.to_str().unwrap().to_owned()),
        ("OTEL_BSP_SCHEDULE_DELAY", DELAY.as_millis().to_string()),
    ];
    let doomed = spawn(role, &receiver, &more);
    doomed.wait_for(&format!("making {life};"));
    doomed.signal(libc::SIGKILL);
    let output = doomed.end();
    assert_eq!(output.signal, Some(libc::SIGKILL), "{}", output.text);
    let made = output.text.split(';').filter_map(|part| part.rsplit("making ").next()?.parse().ok()).max().unwrap();

    receiver.set(Mood::Up);
    let mut heir = spawn("heir", &receiver, &more);
    wait_until("an empty spool", || std::fs::read_dir(&folder.0).unwrap().count() == 0);
    heir.close_input();
    let output = heir.end();
    let numbers: Vec<_> = receiver.spans().iter().map(|span| span.number as u64).collect();
    let replayed = format!("({} replayed)", numbers.len());
    assert!(output.succeeded && output.text.contains(&replayed), "{replayed} is not in {}", output.text);
    (made, numbers)
}

/// What a program that is killed loses: what was made since the last request was written to the disk.
fn check_kill(protocol: Protocol) {
    let outside = (DELAY + TAKEN_EVERY + WRITING).as_millis() as u64 * DOOMED_RATE / 1_000 + DOOMED_STEP;
    let mut losses = Vec::new();
    // A machine that is busy with something else may keep the collector from its work.
    for _ in 0..3 {
        let (made, numbers) = kill(protocol, "doomed", DOOMED_LIFE);
        let arrived = numbers.len() as u64;
        let once: BTreeSet<_> = numbers.into_iter().collect();
        assert_eq!(once.len() as u64, arrived, "none came twice");
        assert_eq!(once, (0..arrived).collect(), "what is lost is what came last");
        println!("{protocol:?}: {made} spans made, {arrived} arrived; up to {outside} may be lost");
        if arrived + outside >= made {
            return;
        }
        losses.push(made - arrived);
    }
    panic!("more than {outside} spans are lost: {losses:?}");
}

/// At this rate a thread fills several chunks between two looks of the export thread.
#[test]
fn a_killed_program_that_is_fast_loses_its_last_spans_only() {
    for protocol in PROTOCOLS {
        let (made, numbers) = kill(protocol, "doomed fast", FAST_LIFE);
        let arrived: BTreeSet<_> = numbers.iter().copied().collect();
        println!("{protocol:?}: {made} spans made, {} arrived", arrived.len());
        assert_eq!(arrived.len(), numbers.len(), "none came twice");
        assert!(!arrived.is_empty());
        assert_eq!(arrived, (0..arrived.len() as u64).collect(), "there are no gaps");
    }
}

#[test]
fn a_killed_program_loses_what_was_not_yet_on_disk_over_http() {
    check_kill(Protocol::HttpProtobuf);
}

#[test]
fn a_killed_program_loses_what_was_not_yet_on_disk_over_grpc() {
    check_kill(Protocol::Grpc);
}

#[test]
fn a_lost_answer_may_send_spans_twice_and_loses_none() {
    let _turn = turn();
    for protocol in PROTOCOLS {
        let folder = Folder::new("faults-twice");
        let receiver = Faulty::start(protocol, Mood::Forgetful, false);
        let telemetry = receiver.configure(Config::new()).with_spool(Spool::new(&folder.0)).init().unwrap();
        (0..100).for_each(step);
        telemetry.flush(Duration::from_millis(50));
        // They are there, and nothing was said of it.
        receiver.wait_for(100);
        let report = telemetry.flush(Duration::from_millis(50));
        assert_eq!((report.spans_ended, report.spans_exported), (100, 0), "{report}");
        assert_eq!(report.spans_pending + report.spans_spooled, 100, "{report}");

        receiver.set(Mood::Up);
        wait_until("an answer", || telemetry.flush(LONG).spans_exported == 100);
        let report = telemetry.shutdown(LONG);
        assert_eq!((report.spans_ended, report.spans_exported, report.spans_spooled), (100, 100, 0), "{report}");
        let spans = receiver.spans();
        assert!(spans.len() >= 200 && spans.len().is_multiple_of(100), "{} spans came", spans.len());
        assert_eq!(distinct(&spans), 100);
    }
}

/// A backend that comes and goes loses nothing while what waits for it fits into memory.
#[test]
fn a_flapping_backend_gets_everything() {
    let cases = PROTOCOLS.map(|protocol| [Mood::Absent, Mood::Unavailable].map(|fault| (protocol, fault)));
    // Two at a time: each makes spans as fast as it can send them.
    for cases in cases {
        let all = cases.map(|(protocol, fault)| {
            let receiver = Faulty::start(protocol, Mood::Up, false);
            let more = [
                ("TC_MEMORY_LIMIT", FLAPPING_LIMIT.to_owned()),
                ("OTEL_METRICS_EXPORTER", "none".to_owned()),
                ("OTEL_BSP_SCHEDULE_DELAY", DELAY.as_millis().to_string()),
            ];
            let running = spawn("flapping", &receiver, &more);
            receiver.wait_for(1);
            (fault, receiver, running)
        });
        for _ in 0..2 {
            all.iter().for_each(|(fault, receiver, _)| receiver.set(*fault));
            thread::sleep(Duration::from_secs(3));
            all.iter().for_each(|(_, receiver, _)| receiver.set(Mood::Up));
            thread::sleep(Duration::from_secs(1));
        }
        for (fault, receiver, mut running) in all {
            running.close_input();
            let output = running.end();
            assert!(output.succeeded, "{fault:?}: {}", output.text);
            let ended = format!(" {} spans ended = ", distinct(&receiver.spans()));
            assert!(output.text.contains(&ended), "{fault:?}:{ended} is not in {}", output.text);
        }
    }
}

/// Waits between attempts have grown to seconds by then; a probe ends them.
#[test]
fn a_backend_that_is_back_is_noticed_at_once() {
    let cases = PROTOCOLS.map(|protocol| [Mood::Absent, Mood::Unavailable].map(|fault| (protocol, fault)));
    let all = cases.as_flattened().iter().map(|(protocol, fault)| {
        let receiver = Faulty::start(*protocol, *fault, false);
        let running = spawn("doomed", &receiver, &[]);
        running.wait_for("making ");
        (fault, receiver, running)
    });
    let all: Vec<_> = all.collect();
    thread::sleep(Duration::from_secs(9));
    for (fault, receiver, running) in all {
        assert!(receiver.spans().is_empty());
        let began = Instant::now();
        receiver.set(Mood::Up);
        receiver.wait_for(1);
        let took = began.elapsed();
        println!("{fault:?}: the first span came after {took:?}");
        assert!(took < Duration::from_secs(2), "{fault:?}: after {took:?}: {}", running.text());
    }
}

/// One cause does not hide another: each is told once a minute.
#[test]
fn a_disk_that_fails_is_told_beside_a_backend_that_is_down() {
    for protocol in PROTOCOLS {
        let (receiver, folder) = (Faulty::start(protocol, Mood::Unavailable, false), Folder::new("faults-told"));
        let spool = folder.0.join("spool");
        let more = [("TC_SPOOL_DIR", spool.to_str().unwrap().to_owned()), ("OTEL_METRICS_EXPORTER", "none".to_owned())];
        let running = spawn("doomed", &receiver, &more);
        running.wait_for("making ");
        // What is no directory takes no files.
        std::fs::remove_dir_all(&spool).unwrap();
        std::fs::write(&spool, "").unwrap();
        running.wait_for(if protocol == Protocol::Grpc { "gRPC UNAVAILABLE" } else { "HTTP 503" });
        running.wait_for("keeping the data in memory");
        let text = running.text();
        assert_eq!(text.matches("keeping the data in memory").count(), 1, "{text}");
    }
}

#[test]
fn a_loss_is_told_whatever_else_was() {
    let receiver = Faulty::start(Protocol::HttpProtobuf, Mood::Absent, false);
    let more = [("TC_MEMORY_LIMIT", "1MiB".to_owned()), ("OTEL_METRICS_EXPORTER", "none".to_owned())];
    let running = spawn("flapping", &receiver, &more);
    running.wait_for("connection refused");
    running.wait_for("tracecast: warning: dropped ");
    let text = running.text();
    let told: Vec<_> = text.lines().filter(|line| line.contains("warning: dropped ")).collect();
    let [line] = told[..] else { panic!("once a minute: {text}") };
    assert!(
        line.contains(" spans: ") && (line.contains(" export_queue_full") || line.contains(" span_buffer_full")),
        "{line}"
    );
}

/// A backend that refuses large requests gets smaller ones, of what waits in memory, of what is new and of what is on disk.
#[test]
fn a_backend_that_finds_requests_too_large_gets_smaller_ones() {
    const MADE: u64 = 2_000;
    let _turn = turn();
    for protocol in PROTOCOLS {
        let folder = Folder::new("faults-picky");
        let receiver = Faulty::start(protocol, Mood::Picky(20 << 10), false);
        let config = receiver.configure(Config::new()).with_exporters(Signal::Metrics, Vec::new());
        let config = config.with_span_batch(|batch| batch.size = 1_000);
        let telemetry = config.clone().init().unwrap();
        (0..MADE).for_each(step);
        let report = telemetry.shutdown(LONG);
        assert_eq!((report.spans_ended, report.spans_exported, report.spans_dropped), (MADE, MADE, 0), "{report}");
        let spans = receiver.spans();
        assert_eq!((spans.len() as u64, distinct(&spans) as u64), (MADE, MADE));

        receiver.set(Mood::Absent);
        let config = config.with_spool(Spool::new(&folder.0));
        let telemetry = config.clone().init().unwrap();
        (0..MADE).for_each(step);
        let report = telemetry.shutdown(LONG);
        assert_eq!(report.spans_spooled, MADE, "{report}");
        receiver.set(Mood::Picky(20 << 10));
        let telemetry = config.init().unwrap();
        wait_until("what is on disk", || telemetry.flush(LONG).spans_replayed == MADE);
        assert_eq!((receiver.spans().len() as u64, telemetry.shutdown(LONG).spans_dropped), (2 * MADE, 0));
    }
}

/// Starts with ten spans to a request, and a spool. Without metrics, which do not go to disk and would be waited for.
fn start(receiver: &Faulty, folder: &Folder) -> Guard {
    let config = receiver.configure(Config::new()).with_exporters(Signal::Metrics, Vec::new());
    config.with_spool(Spool::new(&folder.0)).with_span_batch(|batch| batch.size = 10).init().unwrap()
}

/// Has so many spans on disk.
fn fill(spans: u64, receiver: &Faulty, folder: &Folder) {
    let telemetry = start(receiver, folder);
    (0..spans).for_each(step);
    let report = telemetry.shutdown(LONG);
    assert_eq!((report.spans_ended, report.spans_spooled), (spans, spans), "{report}");
}

#[test]
fn an_end_in_the_middle_of_a_replay_sends_nothing_twice() {
    let _turn = turn();
    for protocol in PROTOCOLS {
        let folder = Folder::new("faults-replay");
        let receiver = Faulty::start(protocol, Mood::Absent, false);
        fill(60, &receiver, &folder);
        // Each run ends while it waits for an answer.
        receiver.set(Mood::Slow(Duration::from_millis(200)));
        let mut replayed = 0;
        while replayed < 60 {
            let telemetry = start(&receiver, &folder);
            let before = receiver.spans().len();
            wait_until("spans of before", || receiver.spans().len() > before);
            let report = telemetry.shutdown(LONG);
            assert!(report.complete && report.spans_replayed > 0, "{report}");
            replayed += report.spans_replayed;
        }
        let spans = receiver.spans();
        assert_eq!((replayed, spans.len(), distinct(&spans)), (60, 60, 60));
    }
}

#[test]
fn what_is_new_does_not_wait_for_what_is_on_disk() {
    let _turn = turn();
    let folder = Folder::new("faults-live");
    let receiver = Faulty::start(Protocol::HttpProtobuf, Mood::Absent, false);
    fill(2_000, &receiver, &folder);
    receiver.set(Mood::Up);
    let telemetry = start(&receiver, &folder);
    receiver.wait_for(1);
    step(7_777);
    let report = telemetry.flush(LONG);
    assert_eq!((report.spans_exported, report.complete), (1, true), "{report}");
    assert!(report.spans_replayed < 500, "it does not wait for the rest: {report}");
    let report = telemetry.shutdown(LONG);
    assert!(report.complete && report.spans_replayed < 500, "neither does the end: {report}");
    assert!(receiver.spans().iter().any(|span| span.number == 7_777));
    assert_eq!(distinct(&receiver.spans()), receiver.spans().len());
}
