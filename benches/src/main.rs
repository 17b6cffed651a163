//! Prints what Tracecast costs, beside the limit and a peer, in one run.
//!
//! `cargo run --release` prints the tables. `-- --quick` does it in a few seconds, with figures too rough to quote;
//! `-- --clock` takes two minutes and is not part of them.

mod alloc;
mod check_time;
mod clock;
#[cfg(feature = "otlp")]
mod encode;
#[cfg(feature = "otlp")]
mod end_to_end;
mod instructions;
mod metrics;
mod sizes;
mod time;
mod work;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["--count", scenario, calls] => instructions::run_here(scenario, calls.parse().expect("a number of calls")),
        #[cfg(feature = "otlp")]
        ["--encode-count", contender, spans] => encode::run_here(contender, spans.parse().expect("a number of spans")),
        [] => print_all(false),
        ["--quick"] => print_all(true),
        ["--time"] => time::print(false),
        ["--metrics"] => metrics::print(false),
        ["--instructions"] => instructions::print(),
        ["--sizes"] => sizes::print(),
        ["--check"] => check_time::print(false),
        #[cfg(feature = "otlp")]
        ["--encode"] => encode::print(false),
        #[cfg(feature = "otlp")]
        ["--end-to-end"] => end_to_end::print(false),
        ["--clock"] => clock::print(),
        _ => {
            eprintln!(
                "usage: tracecast-benches [--quick | --time | --metrics | --instructions | --sizes | --check | --encode | --end-to-end | --clock]"
            );
            std::process::exit(2);
        }
    }
}

fn print_all(quick: bool) {
    sizes::print();
    instructions::print();
    time::print(quick);
    metrics::print(quick);
    #[cfg(feature = "otlp")]
    encode::print(quick);
    #[cfg(feature = "otlp")]
    end_to_end::print(quick);
    check_time::print(quick);
}
