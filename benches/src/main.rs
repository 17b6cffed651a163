//! Prints what Tracecast costs, beside the limit and a peer, in one run.
//!
//! `cargo run --release` prints the table. `-- --quick` does it in a few seconds, with figures too rough to quote.

mod alloc;
mod check_time;
mod instructions;
mod sizes;
mod time;
mod work;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["--count", scenario, calls] => instructions::run_here(scenario, calls.parse().expect("a number of calls")),
        [] => print_all(false),
        ["--quick"] => print_all(true),
        ["--time"] => time::print(false),
        ["--instructions"] => instructions::print(),
        ["--sizes"] => sizes::print(),
        ["--check"] => check_time::print(false),
        _ => {
            eprintln!("usage: tracecast-benches [--quick | --time | --instructions | --sizes | --check]");
            std::process::exit(2);
        }
    }
}

fn print_all(quick: bool) {
    sizes::print();
    instructions::print();
    time::print(quick);
    check_time::print(quick);
}
