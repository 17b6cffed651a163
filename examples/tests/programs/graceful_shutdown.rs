//! SIGTERM on a service of axum and tonic: balancers see it, requests that run are finished, and the exit code is 0 although the
//! last step fails.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Request;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_prost::ProstCodec;
use tracecast_receiver::Receiver;

use crate::support::command;

/// Longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(40);

#[derive(Clone, PartialEq, prost::Message)]
struct Part {
    #[prost(bytes = "vec", tag = "1")]
    bytes: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Stored {
    #[prost(uint64, tag = "1")]
    bytes: u64,
}

struct Service {
    process: Child,
    http: SocketAddr,
    grpc: SocketAddr,
}

impl Service {
    fn start(endpoint: &str) -> Self {
        // Time enough for this test to look at the state.
        let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint), ("BALANCER_DELAY_MS", "3000")];
        let mut command = command(env!("CARGO_BIN_EXE_graceful_shutdown"), &variables);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let [_, http, _, grpc] = line.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{line}") };
        Service { http: http.parse().unwrap(), grpc: grpc.parse().unwrap(), process }
    }

    /// Sends a request on a connection of its own, and reads the response to its end.
    fn get(&self, path: &str) -> String {
        self.get_as(path, "*/*")
    }

    fn get_as(&self, path: &str, accept: &str) -> String {
        let mut connection = TcpStream::connect(self.http).unwrap();
        write!(connection, "GET {path} HTTP/1.1\r\nhost: test\r\naccept: {accept}\r\nconnection: close\r\n\r\n")
            .unwrap();
        read(connection)
    }

    /// Waits until the metrics have a line.
    #[track_caller]
    fn wait_for_metric(&self, line: &str) {
        wait_until(|| self.get("/metrics").lines().any(|found| found == line));
    }

    fn terminate(&self) {
        let killed = Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status().unwrap();
        assert!(killed.success());
    }

    /// Waits for the end, and returns what it wrote to standard error.
    fn end(mut self) -> (Option<i32>, String) {
        let mut text = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        (self.process.wait().unwrap().code(), text)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn read(mut connection: TcpStream) -> String {
    let mut text = String::new();
    connection.read_to_string(&mut text).unwrap();
    text
}

#[track_caller]
fn wait_until(is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < LIMIT, "it does not become so");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_runs_is_finished_and_what_is_best_effort_may_fail() {
    let receiver = Receiver::start();
    let service = Service::start(&receiver.endpoint::<String>());
    assert!(service.get("/ready").starts_with("HTTP/1.1 200"));
    let metrics = service.get("/metrics");
    assert!(
        metrics.contains("content-type: text/plain; version=0.0.4") && metrics.contains("\ntarget_info{"),
        "{metrics}"
    );
    let metrics = service.get_as("/metrics", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5");
    assert!(
        metrics.contains("content-type: application/openmetrics-text; version=1.0.0") && metrics.contains("\n# EOF\n"),
        "{metrics}"
    );

    // Two requests that run, of which half has arrived, and a watcher of the health service.
    let mut upload = TcpStream::connect(service.http).unwrap();
    write!(upload, "PUT /upload HTTP/1.1\r\nhost: test\r\ncontent-length: 10\r\n\r\nfirst").unwrap();
    let channel = Channel::from_shared(format!("http://{}", service.grpc)).unwrap().connect().await.unwrap();
    let (parts, sent) = mpsc::channel(8);
    parts.send(Part { bytes: b"first".to_vec() }).await.unwrap();
    let mut client = Grpc::new(channel.clone());
    let stored = tokio::spawn(async move {
        client.ready().await.unwrap();
        let path = PathAndQuery::from_static("/store.v1.Store/Upload");
        let codec = ProstCodec::<Part, Stored>::default();
        client.client_streaming(Request::new(ReceiverStream::new(sent)), path, codec).await
    });
    let mut watcher = HealthClient::new(channel);
    let mut watched = watcher.watch(HealthCheckRequest::default()).await.unwrap().into_inner();
    assert_eq!(watched.message().await.unwrap().unwrap().status(), ServingStatus::Serving);
    service.wait_for_metric("tc_http_uploads_active 1");
    service.wait_for_metric("tc_grpc_uploads_active 1");

    service.terminate();
    // Balancers hear of it, and whoever still comes is served.
    assert_eq!(watched.message().await.unwrap().unwrap().status(), ServingStatus::NotServing);
    let ready = service.get("/ready");
    assert!(ready.starts_with("HTTP/1.1 503") && ready.ends_with("shutting_down"), "{ready}");
    service.wait_for_metric("tc_http_uploads_active 1");
    // Then nobody is let in any more, and the two are still there.
    wait_until(|| TcpStream::connect(service.http).is_err());
    assert!(watched.message().await.unwrap().is_none(), "the watcher's stream ends, so that the drain can");
    write!(upload, "later").unwrap();
    let uploaded = read(upload);
    assert!(uploaded.starts_with("HTTP/1.1 200") && uploaded.ends_with("10 bytes"), "{uploaded}");
    parts.send(Part { bytes: b"later".to_vec() }).await.unwrap();
    drop(parts);
    assert_eq!(stored.await.unwrap().unwrap().into_inner(), Stored { bytes: 10 });
    drop(watcher);

    let (code, text) = service.end();
    for step in ["leave_balancers: ok", "drain_http: ok", "drain_grpc: ok", "report_usage: failed: Connection refused"]
    {
        assert!(text.contains(step), "{text}");
    }
    assert!(text.contains("best effort"), "{text}");
    assert_eq!(code, Some(0), "{text}");
    let exported = receiver.exported();
    for span in ["PUT /upload", "Store/Upload"] {
        assert_eq!(exported.named(span).len(), 1, "{:?}", exported.names());
    }
    assert!(exported.named("GET /metrics").is_empty(), "{:?}", exported.names());
}
