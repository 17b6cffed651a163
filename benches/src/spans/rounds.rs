//! Rounds in turn, in one process per phase: global state, such as a subscriber, is set once.

use std::hint::black_box;
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
use crate::{peers, side_by_side, work};

/// Nanoseconds of one contender in each round.
pub struct Timed {
    pub phase: Phase,
    pub case: String,
    pub library: String,
    /// NaN in rounds that were disturbed from outside.
    pub rounds: Vec<f64>,
    /// NaN in rounds that were not disturbed.
    pub disturbed: Vec<f64>,
    /// The control's time before or after each round, whichever is longer; empty if there is no control.
    controls: Vec<f64>,
}

/// Starts another process of this program that times one phase.
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

/// Separates rounds with a disturbed control, if enough others are left.
fn set_apart(all: &mut [Timed]) {
    let good = undisturbed(all.iter().flat_map(|timed| timed.controls.iter().copied()));
    let quiet = |timed: &Timed| timed.controls.iter().filter(|control| **control <= good).count();
    if all.iter().any(|timed| quiet(timed) < ENOUGH) {
        return;
    }
    for timed in all {
        for ((round, disturbed), control) in timed.rounds.iter_mut().zip(&mut timed.disturbed).zip(&timed.controls) {
            let apart = if *control <= good { &mut *disturbed } else { &mut *round };
            *apart = f64::NAN;
        }
    }
}

/// The fewest undisturbed rounds from which a median is taken.
const ENOUGH: usize = 50;

fn parse(phase: Phase, line: &str) -> Option<Timed> {
    let mut parts = line.split('\t');
    let (case, library) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    let mut numbers = || -> Option<Vec<f64>> {
        parts.next()?.split(' ').filter(|number| !number.is_empty()).map(|number| number.parse().ok()).collect()
    };
    let (rounds, controls) = (numbers()?, numbers()?);
    Some(Timed { phase, case, library, disturbed: rounds.clone(), rounds, controls })
}

/// The work of that other process.
pub fn run_here(phase: &str, threads: &str, rounds: &str) {
    let phase = Phase::ALL.into_iter().find(|known| known.name() == phase).expect("a phase");
    let rounds: usize = rounds.parse().expect("a number of rounds");
    let mut contenders = contenders(phase);
    check(phase, &contenders);
    let (timed, controls) = if threads == "1" {
        on_one_thread(&contenders, rounds)
    } else {
        // Cases in which threads could interfere; not those with private data only.
        contenders.retain(|contender| [cases::ZERO, cases::FOUR, cases::TREE].contains(&contender.case));
        (on_two_threads(&contenders, rounds), vec![Vec::new(); contenders.len()])
    };
    for ((contender, rounds), controls) in contenders.iter().zip(timed).zip(controls) {
        let [rounds, controls] = [rounds, controls]
            .map(|numbers| numbers.iter().map(|number| format!("{number:.2}")).collect::<Vec<_>>().join(" "));
        println!("{}\t{}\t{rounds}\t{controls}", contender.case, contender.library);
    }
}

/// Checks that each library records two trees and their root, or nothing at all.
fn check(phase: Phase, contenders: &[Contender]) {
    for contender in contenders.iter().filter(|contender| contender.case == cases::TREE) {
        let records = phase == Phase::Recorded && ![Plain::NAME, Limit::NAME].contains(&contender.library);
        let before = peers::seen();
        (contender.round)();
        (contender.settle)();
        peers::check(contender.library, before, if records { 2 * 100 + 1 } else { 0 });
    }
}

/// Ordered by case, so that compared contenders run after each other.
fn contenders(phase: Phase) -> Vec<Contender> {
    let mut all = cases::of::<Plain>(phase);
    all.extend(cases::of::<Limit>(phase));
    all.extend(cases::of::<Tracecast>(phase));
    all.extend(cases::of::<Fastrace>(phase));
    all.extend(cases::of::<Foundations>(phase));
    // Before `tracing`, which uses the same provider.
    all.extend(cases::of::<Sdk>(phase));
    all.extend(cases::of::<Tracing>(phase));
    all.sort_by_key(|contender| cases::ALL.iter().position(|case| *case == contender.case));
    all
}

/// Runs one round; returns the time per repetition, and start and end.
fn round(contender: &Contender) -> (f64, Instant, Instant) {
    let start = Instant::now();
    (contender.round)();
    let end = Instant::now();
    ((end - start).as_nanos() as f64 / contender.times as f64, start, end)
}

/// The time of each contender, and of the control around it.
fn on_one_thread(contenders: &[Contender], rounds: usize) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let mut timed = vec![Vec::new(); contenders.len()];
    let mut controls = timed.clone();
    for _ in 0..rounds {
        for ((contender, timed), controls) in contenders.iter().zip(&mut timed).zip(&mut controls) {
            // Warms the caches that another contender evicted.
            (contender.round)();
            let before = control();
            timed.push(round(contender).0);
            controls.push(before.max(control()));
            (contender.settle)();
        }
    }
    (timed, controls)
}

fn control() -> f64 {
    let start = Instant::now();
    black_box(work::wide(black_box(1)));
    start.elapsed().as_nanos() as f64
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
