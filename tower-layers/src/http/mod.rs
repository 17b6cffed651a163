//! Layers for HTTP: a span for each request that is right in every ending, and context from process to process.
//!
//! [`HttpServerLayer`] and [`HttpClientLayer`] take requests of any body and give responses whose body is a [`ResponseBody`]
//! around what it was: for axum, for hyper, and for any client that is a tower service. For
//! clients of reqwest [`HttpClientLayer`] is middleware.
//!
//! A server's span is named by its method and the template of its route, `GET /items/{id}`, and by the method alone where the
//! route is not known; a client's by its method. It lasts until the body of the response has ended, or is dropped. What is
//! current inside of a handler, and while its response is streamed, is the server's span. An upgrade, as to a WebSocket, ends
//! it with the answer: what follows is no HTTP.
//!
//! | attribute | |
//! |---|---|
//! | `http.request.method` | one of nine, or `_OTHER`; then `http.request.method_original` is what it was |
//! | `http.response.status_code` | |
//! | `http.route` | the template, on the server |
//! | `url.path`, `url.query`, `url.scheme` | on the server; of a query only the keys, the values are `REDACTED` |
//! | `url.full` | on the client: the same, and no user info |
//! | `server.address`, `server.port` | by the URL or the `host` header |
//! | `network.protocol.version` | |
//! | `network.peer.address`, `network.peer.port` | who called, where the server says it: axum's `ConnectInfo`, or a `SocketAddr` among the extensions |
//! | `http.request.body.size`, `http.response.body.size` | bytes: those that the request says it has, those of the response that passed |
//! | `tc.response.first_byte_seconds` | if it is [asked for](HttpServerLayer::with_first_byte): the time to the first byte of the response's body |
//! | `user_agent.original` | if it is [asked for](HttpServerLayer::with_user_agent) |
//! | `error.type` | the status, or one of the words below |
//!
//! On the server an error is a status from 500 on, on the client from 400 on. Without such a status it is one of `timeout`,
//! `connection_refused`, `connection_reset`, `connection_closed`, `unreachable`, `protocol`, `overloaded`, `panic` and
//! `_OTHER`, and never what an error says, which may hold anything. A request that its caller gave up is `cancelled`, and no
//! error; so is one on the client whose response nobody reads to its end.
//!
//! | metric | labels |
//! |---|---|
//! | `tc_http_server_duration_seconds` | `http.request.method`, `http.route`, `tc.http.status_class` |
//! | `tc_http_client_duration_seconds` | `http.request.method`, `server.address`, `server.port` unless it is the scheme's own, `tc.http.status_class` |
//! | `tc_http_server_first_byte_seconds`, `tc_http_client_first_byte_seconds` | if they are [asked for](HttpServerLayer::with_first_byte), the labels of the `tc_*` durations |
//! | `tc_http_server_active` | |
//! | `http.server.request.duration` | `http.request.method`, `http.route`, `http.response.status_code`, `url.scheme`, `network.protocol.version`, `error.type` |
//! | `http.client.request.duration` | the same with `server.address` and `server.port` in place of the route |
//!
//! The durations are `tc_http_*`. With `OTEL_SEMCONV_STABILITY_OPT_IN=http` they are those of the conventions, the last two of the
//! table, and with `http/dup` both are recorded. Spans have the names of the conventions anyway.
//!
//! They count all requests that are traced, whether or not they are sampled. A caller cannot add to them: a route is known
//! when it has answered, if axum names it and the method is one of its own, or else with something other than 404 and 405; a server
//! when it has answered. Up to 384 of each are, and all others are `_OTHER`. Of all that the labels could make together, 1,024 sets are
//! kept, 512 of those of `tc_*`; the rest is counted as one, with `otel.metric.overflow`.

mod client;
mod conventions;
mod describe;
mod endpoint;
pub(crate) mod exchange;
mod failure;
mod keys;
mod label;
mod method;
mod metrics;
#[cfg(feature = "reqwest")]
mod middleware;
mod protocol;
mod response;
mod server;
mod set;
pub(crate) mod settings;
mod url;

pub use self::client::{HttpClient, HttpClientLayer};
pub use self::response::{ResponseBody, ResponseFuture};
pub use self::server::{HttpServer, HttpServerLayer};
