//! A receiver of OTLP over HTTP, which keeps what it is sent.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

/// All that came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exported {
    pub(crate) spans: Vec<Span>,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) logs: Vec<LogRecord>,
}

impl Exported {
    /// The spans of a name, by their start.
    pub(crate) fn named(&self, name: &str) -> Vec<&Span> {
        let mut spans: Vec<_> = self.spans.iter().filter(|span| span.name == name).collect();
        spans.sort_by_key(|span| span.start_time_unix_nano);
        spans
    }

    /// The only span of a name.
    pub(crate) fn span(&self, name: &str) -> &Span {
        let spans = self.named(name);
        assert_eq!(spans.len(), 1, "{name} among {:?}", self.names());
        spans[0]
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.spans.iter().map(|span| span.name.as_str()).collect()
    }

    pub(crate) fn has_metric(&self, name: &str) -> bool {
        self.metrics.iter().any(|metric| metric.name == name)
    }
}

/// The text or number of an attribute; empty if there is none.
pub(crate) fn attribute(attributes: &[KeyValue], name: &str) -> String {
    let found = attributes.iter().find(|pair| pair.key == name);
    match found.and_then(|pair| pair.value.as_ref()).and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        Some(other) => format!("{other:?}"),
        None => String::new(),
    }
}

/// The receiver. It listens until the test ends.
pub(crate) struct Receiver {
    address: SocketAddr,
    exported: Arc<Mutex<Exported>>,
}

impl Receiver {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, exported) = (listener.local_addr().unwrap(), Arc::<Mutex<Exported>>::default());
        let kept = exported.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = kept.clone();
                std::thread::spawn(move || serve(stream, &kept));
            }
        });
        Receiver { address, exported }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn exported(&self) -> Exported {
        self.exported.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, kept: &Mutex<Exported>) {
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    while let Some((path, body)) = read(&mut reader) {
        keep(&path, &body, &mut kept.lock().unwrap());
        let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
        if writer.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<(String, Vec<u8>)> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        if line.trim_end().is_empty() {
            break;
        }
        lines.push(line.to_ascii_lowercase());
    }
    let path = lines.first()?.split(' ').nth(1)?.to_owned();
    let length = lines.iter().find_map(|line| line.strip_prefix("content-length:"))?.trim().parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((path, body))
}

fn keep(path: &str, body: &[u8], kept: &mut Exported) {
    match path {
        "/v1/traces" => {
            let resources = ExportTraceServiceRequest::decode(body).unwrap().resource_spans;
            let scopes = resources.into_iter().flat_map(|resource| resource.scope_spans);
            kept.spans.extend(scopes.flat_map(|scope| scope.spans));
        }
        "/v1/metrics" => {
            let resources = ExportMetricsServiceRequest::decode(body).unwrap().resource_metrics;
            let scopes = resources.into_iter().flat_map(|resource| resource.scope_metrics);
            kept.metrics.extend(scopes.flat_map(|scope| scope.metrics));
        }
        "/v1/logs" => {
            let resources = ExportLogsServiceRequest::decode(body).unwrap().resource_logs;
            let scopes = resources.into_iter().flat_map(|resource| resource.scope_logs);
            kept.logs.extend(scopes.flat_map(|scope| scope.log_records));
        }
        other => panic!("nobody is at {other}"),
    }
}
