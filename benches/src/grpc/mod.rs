//! gRPC: one service behind each layer in turn, ours and peers'.

mod by_hand;
mod case;
mod clients;
mod direct;
mod echo;
mod floor;
mod http;
mod instructions;
mod rounds;
mod streams;
mod variants;
mod worker;

pub use instructions::run_here;
pub use worker::run as work;

use crate::callgrind::Extent;
use crate::chart::{Bar, Chart};
use crate::report::{Report, Section, figure, of_peer};
use case::Case;
use rounds::Measured;

/// Calls per round.
const UNARY: u64 = 800;
const STREAMS: u64 = 8;

pub fn report(quick: bool, report: &mut Report) -> Vec<Chart> {
    let unary = rounds::measure("unary", UNARY, if quick { 2 } else { 60 });
    let streams = rounds::measure("stream", STREAMS, if quick { 1 } else { 30 });
    let what = "Unary calls over one loopback connection, 16 in flight";
    report.add(table(&format!("gRPC: {what}"), "us per call", 1e3, &unary));
    let per_message = 1e3 * echo::MESSAGES as f64;
    report.add(table("gRPC: server streams of 1,000 messages", "us per message", per_message, &streams));
    goals(&unary, report);
    all_instructions(Extent::of(quick), report);
    vec![chart(&unary)]
}

fn table(title: &str, unit: &str, divisor: f64, measured: &[Measured]) -> Section {
    let columns = ["layer on the server", unit, "process, x no layer", "server's thread, x no layer"];
    let mut section = Section::new(format!("{title}: processor time of client and server"), columns);
    let base = rounds::base(measured);
    for this in measured {
        let time = figure(this.process().value / divisor);
        let (process, server) = (this.process_over(base).to_string(), this.server_over(base).to_string());
        section.row([this.variant.name.to_owned(), time, process, server]);
    }
    section
}

fn goals(measured: &[Measured], report: &mut Report) {
    let base = rounds::base(measured);
    let of = |name: &str| measured.iter().find(|this| this.variant.name == name);
    let peer = of(variants::PEER).map_or(f64::NAN, |peer| peer.process_over(base).value);
    for this in measured {
        if let Some(limit) = this.variant.targets.0 {
            let what = format!("gRPC server, unary: {}", this.variant.name);
            report.goal(
                what,
                this.process_over(base).value,
                limit,
                "x no layer",
                format!("fastrace-tonic {}", figure(peer)),
            );
        }
    }
}

/// The cost that layers add, without a network.
pub fn all_instructions(extent: Extent, report: &mut Report) {
    instructions(extent, report);
    let title = "gRPC: instructions that a client's layer adds to a call, without a network";
    cases(title, clients::CASES, &[clients::SAMPLED_NAME, clients::OFF_NAME], extent, report);
    let title = "gRPC: instructions that a layer adds to each message of a stream, without a network";
    cases(title, streams::CASES, &[], extent, report);
    let title = "HTTP: instructions that a server's layer adds to a request, without a network";
    cases(title, http::CASES, &[http::SAMPLED_NAME, http::OFF_NAME], extent, report);
}

const WITHOUT_VALGRIND: &str = "valgrind is not installed: no instruction counts.";

fn instructions(extent: Extent, report: &mut Report) {
    let mut section =
        Section::new("gRPC: instructions that a layer adds to a call, without a network", ["layer", "instructions"]);
    let extra = instructions::extra(extent);
    if extra.is_none() {
        section.note(WITHOUT_VALGRIND);
    }
    let extra = extra.unwrap_or_default();
    let peer = extra.iter().find(|(variant, _)| variant.name == variants::PEER);
    let peer = peer.map_or_else(String::new, |(peer, extra)| of_peer(peer.name, *extra));
    for (variant, over) in &extra {
        section.row([variant.name.to_owned(), format!("{over:.0}")]);
        if let Some(limit) = variant.targets.1 {
            let by_hand = by_hand(extra.iter().map(|(variant, over)| (variant.name, *over)), variant.name);
            let what = format!("gRPC server: {}", variant.name);
            report.goal(what, *over, limit, "instructions", peer.clone()).by_hand(by_hand);
        }
    }
    report.add(section);
}

fn cases(title: &str, cases: &'static [Case], quick: &[&str], extent: Extent, report: &mut Report) {
    let mut section = Section::new(title, ["layer", "instructions"]);
    let extra = instructions::extra_of(cases, quick, extent);
    if extra.is_none() {
        section.note(WITHOUT_VALGRIND);
    }
    let extra = extra.unwrap_or_default();
    for (case, over) in &extra {
        section.row([case.name.to_owned(), format!("{over:.0}")]);
        if let Some(limit) = case.target {
            let peer = extra.iter().find(|(peer, _)| case.peer == Some(peer.name));
            let peer = peer.map_or_else(String::new, |(peer, over)| of_peer(peer.name, *over));
            let by_hand = by_hand(extra.iter().map(|(case, over)| (case.name, *over)), case.name);
            report.goal(case.name, *over, limit, "instructions", peer).by_hand(by_hand);
        }
    }
    report.add(section);
}

/// The instructions of the hand-written layer for the same work.
fn by_hand(mut all: impl Iterator<Item = (&'static str, f64)>, name: &str) -> f64 {
    let wanted = name.replace("tracecast", "by hand");
    all.find(|(known, _)| *known == wanted && *known != name).map_or(f64::NAN, |(_, over)| over)
}

fn chart(measured: &[Measured]) -> Chart {
    let base = rounds::base(measured);
    let bars = measured.iter().map(|this| {
        let name = this.variant.name;
        Bar { label: name.to_owned(), value: this.process_over(base).value, ours: name.starts_with("tracecast") }
    });
    Chart { title: "gRPC unary call, processor time of both sides", unit: "x no layer", bars: bars.collect() }
}
