//! Whatever is wrong with the receiver, and even if the collector's thread is stuck, a thread that makes spans and metrics
//! allocates nothing, makes no system call, and waits for nobody.
//!
//! A thread that may not make any system call from some moment on makes them; the system ends the whole program if it
//! makes one. Without system calls there is no waiting for a lock either: that is one.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), feature = "otlp", not(miri)))]

use std::hint::spin_loop;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use tracecast::config::{Config, Protocol};
use tracecast::keys::tensor::SourceType;
use tracecast::prelude::*;
use tracecast::{Guard, Report};

use crate::child::{Child, Output};
use crate::counting::ALLOCATIONS;
use crate::faulty::{Faulty, Mood, wait_until};

tc_metrics! {
    /// Bytes that were loaded.
    static LOADED: Counter<(tracecast::keys::tensor::source,)> = "tc_caller_loaded_bytes_total";
    /// How large they were.
    static SIZES: Histogram<(tracecast::keys::tensor::source,), u64> = "tc_caller_sizes_bytes";
}

const UUID: &str = "1b4e28ba-2fa1-11d2-883f-0016d3cca427";
/// The text alone of so many spans is 360 kB; a chunk of the recorder has 16 KiB.
const SPANS: u64 = 10_000;
const WARM: u64 = 10;

#[tc_span("Caller/Load", attrs(tracecast::keys::tensor::artifact = UUID, tracecast::keys::size_bytes = number))]
fn load(number: u64) {
    LOADED.add(number, (SourceType::Disk,));
    SIZES.record(number, (SourceType::Remote,));
}

/// Which round the caller may begin, and which it has done.
static BEGUN: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicU64 = AtomicU64::new(0);
static WARMED: AtomicBool = AtomicBool::new(false);
static ALLOCATED: AtomicU64 = AtomicU64::new(0);
/// Whoever holds it holds the collector up.
static GATE: Mutex<()> = Mutex::new(());
static STUCK: AtomicBool = AtomicBool::new(false);

/// From now on the system ends this program when this thread asks it for anything.
fn forbid_system_calls() {
    let mut nothing = [libc::sock_filter {
        code: (libc::BPF_RET | libc::BPF_K) as u16,
        jt: 0,
        jf: 0,
        k: libc::SECCOMP_RET_KILL_PROCESS,
    }];
    let program = libc::sock_fprog { len: 1, filter: nothing.as_mut_ptr() };
    // SAFETY: plain system calls; the program outlives the call, and the system copies it.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        // Nothing can be said of a failure after it.
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program);
    }
}

/// The caller: spins where others would wait, and never ends, because that is a system call.
fn caller() {
    (0..WARM).for_each(load);
    WARMED.store(true, SeqCst);
    while BEGUN.load(SeqCst) == 0 {
        spin_loop();
    }
    forbid_system_calls();
    for round in 1.. {
        while BEGUN.load(SeqCst) < round {
            spin_loop();
        }
        let before = ALLOCATIONS.get();
        (0..SPANS).for_each(load);
        ALLOCATED.fetch_add(ALLOCATIONS.get() - before, SeqCst);
        DONE.store(round, SeqCst);
    }
}

fn round(number: u64) {
    BEGUN.store(number, SeqCst);
    wait_until("the end of a round", || DONE.load(SeqCst) == number);
}

fn hold_up(_: &str, _: &str) -> Option<String> {
    if GATE.try_lock().is_err() {
        STUCK.store(true, SeqCst);
        drop(GATE.lock());
        STUCK.store(false, SeqCst);
    }
    None
}

/// How many requests were sent, or tried.
fn attempts(telemetry: &Guard) -> f64 {
    let text = telemetry.render_prometheus();
    let lines = text.lines().filter(|line| line.starts_with("tc_export_requests_total{"));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}

fn make_spans() {
    let telemetry = Config::from_env().with_redaction(hold_up).init().unwrap();
    thread::spawn(caller);
    wait_until("a thread that has made spans", || WARMED.load(SeqCst));
    wait_until("an attempt to send them", || {
        telemetry.flush(Duration::from_millis(20));
        attempts(&telemetry) > 0.0
    });
    round(1);

    let gate = GATE.lock().unwrap();
    load(0);
    wait_until("a collector that is stuck", || STUCK.load(SeqCst));
    round(2);
    assert!(STUCK.load(SeqCst), "it was stuck all the while");
    assert_eq!(ALLOCATED.load(SeqCst), 0);

    drop(gate);
    let made = 2 * SPANS + WARM + 1;
    wait_until("a collector that works again", || telemetry.flush(Duration::from_millis(50)).spans_ended == made);
    let report = telemetry.shutdown(Duration::from_millis(500));
    let Report { spans_ended, spans_exported, spans_dropped, spans_pending, spans_spooled, .. } = report;
    assert_eq!(spans_ended, made, "{report}");
    assert_eq!(spans_ended, spans_exported + spans_dropped + spans_pending + spans_spooled, "{report}");
    println!("{report}");
}

/// What each program does.
#[test]
fn program() {
    match crate::child::role().as_deref() {
        None => {}
        Some("spans") => make_spans(),
        Some("calls") => {
            forbid_system_calls();
            // SAFETY: a plain system call.
            unsafe { libc::getppid() };
        }
        Some(other) => panic!("no program is called {other}"),
    }
}

#[test]
fn a_system_call_would_be_seen() {
    let output = Child::new(module_path!(), "program", "calls").run();
    assert_eq!(output.signal, Some(libc::SIGSYS), "{}", output.text);
}

const FAULTS: [Mood; 8] = [
    Mood::Absent,
    Mood::Dying,
    Mood::BlackHole,
    Mood::Resets,
    Mood::Unavailable,
    Mood::Slow(Duration::from_millis(100)),
    Mood::Garbage,
    Mood::Stranger,
];

fn check(protocol: Protocol) {
    for some in FAULTS.chunks(4) {
        let begin = |fault: &Mood| {
            let receiver = Faulty::start(protocol, *fault, *fault == Mood::Stranger);
            let mut variables = receiver.variables();
            variables.push(("OTEL_EXPORTER_OTLP_TIMEOUT", "300".to_owned()));
            let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
            (*fault, Child::new(module_path!(), "program", "spans").variables(&variables).spawn(), receiver)
        };
        let all: Vec<_> = some.iter().map(begin).collect();
        for (fault, running, _receiver) in all {
            let Output { succeeded, signal, text, .. } = running.end();
            assert!(succeeded, "{fault:?}, ended by {signal:?}: {text}");
            println!("{fault:?}: {text}");
        }
    }
}

#[test]
fn no_system_call_no_allocation_and_no_wait_over_http() {
    check(Protocol::HttpProtobuf);
}

#[test]
fn no_system_call_no_allocation_and_no_wait_over_grpc() {
    check(Protocol::Grpc);
}
