//! Measures the sizes of futures.

use std::hint::black_box;

use tracecast::prelude::*;

use crate::report::{Report, Section};

async fn plain(x: u64) -> u64 {
    black_box(x)
}

#[tc_span("Bench/Small")]
async fn span(x: u64) -> u64 {
    black_box(x)
}

async fn plain_kilobyte(x: [u8; 1024]) -> Result<u8, std::fmt::Error> {
    std::future::ready(()).await;
    Ok(black_box(x)[0])
}

#[tc_span("Bench/Kilobyte")]
async fn span_kilobyte(x: [u8; 1024]) -> Result<u8, std::fmt::Error> {
    std::future::ready(()).await;
    Ok(black_box(x)[0])
}

pub fn report(report: &mut Report) {
    let mut section = Section::new("Future sizes, bytes", ["future", "plain", "tracecast", "growth"]);
    let futures = [
        ("small async fn", size_of_val(&plain(1)), size_of_val(&span(1))),
        (
            "async fn with a 1 KiB argument",
            size_of_val(&plain_kilobyte([0; 1024])),
            size_of_val(&span_kilobyte([0; 1024])),
        ),
    ];
    for (what, plain, span) in futures {
        let growth = span as f64 - plain as f64;
        section.row([what.to_owned(), plain.to_string(), span.to_string(), growth.to_string()]);
        report.goal(format!("future growth, {what}"), growth, 64.0, "bytes", "");
    }
    report.add(section);
}
