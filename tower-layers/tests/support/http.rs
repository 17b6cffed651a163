//! An HTTP service over real sockets that ends its requests in every way, and clients for it.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::routing::{any, get, post};
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::TokioExecutor;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot};
use tokio_stream::StreamExt;
use tower::ServiceExt;
use tower_layer::Layer;
use tracecast::prelude::*;
use tracecast::testing::{FinishedSpan, Reader, Recording};
use tracecast::{Kind, Outcome, OwnedValue};
use tracecast_tower::http::ResponseBody;
use tracecast_tower::{HttpClient, HttpClientLayer, HttpServerLayer};

use super::{BOTH, context, hang, of_kind, record, spans_of, text};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    One,
    Two,
}

pub const VERSIONS: [Version; 2] = [Version::One, Version::Two];

pub type Plain = Client<HttpConnector, Body>;
pub type Traced = HttpClient<Plain>;

/// A client of this version of HTTP.
pub fn plain(version: Version) -> Plain {
    let mut builder = Client::builder(TokioExecutor::new());
    builder.http2_only(version == Version::Two).build_http()
}

/// A server that runs, and its client.
pub struct World {
    pub address: SocketAddr,
    pub client: Traced,
    pub stop: Option<oneshot::Sender<()>>,
}

impl World {
    pub async fn new(version: Version) -> Self {
        World::with(version, HttpServerLayer::new()).await
    }

    pub async fn with(version: Version, layer: HttpServerLayer) -> Self {
        World::serving(version, app().layer(layer)).await
    }

    pub async fn serving(version: Version, router: Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let service = router.into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move {
            tokio::select! {
                served = axum::serve(listener, service) => served.unwrap(),
                _ = stopped => {}
            }
        });
        let client = HttpClientLayer::new().layer(plain(version));
        World { address, client, stop: Some(stop) }
    }

    pub fn request(&self, method: &str, path: &str) -> Request<Body> {
        let uri = format!("http://{}{path}", self.address);
        Request::builder().method(method).uri(uri).body(Body::empty()).unwrap()
    }

    /// Sends a request; what comes back has its headers.
    pub async fn send(&self, request: Request<Body>) -> Result<Response<ResponseBody<hyper::body::Incoming>>, Error> {
        self.client.clone().oneshot(request).await
    }

    /// Has a body end badly of which this has arrived.
    pub async fn fetch_broken(&self, path: &str, expected: usize) {
        let mut body = self.send(self.request("GET", path)).await.unwrap().into_body();
        let mut seen = 0;
        while seen < expected {
            seen += body.frame().await.unwrap().unwrap().into_data().unwrap().len();
        }
        GO_ON.notify_one();
        body.collect().await.unwrap_err();
    }

    /// Sends a request and reads all of the response.
    pub async fn fetch(&self, method: &str, path: &str) -> (StatusCode, String) {
        let response = self.send(self.request(method, path)).await.unwrap();
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }
}

/// Does what its routes say.
pub fn app() -> Router {
    Router::new()
        .route("/items/{id}", get(item))
        .route("/status/{code}", any(status))
        .route("/stream/{chunks}", get(async |Path(chunks): Path<usize>| streamed(chunks, Last::End)))
        .route("/sized/{chunks}", get(sized))
        .route("/broken/{chunks}", get(async |Path(chunks): Path<usize>| streamed(chunks, Last::Fail)))
        .route("/endless/{chunks}", get(async |Path(chunks): Path<usize>| streamed(chunks, Last::Hang)))
        .route("/bursting/{chunks}", get(async |Path(chunks): Path<usize>| streamed(chunks, Last::Panic)))
        .route("/hang", get(hang::<()>))
        .route("/panic", get(panics))
        .route("/echo", post(async |body: Bytes| body))
        .route("/context", get(async || context()))
        .route(
            "/later",
            get(async || Body::from_stream(tokio_stream::once(()).map(|()| Ok::<_, Infallible>(context())))),
        )
        .route(
            "/upgrade",
            get(async || Response::builder().status(101).header("connection", "upgrade").body(Body::empty()).unwrap()),
        )
}

#[tc_span("Handler/Item")]
async fn item(Path(id): Path<String>) -> String {
    format!("item {id}")
}

async fn status(Path(code): Path<u16>) -> (StatusCode, &'static str) {
    (StatusCode::from_u16(code).unwrap(), "as it was told")
}

/// Lets one body go on that waits to end badly.
pub static GO_ON: Notify = Notify::const_new();

enum Last {
    End,
    Fail,
    Hang,
    Panic,
}

fn streamed(chunks: usize, last: Last) -> Body {
    let ending = tokio_stream::once(last).then(|last| async move {
        match last {
            Last::End => return Ok(Bytes::new()),
            Last::Fail | Last::Panic => GO_ON.notified().await,
            Last::Hang => hang().await,
        }
        if let Last::Panic = last {
            panic!("as it was told");
        }
        Err(io::Error::from(io::ErrorKind::TimedOut))
    });
    let chunks = tokio_stream::iter((0..chunks).map(|_| Ok(Bytes::from_static(b"0123456789"))));
    Body::from_stream(chunks.chain(ending))
}

/// A body whose length the headers say, and which does not know its own end.
async fn sized(Path(chunks): Path<usize>) -> Response<Body> {
    let body = streamed(chunks, Last::End);
    Response::builder().header("content-length", 10 * chunks).body(body).unwrap()
}

async fn panics() -> &'static str {
    panic!("as it was told")
}

/// The series of a metric, without its name and in the order of their texts, once they are as many as expected.
pub async fn series(reader: &mut Reader, name: &str, expected: &[&str]) -> Vec<String> {
    let limit = Instant::now() + Duration::from_secs(20);
    loop {
        let all = reader.snapshot().to_string();
        let mut found: Vec<_> = all.lines().filter_map(|line| line.strip_prefix(name)).map(str::to_owned).collect();
        found.sort();
        if found == expected || Instant::now() > limit {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Which status a span has, how it ended, and as what error.
#[track_caller]
pub fn check(span: &FinishedSpan, status: Option<i64>, outcome: Outcome, error: Option<&str>) {
    let number = span.attribute("http.response.status_code").cloned();
    let kind = span.attribute("error.type").map(OwnedValue::to_string);
    assert_eq!(number, status.map(OwnedValue::I64), "{span:#?}");
    assert_eq!((span.outcome, kind.as_deref()), (outcome, error), "{span:#?}");
}

/// Checks the client's span of a request whose connection was lost, or only its stream.
#[track_caller]
pub fn check_lost(span: &FinishedSpan, status: Option<i64>) {
    let kind = text(span, "error.type").unwrap_or_default();
    assert!(["connection_closed", "connection_reset"].contains(&kind.as_str()), "{span:#?}");
    check(span, status, Outcome::Error, Some(&kind));
}

/// Runs a test alone, for each version. After it, no request is in flight.
pub fn alone<F: Future<Output = ()>>(test: impl Fn(Version) -> F) {
    for version in VERSIONS {
        super::alone_until_idle("tc_http_server_active", async || test(version).await);
    }
}

/// Runs a test with a server and its client alone, for each version.
pub fn served<F: Future<Output = ()>>(test: impl Fn(Recording, World) -> F) {
    alone(async |version| test(record(), World::new(version).await).await);
}

/// The spans of a request, once both sides have ended it: the client's and the server's.
pub async fn ends(recording: &Recording) -> (FinishedSpan, FinishedSpan) {
    let spans = spans_of(recording, &BOTH).await;
    (of_kind(&spans, Kind::Client).clone(), of_kind(&spans, Kind::Server).clone())
}

/// The client's span of a request, whatever became of it elsewhere.
pub async fn end_of_client(recording: &Recording) -> FinishedSpan {
    of_kind(&spans_of(recording, &[Kind::Client]).await, Kind::Client).clone()
}

/// A request to one that reads it, sends these bytes and closes the connection.
pub async fn request_to_one_that_says(bytes: &'static [u8]) -> Request<Body> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        // With nothing left to read it is closed, and not reset.
        let _ = stream.read(&mut [0; 4096]).await;
        stream.write_all(bytes).await.unwrap();
    });
    Request::get(format!("http://{address}/")).body(Body::empty()).unwrap()
}
