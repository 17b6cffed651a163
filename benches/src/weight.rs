//! The weight of a first program: processor time of a build from scratch, and the size of the stripped program. Like
//! for like: traces, metrics and logs over HTTP, without gRPC and TLS, which `opentelemetry-otlp` also leaves out by
//! default. Each round builds everything, one library after the other.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::cpu;
use crate::report::{Report, Section};
use crate::stats::Median;

const ROUNDS: usize = 2;

struct Program {
    name: &'static str,
    dependencies: String,
    source: &'static str,
}

const OURS: &str = r#"use tracecast::prelude::*;

#[tc_span("Hello/World")]
fn hello() {}

fn main() {
    let telemetry = tracecast::init();
    hello();
    telemetry.shutdown(std::time::Duration::from_secs(5));
}
"#;

const THEIRS: &str = r#"use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

#[tracing::instrument]
fn hello() {}

fn main() {
    let spans = opentelemetry_otlp::SpanExporter::builder().with_http().build().expect("an exporter");
    let metrics = opentelemetry_otlp::MetricExporter::builder().with_http().build().expect("an exporter");
    let tracers = SdkTracerProvider::builder().with_batch_exporter(spans).build();
    let meters = SdkMeterProvider::builder().with_periodic_exporter(metrics).build();
    opentelemetry::global::set_meter_provider(meters.clone());
    let layer = tracing_opentelemetry::layer().with_tracer(tracers.tracer("hello"));
    tracing_subscriber::registry().with(layer).init();
    hello();
    let _ = (tracers.shutdown(), meters.shutdown());
}
"#;

fn programs() -> [Program; 3] {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime");
    let ours = |name, features| Program {
        name,
        dependencies: format!(
            "tracecast = {{ path = {runtime:?}, default-features = false, features = {features} }}\n"
        ),
        source: OURS,
    };
    let theirs = "opentelemetry = \"0.33\"\nopentelemetry_sdk = \"0.33\"\nopentelemetry-otlp = \"0.33\"\ntracing = \"0.1\"\n\
                  tracing-opentelemetry = \"0.34\"\ntracing-subscriber = { version = \"0.3\", default-features = false, \
                  features = [\"registry\", \"std\"] }\n";
    [
        ours("tracecast", r#"["logs", "otlp"]"#),
        Program { name: "tracing-opentelemetry, opentelemetry-otlp", dependencies: theirs.to_owned(), source: THEIRS },
        ours("tracecast with gRPC and TLS", r#"["grpc", "logs", "otlp", "tls"]"#),
    ]
}

pub fn report(report: &mut Report) {
    let folder = std::env::temp_dir().join(format!("tracecast-weight-{}", std::process::id()));
    let programs = programs();
    let folders: Vec<PathBuf> = programs.iter().enumerate().map(|(at, program)| write(&folder, at, program)).collect();
    let mut section = Section::new(
        "A first program: processor time of a build from nothing, and its size",
        ["library", "debug, s", "release, s", "x tracecast, debug", "bytes, release, stripped"],
    );
    let mut times = vec![[Vec::new(), Vec::new()]; programs.len()];
    for _ in 0..ROUNDS {
        for (folder, times) in folders.iter().zip(&mut times) {
            for (arguments, times) in [&["build"][..], &["build", "--release"]].into_iter().zip(times) {
                times.push(built(folder, arguments).as_secs_f64());
            }
        }
    }
    let sizes: Vec<u64> = folders.iter().map(|folder| size(folder)).collect();
    for ((program, [debug, release]), bytes) in programs.iter().zip(&times).zip(&sizes) {
        section.row([
            program.name.to_owned(),
            Median::of(debug.iter().copied()).to_string(),
            Median::of(release.iter().copied()).to_string(),
            Median::of_ratios(debug, &times[0][0]).to_string(),
            bytes.to_string(),
        ]);
    }
    report.add(section);
    for (what, at) in [("debug", 0), ("release", 1)] {
        let ratio = Median::of_ratios(&times[0][at], &times[1][at]).value;
        report.goal(
            format!("a first program, {what}: processor time"),
            ratio,
            1.0,
            "x opentelemetry-otlp",
            String::new(),
        );
    }
    report.goal(
        "a first program: bytes",
        sizes[0] as f64 / sizes[1] as f64,
        1.0,
        "x opentelemetry-otlp",
        String::new(),
    );
    let _ = std::fs::remove_dir_all(folder);
}

fn write(folder: &Path, at: usize, program: &Program) -> PathBuf {
    let folder = folder.join(at.to_string());
    std::fs::create_dir_all(folder.join("src")).expect("a temporary folder");
    let manifest = format!(
        "[package]\nname = \"hello\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[profile.release]\nstrip = true\n\
         [dependencies]\n{}",
        program.dependencies
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
    std::fs::write(folder.join("src/main.rs"), program.source).expect("a source file");
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock");
    std::fs::copy(lock, folder.join("Cargo.lock")).expect("the lock file");
    folder
}

/// Returns the processor time of a build into an empty folder.
fn built(folder: &Path, arguments: &[&str]) -> Duration {
    let target = folder.join("target").join(if arguments.len() > 1 { "release" } else { "debug" });
    let _ = std::fs::remove_dir_all(&target);
    let before = cpu::of_children();
    let status = Command::new("cargo")
        .args(arguments)
        .args(["--quiet", "--offline", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env("CARGO_INCREMENTAL", "0")
        .status()
        .expect("cargo starts");
    assert!(status.success(), "cargo {arguments:?} failed in {}", folder.display());
    cpu::of_children() - before
}

fn size(folder: &Path) -> u64 {
    std::fs::metadata(folder.join("target/release/hello")).expect("the program").len()
}
