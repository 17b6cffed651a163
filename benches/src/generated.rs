//! Crates with many functions, annotated or not: how long the compiler takes, and how large a program becomes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cpu;
use crate::real;
use crate::report::{Report, Section, of_peer};
use crate::stats::Median;

/// What the functions are like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Sync,
    Small,
    Results,
    Async,
    Attributes,
}

impl Shape {
    fn name(self) -> &'static str {
        match self {
            Shape::Sync => "fn",
            Shape::Small => "very small fn: unit, value, Result, generic, method",
            Shape::Results => "small fn -> Result",
            Shape::Async => "async fn",
            Shape::Attributes => "async fn, 2 attributes",
        }
    }

    fn is_async(self) -> bool {
        matches!(self, Shape::Async | Shape::Attributes)
    }
}

/// What cargo does with a crate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    Check,
    Build,
    /// A check after the body of one function got a line more, or one less, with what the compiler kept from the last one.
    Edit,
}

impl Task {
    fn name(self) -> &'static str {
        match self {
            Task::Check => "`cargo check`",
            Task::Build => "`cargo build --release`",
            Task::Edit => "`cargo check` after an edit, incremental",
        }
    }

    fn arguments(self) -> &'static [&'static str] {
        if self == Task::Build { &["build", "--release"] } else { &["check"] }
    }
}

/// What is measured, with how many functions, and what it may take, in times of plain functions.
const ROWS: [(Task, Shape, usize, Option<f64>); 13] = [
    (Task::Check, Shape::Sync, 1_000, None),
    (Task::Check, Shape::Small, 600, None),
    (Task::Check, Shape::Results, 1_000, Some(2.3)),
    (Task::Check, Shape::Async, 1_000, Some(1.7)),
    (Task::Check, Shape::Attributes, 1_000, Some(1.9)),
    (Task::Build, Shape::Sync, 300, None),
    (Task::Build, Shape::Async, 300, None),
    (Task::Edit, Shape::Sync, 1_000, Some(5.0)),
    (Task::Edit, Shape::Async, 1_000, Some(5.0)),
    (Task::Check, Shape::Sync, 100, None),
    (Task::Check, Shape::Sync, 10_000, None),
    (Task::Check, Shape::Async, 100, None),
    (Task::Check, Shape::Async, 10_000, None),
];

const PLAIN: &str = "plain";
const OURS: &str = "tracecast";
const FASTRACE: &str = "fastrace";
const TRACING: &str = "tracing";

pub fn report(quick: bool, report: &mut Report) {
    let folder = std::env::temp_dir().join(format!("tracecast-generated-{}", std::process::id()));
    compile_times(quick, &folder, report);
    if !quick {
        // Programs have to be built, which takes minutes.
        real_code(&folder, report);
        chains(&folder, report);
        program_sizes(&folder, report);
    }
    let _ = std::fs::remove_dir_all(folder);
}

fn compile_times(quick: bool, folder: &Path, report: &mut Report) {
    let mut section = Section::new(
        "Compile times of annotated functions: processor time, medians of interleaved rounds",
        ["what", "functions", "library", "s", "x plain"],
    );
    let quick_rows = [(Task::Check, Shape::Async, 20, None)];
    let rows: &[_] = if quick { &quick_rows } else { &ROWS };
    for &(task, shape, functions, limit) in rows {
        let libraries: &[&str] = match functions {
            _ if quick => &[PLAIN, OURS],
            1_000 if task == Task::Check && shape != Shape::Results => &[PLAIN, OURS, FASTRACE, TRACING],
            _ => &[PLAIN, OURS, FASTRACE],
        };
        let rounds = if quick || functions > 1_000 { 1 } else { 3 };
        let crates: Vec<PathBuf> =
            libraries.iter().map(|library| write(folder, library, shape, functions, false)).collect();
        let times = timed(task, libraries, &crates, rounds);
        let ratios: Vec<Median> = times.iter().map(|of_library| Median::of_ratios(of_library, &times[0])).collect();
        let what = format!("{}: {}", task.name(), shape.name());
        for ((library, of_library), ratio) in libraries.iter().zip(&times).zip(&ratios) {
            let seconds = Median::of(of_library.iter().copied()).to_string();
            section.row([what.clone(), functions.to_string(), (*library).to_owned(), seconds, ratio.to_string()]);
        }
        if let (Some(limit), false) = (limit, quick) {
            let peer = of_peer(FASTRACE, ratios[2].value);
            report.goal(format!("{what}, {functions} functions"), ratios[1].value, limit, "x plain", peer);
        }
    }
    report.add(section);
}

/// Seconds of processor time for each crate in each round; dependencies are built before.
fn timed(task: Task, libraries: &[&str], crates: &[PathBuf], rounds: usize) -> Vec<Vec<f64>> {
    for krate in crates {
        cargo(krate, task);
    }
    let mut times = vec![Vec::new(); crates.len()];
    for round in 0..rounds {
        for ((library, krate), times) in libraries.iter().zip(crates).zip(&mut times) {
            // Once is enough for what takes that long: what disturbs is little of it.
            if round == 0 || *library != TRACING {
                if task == Task::Edit {
                    edit(krate, round);
                }
                times.push(cargo(krate, task));
            }
        }
    }
    times
}

/// Gives the body of the function in the middle a line more or less.
fn edit(folder: &Path, round: usize) {
    let file = folder.join("src/lib.rs");
    let text = std::fs::read_to_string(&file).expect("the source file");
    let (line, added) =
        ("    let mut out = String::new();\n", "    let mut out = String::new();\n    let _edited = 1;\n");
    let middle = text.len() / 2;
    let at = middle + text[middle..].find(line).expect("a function behind the middle");
    let edited = match round % 2 {
        0 => text[at..].replacen(line, added, 1),
        _ => text[at..].replacen(added, line, 1),
    };
    std::fs::write(file, text[..at].to_owned() + &edited).expect("the source file");
}

/// All functions of crates that others wrote, annotated by a script.
fn real_code(folder: &Path, report: &mut Report) {
    let columns = ["crate", "annotated functions", "library", "s", "x plain"];
    let mut section = Section::new("`cargo check` of crates with every function annotated", columns);
    for krate in real::CRATES {
        let libraries = [PLAIN, OURS, FASTRACE];
        let written: Option<Vec<(PathBuf, usize)>> = libraries
            .iter()
            .map(|library| real::write(&folder.join(library), krate, library, dependency(library)))
            .collect();
        let Some(written) = written else {
            section.note(format!("The sources of {} are not here: `cargo fetch` brings them.", krate.name));
            continue;
        };
        let crates: Vec<PathBuf> = written.iter().map(|(folder, _)| folder.clone()).collect();
        let times = timed(Task::Check, &libraries, &crates, 3);
        for ((library, of_library), (_, functions)) in libraries.iter().zip(&times).zip(&written) {
            let (seconds, ratio) = (Median::of(of_library.iter().copied()), Median::of_ratios(of_library, &times[0]));
            let cells = [krate.name.to_owned(), functions.to_string(), (*library).to_owned()];
            let [name, functions, library] = cells;
            section.row([name, functions, library, seconds.to_string(), ratio.to_string()]);
        }
        let [ours, theirs] = [1, 2].map(|at| Median::of_ratios(&times[at], &times[0]).value);
        let what = format!("`cargo check` of {}, every function annotated", krate.name);
        report.goal(what, ours, 2.0, "x plain", of_peer(FASTRACE, theirs));
    }
    report.add(section);
}

/// Async functions that call each other: time by depth, and how deep they may be until the compiler's recursion limit.
fn chains(folder: &Path, report: &mut Report) {
    let columns = ["library", "s, depth 10", "s, depth 20", "s, depth 30", "deepest chain that compiles"];
    let mut section = Section::new("A chain of async functions that call each other, spawned: `cargo build`", columns);
    for library in [PLAIN, OURS, FASTRACE] {
        let built = |depth| {
            let folder = write_crate(folder, library, "main.rs", &chain(library, depth));
            try_cargo(&folder, &["build"], false)
        };
        let times =
            [10, 20, 30].map(|depth| built(depth).map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.2}")));
        let (mut compiles, mut fails) = (1, 128);
        while fails - compiles > 1 {
            let depth = (compiles + fails) / 2;
            if built(depth).is_some() { compiles = depth } else { fails = depth }
        }
        let [ten, twenty, thirty] = times;
        section.row([library.to_owned(), ten, twenty, thirty, compiles.to_string()]);
    }
    report.add(section);
}

fn chain(library: &str, depth: usize) -> String {
    let mut source = String::from("fn spawn<F: std::future::Future + Send + 'static>(_: F) {}\n");
    if library == PLAIN {
        source += "use tracecast as _;\n";
    }
    for n in 0..depth {
        let attribute = attribute(library, Shape::Async, n);
        let body = if n == 0 { "x".to_owned() } else { format!("f{}(x).await + 1", n - 1) };
        let _ = writeln!(source, "{attribute}async fn f{n}(x: u64) -> u64 {{ {body} }}");
    }
    let _ = writeln!(source, "fn main() {{ spawn(f{}(1)); }}", depth - 1);
    source
}

/// A stripped program that calls all of them, with and without the attribute.
fn program_sizes(folder: &Path, report: &mut Report) {
    let functions = 100;
    let columns = ["functions", "library", "bytes of the program", "more per function"];
    let mut section = Section::new(format!("Size of a program with {functions} functions, release, stripped"), columns);
    for shape in [Shape::Sync, Shape::Async, Shape::Attributes] {
        let mut plain = f64::NAN;
        for library in [PLAIN, OURS, FASTRACE, TRACING] {
            // What a library weighs at all is not a function's: it is what one function makes a program grow by.
            let [one, all] = [1, functions].map(|functions| size(&write(folder, library, shape, functions, true)));
            let each = (all - one) / (functions - 1) as f64;
            if library == PLAIN {
                plain = each;
            }
            section.row([
                shape.name().to_owned(),
                library.to_owned(),
                format!("{all:.0}"),
                format!("{:.0}", each - plain),
            ]);
        }
    }
    report.add(section);
}

fn size(folder: &Path) -> f64 {
    cargo(folder, Task::Build);
    std::fs::metadata(target(folder).join("release/generated")).expect("the program").len() as f64
}

/// One for all, so that what several need is built once.
fn target(folder: &Path) -> PathBuf {
    folder.with_file_name("target")
}

fn write(folder: &Path, library: &str, shape: Shape, functions: usize, program: bool) -> PathBuf {
    let source = source(library, shape, functions);
    match program {
        true => write_crate(folder, library, "main.rs", &(source + &entry(shape, functions))),
        false => write_crate(folder, library, "lib.rs", &source),
    }
}

fn write_crate(folder: &Path, library: &str, file: &str, source: &str) -> PathBuf {
    let (folder, dependency) = (folder.join(library), dependency(library));
    let manifest = format!(
        "[package]\nname = \"generated\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n{dependency}\n\
         [profile.release]\nstrip = true\n"
    );
    let source_folder = folder.join("src");
    let _ = std::fs::remove_dir_all(&source_folder);
    std::fs::create_dir_all(&source_folder).expect("a temporary folder");
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
    // The same versions, which are here already: nothing is fetched.
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock");
    std::fs::copy(lock, folder.join("Cargo.lock")).expect("the lock file");
    std::fs::write(source_folder.join(file), source).expect("a source file");
    folder
}

fn dependency(library: &str) -> String {
    match library {
        FASTRACE => "fastrace = { version = \"=0.7.19\", features = [\"enable\"] }".to_owned(),
        TRACING => "tracing = \"0.1\"".to_owned(),
        _ => {
            let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime");
            format!("tracecast = {{ path = {runtime:?}, default-features = false }}")
        }
    }
}

/// Calls all functions, in a way that the compiler cannot see through.
fn entry(shape: Shape, functions: usize) -> String {
    let mut main = String::from("fn main() {\n    let mut sum = 0_usize;\n");
    if shape.is_async() {
        main += "    let mut task = std::task::Context::from_waker(std::task::Waker::noop());\n";
    }
    for n in 0..functions {
        let _ = match shape {
            Shape::Sync | Shape::Small | Shape::Results => writeln!(
                main,
                "    sum += std::hint::black_box(f{n}(std::hint::black_box(\"1\"), 1)).map_or(0, |s| s.len());"
            ),
            Shape::Async | Shape::Attributes => writeln!(
                main,
                "    sum += usize::from(std::future::Future::poll(std::pin::pin!(f{n}(std::hint::black_box(\"1\"), 1)).as_mut(), &mut task).is_ready());"
            ),
        };
    }
    main + "    std::hint::black_box(sum);\n}\n"
}

fn source(library: &str, shape: Shape, functions: usize) -> String {
    let mut source = if library == PLAIN { String::from("use tracecast as _;\n") } else { String::new() };
    if shape == Shape::Small {
        source += "pub struct S(pub u64);\n";
    }
    for n in 0..functions {
        source += &attributed(&attribute(library, shape, n), shape, n);
    }
    source
}

fn attributed(attribute: &str, shape: Shape, n: usize) -> String {
    let (keyword, wait) = if shape.is_async() { ("async ", ".await") } else { ("", "") };
    let step = if shape.is_async() { "std::future::ready(step)" } else { "std::hint::black_box(step)" };
    let result = format!(
        "{attribute}pub fn f{n}(x: u64) -> Result<u64, std::fmt::Error> {{\n    \
         if x > {n} {{ return Err(std::fmt::Error); }}\n    Ok(x)\n}}\n"
    );
    match (shape, n % 5) {
        (Shape::Results, _) | (Shape::Small, 0) => result,
        (Shape::Small, 1) => format!("{attribute}pub fn f{n}() {{\n    std::hint::black_box({n});\n}}\n"),
        (Shape::Small, 2) => format!("{attribute}pub fn f{n}(x: u64) -> u64 {{\n    x + {n}\n}}\n"),
        (Shape::Small, 3) => {
            format!("{attribute}pub fn f{n}<T: Clone>(x: &T) -> (T, T) {{\n    (x.clone(), x.clone())\n}}\n")
        }
        (Shape::Small, _) => {
            format!("impl S {{\n{attribute}pub fn f{n}(&self, x: u64) -> u64 {{\n    self.0 + x\n}}\n}}\n")
        }
        _ => format!(
            "{attribute}pub {keyword}fn f{n}(input: &str, count: usize) -> Result<String, std::num::ParseIntError> {{\n    \
             let parsed: usize = input.trim().parse()?;\n    let mut out = String::new();\n    \
             for step in 0..count.min(parsed) {{\n        {step}{wait};\n        out.push_str(input);\n    }}\n    Ok(out)\n}}\n"
        ),
    }
}

fn attribute(library: &str, shape: Shape, n: usize) -> String {
    let with = shape == Shape::Attributes;
    match library {
        OURS if with => format!(
            "#[tracecast::tc_span(\"Bench/F{n}\", attrs(tracecast::keys::tensor::artifact = input, tracecast::keys::size_bytes = count))]\n"
        ),
        OURS => format!("#[tracecast::tc_span(\"Bench/F{n}\")]\n"),
        FASTRACE if with => format!(
            "#[fastrace::trace(name = \"Bench/F{n}\", properties = {{ \"artifact\": \"{{input}}\", \"bytes\": \"{{count}}\" }})]\n"
        ),
        FASTRACE => format!("#[fastrace::trace(name = \"Bench/F{n}\")]\n"),
        TRACING if with => {
            format!(
                "#[tracing::instrument(name = \"Bench/F{n}\", skip_all, err, fields(artifact = input, bytes = count))]\n"
            )
        }
        // With the error, as ours has it.
        TRACING => format!("#[tracing::instrument(name = \"Bench/F{n}\", skip_all, err)]\n"),
        _ => String::new(),
    }
}

/// Seconds of processor time that cargo takes for the crate itself: it is touched before.
fn cargo(folder: &Path, task: Task) -> f64 {
    let seconds = try_cargo(folder, task.arguments(), task == Task::Edit);
    seconds.unwrap_or_else(|| panic!("cargo {:?} failed in {}", task.arguments(), folder.display()))
}

fn try_cargo(folder: &Path, arguments: &[&str], incremental: bool) -> Option<f64> {
    let file = ["src/lib.rs", "src/main.rs"].map(|file| folder.join(file)).into_iter().find(|file| file.exists())?;
    let text = std::fs::read_to_string(&file).expect("the source file");
    std::fs::write(&file, text).expect("the source file");
    let before = cpu::of_children();
    let status = Command::new("cargo")
        .args(arguments)
        .args(["--quiet", "--offline", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", target(folder))
        .env("CARGO_INCREMENTAL", if incremental { "1" } else { "0" })
        .stderr(Stdio::null())
        .status()
        .expect("cargo starts");
    status.success().then(|| (cpu::of_children() - before).as_secs_f64())
}
