//! A receiver of OTLP, over HTTP or gRPC, that fails in the way it is told to, and keeps what it took.

use std::convert::Infallible;
use std::future::{Future, pending};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use prost::Message;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tonic::Status;
use tonic::server::UnaryService;

use crate::codec::Passing;

/// How a receiver behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// It takes everything.
    Up,
    /// Nobody listens. The port stays its own.
    Absent,
    /// It takes one request and dies in the middle of the next: all is closed, and it is absent from then on.
    Dying,
    /// It accepts connections, reads, and never says a word.
    BlackHole,
    /// It resets each connection when the first bytes of a request are there.
    Resets,
    /// It answers 503, or `UNAVAILABLE`.
    Unavailable,
    /// It takes everything, and says so after this time. What it has not answered it has not taken.
    Slow(Duration),
    /// It answers 413, or `RESOURCE_EXHAUSTED`, to requests of more than so many bytes.
    Picky(usize),
    /// It answers with bytes that are of no protocol.
    Garbage,
    /// It shows a certificate of another authority than the one that the client trusts.
    Stranger,
    /// It takes everything, and closes the connection instead of saying so.
    Forgetful,
}

impl Mood {
    /// Whether it speaks the protocol, so that a connection can stay when it changes to another such mood.
    fn speaks(self) -> bool {
        matches!(self, Mood::Up | Mood::Dying | Mood::Unavailable | Mood::Slow(_) | Mood::Picky(_) | Mood::Forgetful)
    }
}

/// A span that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The id of the span.
    pub id: Vec<u8>,
    /// Its name.
    pub name: String,
    /// Its `tc.size.bytes`.
    pub number: i64,
    /// When it ended, in nanoseconds since 1970.
    pub ended: u64,
}

/// The receiver. It lives as long as its process.
pub struct Faulty {
    /// Where it listens.
    pub address: SocketAddr,
    is_grpc: bool,
    authority: Option<Authority>,
    desk: Desk,
    /// Bound and never listening: the port is nobody else's while the receiver is absent.
    _port: TcpSocket,
}

impl Faulty {
    /// Starts it on a port of its own; it speaks gRPC or HTTP.
    pub fn start(is_grpc: bool, mood: Mood, tls: bool) -> Self {
        let port = TcpSocket::new_v4().unwrap();
        port.set_reuseaddr(true).unwrap();
        port.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = port.local_addr().unwrap();
        let authority = tls.then(Authority::new);
        let acceptors = authority.as_ref().map(|ours| [ours.acceptor(is_grpc), Authority::new().acceptor(is_grpc)]);
        let desk = Desk { mood: watch::Sender::new(mood), inside: Arc::default() };
        let (own, mood) = (desk.clone(), desk.mood.subscribe());
        // It is there before anybody is told where.
        let listener = (*mood.borrow() != Mood::Absent).then(|| std::net::TcpListener::bind(address).unwrap());
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(listen(address, listener, Door { is_grpc, acceptors, desk: own }, mood));
        });
        Faulty { address, is_grpc, authority, desk, _port: port }
    }

    /// From now on it behaves like this.
    pub fn set(&self, mood: Mood) {
        self.desk.inside.took_one.store(false, SeqCst);
        self.desk.mood.send_replace(mood);
    }

    /// Its address, as configurations want it.
    pub fn url(&self) -> String {
        format!("{}://{}", if self.authority.is_some() { "https" } else { "http" }, self.address)
    }

    /// The file with the certificate of the authority that clients are to trust.
    pub fn ca(&self) -> Option<PathBuf> {
        self.authority.as_ref().map(|ours| ours.folder.join("ca.pem"))
    }

    /// Variables with which a program sends everything here, but log records.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let protocol = if self.is_grpc { "grpc" } else { "http/protobuf" };
        let mut variables = vec![
            ("OTEL_EXPORTER_OTLP_ENDPOINT", self.url()),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol.to_owned()),
            ("OTEL_LOGS_EXPORTER", "none".to_owned()),
        ];
        let ca = self.ca().map(|file| file.to_str().unwrap().to_owned());
        variables.extend(ca.map(|ca| ("OTEL_EXPORTER_OTLP_CERTIFICATE", ca)));
        variables
    }

    /// The spans that it took, each as often as it came.
    pub fn spans(&self) -> Vec<Kept> {
        self.desk.inside.kept.lock().unwrap().clone()
    }

    /// How many connections were made to it.
    pub fn connections(&self) -> usize {
        self.desk.inside.connections.load(SeqCst)
    }

    /// Waits until it has taken so many different spans.
    #[track_caller]
    pub fn wait_for(&self, spans: usize) {
        wait_until(&format!("{spans} spans"), || distinct(&self.spans()) >= spans);
    }
}

/// How many different spans there are.
pub fn distinct(spans: &[Kept]) -> usize {
    spans.iter().map(|span| &span.id).collect::<std::collections::HashSet<_>>().len()
}

/// Waits for something, for long.
#[track_caller]
pub fn wait_until(what: &str, mut there: impl FnMut() -> bool) {
    let began = Instant::now();
    while !there() {
        assert!(began.elapsed() < Duration::from_secs(30), "there is never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A folder of its own, which goes with it.
pub struct Folder(
    /// Where it is.
    pub PathBuf,
);

impl Folder {
    /// Makes one whose name says what it is for.
    pub fn new(what: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("tracecast-{what}-{}-{}", std::process::id(), COUNT.fetch_add(1, SeqCst));
        let folder = Folder(std::env::temp_dir().join(name));
        std::fs::create_dir_all(&folder.0).unwrap();
        folder
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What becomes of requests.
#[derive(Clone)]
struct Desk {
    mood: watch::Sender<Mood>,
    inside: Arc<Inside>,
}

#[derive(Default)]
struct Inside {
    kept: Mutex<Vec<Kept>>,
    /// Whether a receiver that is about to die has taken its last request.
    took_one: AtomicBool,
    connections: AtomicUsize,
}

impl Desk {
    fn mood(&self) -> Mood {
        *self.mood.borrow()
    }

    /// Reads a request. A receiver that dies in the middle of it reads no further.
    async fn read(&self, mut body: Incoming) -> Bytes {
        if self.mood() == Mood::Dying && self.inside.took_one.swap(true, SeqCst) {
            let _ = body.frame().await;
            self.mood.send_replace(Mood::Absent);
            return pending().await;
        }
        match body.collect().await {
            Ok(body) => body.to_bytes(),
            // Who sent it is gone.
            Err(_) => pending().await,
        }
    }

    /// Whether the request is taken, or why not. It may take its time, or never be said.
    async fn judge(&self, path: &str, body: &[u8], close: &Notify) -> Result<(), (StatusCode, Status)> {
        match self.mood() {
            Mood::Up | Mood::Dying => {}
            Mood::Slow(time) => tokio::time::sleep(time).await,
            Mood::Picky(most) if body.len() > most => {
                return Err((StatusCode::PAYLOAD_TOO_LARGE, Status::resource_exhausted("too large")));
            }
            Mood::Picky(_) => {}
            Mood::Unavailable => return Err((StatusCode::SERVICE_UNAVAILABLE, Status::unavailable("not now"))),
            Mood::Forgetful => {
                self.keep(path, body);
                close.notify_one();
                return pending().await;
            }
            // The connection is about to be closed.
            _ => return pending().await,
        }
        self.keep(path, body);
        Ok(())
    }

    fn keep(&self, path: &str, body: &[u8]) {
        if !path.contains("trace") {
            return;
        }
        let request = ExportTraceServiceRequest::decode(body).unwrap();
        let scopes = request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
        let spans = scopes.flat_map(|scope| scope.spans).map(|span| {
            let number = span.attributes.iter().find(|attribute| attribute.key == "tc.size.bytes");
            let number = match number.and_then(|attribute| attribute.value.as_ref()?.value.as_ref()) {
                Some(Value::IntValue(number)) => *number,
                _ => 0,
            };
            Kept { id: span.span_id, name: span.name, number, ended: span.end_time_unix_nano }
        });
        self.inside.kept.lock().unwrap().extend(spans);
    }
}

/// Where connections come in.
struct Door {
    is_grpc: bool,
    /// With a certificate of ours, and with one of a stranger.
    acceptors: Option<[TlsAcceptor; 2]>,
    desk: Desk,
}

/// Accepts connections while there is anybody to do it.
async fn listen(
    address: SocketAddr,
    mut first: Option<std::net::TcpListener>,
    door: Door,
    mut moods: watch::Receiver<Mood>,
) {
    loop {
        let mut mood = *moods.borrow_and_update();
        if mood == Mood::Absent {
            moods.changed().await.unwrap();
            continue;
        }
        let listener = first.take().unwrap_or_else(|| std::net::TcpListener::bind(address).unwrap());
        listener.set_nonblocking(true).unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        // Dropped, it ends all of them.
        let mut connections = JoinSet::new();
        while mood != Mood::Absent {
            tokio::select! {
                accepted = listener.accept() => {
                    if let Ok((stream, _)) = accepted {
                        door.desk.inside.connections.fetch_add(1, SeqCst);
                        connections.spawn(door.serve(mood, stream));
                    }
                }
                _ = connections.join_next(), if !connections.is_empty() => {}
                _ = moods.changed() => {
                    let before = mood;
                    mood = *moods.borrow_and_update();
                    if !before.speaks() || !mood.speaks() {
                        connections.abort_all();
                    }
                }
            }
        }
    }
}

impl Door {
    /// What becomes of one connection.
    fn serve(&self, mood: Mood, mut stream: TcpStream) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let (is_grpc, desk) = (self.is_grpc, self.desk.clone());
        match (mood, &self.acceptors) {
            (Mood::BlackHole, _) => Box::pin(silent(stream)),
            (Mood::Resets, _) => Box::pin(async move {
                let _ = stream.read(&mut [0; 8]).await;
                let _ = stream.set_zero_linger();
            }),
            (Mood::Garbage, _) => Box::pin(async move {
                let _ = stream.read(&mut [0; 8]).await;
                let _ = stream.write_all(&garbage()).await;
                silent(stream).await;
            }),
            (mood, Some([ours, strangers])) => {
                let acceptor = if mood == Mood::Stranger { strangers } else { ours }.clone();
                Box::pin(async move {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        speak(is_grpc, desk, stream).await;
                    }
                })
            }
            _ => Box::pin(async move { speak(is_grpc, desk, stream).await }),
        }
    }
}

/// Reads until the other side closes.
async fn silent(mut stream: TcpStream) {
    let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
}

/// The same each time, and of no protocol: no byte of it is text.
fn garbage() -> Vec<u8> {
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(0x5eed), next).map(|state| (state >> 24) as u8 | 0x80).take(256).collect()
}

/// Speaks the protocol until either side closes.
async fn speak(is_grpc: bool, desk: Desk, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
    let close = Arc::new(Notify::new());
    let closed = close.clone();
    let stream = TokioIo::new(stream);
    let connection: Pin<Box<dyn Future<Output = ()> + Send>> = if is_grpc {
        Box::pin(async move {
            let service = service_fn(move |request| grpc(desk.clone(), close.clone(), request));
            let _ = http2::Builder::new(TokioExecutor::new()).serve_connection(stream, service).await;
        })
    } else {
        Box::pin(async move {
            let service = service_fn(move |request| http(desk.clone(), close.clone(), request));
            let _ = http1::Builder::new().serve_connection(stream, service).await;
        })
    };
    tokio::select! {
        () = connection => {}
        () = closed.notified() => {}
    }
}

async fn http(desk: Desk, close: Arc<Notify>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = desk.read(body).await;
    let mut response = Response::new(Full::default());
    if let Err((status, _)) = desk.judge(head.uri.path(), &body, &close).await {
        *response.status_mut() = status;
    }
    Ok(response)
}

async fn grpc(
    desk: Desk,
    close: Arc<Notify>,
    request: Request<Incoming>,
) -> Result<Response<tonic::body::Body>, Infallible> {
    let (head, body) = request.into_parts();
    let body = desk.read(body).await;
    let path = head.uri.path().to_owned();
    let service = Answering { desk, close, path };
    let request = Request::from_parts(head, Full::new(body));
    Ok(tonic::server::Grpc::new(Passing).unary(service, request).await)
}

/// Each service of OTLP, for tonic's server.
struct Answering {
    desk: Desk,
    close: Arc<Notify>,
    path: String,
}

impl UnaryService<Bytes> for Answering {
    type Response = Bytes;
    type Future = Pin<Box<dyn Future<Output = Result<tonic::Response<Bytes>, Status>> + Send>>;

    fn call(&mut self, request: tonic::Request<Bytes>) -> Self::Future {
        let (desk, close, path) = (self.desk.clone(), self.close.clone(), self.path.clone());
        Box::pin(async move {
            match desk.judge(&path, request.get_ref(), &close).await {
                Ok(()) => Ok(tonic::Response::new(Bytes::new())),
                Err((_, status)) => Err(status),
            }
        })
    }
}

/// An authority, with its certificate in a folder.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    _removed: Folder,
    folder: PathBuf,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let removed = Folder::new("faulty-tls");
        let folder = removed.0.clone();
        std::fs::write(folder.join("ca.pem"), issuer.pem()).unwrap();
        Authority { issuer, _removed: removed, folder }
    }

    fn acceptor(&self, is_grpc: bool) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let certificate =
            CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().signed_by(&key, &self.issuer).unwrap();
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth();
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let mut config = builder.with_single_cert(vec![certificate.der().clone()], key).unwrap();
        config.alpn_protocols = vec![if is_grpc { &b"h2"[..] } else { b"http/1.1" }.to_vec()];
        TlsAcceptor::from(Arc::new(config))
    }
}
