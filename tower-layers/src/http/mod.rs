//! Layers for HTTP: a span per request with its actual outcome, however the request ends, and context propagation.
//!
//! [`HttpServerLayer`] and [`HttpClientLayer`] accept requests with any body and return responses whose body is wrapped
//! in a [`ResponseBody`]. They work with axum, with hyper, and with any client that is a tower service. For reqwest,
//! [`HttpClientLayer`] is middleware.
//! A server's span is named by its method and its route's template, `GET /items/{id}`, or by the method alone if the
//! route is not known; a client's span by its method. A span lasts until the body of the response has ended or is
//! dropped. The server's span is current in the handler and while the response is streamed. After an upgrade, such as
//! to a WebSocket, the span ends with the response's headers, because what follows is not HTTP.
//!
//! | attribute | |
//! |---|---|
//! | `http.request.method` | one of nine, or `_OTHER` with the method as sent in `http.request.method_original` |
//! | `http.response.status_code` | |
//! | `http.route` | the template, on the server |
//! | `url.path`, `url.query`, `url.scheme` | on the server; of a query only the keys, the values are `REDACTED` |
//! | `url.full` | on the client, without user info; of a query only the keys, the values are `REDACTED` |
//! | `server.address`, `server.port` | by the URL or the `host` header |
//! | `network.protocol.version` | |
//! | `network.peer.address`, `network.peer.port` | the caller's address, if the server provides it: axum's `ConnectInfo`, or a `SocketAddr` in the request's extensions |
//! | `http.request.body.size`, `http.response.body.size` | bytes that the request declares, and bytes of the response that passed |
//! | `tc.response.first_byte_seconds` | if [enabled](HttpServerLayer::with_first_byte): the time to the first byte of the response's body |
//! | `user_agent.original` | if [enabled](HttpServerLayer::with_user_agent) |
//! | `error.type` | the status, or one of the words below |
//!
//! On the server a status from 500 on is an error, on the client from 400 on. Without such a status, `error.type` is
//! one of `timeout`, `connection_refused`, `connection_reset`, `connection_closed`, `unreachable`, `protocol`,
//! `overloaded`, `panic` and `_OTHER`. It is never the text of an error, which may contain anything. A request that its
//! caller gave up is `cancelled`, which is no error; so is a client's request whose response is not read to its end.
//!
//! | metric | labels |
//! |---|---|
//! | `tc_http_server_duration_seconds` | `http.request.method`, `http.route`, `tc.http.status_class` |
//! | `tc_http_client_duration_seconds` | `http.request.method`, `server.address`, `server.port` unless it is the scheme's own, `tc.http.status_class` |
//! | `tc_http_server_first_byte_seconds`, `tc_http_client_first_byte_seconds` | if [enabled](HttpServerLayer::with_first_byte), the labels of the `tc_*` durations |
//! | `tc_http_server_active` | |
//! | `http.server.request.duration` | `http.request.method`, `http.route`, `http.response.status_code`, `url.scheme`, `network.protocol.version`, `error.type` |
//! | `http.client.request.duration` | `http.request.method`, `server.address`, `server.port`, `http.response.status_code`, `url.scheme`, `network.protocol.version`, `error.type` |
//!
//! By default the durations are `tc_http_*`. With `OTEL_SEMCONV_STABILITY_OPT_IN=http` they are the last two metrics of
//! the table, those of the conventions; with `http/dup` both are recorded. Spans always have the names of the
//! conventions.
//!
//! The metrics count all traced requests, sampled or not. A caller cannot add values to a label. A route has a label of
//! its own after it has answered: a route that axum names, with any status but 405; one from
//! [`with_route`](HttpServerLayer::with_route), with any status but 404 and 405. A server has a label of its own after
//! it has answered. Up to 384 routes and 384 servers are known; all others are `_OTHER`. A metric keeps up to 1,024
//! combinations of its labels, a `tc_*` metric 512; further ones are counted as one, with `otel.metric.overflow`.

mod client;
mod conventions;
mod describe;
mod durations;
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
