//! Programs that call many annotated functions: the time of a release build, and the program's growth per function.

use std::path::Path;

use super::cargo::{self, Task};
use super::source::{self, BY_HAND, FASTRACE, OURS, PLAIN, Shape, TRACING};
use crate::report::{Report, Section, figure, of_peer};

const FUNCTIONS: usize = 200;
const LIBRARIES: [&str; 5] = [PLAIN, OURS, BY_HAND, FASTRACE, TRACING];
/// The shapes, with the limit of bytes per function, and whether a build may take at most as long as with fastrace.
const SHAPES: [(Shape, Option<f64>, bool); 3] =
    [(Shape::Sync, Some(200.0), false), (Shape::Async, Some(1_300.0), true), (Shape::Attributes, None, true)];

/// A stripped program, and the processor time of its build.
#[derive(Clone, Copy)]
struct Built {
    bytes: f64,
    seconds: f64,
}

pub fn report(folder: &Path, report: &mut Report) {
    let columns = ["functions", "library", "build, s", "x plain", "bytes of the program", "bytes more per function"];
    let title = format!("Programs that call {FUNCTIONS} functions: `cargo build --release`, stripped");
    let mut section = Section::new(title, columns);
    for (shape, bytes, is_as_fastrace) in SHAPES {
        // The library's own size is not counted per function, and dependencies are built with the first program.
        let built = LIBRARIES.map(|library| [1, FUNCTIONS].map(|functions| build(folder, library, shape, functions)));
        let each = built.map(|[one, all]| (all.bytes - one.bytes) / (FUNCTIONS - 1) as f64);
        let more = each.map(|bytes| bytes - each[0]);
        let times = built.map(|[_, all]| all.seconds / built[0][1].seconds);
        for (at, library) in LIBRARIES.iter().enumerate() {
            let Built { bytes, seconds } = built[at][1];
            section.row([
                shape.name().to_owned(),
                (*library).to_owned(),
                figure(seconds),
                figure(times[at]),
                format!("{bytes:.0}"),
                format!("{:.0}", more[at]),
            ]);
        }
        let [_, ours, by_hand, fastrace, _] = times;
        if is_as_fastrace {
            let what = format!("`cargo build --release`: {}, {FUNCTIONS} functions", shape.name());
            report.goal(what, ours, fastrace, "x plain, as fastrace", of_peer(FASTRACE, fastrace)).by_hand(by_hand);
        }
        let [_, ours, by_hand, fastrace, _] = more;
        if let Some(bytes) = bytes {
            let what = format!("size of an annotated {}", shape.name());
            report.goal(what, ours, bytes, "bytes", of_peer(FASTRACE, fastrace)).by_hand(by_hand);
        }
    }
    report.add(section);
}

fn build(folder: &Path, library: &str, shape: Shape, functions: usize) -> Built {
    let source = source::functions(library, shape, functions) + &source::entry(shape, functions);
    let folder = cargo::write(folder, library, "main.rs", &source);
    let seconds = cargo::run(&folder, Task::Build);
    let program = cargo::target(&folder).join("release/generated");
    Built { bytes: std::fs::metadata(program).expect("the program").len() as f64, seconds }
}
