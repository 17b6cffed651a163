//! Crates with many functions, annotated or not: compile time, and program size.

mod cargo;
mod chains;
mod programs;
mod source;

use std::path::{Path, PathBuf};

use cargo::Task;
use source::{BY_HAND, FASTRACE, OURS, PLAIN, Shape, TRACING};

use crate::real;
use crate::report::{Report, Section, of_peer};
use crate::stats::Median;

/// The measured command, and the number of functions.
struct Row {
    task: Task,
    shape: Shape,
    functions: usize,
    limit: Option<Limit>,
}

/// The limit of a row.
#[derive(Clone, Copy)]
enum Limit {
    Times(f64),
    /// The limit is fastrace's ratio in the same run.
    Fastrace,
}

const fn row(task: Task, shape: Shape, functions: usize, limit: Option<Limit>) -> Row {
    Row { task, shape, functions, limit }
}

const ROWS: [Row; 17] = [
    row(Task::Check, Shape::Sync, 1_000, Some(Limit::Fastrace)),
    row(Task::Check, Shape::Small, 600, Some(Limit::Fastrace)),
    row(Task::Check, Shape::Results, 1_000, Some(Limit::Times(2.3))),
    row(Task::Check, Shape::Async, 1_000, Some(Limit::Times(1.7))),
    row(Task::Check, Shape::Attributes, 1_000, Some(Limit::Times(1.9))),
    row(Task::Edit, Shape::Sync, 1_000, Some(Limit::Times(5.0))),
    row(Task::Edit, Shape::Async, 1_000, Some(Limit::Times(5.0))),
    // Growth with the number of functions.
    row(Task::Check, Shape::Sync, 100, None),
    row(Task::Check, Shape::Sync, 10_000, None),
    row(Task::Check, Shape::Small, 100, None),
    row(Task::Check, Shape::Small, 10_000, None),
    row(Task::Check, Shape::Results, 100, None),
    row(Task::Check, Shape::Results, 10_000, None),
    row(Task::Check, Shape::Async, 100, None),
    row(Task::Check, Shape::Async, 10_000, None),
    row(Task::Check, Shape::Attributes, 100, None),
    row(Task::Check, Shape::Attributes, 10_000, None),
];

const QUICK: [Row; 1] = [row(Task::Check, Shape::Async, 20, None)];

/// Rounds of a row, and the seconds of processor time after which no further round starts: noise is a small part of a
/// long build.
const ROUNDS: usize = 3;
const ENOUGH: f64 = 10.0;

impl Row {
    /// The compared libraries; for growth only ours.
    fn libraries(&self) -> &'static [&'static str] {
        match (self.task, self.shape) {
            (Task::Check, _) if self.limit.is_none() => &[PLAIN, OURS],
            (Task::Check, Shape::Small | Shape::Results) => &[PLAIN, OURS, BY_HAND, FASTRACE],
            (Task::Check, _) => &[PLAIN, OURS, BY_HAND, FASTRACE, TRACING],
            _ => &[PLAIN, OURS, FASTRACE],
        }
    }

    fn write(&self, folder: &Path, library: &str, functions: usize) -> PathBuf {
        cargo::write(folder, library, "lib.rs", &source::functions(library, self.shape, functions))
    }
}

pub fn report(quick: bool, report: &mut Report) {
    let folder = std::env::temp_dir().join(format!("tracecast-generated-{}", std::process::id()));
    compile_times(if quick { &QUICK } else { &ROWS }, &folder, report);
    if !quick {
        // Building programs takes minutes.
        real_code(&folder, report);
        chains::report(&folder, report);
        programs::report(&folder, report);
    }
    let _ = std::fs::remove_dir_all(folder);
}

fn compile_times(rows: &[Row], folder: &Path, report: &mut Report) {
    let mut section = Section::new(
        "Compile times of annotated functions: processor time, medians of interleaved rounds",
        ["what", "functions", "library", "s", "x plain"],
    );
    for row in rows {
        let libraries = row.libraries();
        let crates: Vec<PathBuf> = libraries
            .iter()
            .map(|library| {
                // Dependencies are built before.
                cargo::run(&row.write(folder, library, 1), row.task);
                row.write(folder, library, row.functions)
            })
            .collect();
        let times = timed(row.task, libraries, &crates);
        let ratios: Vec<Median> = times.iter().map(|of_library| Median::of_ratios(of_library, &times[0])).collect();
        let what = format!("{}: {}", row.task.name(), row.shape.name());
        for ((library, of_library), ratio) in libraries.iter().zip(&times).zip(&ratios) {
            let seconds = Median::of(of_library.iter().copied()).to_string();
            section.row([what.clone(), row.functions.to_string(), (*library).to_owned(), seconds, ratio.to_string()]);
        }
        let of = |wanted: &str| {
            libraries.iter().position(|library| *library == wanted).map_or(f64::NAN, |at| ratios[at].value)
        };
        let (limit, unit) = match row.limit {
            Some(Limit::Times(limit)) => (limit, "x plain"),
            Some(Limit::Fastrace) => (of(FASTRACE), "x plain, as fastrace"),
            None => continue,
        };
        let what = format!("{what}, {} functions", row.functions);
        report.goal(what, of(OURS), limit, unit, of_peer(FASTRACE, of(FASTRACE))).by_hand(of(BY_HAND));
    }
    report.add(section);
}

/// Returns the seconds of processor time for each crate and round, without dependencies.
fn timed(task: Task, libraries: &[&str], crates: &[PathBuf]) -> Vec<Vec<f64>> {
    if task == Task::Edit {
        // Creates the incremental cache.
        for krate in crates {
            cargo::run(krate, task);
        }
    }
    let mut times = vec![Vec::new(); crates.len()];
    for round in 0..ROUNDS {
        if times.iter().flatten().sum::<f64>() > ENOUGH {
            break;
        }
        for ((library, krate), times) in libraries.iter().zip(crates).zip(&mut times) {
            if round == 0 || *library != TRACING {
                if task == Task::Edit {
                    cargo::edit(krate, round);
                }
                times.push(cargo::run(krate, task));
            }
        }
    }
    times
}

/// All functions of third-party crates, annotated by a script.
fn real_code(folder: &Path, report: &mut Report) {
    let columns = ["crate", "annotated functions", "library", "s", "x plain"];
    let mut section = Section::new("`cargo check` of crates with every function annotated", columns);
    for krate in real::CRATES {
        let libraries = [PLAIN, OURS, FASTRACE];
        let written: Option<Vec<(PathBuf, usize)>> = libraries
            .iter()
            .map(|library| real::write(&folder.join(library), krate, library, cargo::dependency(library)))
            .collect();
        let Some(written) = written else {
            section.note(format!("The sources of {} are not here: `cargo fetch` brings them.", krate.name));
            continue;
        };
        let crates: Vec<PathBuf> = written.iter().map(|(folder, _)| folder.clone()).collect();
        // Builds the dependencies.
        for krate in &crates {
            cargo::run(krate, Task::Check);
        }
        let times = timed(Task::Check, &libraries, &crates);
        let ratios: Vec<Median> = times.iter().map(|of_library| Median::of_ratios(of_library, &times[0])).collect();
        for (at, (library, (_, functions))) in libraries.iter().zip(&written).enumerate() {
            let (name, library) = (krate.name.to_owned(), (*library).to_owned());
            let seconds = Median::of(times[at].iter().copied()).to_string();
            section.row([name, functions.to_string(), library, seconds, ratios[at].to_string()]);
        }
        let what = format!("`cargo check` of {}, every function annotated", krate.name);
        report.goal(what, ratios[1].value, 2.0, "x plain", of_peer(FASTRACE, ratios[2].value));
    }
    report.add(section);
}
