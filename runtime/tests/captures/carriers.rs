//! A carrier takes a context through a message, a row or the environment of a child process, and wrong ones do no harm.

use std::process::Command;

use tracecast::prelude::*;
use tracecast::testing::capture;
use tracecast::{Carrier, Span, current};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[tc_span("Queue/Submit")]
fn submit() -> Carrier {
    Carrier::inject()
}

#[tc_span("Worker/Run", parent = carrier.extract())]
fn run(carrier: &Carrier) -> Carrier {
    Carrier::inject()
}

#[tc_span("Worker/Sweep", links(carrier.extract()))]
fn sweep(carrier: &Carrier) {}

fn carrier(traceparent: &str, tracestate: &str, baggage: &str) -> Carrier {
    let some = |text: &str| Some(text.to_owned());
    let mut carrier = Carrier::new(some(traceparent));
    (carrier.tracestate, carrier.baggage) = (some(tracestate), some(baggage));
    carrier
}

#[test]
fn a_reader_goes_on_with_the_trace_or_begins_a_linked_one() {
    let captured = capture(|| {
        let carrier = submit();
        run(&carrier);
        sweep(&carrier);
    });
    captured.assert_tree(
        "
        Queue/Submit
          Worker/Run
        Worker/Sweep
          ~ Queue/Submit
        ",
    );
    assert!(captured.span("Worker/Run").parent_is_remote);
}

#[test]
fn state_and_baggage_come_out_at_the_other_end() {
    let captured = capture(|| run(&carrier(PARENT, "a=1,b=2", "tenant=x%20y")));
    let onward = &captured.value;
    let own = captured.span("Worker/Run").span_id;
    assert_eq!(onward.traceparent.as_deref(), Some(PARENT.replace("b7ad6b7169203331", &own.to_string()).as_str()));
    assert_eq!((onward.tracestate.as_deref(), onward.baggage.as_deref()), (Some("a=1,b=2"), Some("tenant=x%20y")));
    assert_eq!(onward.extract().baggage("tenant").as_deref(), Some("x y"));
}

#[test]
fn wrong_carriers_are_no_parent() {
    let zero = "00-00000000000000000000000000000000-b7ad6b7169203331-01";
    let long = format!("{PARENT}{}", "-x".repeat(100_000));
    for wrong in ["", "nonsense", zero, &long, "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"] {
        let captured = capture(|| run(&carrier(wrong, "a=1", "\u{0}=\u{ff}")));
        assert_eq!(captured.span("Worker/Run").parent_span_id, None, "{wrong}");
        assert_eq!((&captured.value.tracestate, &captured.value.baggage), (&None, &None), "{wrong}");
    }
}

#[test]
fn without_a_span_there_is_nothing_to_carry() {
    assert_eq!(Carrier::inject(), Carrier::default());
    assert!(!Carrier::default().extract().is_valid());
}

#[cfg(feature = "otlp")]
#[test]
fn it_is_a_part_of_a_message() {
    let whole = carrier(PARENT, "a=1", "k=v");
    let text = serde_json::to_string(&whole).unwrap();
    assert_eq!(serde_json::from_str::<Carrier>(&text).unwrap(), whole);
    let short = serde_json::from_str::<Carrier>(&format!(r#"{{"traceparent":"{PARENT}","more":1}}"#)).unwrap();
    assert_eq!(short.extract().span_id().to_string(), "b7ad6b7169203331");
    assert_eq!(serde_json::from_str::<Carrier>("{}").unwrap(), Carrier::default());
}

/// Run again by the next one, in a process of its own.
#[test]
fn a_child_process_reads_its_environment() {
    if std::env::var_os("CARRIER_TEST").is_some() {
        let Carrier { traceparent, tracestate, baggage, .. } = Carrier::from_env();
        println!("found {traceparent:?} {tracestate:?} {baggage:?}");
    }
    let given = carrier(PARENT, "a=1", "k=v");
    assert_eq!(given.to_env(), [("TRACEPARENT", PARENT), ("TRACESTATE", "a=1"), ("BAGGAGE", "k=v")]);
}

#[test]
fn a_child_process_goes_on_and_takes_nothing_else_over() {
    let given = Carrier::new(PARENT.to_owned());
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "carriers::a_child_process_reads_its_environment", "--nocapture"])
        .env("TRACESTATE", "of=another")
        .envs(given.to_env())
        .env("CARRIER_TEST", "1")
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains(&format!("found Some({PARENT:?}) None None")), "{printed}");
}

#[test]
fn spans_made_by_hand_go_on_too() {
    let captured = capture(|| {
        let caller = carrier(PARENT, "a=1", "k=v").extract();
        let mut span = Span::builder("Worker/Hand", tracecast::Kind::Consumer).with_parent(&caller).start();
        span.in_scope(|| current().baggage("k"))
    });
    assert_eq!(captured.value.as_deref(), Some("v"));
    assert_eq!(captured.span("Worker/Hand").trace_id.to_string(), PARENT[3..35]);
}

#[tc_span("Worker/Step")]
fn step() -> Option<String> {
    current().baggage("k")
}

#[tokio::test]
async fn a_context_that_is_entered_belongs_to_the_capture_it_is_entered_in() {
    let captured = capture(|| carrier(PARENT, "a=1", "k=v").extract().run(step));
    assert_eq!(captured.value.as_deref(), Some("v"));
    assert_eq!(captured.span("Worker/Step").trace_id.to_string(), PARENT[3..35]);
    let work = async || async { step() }.in_context(&carrier(PARENT, "", "").extract()).await;
    let captured = tracecast::testing::capture_async(work).await;
    assert_eq!(captured.span("Worker/Step").trace_id.to_string(), PARENT[3..35]);
    let captured = capture(|| carrier("", "", "k=v").extract().run(step));
    assert_eq!((captured.value.as_deref(), captured.span("Worker/Step").parent_span_id), (Some("v"), None));
}
