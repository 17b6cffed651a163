//! The layers stand beside those of others, inside and outside of them, and a call goes through.

use std::time::Duration;

use crate::support::grpc::{self, Echo, Texts, channel};
use crate::support::{BOTH, alone, of_kind, record, spans_of};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::body::Body;
use tonic::transport::Server;
use tonic::transport::server::Router;
use tonic::{Code, Request, Status};
use tower::ServiceBuilder;
use tower::util::BoxCloneSyncService;
use tower_http::trace::TraceLayer;
use tower_layer::Layer;
use tracecast::OwnedValue;
use tracecast_tower::{GrpcClientLayer, GrpcServerLayer};

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Boxed = BoxCloneSyncService<http::Request<Body>, http::Response<Body>, BoxError>;

fn pass(request: Request<()>) -> Result<Request<()>, Status> {
    Ok(request)
}

fn refuse(_: Request<()>) -> Result<Request<()>, Status> {
    Err(Status::unauthenticated("who are you"))
}

/// Calls `client` once, and says which status both sides saw.
macro_rules! called {
    ($client:expr) => {{
        let recording = record();
        let mut client = tonic::client::Grpc::new($client);
        let _ = client.ready().await;
        let path = http::uri::PathAndQuery::from_static(grpc::UNARY);
        let result = client.unary(Request::new("hello".to_owned()), path, Texts).await;
        let spans = spans_of(&recording, &BOTH).await;
        let code = result.err().map_or(Code::Ok, |status| status.code());
        for kind in BOTH {
            let status = of_kind(&spans, kind).attribute("rpc.grpc.status_code").cloned();
            assert_eq!(status, Some(OwnedValue::I64(code as i64)), "{kind:?}");
        }
        code
    }};
}

/// Serves a router of any layers.
macro_rules! served {
    ($router:expr) => {{
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = $router;
        tokio::spawn(async move { router.serve_with_incoming(TcpListenerStream::new(listener)).await.unwrap() });
        address
    }};
}

#[test]
fn on_the_server() {
    alone(async || {
        let ours = GrpcServerLayer::new;
        let client = |address| GrpcClientLayer::new().layer(channel(address));

        let one: Router = Server::builder().add_service(ours().layer(Echo));
        assert_eq!(called!(client(served!(one))), Code::Ok);

        let outside =
            ServiceBuilder::new().layer(ours()).layer(tonic::service::InterceptorLayer::new(pass)).into_inner();
        assert_eq!(called!(client(served!(Server::builder().layer(outside).add_service(Echo)))), Code::Ok);

        let refusing =
            ServiceBuilder::new().layer(ours()).layer(tonic::service::InterceptorLayer::new(refuse)).into_inner();
        let address = served!(Server::builder().layer(refusing).add_service(Echo));
        assert_eq!(called!(client(address)), Code::Unauthenticated);

        let inside = ServiceBuilder::new().layer(TraceLayer::new_for_grpc()).layer(ours()).into_inner();
        assert_eq!(called!(client(served!(Server::builder().layer(inside).add_service(Echo)))), Code::Ok);

        let limited = Server::builder().timeout(Duration::from_secs(30)).concurrency_limit_per_connection(8);
        assert_eq!(called!(client(served!(limited.layer(ours()).add_service(Echo)))), Code::Ok);

        let around = ServiceBuilder::new().timeout(Duration::from_secs(30)).layer(ours()).into_inner();
        assert_eq!(called!(client(served!(Server::builder().layer(around).add_service(Echo)))), Code::Ok);

        let within = ServiceBuilder::new().layer(ours()).timeout(Duration::from_secs(30)).load_shed().into_inner();
        assert_eq!(called!(client(served!(Server::builder().layer(within).add_service(Echo)))), Code::Ok);
    });
}

#[test]
fn on_the_client() {
    alone(async || {
        let ours = GrpcClientLayer::new;
        let address = served!(Server::builder().layer(GrpcServerLayer::new()).add_service(Echo));
        let channel = || channel(address);

        assert_eq!(called!(ours().layer(channel())), Code::Ok);

        let outside = ServiceBuilder::new().layer(ours()).timeout(Duration::from_secs(30)).service(channel());
        assert_eq!(called!(outside), Code::Ok);

        let inside = ServiceBuilder::new().timeout(Duration::from_secs(30)).layer(ours()).service(channel());
        assert_eq!(called!(inside), Code::Ok);

        let intercepted = tonic::service::interceptor::InterceptedService::new(ours().layer(channel()), pass);
        assert_eq!(called!(intercepted), Code::Ok);

        let intercepting = ours().layer(tonic::service::interceptor::InterceptedService::new(channel(), pass));
        assert_eq!(called!(intercepting), Code::Ok);

        let shed = ServiceBuilder::new().load_shed().concurrency_limit(8).layer(ours()).service(channel());
        assert_eq!(called!(shed), Code::Ok);

        let boxed: Boxed = BoxCloneSyncService::new(
            ServiceBuilder::new().layer(ours()).timeout(Duration::from_secs(30)).service(channel()),
        );
        assert_eq!(called!(ours().with_filter(|_| false).layer(boxed)), Code::Ok);
    });
}
