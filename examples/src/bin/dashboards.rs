//! Writes the dashboards of `deploy/grafana`, and serves data for them.
//!
//! `dashboards FOLDER` writes them, from the catalogue of a program with the layers and the GPU monitor. `dashboards
//! --serve PORT` is such a program: it calls itself over gRPC and HTTP, watches two GPUs of a fake driver, exports to
//! itself, and serves its metrics on that port until its standard input ends. A check queries each panel from a
//! Prometheus that scrapes it.

use std::error::Error;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::{Request, StatusCode};
use axum::routing::{get, post};
use http_body_util::{BodyExt as _, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::{Channel, Server};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tower::{Layer as _, ServiceExt as _};
use tracecast::config::{Config, Exporter, Signal, Spool};
use tracecast::prelude::*;
use tracecast_nvml::HostGroup;
use tracecast_nvml_fake::Fake;
use tracecast_tower::{GrpcClientLayer, GrpcServerLayer, HttpClient, HttpClientLayer, HttpServerLayer};

type Failed = Box<dyn Error + Send + Sync>;
type Caller = HttpClient<Client<HttpConnector, Empty<Bytes>>>;

const INTERVAL: Duration = Duration::from_millis(500);
/// One GPU is split (MIG) and does not report its power. The other one is used by this process.
const DRIVER: &str = "gpus = 2; gpu1.mig = 2; gpu1.fail.nvmlDeviceGetPowerUsage = 999; gpu0.process_memory = 1048576";

/// A dashboard: its file, its title, and the prefixes of its metrics' names.
const DASHBOARDS: [(&str, &str, &[&str]); 2] = [
    ("services.json", "Services", &["tc_rpc_", "tc_http_", "tc_runtime_", "tc_stall", "tc_process_", "tc_container_"]),
    ("gpus.json", "GPUs and hosts", &["tc_gpu_", "tc_nvml_", "tc_system_"]),
];

/// All groups of host metrics.
const GROUPS: [HostGroup; 7] = [
    HostGroup::Network,
    HostGroup::Disk,
    HostGroup::Filesystem,
    HostGroup::Load,
    HostGroup::Swap,
    HostGroup::PerCpu,
    HostGroup::PageFaults,
];

/// The `tc_*` metrics that are in no other dashboard.
const TELEMETRY: (&str, &str) = ("telemetry.json", "Telemetry itself");

fn write(folder: &Path) -> std::io::Result<()> {
    let data = || tracecast::catalogue().data();
    let is_in = |name: &str, prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    for (file, title, prefixes) in DASHBOARDS {
        std::fs::write(folder.join(file), data().with_metrics(|name| is_in(name, prefixes)).to_grafana(title))?;
    }
    let rest = |name: &str| name.starts_with("tc_") && !DASHBOARDS.iter().any(|(.., prefixes)| is_in(name, prefixes));
    std::fs::write(folder.join(TELEMETRY.0), data().with_metrics(rest).to_grafana(TELEMETRY.1))
}

#[tokio::main]
async fn main() -> Result<ExitCode, Failed> {
    if let Some(code) = tracecast::catalogue::handle_arguments(std::env::args_os()) {
        return Ok(code);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--serve", port] => serve(port.parse()?).await?,
        [folder] => write(Path::new(folder))?,
        _ => return Err("expected a folder to write to, or --serve PORT".into()),
    }
    Ok(ExitCode::SUCCESS)
}

async fn serve(port: u16) -> Result<(), Failed> {
    let (web, rpc) = (TcpListener::bind("127.0.0.1:0").await?, TcpListener::bind("127.0.0.1:0").await?);
    let (web_address, rpc_address) = (web.local_addr()?, rpc.local_addr()?);
    let spool = std::env::temp_dir().join(format!("tracecast-dashboards-{}", std::process::id()));
    let telemetry = Config::new()
        .with_service_name("dashboards")
        .with_endpoint(format!("http://{web_address}").parse()?)
        .with_exporters(Signal::Metrics, vec![Exporter::Prometheus, Exporter::Otlp(Box::default())])
        .with_metric_interval(INTERVAL)
        .with_prometheus_address("127.0.0.1", port)
        .with_span_batch(|batch| (batch.queue, batch.delay) = (Some(10_000), INTERVAL))
        .with_spool(Some(Spool::new(&spool)))
        .with_stalls(true)
        .init()?;
    let _runtime = tracecast::observe_runtime("main", &Handle::current());
    let fake = Fake::new(DRIVER)?;
    let monitor = tracecast_nvml::Config::default().with_interval(INTERVAL).with_devices(["0", "1"]);
    let monitor = monitor
        .with_host_groups(GROUPS)
        .with_details(true)
        .with_nvlink(true)
        .with_pcie_throughput(true)
        .with_activity(true);
    let monitor = tracecast_nvml::start(monitor.with_library(fake.library()));

    // An empty response is valid OTLP. Exports are not measured.
    let collector = Router::new().route("/v1/{signal}", post(|| async {}));
    let router = Router::new().route("/found", get(|| async { "found" })).route("/missing", get(missing));
    let router = router.layer(HttpServerLayer::new().with_first_byte()).merge(collector);
    tokio::spawn(async move { axum::serve(web, router).await });
    let (_reporter, health) = tonic_health::server::health_reporter();
    // Health checks are traced only if a filter enables them.
    let server =
        Server::builder().layer(GrpcServerLayer::new().with_filter(|_| true).with_first_byte()).add_service(health);
    tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(rpc)));

    let channel = Channel::from_shared(format!("http://{rpc_address}"))?.connect_lazy();
    let mut health = HealthClient::new(GrpcClientLayer::new().with_filter(|_| true).with_first_byte().layer(channel));
    let client = HttpClientLayer::new().with_first_byte().layer(Client::builder(TokioExecutor::new()).build_http());
    let ended = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
    let mut round = 0;
    while !ended.is_finished() {
        round += 1;
        fake.script(&format!("{DRIVER}; xid = {round}:0:31"))?;
        for service in ["", "unknown"] {
            // The second path does not exist, so that errors are shown too.
            let _ = health.check(HealthCheckRequest { service: service.to_owned() }).await;
        }
        for path in ["found", "missing"] {
            fetch(&client, format!("http://{web_address}/{path}")).await?;
        }
        if round % 20 == 0 {
            stall().await;
        }
        tracing::info!("a round of calls");
        tokio::time::sleep(INTERVAL / 10).await;
    }
    telemetry.shutdown(Duration::from_secs(5));
    monitor.shutdown();
    let _ = std::fs::remove_dir_all(spool);
    Ok(())
}

/// Blocks its thread, as it should not.
#[tc_span("Dashboards/Stall")]
async fn stall() {
    std::thread::sleep(Duration::from_millis(150));
}

async fn missing() -> StatusCode {
    StatusCode::NOT_FOUND
}

async fn fetch(client: &Caller, url: String) -> Result<(), Failed> {
    let response = client.clone().oneshot(Request::get(url).body(Empty::new())?).await?;
    response.into_body().collect().await?;
    Ok(())
}
