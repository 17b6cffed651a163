//! The layers stand beside those of others, inside and outside of them, and a request goes through.

use std::convert::Infallible;
use std::time::Duration;

use crate::support::http::{Version, World, app, plain};
use crate::support::{BOTH, alone, of_kind, record, spans_of, text};
use axum::Router;
use axum::body::Body;
use axum::routing::get;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tower::util::BoxCloneSyncService;
use tower::{ServiceBuilder, ServiceExt};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::TraceLayer;
use tower_layer::Layer;
use tower_service::Service;
use tracecast::testing::FinishedSpan;
use tracecast::{Kind, Outcome};
use tracecast_tower::{HttpClientLayer, HttpServerLayer};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

fn timeout() -> TimeoutLayer {
    TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, Duration::from_secs(30))
}

/// Serves a router, has it asked for an item, and says what the server's span is.
async fn served(router: Router) -> FinishedSpan {
    let (recording, world) = (record(), World::serving(Version::One, router).await);
    let mut request = world.request("GET", "/items/7");
    request.headers_mut().insert("accept-encoding", "gzip".parse().unwrap());
    let response = world.send(request).await.unwrap();
    assert_eq!(response.status(), 200);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert!(!body.is_empty());
    let spans = spans_of(&recording, &BOTH).await;
    let span = of_kind(&spans, Kind::Server).clone();
    assert_eq!(span.outcome, Outcome::Ok, "{span:#?}");
    span
}

#[test]
fn on_a_router() {
    alone(async || {
        let ours = HttpServerLayer::new;
        let item = || get(async || "an item that is long enough to be compressed, ".repeat(10));
        let router = || Router::new().route("/items/{id}", item());

        for router in [
            router().layer(ours()),
            router().route_layer(ours()),
            Router::new().route("/items/{id}", item().layer(ours())),
            router().layer(ours()).layer(TraceLayer::new_for_http()).layer(CompressionLayer::new()).layer(timeout()),
            router().layer(TraceLayer::new_for_http()).layer(CompressionLayer::new()).layer(timeout()).layer(ours()),
            router().layer(ServiceBuilder::new().layer(CatchPanicLayer::new()).layer(ours()).layer(timeout())),
            router().layer(ServiceBuilder::new().concurrency_limit(8).layer(ours()).layer(TraceLayer::new_for_http())),
            Router::new().merge(router()).layer(ours()),
        ] {
            assert_eq!(served(router).await.name, "GET /items/{id}");
        }
        let nested = Router::new().nest("/items", Router::new().route("/{id}", item()).layer(ours()));
        assert_eq!(served(nested).await.name, "GET /items/{id}");
        let outside = Router::new().nest("/items", Router::new().route("/{id}", item())).layer(ours());
        assert_eq!(served(outside).await.name, "GET /items/{id}");
    });
}

#[test]
fn around_a_service_of_hyper() {
    alone(async || {
        let recording = record();
        let service = tower::service_fn(async |request: Request<Incoming>| {
            let body = request.into_body().collect().await?.to_bytes();
            Ok::<_, hyper::Error>(Response::new(Full::new(body)))
        });
        let layer = HttpServerLayer::new().with_route(|request| match request.uri().path() {
            path if path.starts_with("/files/") => Some("/files/{name}"),
            _ => None,
        });
        let service = layer.layer(service);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (builder, service) = (builder.clone(), TowerToHyperService::new(service.clone()));
                tokio::spawn(async move { drop(builder.serve_connection(TokioIo::new(stream), service).await) });
            }
        });
        for version in [Version::One, Version::Two] {
            let client = HttpClientLayer::new().layer(plain(version));
            let request = Request::post(format!("http://{address}/files/a")).body(Body::from("hello")).unwrap();
            let response = client.oneshot(request).await.unwrap();
            assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "hello");
            let spans = spans_of(&recording, &BOTH).await;
            let server = of_kind(&spans, Kind::Server);
            assert_eq!((&*server.name, server.outcome), ("POST /files/{name}", Outcome::Ok));
            for kind in BOTH {
                let size = |key| text(of_kind(&spans, kind), key);
                assert_eq!(size("http.request.body.size").as_deref(), Some("5"));
                assert_eq!(size("http.response.body.size").as_deref(), Some("5"));
            }
        }
    });
}

/// Has a client ask for an item, and says how its span ended.
async fn called<S, B, E>(client: S) -> Outcome
where
    S: Service<Request<Body>, Response = Response<B>, Error = E>,
    B: http_body::Body<Error: std::fmt::Debug>,
    E: std::fmt::Debug,
{
    let (recording, world) = (record(), World::serving(Version::One, app()).await);
    let response = client.oneshot(world.request("GET", "/items/7")).await.unwrap();
    assert!(response.into_body().collect().await.is_ok());
    of_kind(&spans_of(&recording, &[Kind::Client]).await, Kind::Client).outcome
}

#[test]
fn on_a_client() {
    alone(async || {
        let ours = HttpClientLayer::new;
        let limit = Duration::from_secs(30);
        let plain = || plain(Version::One);

        assert_eq!(called(ours().layer(plain())).await, Outcome::Ok);

        let outside = ServiceBuilder::new().layer(ours()).timeout(limit).service(plain());
        assert_eq!(called(outside).await, Outcome::Ok);

        let inside =
            ServiceBuilder::new().timeout(limit).load_shed().concurrency_limit(8).layer(ours()).service(plain());
        assert_eq!(called(inside).await, Outcome::Ok);

        let traced = ServiceBuilder::new().layer(TraceLayer::new_for_http()).layer(ours()).service(plain());
        assert_eq!(called(traced).await, Outcome::Ok);

        let tracing = ServiceBuilder::new().layer(ours()).layer(TraceLayer::new_for_http()).service(plain());
        assert_eq!(called(tracing).await, Outcome::Ok);

        let boxed = BoxCloneSyncService::new(ServiceBuilder::new().timeout(limit).layer(ours()).service(plain()));
        assert_eq!(called(boxed).await, Outcome::Ok);

        let boxed: BoxCloneSyncService<Request<Body>, Response<Incoming>, BoxError> =
            BoxCloneSyncService::new(plain().map_err(BoxError::from));
        assert_eq!(called(ours().layer(boxed)).await, Outcome::Ok);

        let by_hand = tower::service_fn(async |_: Request<Body>| {
            Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"an item"))))
        });
        assert_eq!(called(ours().layer(by_hand)).await, Outcome::Ok);
    });
}

#[test]
fn on_a_server_in_a_box() {
    alone(async || {
        let by_hand =
            tower::service_fn(async |_: Request<Body>| Ok::<_, Infallible>(Response::new(Body::from("an item"))));
        let boxed: BoxCloneSyncService<Request<Body>, Response<Body>, Infallible> = BoxCloneSyncService::new(by_hand);
        let boxed = BoxCloneSyncService::new(HttpServerLayer::new().layer(boxed));
        let recording = record();
        let response: Response<_> = boxed.oneshot(Request::new(Body::empty())).await.unwrap();
        assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "an item");
        assert_eq!(of_kind(&spans_of(&recording, &[Kind::Server]).await, Kind::Server).outcome, Outcome::Ok);
    });
}
