//! Chains of async functions: compile time by depth, and the depth at which the recursion limit is reached.

use std::path::Path;

use super::cargo::{self, Task};
use super::source::{self, FASTRACE, OURS, PLAIN};
use crate::report::{Report, Section, figure, of_peer};
use crate::stats::Median;

const LIBRARIES: [&str; 3] = [PLAIN, OURS, FASTRACE];
const DEPTHS: [usize; 3] = [10, 20, 30];
/// Many chains in one crate, so that the difference by depth exceeds noise.
const CHAINS: usize = 10;
const ROUNDS: usize = 3;

pub fn report(folder: &Path, report: &mut Report) {
    let columns =
        ["library", "s, depth 10", "s, depth 20", "s, depth 30", "20 to 30 / 10 to 20", "deepest that compiles"];
    let mut section = Section::new(
        format!("Chains of async functions that call each other, spawned: `cargo check` of {CHAINS}"),
        columns,
    );
    let all = LIBRARIES.map(|library| (library, times(folder, library)));
    let slopes = all.map(|(_, [ten, twenty, thirty])| (thirty - twenty) / (twenty - ten));
    for ((library, times), slope) in all.iter().zip(slopes) {
        let [ten, twenty, thirty] = times.map(figure);
        let deepest = deepest(folder, library).to_string();
        section.row([(*library).to_owned(), ten, twenty, thirty, figure(slope), deepest]);
    }
    section
        .note("The last column: `cargo build` of one chain, until the compiler's default recursion limit is reached.");
    let peer = of_peer(FASTRACE, slopes[2]);
    report.goal("growth of a chain of async fns, depth 20 to 30", slopes[1], 1.3, "x that of depth 10 to 20", peer);
    report.add(section);
}

/// Returns seconds by depth.
fn times(folder: &Path, library: &str) -> [f64; 3] {
    let mut rounds = [const { Vec::new() }; 3];
    // The first build includes dependencies.
    for round in 0..=ROUNDS {
        for (depth, times) in DEPTHS.iter().zip(&mut rounds) {
            // Peers reach the default limit earlier.
            let source = "#![recursion_limit = \"1024\"]\n".to_owned() + &source::chains(library, *depth, CHAINS);
            let folder = cargo::write(folder, library, "main.rs", &source);
            let time = cargo::run(&folder, Task::Check);
            if round > 0 {
                times.push(time);
            }
        }
    }
    rounds.map(|times| Median::of(times).value)
}

fn deepest(folder: &Path, library: &str) -> usize {
    let compiles = |depth| {
        let folder = cargo::write(folder, library, "main.rs", &source::chains(library, depth, 1));
        match cargo::try_run(&folder, &["build"], false) {
            Ok(_) => true,
            // The compiler proposes to raise the limit in any error about it.
            Err(error) if error.contains("recursion_limit") => false,
            Err(error) => panic!("{}: {error}", folder.display()),
        }
    };
    let (mut good, mut bad) = (1, 128);
    while bad - good > 1 {
        let depth = (good + bad) / 2;
        if compiles(depth) { good = depth } else { bad = depth }
    }
    good
}
