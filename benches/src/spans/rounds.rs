//! Rounds in turn, in a process for each phase: what belongs to a process, as a subscriber, is set once.

use std::process::Command;
use std::time::Instant;

use super::cases::{self, Contender};
use super::fastrace::Fastrace;
use super::foundations::Foundations;
use super::library::{Library as _, Phase};
use super::ours::Tracecast;
use super::plain::{Limit, Plain};
use super::sdk::Sdk;
use super::tracing::Tracing;
use crate::stats::undisturbed;
use crate::{peers, side_by_side};

/// Nanoseconds of one contender, in each round.
pub struct Timed {
    pub phase: Phase,
    pub case: String,
    pub library: String,
    /// Those that count.
    pub rounds: Vec<f64>,
    /// Those in which the plain functions were slow, too.
    pub disturbed: Vec<f64>,
}

/// Has another process of this program time one phase.
pub fn measure(phase: Phase, threads: usize, rounds: usize) -> Vec<Timed> {
    let output = Command::new(std::env::current_exe().expect("the path of this program"))
        .args(["--spans-phase", phase.name(), &threads.to_string(), &rounds.to_string()])
        .output()
        .expect("this program starts");
    assert!(output.status.success(), "{}: {}", phase.name(), String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let mut all: Vec<Timed> = text.lines().map(|line| parse(phase, line).unwrap_or_else(|| panic!("{line}"))).collect();
    set_apart(&mut all);
    all
}

/// Sets apart, for all libraries, the rounds of a case in which the plain functions were disturbed, if enough others are left.
fn set_apart(all: &mut [Timed]) {
    for case in cases::ALL {
        let control = all.iter().find(|timed| timed.case == case && timed.library == Plain::NAME);
        let quiet = control.map_or_else(Vec::new, |control| undisturbed(&control.rounds));
        if quiet.iter().filter(|quiet| **quiet).count() < ENOUGH {
            continue;
        }
        for timed in all.iter_mut().filter(|timed| timed.case == case) {
            let rounds = std::mem::take(&mut timed.rounds);
            for (round, quiet) in rounds.into_iter().zip(&quiet) {
                if *quiet { &mut timed.rounds } else { &mut timed.disturbed }.push(round);
            }
        }
    }
}

/// So many quiet rounds make a median.
const ENOUGH: usize = 50;

fn parse(phase: Phase, line: &str) -> Option<Timed> {
    let (case, rest) = line.split_once('\t')?;
    let (library, rounds) = rest.split_once('\t')?;
    let rounds = rounds.split(' ').filter(|round| !round.is_empty()).map(|round| round.parse().ok());
    let rounds = rounds.collect::<Option<_>>()?;
    Some(Timed { phase, case: case.to_owned(), library: library.to_owned(), rounds, disturbed: Vec::new() })
}

/// What that other process does.
pub fn run_here(phase: &str, threads: &str, rounds: &str) {
    let phase = Phase::ALL.into_iter().find(|known| known.name() == phase).expect("a phase");
    let rounds: usize = rounds.parse().expect("a number of rounds");
    let mut contenders = contenders(phase);
    check(phase, &contenders);
    let timed = if threads == "1" {
        on_one_thread(&contenders, rounds)
    } else {
        // Where threads could get into each other's way: not in what is private to them.
        contenders.retain(|contender| [cases::ZERO, cases::FOUR, cases::TREE].contains(&contender.case));
        on_two_threads(&contenders, rounds)
    };
    for (contender, rounds) in contenders.iter().zip(timed) {
        let rounds: Vec<String> = rounds.iter().map(|round| format!("{round:.2}")).collect();
        println!("{}\t{}\t{}", contender.case, contender.library, rounds.join(" "));
    }
}

/// Makes sure that each library records two trees and their root, or nothing at all.
fn check(phase: Phase, contenders: &[Contender]) {
    for contender in contenders.iter().filter(|contender| contender.case == cases::TREE) {
        let records = phase == Phase::Recorded && ![Plain::NAME, Limit::NAME].contains(&contender.library);
        let before = peers::seen();
        (contender.round)();
        (contender.settle)();
        peers::check(contender.library, before, if records { 2 * 100 + 1 } else { 0 });
    }
}

/// By cases: those that are compared run after each other.
fn contenders(phase: Phase) -> Vec<Contender> {
    let mut all = cases::of::<Plain>(phase);
    all.extend(cases::of::<Limit>(phase));
    all.extend(cases::of::<Tracecast>(phase));
    all.extend(cases::of::<Fastrace>(phase));
    all.extend(cases::of::<Foundations>(phase));
    // In front of `tracing`, which uses the same provider.
    all.extend(cases::of::<Sdk>(phase));
    all.extend(cases::of::<Tracing>(phase));
    all.sort_by_key(|contender| cases::ALL.iter().position(|case| *case == contender.case));
    all
}

/// One round: per time, and from when to when.
fn round(contender: &Contender) -> (f64, Instant, Instant) {
    let start = Instant::now();
    (contender.round)();
    let end = Instant::now();
    ((end - start).as_nanos() as f64 / contender.times as f64, start, end)
}

fn on_one_thread(contenders: &[Contender], rounds: usize) -> Vec<Vec<f64>> {
    let mut timed = vec![Vec::new(); contenders.len()];
    for _ in 0..rounds {
        for (contender, timed) in contenders.iter().zip(&mut timed) {
            timed.push(round(contender).0);
            (contender.settle)();
        }
    }
    timed
}

fn on_two_threads(contenders: &[Contender], rounds: usize) -> Vec<Vec<f64>> {
    let round = |at: usize| {
        let (_, start, end) = round(&contenders[at]);
        (start, end)
    };
    let mut timed = side_by_side::measure(contenders.len(), rounds, &round, &|at| (contenders[at].settle)());
    for (contender, rounds) in contenders.iter().zip(&mut timed) {
        rounds.iter_mut().for_each(|round| *round /= contender.times as f64);
    }
    timed
}
