//! A receiver of OTLP over HTTP: keeps what it is sent, and answers as it is told.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::{metric, number_data_point};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

/// What came in one request.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "each test uses what it needs")]
pub(crate) struct Request {
    /// Its path, as `/v1/traces`.
    pub(crate) path: String,
    /// The value of `content-type`.
    pub(crate) content_type: String,
    /// Its body.
    pub(crate) body: Vec<u8>,
}

/// The receiver. Each test uses what it needs of it. It listens until the test ends.
pub(crate) struct Receiver {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    sick: Arc<AtomicBool>,
    /// What it says instead of "ok", once each.
    answers: Answers,
}

type Answers = Arc<Mutex<Vec<String>>>;

#[allow(dead_code, reason = "each test uses what it needs")]
impl Receiver {
    /// Starts it on a free port.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, sick) = (Arc::<Mutex<Vec<Request>>>::default(), Arc::<AtomicBool>::default());
        let answers = Answers::default();
        let (kept, is_sick, next) = (requests.clone(), sick.clone(), answers.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, is_sick, next) = (kept.clone(), is_sick.clone(), next.clone());
                std::thread::spawn(move || serve(stream, &kept, &is_sick, &next));
            }
        });
        Receiver { address, requests, sick, answers }
    }

    /// From now on it answers 503, or is well again.
    pub(crate) fn set_sick(&self, sick: bool) {
        self.sick.store(sick, Relaxed);
    }

    /// The next request is kept, and answered with this head and body.
    pub(crate) fn answer(&self, head: &str, body: &[u8]) {
        let body = String::from_utf8(body.to_vec()).unwrap();
        self.answers.lock().unwrap().push(format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()));
    }

    /// What came until now at a path, without what was answered with an error.
    pub(crate) fn at(&self, path: &str) -> Vec<Request> {
        self.requests.lock().unwrap().iter().filter(|request| request.path == path).cloned().collect()
    }

    /// The same at any path.
    pub(crate) fn all(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Its address, as configurations want it.
    pub(crate) fn endpoint(&self) -> tracecast::config::Endpoint {
        format!("http://{}", self.address).parse().unwrap()
    }

    /// The names of all spans that came as protobuf, in their order.
    pub(crate) fn span_names(&self) -> Vec<String> {
        self.spans().into_iter().map(|span| span.name).collect()
    }

    /// All spans that came as protobuf, in their order.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let requests = self.at("/v1/traces");
        let decoded = requests.iter().map(|request| ExportTraceServiceRequest::decode(&request.body[..]).unwrap());
        let scopes = decoded.flat_map(|request| request.resource_spans).flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }

    /// The value of a counter without labels, in the last request that had it.
    pub(crate) fn last_sum(&self, name: &str) -> Option<i64> {
        let requests = self.at("/v1/metrics");
        let decoded = requests.iter().map(|request| ExportMetricsServiceRequest::decode(&request.body[..]).unwrap());
        let scopes = decoded.flat_map(|request| request.resource_metrics).flat_map(|resource| resource.scope_metrics);
        let metric = scopes.flat_map(|scope| scope.metrics).rfind(|metric| metric.name == name)?;
        let Some(metric::Data::Sum(sum)) = metric.data else { return None };
        match sum.data_points[0].value? {
            number_data_point::Value::AsInt(value) => Some(value),
            number_data_point::Value::AsDouble(_) => None,
        }
    }
}

/// Answers request after request on one connection.
fn serve(stream: TcpStream, kept: &Mutex<Vec<Request>>, sick: &AtomicBool, answers: &Mutex<Vec<String>>) {
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        let answer = if sick.load(Relaxed) {
            "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n".to_owned()
        } else {
            kept.lock().unwrap().push(request);
            let ok =
                || "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n".to_owned();
            answers.lock().unwrap().pop().unwrap_or_else(ok)
        };
        if writer.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut content_type) = (0, String::new());
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "content-type" => content_type = value.trim().to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { path, content_type, body })
}
