//! Measures the cost of Tracecast beside its peers and the hand-written minimum, in one run.
//!
//! `cargo run --release` prints all tables and which targets are met, and writes them to `results`. `-- --quick` does
//! it in a few seconds, with figures too rough to quote, and writes nothing. `-- --counts` prints our instruction
//! counts, which `.ci/instructions` compares. `-- --clock` takes two minutes and `-- --weight` builds programs for ten;
//! a normal run includes neither.
//! `-- --soak 600` measures nothing: it runs for 600 s against a backend that goes up and down, and fails if the
//! account is not exact. `-- --lines` times log lines. Both use a separate build, with logs.

#![cfg_attr(
    not(feature = "peers"),
    expect(dead_code, unused_mut, reason = "only instructions are counted in that build")
)]

mod alloc;
mod by_hand;
mod callgrind;
mod calls;
mod chart;
mod clock;
mod cpu;
#[cfg(feature = "otlp")]
mod encode;
#[cfg(feature = "otlp")]
mod end_to_end;
mod generated;
#[cfg(feature = "peers")]
mod growth;
#[cfg(feature = "peers")]
mod grpc;
mod instructions;
mod json;
#[cfg(feature = "soak")]
mod lines;
mod metrics;
#[cfg(feature = "peers")]
mod peers;
mod real;
mod report;
mod side_by_side;
mod sizes;
#[cfg(feature = "soak")]
mod soak;
#[cfg(feature = "peers")]
mod spans;
mod stats;
mod threads;
mod timed;
mod weight;
mod work;

use std::path::Path;

use chart::Chart;
use report::Report;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if !ran_for_another(&arguments) {
        let mut report = Report::default();
        match arguments[..] {
            [] | ["--all"] => all(&mut report),
            ["--quick"] => {
                tables(true, &mut report);
                generated::report(true, &mut report);
            }
            ["--calls"] => calls::report(false, &mut report),
            ["--threads"] => threads::report(false, &mut report),
            ["--metrics"] => drop(metrics::report(false, &mut report)),
            ["--instructions"] => instructions::report(false, &mut report),
            ["--sizes"] => sizes::report(&mut report),
            ["--check"] => generated::report(false, &mut report),
            #[cfg(feature = "otlp")]
            ["--encode"] => encode::report(false, &mut report),
            #[cfg(feature = "otlp")]
            ["--end-to-end"] => drop(end_to_end::report(false, &mut report)),
            #[cfg(feature = "peers")]
            ["--time"] => drop(spans::report(false, &mut report)),
            #[cfg(feature = "peers")]
            ["--grpc"] => drop(grpc::report(false, &mut report)),
            #[cfg(feature = "peers")]
            ["--layers"] => grpc::all_instructions(callgrind::Extent::All, &mut report),
            #[cfg(feature = "peers")]
            ["--counts"] => {
                instructions::count(callgrind::Extent::Ours, &mut report);
                grpc::all_instructions(callgrind::Extent::Ours, &mut report);
                encode::count(&mut report);
            }
            #[cfg(feature = "peers")]
            ["--growth"] => growth::report(false, &mut report),
            ["--weight"] => weight::report(&mut report),
            ["--clock"] => clock::report(&mut report),
            #[cfg(feature = "soak")]
            ["--lines"] => lines::report(&mut report),
            _ => {
                eprintln!(
                    "usage: tracecast-benches [--all | --quick | --time | --calls | --threads | --metrics | --instructions | --sizes | --check | \
                     --encode | --end-to-end | --grpc | --layers | --counts | --growth | --weight | --clock | --lines | \
                     --soak SECONDS]"
                );
                std::process::exit(2);
            }
        }
        report.print_goals();
        if arguments == ["--quick"] {
            println!("A quick run makes sure that everything runs: its times are too rough to quote.");
        }
    }
}

/// The commands that this program gives to another process of itself.
fn ran_for_another(arguments: &[&str]) -> bool {
    match arguments {
        #[cfg(feature = "soak")]
        ["--soak", seconds] => soak::run(seconds.parse().expect("a number of seconds")),
        #[cfg(not(feature = "soak"))]
        ["--soak", _] | ["--lines"] => run_in_the_build_with_logs(arguments),
        ["--count", scenario, calls] => instructions::run_here(scenario, calls.parse().expect("a number of calls")),
        #[cfg(feature = "otlp")]
        ["--encode-count", contender, spans] => encode::run_here(contender, spans.parse().expect("a number of spans")),
        #[cfg(feature = "peers")]
        ["--grpc-count", variant, calls] => grpc::run_here(variant, calls.parse().expect("a number of calls")),
        #[cfg(feature = "peers")]
        ["--grpc-worker", variant] => grpc::work(variant),
        #[cfg(feature = "peers")]
        ["--whole-way", library, rate, milliseconds] => end_to_end::beside::run_here(library, rate, milliseconds),
        #[cfg(feature = "peers")]
        ["--rate", threads, rate, milliseconds] => growth::run_here(threads, rate, milliseconds),
        #[cfg(feature = "peers")]
        ["--spans-phase", phase, threads, rounds] => spans::run_here(phase, threads, rounds),
        _ => return false,
    }
    true
}

/// Runs this command in a build with the feature `soak`, and exits with its code.
#[cfg(not(feature = "soak"))]
fn run_in_the_build_with_logs(arguments: &[&str]) {
    let this = Path::new(env!("CARGO_MANIFEST_DIR"));
    let status = std::process::Command::new("cargo")
        .args(["run", "--release", "--quiet", "--no-default-features", "--features", "soak", "--manifest-path"])
        .arg(this.join("Cargo.toml"))
        .arg("--")
        .args(arguments)
        .env("CARGO_TARGET_DIR", this.join("target/soak"))
        .status();
    std::process::exit(status.ok().and_then(|status| status.code()).unwrap_or(1));
}

/// Measures, prints and writes everything. The longest measurement is last, when the rest is already on disk.
fn all(report: &mut Report) {
    let charts = tables(false, report);
    write(report, &charts);
    generated::report(false, report);
    write(report, &charts);
}

fn write(report: &Report, charts: &[Chart]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    if let Err(error) = report.write(&folder, "cargo run --release -- --all", charts) {
        eprintln!("{} could not be written: {error}", folder.display());
    }
}

fn tables(quick: bool, report: &mut Report) -> Vec<Chart> {
    let mut charts = Vec::new();
    sizes::report(report);
    instructions::report(quick, report);
    #[cfg(feature = "peers")]
    charts.extend(spans::report(quick, report));
    calls::report(quick, report);
    charts.extend(metrics::report(quick, report));
    threads::report(quick, report);
    #[cfg(feature = "otlp")]
    encode::report(quick, report);
    #[cfg(feature = "otlp")]
    charts.extend(end_to_end::report(quick, report));
    #[cfg(feature = "peers")]
    charts.extend(grpc::report(quick, report));
    #[cfg(feature = "peers")]
    growth::report(quick, report);
    charts
}
