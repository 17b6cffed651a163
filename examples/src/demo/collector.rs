//! The demo's own collector: receives OTLP over gRPC and keeps everything in memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use opentelemetry_proto::tonic::collector::logs::v1::{ExportLogsServiceRequest, ExportLogsServiceResponse};
use opentelemetry_proto::tonic::collector::metrics::v1::{ExportMetricsServiceRequest, ExportMetricsServiceResponse};
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::body::Body;
use tonic::codegen::http;
use tonic::transport::Server;

use super::received::Received;
use crate::rpc::{self, Methods, Served};

/// Everything received so far.
#[derive(Clone, Default)]
pub(crate) struct Collector(Arc<Mutex<Received>>);

impl Collector {
    /// Starts to listen and returns the address.
    pub(crate) async fn start(&self) -> std::io::Result<String> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let endpoint = format!("http://{}", listener.local_addr()?);
        let server = Server::builder()
            .add_service(Served(Traces(self.clone())))
            .add_service(Served(Metrics(self.clone())))
            .add_service(Served(Logs(self.clone())));
        tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
        Ok(endpoint)
    }

    pub(crate) fn received(&self) -> MutexGuard<'_, Received> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone)]
struct Traces(Collector);

#[derive(Clone)]
struct Metrics(Collector);

#[derive(Clone)]
struct Logs(Collector);

impl Methods for Traces {
    const NAME: &'static str = "opentelemetry.proto.collector.trace.v1.TraceService";

    async fn answer(self, request: http::Request<Body>) -> http::Response<Body> {
        let take = async |request: ExportTraceServiceRequest| {
            self.0.received().take_spans(request.resource_spans);
            Ok(ExportTraceServiceResponse::default())
        };
        rpc::unary(request, take).await
    }
}

impl Methods for Metrics {
    const NAME: &'static str = "opentelemetry.proto.collector.metrics.v1.MetricsService";

    async fn answer(self, request: http::Request<Body>) -> http::Response<Body> {
        let take = async |request: ExportMetricsServiceRequest| {
            self.0.received().take_metrics(request.resource_metrics);
            Ok(ExportMetricsServiceResponse::default())
        };
        rpc::unary(request, take).await
    }
}

impl Methods for Logs {
    const NAME: &'static str = "opentelemetry.proto.collector.logs.v1.LogsService";

    async fn answer(self, request: http::Request<Body>) -> http::Response<Body> {
        let take = async |request: ExportLogsServiceRequest| {
            self.0.received().take_logs(request.resource_logs);
            Ok(ExportLogsServiceResponse::default())
        };
        rpc::unary(request, take).await
    }
}
