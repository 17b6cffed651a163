//! Servers with configurable responses.

use std::convert::Infallible;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

use crate::config::Protocol;

/// Starts a listener that passes each connection and its number to a function.
pub(super) struct Server {
    pub(super) port: u16,
    connections: Arc<AtomicUsize>,
}

impl Server {
    pub(super) async fn start<F>(serve: impl Fn(usize, TcpStream) -> F + Send + 'static) -> Server
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = connections.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // Otherwise trailers would wait until the frames before them are acknowledged.
                stream.set_nodelay(true).unwrap();
                tokio::spawn(serve(count.fetch_add(1, Relaxed), stream));
            }
        });
        Server { port, connections }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1/traces", self.port)
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Relaxed)
    }
}

/// Starts a server that answers each request with the same response.
pub(super) async fn scripted(protocol: Protocol, reply: Reply) -> (Server, Script) {
    let script = Script::new(reply);
    let served = script.clone();
    (Server::start(move |_, stream| served.clone().serve(protocol, stream)).await, script)
}

/// Starts a server that accepts each request.
pub(super) async fn accepting(protocol: Protocol) -> (Server, Script) {
    scripted(protocol, Reply::success(protocol)).await
}

/// The response of a server.
#[derive(Clone, Default)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
    pub(super) trailers: Vec<(&'static str, String)>,
}

impl Reply {
    pub(super) fn http(status: u16) -> Reply {
        Reply { status, ..Reply::default() }
    }

    /// A gRPC response with a message and a status.
    pub(super) fn grpc(message: &[u8], code: u32) -> Reply {
        let body = [&[0], &(message.len() as u32).to_be_bytes()[..], message].concat();
        Reply { body, ..Reply::http(200) }.header("content-type", "application/grpc").trailer("grpc-status", code)
    }

    /// A response that accepts the request.
    pub(super) fn success(protocol: Protocol) -> Reply {
        if protocol == Protocol::Grpc { Reply::grpc(b"", 0) } else { Reply::http(200) }
    }

    pub(super) fn header(mut self, name: &'static str, value: impl ToString) -> Reply {
        self.headers.push((name, value.to_string()));
        self
    }

    pub(super) fn trailer(mut self, name: &'static str, value: impl ToString) -> Reply {
        self.trailers.push((name, value.to_string()));
        self
    }

    pub(super) fn body(mut self, body: &[u8]) -> Reply {
        self.body = body.to_vec();
        self
    }
}

/// Answers every request with the same response, until another is set, and keeps the requests.
#[derive(Clone)]
pub(super) struct Script {
    reply: Arc<Mutex<Reply>>,
    seen: Arc<Mutex<Vec<Request<Bytes>>>>,
}

impl Script {
    pub(super) fn new(reply: Reply) -> Script {
        Script { reply: Arc::new(Mutex::new(reply)), seen: Arc::default() }
    }

    /// Sets the response.
    pub(super) fn set(&self, reply: Reply) {
        *self.reply.lock().unwrap() = reply;
    }

    /// The only request that the server got.
    pub(super) fn request(&self) -> Request<Bytes> {
        let mut seen = self.seen.lock().unwrap();
        assert_eq!(seen.len(), 1);
        seen.remove(0)
    }

    /// True if the server got a request.
    pub(super) fn answered(&self) -> bool {
        !self.seen.lock().unwrap().is_empty()
    }

    pub(super) async fn serve(self, protocol: Protocol, stream: impl AsyncRead + AsyncWrite + Unpin) {
        if protocol == Protocol::Grpc { self.http2(stream).await } else { self.http1(stream).await }
    }

    pub(super) async fn http1(self, stream: impl AsyncRead + AsyncWrite + Unpin) {
        let service = service_fn(|request| self.answer(request));
        let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
    }

    pub(super) async fn http2(self, stream: impl AsyncRead + AsyncWrite + Unpin) {
        let service = service_fn(move |request| {
            let script = self.clone();
            async move { script.answer(request).await }
        });
        let _ = http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
    }

    async fn answer(
        &self,
        request: Request<Incoming>,
    ) -> Result<Response<impl hyper::body::Body<Data = Bytes, Error = Infallible> + use<>>, Infallible> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        self.seen.lock().unwrap().push(Request::from_parts(head, body));
        let reply = self.reply.lock().unwrap().clone();
        let trailers = (!reply.trailers.is_empty()).then(|| Ok(map(&reply.trailers)));
        let body = Full::new(Bytes::from(reply.body)).with_trailers(std::future::ready(trailers));
        let mut response = Response::new(body);
        *response.status_mut() = reply.status.try_into().unwrap();
        *response.headers_mut() = map(&reply.headers);
        Ok(response)
    }
}

fn map(pairs: &[(&'static str, String)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())).collect()
}
