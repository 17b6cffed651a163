//! Polls that keep their thread: reported once while they last, with an event on their span and a duration when they end.

use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use tracecast::config::{Config, Exporter, Signal};
use tracecast::prelude::*;
use tracecast::{Guard, Sampler};
use tracecast_receiver::Receiver;

use crate::child::{Child, is_alone, role};
use crate::turn::turn;

const LONG: Duration = Duration::from_secs(20);
const THRESHOLD: Duration = Duration::from_millis(50);

fn start(receiver: &Receiver) -> Guard {
    let config = Config::new().with_endpoint(receiver.endpoint()).with_exporters(Signal::Logs, Vec::new());
    config.with_stalls(true).with_stall_threshold(THRESHOLD).init().unwrap()
}

/// The value of a series as it is rendered.
fn value(telemetry: &Guard, series: &str) -> Option<f64> {
    let text = telemetry.render_prometheus();
    text.lines().find_map(|line| line.strip_prefix(series)?.trim().parse().ok())
}

fn stalls(telemetry: &Guard, span: &str) -> Option<f64> {
    value(telemetry, &format!("tc_stalls_total{{span=\"{span}\"}}"))
}

fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    let began = Instant::now();
    while !there() {
        assert!(began.elapsed() < LONG, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[tc_span("Stall/Handle")]
async fn handle(block: impl FnOnce()) {
    block();
    tokio::task::yield_now().await;
}

#[tc_span("Stall/Compress")]
fn compress(block: impl FnOnce()) {
    block();
}

#[tc_span("Stall/Around")]
async fn around(block: impl FnOnce()) {
    handle(|| compress(block)).await;
}

/// A number among attributes.
fn number(attributes: &[KeyValue], name: &str) -> Option<f64> {
    let value = attributes.iter().find(|attribute| attribute.key == name)?.value.as_ref()?;
    match value.value.as_ref()? {
        Value::DoubleValue(number) => Some(*number),
        Value::IntValue(number) => Some(*number as f64),
        other => panic!("{name}: {other:?}"),
    }
}

/// The seconds on the events of stalls that a span has.
fn events(receiver: &Receiver, span: &str) -> Vec<f64> {
    let exported = receiver.exported();
    let events = exported.named(span).into_iter().flat_map(|span| &span.events);
    let seconds = |event: &opentelemetry_proto::tonic::trace::v1::span::Event| {
        assert_eq!(event.name, "tc.stall");
        number(&event.attributes, "tc.stall.seconds").expect("a duration")
    };
    events.map(seconds).collect()
}

#[test]
fn a_poll_that_blocks_is_counted_once_while_it_lasts_and_timed_at_its_end() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = start(&receiver);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let before = value(&telemetry, "tc_stall_duration_seconds_count").unwrap_or_default();
    runtime.block_on(async {
        let blocking = || {
            // It ends when it was reported, and once a second report would have come.
            wait_for("the report of a stall", || stalls(&telemetry, "Stall/Handle").is_some());
            std::thread::sleep(3 * THRESHOLD);
            assert_eq!(stalls(&telemetry, "Stall/Handle"), Some(1.0));
        };
        handle(blocking).await;
    });
    wait_for("the duration of a stall", || value(&telemetry, "tc_stall_duration_seconds_count") == Some(before + 1.0));
    telemetry.shutdown(LONG);
    let events = events(&receiver, "Stall/Handle");
    assert!(events.len() == 1 && (0.2..LONG.as_secs_f64()).contains(&events[0]), "{events:?}");
}

#[test]
fn the_innermost_span_is_named_also_if_it_is_a_function_or_not_sampled() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = start(&receiver);
    let block = |span: &'static str, count: f64| {
        let telemetry = telemetry.handle();
        move || {
            let text = || telemetry.render_prometheus();
            let series = format!("tc_stalls_total{{span=\"{span}\"}} {count}\n");
            wait_for(&series, || text().contains(&series));
        }
    };
    futures::executor::block_on(around(block("Stall/Compress", 1.0)));
    // In a task that has only the context of a span, and in what has none.
    futures::executor::block_on(async {
        let block = block("Stall/Around", 1.0);
        around(|| ()).await;
        let scope = tc_scope!("Stall/Around");
        let inside = async move { block() }.in_current_span();
        inside.await;
        drop(scope);
    });
    telemetry.set_sampler(&Sampler::AlwaysOff).unwrap();
    // No function has a block there, so the async one around it is named.
    let before = stalls(&telemetry, "Stall/Handle").unwrap_or_default();
    futures::executor::block_on(around(block("Stall/Handle", before + 1.0)));
    telemetry.shutdown(LONG);
    assert_eq!(events(&receiver, "Stall/Compress").len(), 1);
    assert_eq!(events(&receiver, "Stall/Handle").len() + events(&receiver, "Stall/Around").len(), 0);
}

#[test]
fn work_outside_of_polls_is_no_stall_and_switched_off_nothing_is() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = start(&receiver);
    let before = telemetry.render_prometheus().matches("tc_stalls_total{").count();
    compress(|| std::thread::sleep(4 * THRESHOLD));
    let mut span = tracecast::Span::builder("Stall/ByHand", tracecast::Kind::Internal).start();
    span.in_scope(|| std::thread::sleep(4 * THRESHOLD));
    drop(span);
    telemetry.shutdown(LONG);
    let telemetry = Config::new().with_endpoint(receiver.endpoint()).init().unwrap();
    futures::executor::block_on(handle(|| std::thread::sleep(4 * THRESHOLD)));
    assert_eq!(telemetry.render_prometheus().matches("tc_stalls_total{").count(), 0, "{before}");
    telemetry.shutdown(LONG);
    assert_eq!(events(&receiver, "Stall/Handle"), [0.0; 0]);
}

#[test]
fn a_stall_that_panics_is_over() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = start(&receiver);
    let series = "tc_stall_duration_seconds_count";
    let panics = || {
        futures::executor::block_on(handle(|| {
            wait_for("the report", || stalls(&telemetry, "Stall/Handle").is_some());
            std::panic::resume_unwind(Box::new(()));
        }));
    };
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
    wait_for("its end", || value(&telemetry, series) == Some(1.0));
    telemetry.shutdown(LONG);
    assert_eq!(events(&receiver, "Stall/Handle").len(), 1);
}

#[test]
fn a_line_names_the_span_and_a_forked_child_goes_on() {
    if role().is_none() {
        let output = Child::new(module_path!(), "a_line_names_the_span_and_a_forked_child_goes_on", "stall").run();
        assert!(output.succeeded, "{}", output.text);
        let lines = output.text.matches("a thread stalls in `Stall/Handle`: one poll has lasted for ").count();
        assert_eq!(lines, 2, "one of the parent and one of the child: {}", output.text);
        return;
    }
    let receiver = Receiver::start();
    let telemetry = start(&receiver);
    let stall = |telemetry: &Guard| {
        let wait = || wait_for("the report", || stalls(telemetry, "Stall/Handle") == Some(1.0));
        futures::executor::block_on(handle(wait));
    };
    // Forks inside of a poll, so that the child has one that never ends as it began.
    let mut child = 0;
    futures::executor::block_on(handle(|| {
        // SAFETY: the child runs what follows on its one thread, and exits.
        child = unsafe { libc::fork() };
    }));
    if child == 0 {
        drop(telemetry);
        stall(&start(&receiver));
        // SAFETY: the copies of the parent's threads' data are left as they are.
        unsafe { libc::_exit(0) };
    }
    stall(&telemetry);
    let mut status = -1;
    // SAFETY: a plain system call; `status` is ours.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(status, 0, "the child ended well");
    telemetry.shutdown(LONG);
}

#[test]
fn without_spans_to_record_the_watchdog_says_so() {
    if role().is_none() {
        let output = Child::new(module_path!(), "without_spans_to_record_the_watchdog_says_so", "alone").run();
        assert!(
            output.succeeded && output.text.contains("stalls are not detected: spans have no exporter"),
            "{}",
            output.text
        );
        return;
    }
    let config = Config::new().with_stalls(true).with_exporters(Signal::Metrics, vec![Exporter::Console]);
    drop(config.init().unwrap());
}

#[test]
fn busy_times_can_be_configured() {
    let _turn = turn();
    let receiver = Receiver::start();
    let config = Config::new().with_endpoint(receiver.endpoint()).with_busy_times("Stall/Handle=on".parse().unwrap());
    let telemetry = config.init().unwrap();
    futures::executor::block_on(around(|| std::thread::sleep(THRESHOLD)));
    telemetry.shutdown(LONG);
    let exported = receiver.exported();
    let of = |span: &str, name: &str| number(&exported.span(span).attributes, name);
    assert_eq!((of("Stall/Handle", "tc.polls"), of("Stall/Around", "tc.polls")), (Some(2.0), None));
    let [busy, longest] = ["tc.busy.seconds", "tc.poll.longest.seconds"].map(|name| of("Stall/Handle", name).unwrap());
    assert!(longest >= THRESHOLD.as_secs_f64() && busy > longest && busy < LONG.as_secs_f64(), "{busy} {longest}");
}

#[test]
fn runtimes_have_metrics_under_one_name() {
    if !is_alone(module_path!(), "runtimes_have_metrics_under_one_name") {
        return;
    }
    let telemetry = Config::new().with_exporters(Signal::Metrics, vec![Exporter::Console]).init().unwrap();
    let runtime = |workers| tokio::runtime::Builder::new_multi_thread().worker_threads(workers).build().unwrap();
    let (main, jobs) = (runtime(2), runtime(1));
    let of_main = tracecast::observe_runtime("main", main.handle());
    let _of_jobs = tracecast::observe_runtime("jobs", jobs.handle());
    let waiting = jobs.spawn(std::future::pending::<()>());
    let series = |name: &str, runtime: &str| value(&telemetry, &format!("tc_runtime_{name}{{runtime=\"{runtime}\"}}"));
    assert_eq!((series("workers", "main"), series("workers", "jobs")), (Some(2.0), Some(1.0)));
    assert_eq!((series("tasks_alive", "main"), series("tasks_alive", "jobs")), (Some(0.0), Some(1.0)));
    assert_eq!(series("global_queue_depth", "main"), Some(0.0));
    main.block_on(main.spawn(async { std::thread::sleep(THRESHOLD) })).unwrap();
    wait_for("busy time", || series("busy_seconds_total", "main").is_some_and(|busy| busy >= THRESHOLD.as_secs_f64()));
    wait_for("parks", || series("parks_total", "main").is_some_and(|parks| parks > 0.0));
    waiting.abort();
    drop(of_main);
    assert_eq!((series("workers", "main"), series("workers", "jobs")), (None, Some(1.0)));
}

/// A file with settings of our own.
fn file(receiver: &Receiver, settings: &str) -> String {
    let endpoint: String = receiver.endpoint();
    format!(
        "file_format: '1.0'
tracer_provider:
  processors: [{{batch: {{exporter: {{otlp_http: {{endpoint: '{endpoint}/v1/traces'}}}}}}}}]
distribution: {{tracecast: {{{settings}}}}}
"
    )
}

#[test]
fn a_reload_starts_and_stops_the_watchdog() {
    let _turn = turn();
    let receiver = Receiver::start();
    let path = std::env::temp_dir().join(format!("tracecast-stalls-{}.yaml", std::process::id()));
    std::fs::write(&path, file(&receiver, "role: test")).unwrap();
    let telemetry = Config::from_file(&path).unwrap().init().unwrap();
    // Starts the metrics, which have no exporter.
    assert_eq!(stalls(&telemetry, "Stall/Handle"), None);
    std::fs::write(&path, file(&receiver, "role: test, stalls: true, stall_threshold_ms: 50")).unwrap();
    assert_eq!(telemetry.reload().unwrap().changed, ["stalls", "stall_threshold"]);
    futures::executor::block_on(handle(|| wait_for("a stall", || stalls(&telemetry, "Stall/Handle") == Some(1.0))));
    std::fs::write(&path, file(&receiver, "role: test, busy_times: Stall=on")).unwrap();
    assert_eq!(telemetry.reload().unwrap().changed, ["busy_times", "stalls", "stall_threshold"]);
    futures::executor::block_on(handle(|| std::thread::sleep(4 * THRESHOLD)));
    assert_eq!(stalls(&telemetry, "Stall/Handle"), Some(1.0));
    telemetry.shutdown(LONG);
    std::fs::remove_file(path).unwrap();
    let polls = |span: &opentelemetry_proto::tonic::trace::v1::Span| number(&span.attributes, "tc.polls");
    assert_eq!(receiver.exported().named("Stall/Handle").into_iter().map(polls).collect::<Vec<_>>(), [None, Some(2.0)]);
}
