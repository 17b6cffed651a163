//! The server for scrapers, on the export thread: `GET /metrics`, one request per connection.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::sync::{Mutex, Semaphore};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{sleep, timeout};

use super::Scraped;
use super::negotiate::{Asked, asked, media_type};
use crate::base::notice;
use crate::base::suppress::suppressed;
use crate::config::ScrapeAddress;
use crate::declare::value::OwnedValue;
use crate::meter::exposition::Form;

/// The maximum number of connections at a time. Further ones are closed.
const CONNECTIONS: usize = 16;
/// The maximum size of a request's head in bytes; scrapers send a few hundred.
const HEAD_BYTES: usize = 8 * 1024;
/// The time limits for receiving a request and for sending the response.
const REQUEST: Duration = Duration::from_secs(5);
const RESPONSE: Duration = Duration::from_secs(20);
/// The delay before retrying to bind an address, or to accept connections after an error.
const AGAIN: Duration = Duration::from_secs(5);

/// The metrics to serve, and their address.
pub(crate) struct Serve {
    pub(crate) address: ScrapeAddress,
    pub(crate) scraped: Arc<Scraped>,
    /// The resource attributes, as they are sent.
    pub(crate) resource: Arc<[(String, OwnedValue)]>,
    /// Updates the metrics about telemetry itself; called on the thread that renders.
    pub(crate) settle: Arc<dyn Fn() + Send + Sync>,
}

/// A server that runs until it is dropped.
pub(crate) struct Server {
    pub(crate) address: ScrapeAddress,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    /// Starts to serve. Must be called inside a `LocalSet`.
    pub(crate) fn start(serve: Serve) -> Self {
        Server { address: serve.address.clone(), task: tokio::task::spawn_local(run(serve)) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The task owns its connections, so this closes them.
        self.task.abort();
    }
}

/// The state that all connections share.
struct Desk {
    scraped: Arc<Scraped>,
    resource: Arc<[(String, OwnedValue)]>,
    settle: Arc<dyn Fn() + Send + Sync>,
    room: Arc<Semaphore>,
    /// Held while a text is rendered: one at a time.
    rendering: Mutex<()>,
}

async fn run(Serve { address, scraped, resource, settle }: Serve) {
    let listeners = listen(&address).await;
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let desk = Rc::new(Desk { scraped, resource, settle, room, rendering: Mutex::new(()) });
    let mut accepting = JoinSet::new();
    for listener in listeners {
        accepting.spawn_local(accept(listener, desk.clone()));
    }
    while accepting.join_next().await.is_some() {}
}

/// Binds all addresses of the host. Retries until it succeeds: another process may hold the port for a while.
async fn listen(address: &ScrapeAddress) -> Vec<TcpListener> {
    let mut failed = false;
    loop {
        match bind(address).await {
            Ok(listeners) => {
                if failed {
                    notice::at(notice::INFO, format_args!("serving metrics at {address} now"));
                }
                return listeners;
            }
            Err(error) if !failed => {
                failed = true;
                // Without the number at the end of a system error, which does not help users.
                let cause = error.raw_os_error().map_or_else(|| error.to_string(), |_| error.kind().to_string());
                notice::say(format_args!(
                    "warning: cannot serve metrics at {address}: {cause}; retrying; set OTEL_EXPORTER_PROMETHEUS_HOST and \
                     OTEL_EXPORTER_PROMETHEUS_PORT to use another address"
                ));
            }
            Err(_) => {}
        }
        sleep(AGAIN).await;
    }
}

/// Makes a listener for each available address of the host; IPv6 is unavailable on many machines. Fails if no address
/// is available, or if another process uses the port on one of them.
async fn bind(address: &ScrapeAddress) -> io::Result<Vec<TcpListener>> {
    let (mut listeners, mut error) = (Vec::new(), io::ErrorKind::NotFound.into());
    let mut all: Vec<SocketAddr> = lookup_host((address.host.as_str(), address.port)).await?.collect();
    all.dedup();
    for address in all {
        match TcpListener::bind(address).await {
            Ok(listener) => listeners.push(listener),
            // Another process has this port: clients that resolve to this address would reach it instead.
            Err(in_use) if in_use.kind() == io::ErrorKind::AddrInUse => return Err(in_use),
            Err(other) => error = other,
        }
    }
    if listeners.is_empty() { Err(error) } else { Ok(listeners) }
}

async fn accept(listener: TcpListener, desk: Rc<Desk>) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = listener.accept().await;
        // Removes tasks that have ended.
        while connections.try_join_next().is_some() {}
        match (accepted, desk.room.clone().try_acquire_owned()) {
            (Ok((stream, _)), Ok(permit)) => {
                let desk = desk.clone();
                connections.spawn_local(async move {
                    serve(stream, &desk).await;
                    drop(permit);
                });
            }
            // Too many connections: this one is closed.
            (Ok(_), Err(_)) => {}
            // The process may have run out of file descriptors.
            (Err(_), _) => sleep(AGAIN).await,
        }
    }
}

/// Answers one request and closes the connection. Closes it without an answer if no request arrives in time.
async fn serve(mut stream: TcpStream, desk: &Desk) {
    let asked = match timeout(REQUEST, head(&mut stream)).await {
        Ok(Ok(Some(head))) => asked(&head),
        Ok(Ok(None)) => Asked::Malformed,
        // The client has closed the connection or sends nothing.
        Ok(Err(_)) | Err(_) => return,
    };
    let response = match asked {
        Asked::Metrics { form, head_only } => match desk.render(form).await {
            Some(text) => response("200 OK", media_type(form), &text, head_only),
            None => plain("500 Internal Server Error", "reading the metrics failed"),
        },
        Asked::NotFound => plain("404 Not Found", "not found; metrics are at /metrics"),
        Asked::NotAllowed => plain("405 Method Not Allowed", "method not allowed; expected GET"),
        Asked::Malformed => plain("400 Bad Request", "bad request; expected HTTP/1.1 with at most 8 KiB of headers"),
    };
    let _ = timeout(RESPONSE, async {
        stream.write_all(&response).await?;
        stream.shutdown().await
    })
    .await;
}

/// Reads the head of a request; `None` if it is too long.
async fn head(stream: &mut TcpStream) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() >= HEAD_BYTES {
            return Ok(None);
        }
        let mut piece = [0; 1024];
        match stream.read(&mut piece).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => head.extend_from_slice(&piece[..read]),
        }
    }
    Ok(Some(head))
}

impl Desk {
    /// Renders on another thread, because callbacks of gauges may block. `None` if that panics.
    async fn render(&self, form: Form) -> Option<String> {
        let _turn = self.rendering.lock().await;
        let (scraped, resource, settle) = (self.scraped.clone(), self.resource.clone(), self.settle.clone());
        let render = move || {
            let _suppressed = suppressed();
            settle();
            scraped.render(form, &resource)
        };
        spawn_blocking(render).await.ok()
    }
}

fn plain(status: &str, text: &str) -> Vec<u8> {
    response(status, "text/plain; charset=utf-8", &format!("{text}\n"), false)
}

fn response(status: &str, media: &str, text: &str, head_only: bool) -> Vec<u8> {
    let length = text.len();
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-type: {media}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    let body = if head_only { "" } else { text };
    [head.as_bytes(), body.as_bytes()].concat()
}
