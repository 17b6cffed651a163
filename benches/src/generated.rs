//! Crates with many functions, annotated or not: how long `cargo check` takes, and how large a program becomes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::report::{Report, Section, figure};
use crate::stats::Median;

/// What the functions are like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Sync,
    Async,
    Attributes,
}

impl Shape {
    fn name(self) -> &'static str {
        match self {
            Shape::Sync => "fn",
            Shape::Async => "async fn",
            Shape::Attributes => "async fn, 2 attributes",
        }
    }
}

const PLAIN: &str = "plain";
const OURS: &str = "tracecast";
const TRACING: &str = "tracing";

pub fn report(quick: bool, report: &mut Report) {
    let folder = std::env::temp_dir().join(format!("tracecast-generated-{}", std::process::id()));
    check_times(quick, &folder, report);
    if !quick {
        // Programs have to be built, which takes minutes.
        program_sizes(&folder, report);
    }
    let _ = std::fs::remove_dir_all(folder);
}

fn check_times(quick: bool, folder: &Path, report: &mut Report) {
    let (functions, rounds) = if quick { (20, 1) } else { (1_000, 3) };
    let columns = ["functions", "library", "s", "x plain"];
    let mut section =
        Section::new(format!("`cargo check` of {functions} functions, medians of interleaved rounds"), columns);
    let shapes: &[Shape] = if quick { &[Shape::Async] } else { &[Shape::Sync, Shape::Async, Shape::Attributes] };
    for &shape in shapes {
        let libraries: &[&str] = if quick { &[PLAIN, OURS] } else { &[PLAIN, OURS, "fastrace", TRACING] };
        let crates: Vec<PathBuf> =
            libraries.iter().map(|library| write(folder, library, shape, functions, false)).collect();
        let times = timed(libraries, &crates, rounds);
        let mut peers = Vec::new();
        for (library, of_library) in libraries.iter().zip(&times) {
            let ratio = Median::of_ratios(of_library, &times[0]);
            let seconds = Median::of(of_library.iter().copied()).to_string();
            section.row([shape.name().to_owned(), (*library).to_owned(), seconds, ratio.to_string()]);
            if ![PLAIN, OURS].contains(library) {
                peers.push(format!("{library} {}", figure(ratio.value)));
            }
        }
        if shape == Shape::Async {
            let ratio = Median::of_ratios(&times[1], &times[0]).value;
            report.goal(
                format!("`cargo check` of {functions} annotated async fns"),
                ratio,
                2.3,
                "x plain",
                peers.join(", "),
            );
        }
    }
    report.add(section);
}

/// Seconds of `cargo check` of each crate in each round; dependencies are built before the clock starts.
fn timed(libraries: &[&str], crates: &[PathBuf], rounds: usize) -> Vec<Vec<f64>> {
    for krate in crates {
        cargo(krate, &["check"]);
    }
    let mut times = vec![Vec::new(); crates.len()];
    for round in 0..rounds {
        for ((library, krate), times) in libraries.iter().zip(crates).zip(&mut times) {
            // Once is enough for what takes that long: what disturbs is little of it.
            if round == 0 || *library != TRACING {
                times.push(cargo(krate, &["check"]));
            }
        }
    }
    times
}

/// A stripped program that calls all of them, with and without the attribute.
fn program_sizes(folder: &Path, report: &mut Report) {
    let functions = 100;
    let columns = ["functions", "library", "bytes of the program", "more per function"];
    let mut section = Section::new(format!("Size of a program with {functions} functions, release, stripped"), columns);
    for shape in [Shape::Sync, Shape::Async, Shape::Attributes] {
        let mut plain = f64::NAN;
        for library in [PLAIN, OURS, "fastrace", TRACING] {
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
    cargo(folder, &["build", "--release"]);
    std::fs::metadata(target(folder).join("release/generated")).expect("the program").len() as f64
}

/// One for all, so that what several need is built once.
fn target(folder: &Path) -> PathBuf {
    folder.with_file_name("target")
}

fn write(folder: &Path, library: &str, shape: Shape, functions: usize, program: bool) -> PathBuf {
    let folder = folder.join(library);
    let benches = Path::new(env!("CARGO_MANIFEST_DIR"));
    let runtime = benches.join("../runtime");
    let dependency = match library {
        "fastrace" => "fastrace = { version = \"=0.7.19\", features = [\"enable\"] }".to_owned(),
        "tracing" => "tracing = \"0.1\"".to_owned(),
        _ => format!("tracecast = {{ path = {runtime:?}, default-features = false }}"),
    };
    let manifest = format!(
        "[package]\nname = \"generated\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n{dependency}\n\
         [profile.release]\nstrip = true\n"
    );
    let source_folder = folder.join("src");
    let _ = std::fs::remove_dir_all(&source_folder);
    std::fs::create_dir_all(&source_folder).expect("a temporary folder");
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
    // The same versions, which are here already: nothing is fetched.
    std::fs::copy(benches.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file");
    let (file, main) = if program { ("main.rs", entry(shape, functions)) } else { ("lib.rs", String::new()) };
    std::fs::write(source_folder.join(file), source(library, shape, functions) + &main).expect("a source file");
    folder
}

/// Calls all functions, in a way that the compiler cannot see through.
fn entry(shape: Shape, functions: usize) -> String {
    let mut main = String::from("fn main() {\n    let mut sum = 0_usize;\n");
    if shape != Shape::Sync {
        main += "    let mut task = std::task::Context::from_waker(std::task::Waker::noop());\n";
    }
    for n in 0..functions {
        let _ = match shape {
            Shape::Sync => writeln!(
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
    for n in 0..functions {
        let attribute = attribute(library, shape, n);
        let (keyword, wait) = if shape == Shape::Sync { ("", "") } else { ("async ", ".await") };
        let step = if shape == Shape::Sync { "std::hint::black_box(step)" } else { "std::future::ready(step)" };
        let _ = writeln!(
            source,
            "{attribute}pub {keyword}fn f{n}(input: &str, count: usize) -> Result<String, std::num::ParseIntError> {{\n    \
             let parsed: usize = input.trim().parse()?;\n    let mut out = String::new();\n    \
             for step in 0..count.min(parsed) {{\n        {step}{wait};\n        out.push_str(input);\n    }}\n    Ok(out)\n}}"
        );
    }
    source
}

fn attribute(library: &str, shape: Shape, n: usize) -> String {
    let with = shape == Shape::Attributes;
    match library {
        OURS if with => format!(
            "#[tracecast::tc_span(\"Bench/F{n}\", attrs(tracecast::keys::tensor::artifact = input, tracecast::keys::size_bytes = count))]\n"
        ),
        OURS => format!("#[tracecast::tc_span(\"Bench/F{n}\")]\n"),
        "fastrace" if with => format!(
            "#[fastrace::trace(name = \"Bench/F{n}\", properties = {{ \"artifact\": \"{{input}}\", \"bytes\": \"{{count}}\" }})]\n"
        ),
        "fastrace" => format!("#[fastrace::trace(name = \"Bench/F{n}\")]\n"),
        "tracing" if with => {
            format!(
                "#[tracing::instrument(name = \"Bench/F{n}\", skip_all, err, fields(artifact = input, bytes = count))]\n"
            )
        }
        // With the error, as ours has it.
        "tracing" => format!("#[tracing::instrument(name = \"Bench/F{n}\", skip_all, err)]\n"),
        _ => String::new(),
    }
}

/// Seconds that cargo takes for the crate itself: it is touched before.
fn cargo(folder: &Path, arguments: &[&str]) -> f64 {
    let sources = std::fs::read_dir(folder.join("src")).expect("the source folder");
    for source in sources.flatten().map(|source| source.path()) {
        let text = std::fs::read_to_string(&source).expect("the source file");
        std::fs::write(&source, text).expect("the source file");
    }
    let start = Instant::now();
    let status = Command::new("cargo")
        .args(arguments)
        .args(["--quiet", "--offline", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", target(folder))
        .env("CARGO_INCREMENTAL", "0")
        .status()
        .expect("cargo starts");
    assert!(status.success(), "cargo {arguments:?} failed in {}", folder.display());
    start.elapsed().as_secs_f64()
}
