//! How large futures become.

use std::hint::black_box;

use tracecast::prelude::*;

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

pub fn print() {
    println!("## Future sizes, bytes\n\n| future | plain | tracecast | growth | target |\n|---|---|---|---|---|");
    row("small async fn", size_of_val(&plain(1)), size_of_val(&span(1)));
    row(
        "async fn with a 1 KiB argument",
        size_of_val(&plain_kilobyte([0; 1024])),
        size_of_val(&span_kilobyte([0; 1024])),
    );
    println!();
}

fn row(what: &str, plain: usize, span: usize) {
    println!("| {what} | {plain} | {span} | {} | <= 64 |", span as i64 - plain as i64);
}
