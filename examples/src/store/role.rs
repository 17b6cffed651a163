//! Code that all store processes share: start telemetry, serve, and shut down gracefully.

use std::io::Read;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;
use tracecast::Guard;
use tracecast::config::{Config, LogFormat};
use tracecast::shutdown::Shutdown;
use tracecast_tower::GrpcServerLayer;

use super::keys;
use crate::rpc::{Methods, Served};

/// What a server prints before its address.
pub(crate) const LISTENING: &str = "listening on ";

/// The time for the final export if the backend is slow or gone.
pub(crate) const FLUSH: Duration = Duration::from_secs(2);

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Starts telemetry. `OTEL_*` variables set the destination, this code the identity of the process.
pub(crate) fn telemetry(service: &str, instance: &str, role: &str) -> Result<Guard, Failure> {
    let config = Config::from_env()
        .with_service_name(service)
        .with_role(role)
        .with_resource_attribute("service.instance.id", instance)
        .with_metric_interval(Duration::from_millis(500))
        .with_log_format(LogFormat::None);
    Ok(config.init()?)
}

/// Listens on a free local port.
pub(crate) async fn listen() -> Result<(TcpListener, String), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    Ok((listener, address))
}

/// Serves until SIGTERM or SIGINT, finishes requests in progress, runs the steps that `stop` adds, shuts telemetry
/// down, and exits the process.
pub(crate) async fn serve(
    methods: impl Methods + Sync,
    listener: TcpListener,
    telemetry: Guard,
    stop: impl FnOnce(Shutdown) -> Shutdown,
) -> Result<(), Failure> {
    let (health, address) = (telemetry.health(), listener.local_addr()?);
    let shutdown = Shutdown::new(telemetry).with_runtime(Handle::current()).with_flush_timeout(FLUSH);
    let server = Server::builder()
        // The caller's baggage has the session; this records it on spans.
        .layer(GrpcServerLayer::new().with_shared_baggage(keys::session))
        .add_service(Served(methods))
        .serve_with_incoming_shutdown(TcpListenerStream::new(listener), async move { health.shutting_down().await });
    let server = tokio::spawn(server);
    let drained = || async move { server.await.map_err(Failure::from)?.map_err(Failure::from) };
    let _armed = stop(shutdown.step("drain", drained).within(Duration::from_secs(10))).on_signals();
    println!("{LISTENING}{address}");
    until_nobody_is_there().await;
    Ok(())
}

/// The parent process holds standard input open. A thread waits for its end: a task that reads would keep the runtime
/// from ending.
async fn until_nobody_is_there() {
    let (ended, end) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        ended.send(())
    });
    let _ = end.await;
}
