//! The peer that the checks with other languages use: it says what reached it, and fails as it is told.

#[path = "../../src/bin/relay/messages.rs"]
#[allow(dead_code, reason = "it is the peer's, and this needs a part of it")]
mod messages;
#[path = "../../src/rpc.rs"]
#[allow(dead_code, reason = "it is the demo's, and this needs a part of it")]
mod rpc;

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use messages::{Ending, Failure, Hops, PASS, Route, TRY, Trial};
use tracecast_receiver::{Exported, Receiver};

use crate::support::command;

/// A peer that serves.
struct Peer {
    process: Child,
    address: String,
}

impl Peer {
    fn start(name: &str, endpoint: &str) -> Self {
        let variables = [
            ("OTEL_SERVICE_NAME", name),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint),
            ("OTEL_LOGS_EXPORTER", "none"),
            ("OTEL_METRICS_EXPORTER", "none"),
            ("OTEL_LOG_LEVEL", "warn"),
        ];
        let mut command = command(env!("CARGO_BIN_EXE_relay"), &variables);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Peer { process, address: format!("127.0.0.1:{}", port.trim()) }
    }

    /// Its input ends, and so does it.
    fn end(mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success());
    }
}

/// Has two peers, asks the first one, and gives the answer and what both exported.
fn ask<Q, A>(path: &'static str, question: impl Fn(&Peer) -> Q) -> (A, Exported)
where
    Q: prost::Message + 'static,
    A: prost::Message + Default + 'static,
{
    let receiver = Receiver::start();
    let [first, second] = ["first", "second"].map(|name| Peer::start(name, &receiver.endpoint::<String>()));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let answer = runtime.block_on(async {
        let channel = rpc::channel(&first.address).unwrap();
        rpc::call(&channel, path, question(&second)).await.unwrap()
    });
    first.end();
    second.end();
    (answer, receiver.exported())
}

#[test]
fn a_route_is_one_trace_with_the_baggage_of_the_one_before() {
    let baggage = HashMap::from([("plain".to_owned(), "a,b;c".to_owned())]);
    let (Hops { hops }, exported) =
        ask(PASS, |second| Route { next: vec![second.address.clone()], baggage: baggage.clone() });
    assert_eq!(hops.iter().map(|hop| hop.peer.as_str()).collect::<Vec<_>>(), ["first", "second"]);
    assert_eq!((hops[0].baggage.len(), &hops[1].baggage), (0, &baggage));
    let passed = exported.named("Relay/Pass");
    // The server's of the first, its client's, and the server's of the second.
    assert_eq!(passed.len(), 3, "{:?}", exported.names());
    assert!(passed.windows(2).all(|pair| pair[1].parent_span_id == pair[0].span_id));
    let client: String = passed[1].span_id.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hops[1].traceparent.split('-').nth(2), Some(&*client));
}

#[test]
fn a_peer_fails_as_it_is_told_before_messages_and_after() {
    for midway in [false, true] {
        let failure =
            Failure { code: 8, message: "too much".to_owned(), details: vec![0, 255], messages: 3, opened: true };
        let (ending, exported): (Ending, _) =
            ask(TRY, |second| Trial { address: second.address.clone(), midway, failure: Some(failure.clone()) });
        let Failure { code, message, details, .. } = failure;
        assert_eq!(ending, Ending { code, message, details, messages: if midway { 3 } else { 0 } });
        let failed = exported.named(if midway { "Relay/FailMidway" } else { "Relay/Fail" });
        assert_eq!(failed.len(), 2, "{:?}", exported.names());
    }
}
