//! A program that is told to stop: its steps run, each apart from the others, and it ends as it should and in time.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use libc::{SIGINT, SIGTERM};
use tracecast::shutdown::{Health, Shutdown, StepReport};

use crate::child::{Child, Output, Running};

/// What each program does.
#[test]
fn program() {
    let Some(what) = crate::child::role() else { return };
    let telemetry = tracecast::init();
    let health = telemetry.health();
    let shutdown = Shutdown::new(telemetry);
    match what.as_str() {
        "well" => run(steps(shutdown).final_report(say_all)),
        "badly" => run(bad_steps(shutdown).blocking_step("last", || say("last")).final_report(say_all)),
        "blocking hang" => {
            run(shutdown.blocking_step("stuck", hang).step("last", || async { say("last") }).final_report(say_all));
        }
        "async hang" => {
            let last = shutdown.step("stuck", hang_async).blocking_step("last", || say("last"));
            run(last.final_report(say_all));
        }
        "budget" => {
            let short = Duration::from_millis(50);
            let steps = shutdown.blocking_step("stuck", hang).within(short).step("stuck", hang_async).within(short);
            run(steps.blocking_step("last", || say("last")).with_timeout(Duration::from_secs(600)));
        }
        "hangs twice" => {
            let first = shutdown.blocking_step("first", hang).within(Duration::from_millis(20));
            run(first.step("second", hang_async));
        }
        "best effort" => {
            let refused = || Err::<(), _>("connection refused");
            let steps =
                shutdown.blocking_step("report", refused).best_effort().blocking_step("stuck", hang).best_effort();
            let steps = steps.within(Duration::from_millis(20)).blocking_step("last", || say("last"));
            run(steps.final_report(|_| panic_now()).best_effort());
        }
        "other than best effort" => {
            let refused = || Err::<(), _>("connection refused");
            run(shutdown.blocking_step("first", refused).final_report(|_| ()).step("last", || async {}).best_effort());
        }
        "final report hangs" => run(shutdown.final_report(|_| hang())),
        "exit handler hangs" => {
            at_exit_hang();
            run(shutdown.blocking_step("first", || say("first")));
        }
        "step and exit handler hang" => {
            at_exit_hang();
            run(shutdown.blocking_step("stuck", hang));
        }
        "stderr locked" => {
            at_exit_hang();
            run(shutdown.blocking_step("locks", || {
                let _locked = std::io::stderr().lock();
                hang();
            }));
        }
        "stderr full" => run(shutdown.blocking_step("writes", fill_standard_error)),
        "runtime blocked" => {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
            runtime.spawn(async { hang() });
            let steps = shutdown.with_runtime(runtime.handle().clone()).step("stuck", || async {});
            run(steps.blocking_step("last", || say("last")));
        }
        "on a runtime" => {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
            let steps = shutdown.with_runtime(runtime.handle().clone());
            run(steps.step("spawns", || async { tokio::spawn(async { say("spawned") }).await }));
        }
        "health" => run(with_health_endpoint(shutdown, health)),
        "main returns" => {
            let (main_returns, returned) = mpsc::channel::<()>();
            let steps = shutdown.blocking_step("waits", move || returned.recv().unwrap_or_default());
            let _armed = steps.blocking_step("last", || say("last")).on_signals();
            let _main_returns = main_returns;
            say("ready");
            futures::executor::block_on(health.shutting_down());
        }
        "not asked" => {
            let _not_asked = steps(shutdown);
            say("ready");
            hang();
        }
        "given back" => {
            drop(steps(shutdown).on_signals());
            say("ready");
            hang();
        }
        "again" => {
            drop(Shutdown::new(tracecast::init()).on_signals());
            run(steps(shutdown));
        }
        "twice" => {
            let _second = Shutdown::new(tracecast::init()).on_signals();
            run(steps(shutdown));
        }
        "by hand" => {
            let waits = || std::io::stdin().read_line(&mut String::new());
            let armed = shutdown.blocking_step("waits", waits).blocking_step("last", || say("last")).on_signals();
            say("ready");
            println!("report: {}", armed.run());
            hang();
        }
        "forks" => fork(steps(shutdown)),
        other => panic!("no program is called {other}"),
    }
}

fn run(shutdown: Shutdown) {
    let _armed = shutdown.on_signals();
    say("ready");
    hang();
}

fn say(what: &str) {
    println!("said: {what}");
}

fn say_all(steps: &[StepReport]) {
    steps.iter().for_each(|step| say(&format!("final {}: {}", step.name, step.outcome)));
}

fn hang() {
    loop {
        thread::park();
    }
}

async fn hang_async() {
    say("stuck");
    std::future::pending().await
}

fn fill_standard_error() {
    thread::spawn(|| {
        loop {
            eprintln!("{}", "x".repeat(1000));
        }
    });
    // A pipe holds 64 KiB.
    let is_full = || {
        let mut poll = libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
        // SAFETY: one descriptor, which is always open.
        unsafe { libc::poll(&mut poll, 1, 0) == 0 }
    };
    while !is_full() {
        thread::yield_now();
    }
    say("full");
    hang();
}

extern "C" fn never_comes_back() {
    hang();
}

fn at_exit_hang() {
    // SAFETY: the handler is a function that may be called at any time.
    assert_eq!(unsafe { libc::atexit(never_comes_back) }, 0);
}

fn steps(shutdown: Shutdown) -> Shutdown {
    shutdown
        .step("first", || async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            say("first");
        })
        .blocking_step("second", || {
            say("second");
            Ok::<_, std::io::Error>(())
        })
        .step("third", || async {
            say("third");
            Ok::<_, String>(())
        })
}

fn bad_steps(shutdown: Shutdown) -> Shutdown {
    shutdown
        .blocking_step("fails", || Err::<(), _>("disk\nfull"))
        .step("fails too", || async { Err::<(), _>(std::io::Error::other("gone")) })
        .blocking_step("panics", || say(&format!("{}", u8::try_from(300).unwrap())))
        .step("panics too", || async { panic_now() })
}

fn panic_now() {
    panic!("as expected");
}

/// A thread that is asked for the state, as a health endpoint is; the step ends when it has told of the shutdown.
fn with_health_endpoint(shutdown: Shutdown, health: Health) -> Shutdown {
    assert_eq!(health.state().as_str(), "running");
    let (ask, asked) = mpsc::channel::<mpsc::Sender<String>>();
    thread::spawn(move || {
        for answer in asked {
            answer.send(health.state().to_string()).unwrap();
        }
    });
    let answer = move |ask: &mpsc::Sender<mpsc::Sender<String>>| {
        let (sender, answer) = mpsc::channel();
        ask.send(sender).unwrap();
        say(&answer.recv().unwrap());
    };
    answer(&ask);
    shutdown.blocking_step("asks", move || answer(&ask))
}

/// A child that was forked gets the signal; the program tells what became of it.
fn fork(shutdown: Shutdown) {
    let _armed = shutdown.on_signals();
    // SAFETY: plain system calls; the child only waits.
    let status = unsafe {
        let child = libc::fork();
        if child == 0 {
            loop {
                libc::pause();
            }
        }
        assert_eq!(libc::kill(child, SIGTERM), 0);
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        status
    };
    say(&format!("the forked one ended by signal {}", libc::WTERMSIG(status)));
    say("ready");
    hang();
}

fn start(what: &str, timeout: &str) -> Running {
    let running = Child::new(module_path!(), "program", what).variables(&[("SHUTDOWN_TIMEOUT_MS", timeout)]).spawn();
    running.wait_for("said: ready");
    running
}

fn stop(what: &str, timeout: &str) -> Output {
    let running = start(what, timeout);
    running.signal(SIGTERM);
    running.end()
}

/// What the program said after it was ready.
fn said(output: &Output) -> Vec<&str> {
    // The first line begins with the name of the test.
    let lines = output.text.lines().filter_map(|line| line.split_once("said: ")).map(|(_, said)| said);
    lines.skip_while(|said| *said != "ready").skip(1).collect()
}

fn warnings(output: &Output) -> Vec<String> {
    let without_time = |line: String| line.split(" (").next().unwrap().to_owned();
    let lines = output.said().into_iter().filter(|line| line.starts_with("warning") || line.starts_with("error"));
    lines.map(without_time).collect()
}

#[test]
fn all_done_is_exit_0() {
    for signal in [SIGTERM, SIGINT] {
        let running = start("well", "60000");
        running.signal(signal);
        let output = running.end();
        let expected = ["first", "second", "third", "final first: ok", "final second: ok", "final third: ok"];
        assert_eq!(said(&output), expected, "{}", output.text);
        assert_eq!(output.code, Some(0), "{}", output.text);
        let lines = output.said();
        let name = if signal == SIGTERM { "SIGTERM" } else { "SIGINT" };
        assert_eq!(lines[0], format!("{name}: shutting down within 60s"));
        assert!(lines[1].starts_with("shutdown took ") && lines[1].contains("second: ok ("), "{lines:?}");
        assert_eq!(lines.len(), 2, "{lines:?}");
    }
}

#[test]
fn errors_and_panics_stop_nothing_and_are_exit_1() {
    let output = stop("badly", "60000");
    let expected = [
        r"warning: shutdown step fails: failed: disk\nfull",
        "warning: shutdown step fails too: failed: gone",
        "warning: shutdown step panics: panicked: called `Result::unwrap()` on an `Err` value: TryFromIntError",
        "warning: shutdown step panics too: panicked: as expected",
    ];
    let warnings: Vec<_> = warnings(&output).iter().map(|line| line.split("(()").next().unwrap().to_owned()).collect();
    assert_eq!(warnings, expected, "{}", output.text);
    assert_eq!(said(&output)[0], "last", "{}", output.text);
    assert!(said(&output).contains(&r"final fails: failed: disk\nfull"), "{}", output.text);
    assert_eq!(output.code, Some(1));
}

#[test]
fn a_step_that_hangs_leaves_time_for_the_rest() {
    for what in ["blocking hang", "async hang"] {
        let output = stop(what, "6000");
        assert_eq!(warnings(&output), ["warning: shutdown step stuck: hung"], "{}", output.text);
        let said: Vec<_> = said(&output).into_iter().filter(|said| *said != "stuck").collect();
        assert_eq!(said, ["last", "final stuck: hung", "final last: ok"], "{}", output.text);
        assert_eq!(output.code, Some(1));
    }
}

#[test]
fn a_budget_ends_a_step_long_before_the_watchdog() {
    let output = stop("budget", "60000");
    let hung = "warning: shutdown step stuck: hung";
    assert_eq!(warnings(&output), [hung, hung], "{}", output.text);
    assert_eq!(said(&output).last(), Some(&"last"));
    assert!(output.text.contains("SIGTERM: shutting down within 600s"), "code beats the variable: {}", output.text);
    assert_eq!(output.code, Some(1));
}

#[test]
fn a_final_report_that_hangs_is_named() {
    let output = stop("final report hangs", "3000");
    assert_eq!(warnings(&output), ["warning: shutdown step final_report: hung"], "{}", output.text);
    assert_eq!(output.code, Some(1));
}

#[test]
fn the_watchdog_names_what_hangs_and_exits_1() {
    let output = stop("exit handler hangs", "3000");
    let fired = "error: shutdown timed out after 3s; hung in the exit handlers; exiting with code 1";
    assert_eq!(warnings(&output), [fired], "{}", output.text);
    assert_eq!(output.code, Some(1));

    let output = stop("step and exit handler hang", "3000");
    let hung = "warning: shutdown step stuck: hung";
    let fired = "error: shutdown timed out after 3s; hung in step `stuck`, the exit handlers; exiting with code 1";
    assert_eq!(warnings(&output), [hung, fired], "{}", output.text);
    assert_eq!(output.code, Some(1));
}

#[test]
fn a_step_that_holds_standard_error_keeps_nobody_from_ending() {
    let output = stop("stderr locked", "3000");
    let hung = "warning: shutdown step locks: hung";
    let fired = "error: shutdown timed out after 3s; hung in step `locks`, the exit handlers; exiting with code 1";
    assert_eq!(warnings(&output), [hung, fired], "{}", output.text);
    assert_eq!(output.code, Some(1));
}

#[test]
fn standard_error_that_nobody_reads_keeps_nobody_from_ending() {
    let running = Child::new(module_path!(), "program", "stderr full")
        .variables(&[("SHUTDOWN_TIMEOUT_MS", "3000")])
        .spawn_unread();
    running.wait_for("said: ready");
    running.signal(SIGTERM);
    assert_eq!(running.end().code, Some(1));
}

#[test]
fn a_runtime_of_the_program_may_be_blocked() {
    let output = stop("runtime blocked", "6000");
    assert_eq!(warnings(&output), ["warning: shutdown step stuck: hung"], "{}", output.text);
    assert_eq!((said(&output), output.code), (vec!["last"], Some(1)));
}

#[test]
fn async_steps_run_on_a_runtime_of_the_program() {
    let output = stop("on a runtime", "60000");
    assert_eq!((said(&output), output.code), (vec!["spawned"], Some(0)), "{}", output.text);
}

#[test]
fn a_second_signal_exits_at_once() {
    for (first, second) in [(SIGTERM, SIGTERM), (SIGTERM, SIGINT), (SIGINT, SIGTERM), (SIGINT, SIGINT)] {
        // The watchdog of ten minutes is far beyond what is waited for here.
        let running = start("async hang", "600000");
        running.signal(first);
        running.wait_for("said: stuck");
        running.signal(second);
        let output = running.end();
        assert_eq!(output.code, Some(1), "{}", output.text);
        assert_eq!(said(&output), ["stuck"], "{}", output.text);
        let name = if second == SIGTERM { "SIGTERM" } else { "SIGINT" };
        assert_eq!(
            warnings(&output),
            [format!("error: second {name} during step `stuck`; exiting with code 1")],
            "{}",
            output.text
        );
    }
}

#[test]
fn a_second_signal_names_steps_that_were_left_behind_too() {
    let running = start("hangs twice", "600000");
    running.signal(SIGTERM);
    running.wait_for("said: stuck");
    running.signal(SIGTERM);
    let output = running.end();
    let hung = "warning: shutdown step first: hung".to_owned();
    let second = "error: second SIGTERM during step `first`, step `second`; exiting with code 1".to_owned();
    assert_eq!((warnings(&output), output.code), (vec![hung, second], Some(1)), "{}", output.text);
}

#[test]
fn a_second_signal_ends_a_process_whose_standard_error_is_full() {
    let running = Child::new(module_path!(), "program", "stderr full")
        .variables(&[("SHUTDOWN_TIMEOUT_MS", "600000")])
        .spawn_unread();
    running.wait_for("said: ready");
    running.signal(SIGTERM);
    running.wait_for("said: full");
    running.signal(SIGTERM);
    assert_eq!(running.end().code, Some(1));
}

#[test]
fn steps_and_reports_of_best_effort_leave_the_exit_code_alone() {
    let output = stop("best effort", "6000");
    let expected = [
        "warning: shutdown step report: failed: connection refused",
        "warning: shutdown step stuck: hung",
        "warning: shutdown step final_report: panicked: as expected",
    ];
    assert_eq!(warnings(&output), expected, "{}", output.text);
    assert_eq!((said(&output), output.code), (vec!["last"], Some(0)), "{}", output.text);
    assert!(output.text.contains("report: failed: connection refused (") && output.text.contains(", best effort)"));

    let output = stop("other than best effort", "6000");
    assert_eq!(output.code, Some(1), "a step of best effort excuses no other: {}", output.text);
}

#[test]
fn a_second_signal_exits_at_once_from_an_exit_handler_too() {
    let running = start("exit handler hangs", "600000");
    running.signal(SIGTERM);
    running.wait_for("shutdown took");
    running.signal(SIGTERM);
    assert_eq!(running.end().code, Some(1));
}

#[test]
fn a_health_endpoint_sees_it() {
    let output = stop("health", "60000");
    assert!(output.text.contains("said: running"), "{}", output.text);
    assert_eq!((said(&output), output.code), (vec!["shutting_down"], Some(0)), "{}", output.text);
}

#[test]
fn a_main_that_returns_meanwhile_waits_for_the_end() {
    let output = stop("main returns", "60000");
    assert_eq!((said(&output), output.code), (vec!["last"], Some(0)), "{}", output.text);
    assert!(!output.text.contains("test result"), "the program did not get to its end by itself: {}", output.text);
}

#[test]
fn a_signal_exits_when_a_shutdown_by_hand_is_done() {
    let mut running = start("by hand", "60000");
    running.signal(SIGTERM);
    running.wait_for("SIGTERM: shutting down within 60s");
    running.close_input();
    let output = running.end();
    assert_eq!((said(&output), output.code), (vec!["last"], Some(0)), "{}", output.text);
}

#[test]
fn signals_are_left_alone_unless_asked() {
    for what in ["not asked", "given back"] {
        for signal in [SIGTERM, SIGINT] {
            let running = start(what, "60000");
            running.signal(signal);
            let output = running.end();
            assert_eq!((output.signal, output.code), (Some(signal), None), "{what}: {}", output.text);
            assert_eq!(said(&output), Vec::<&str>::new());
        }
    }
}

#[test]
fn signals_can_be_taken_again() {
    let output = stop("again", "60000");
    assert_eq!((said(&output), output.code), (vec!["first", "second", "third"], Some(0)), "{}", output.text);
}

#[test]
fn one_shutdown_takes_the_signals() {
    let output = stop("twice", "60000");
    let expected =
        "error: cannot handle SIGTERM and SIGINT: another shutdown already handles them; no step will run on a signal";
    assert!(output.said().iter().any(|line| line == expected), "{}", output.text);
    assert_eq!((said(&output), output.code), (vec![], Some(0)), "{}", output.text);
}

#[test]
fn a_forked_child_has_signals_of_its_own() {
    let output = stop("forks", "60000");
    assert!(output.text.contains("the forked one ended by signal 15"), "{}", output.text);
    assert_eq!((said(&output), output.code), (vec!["first", "second", "third"], Some(0)), "{}", output.text);
}

#[test]
fn a_wrong_timeout_is_one_warning() {
    let output = stop("well", "5s");
    let expected = "warning: SHUTDOWN_TIMEOUT_MS: `5s` is not a timeout; expected a whole number of milliseconds, at \
                    least 1, using 30000";
    assert_eq!(warnings(&output), [expected], "{}", output.text);
    assert!(output.text.contains("SIGTERM: shutting down within 30s"), "{}", output.text);
    assert_eq!(output.code, Some(0));
}
