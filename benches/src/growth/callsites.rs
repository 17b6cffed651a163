//! Generates and builds a program with 10,000 annotated functions: each is called in turn, so that none is in a cache.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::report::{Report, Section};

const CALLSITES: usize = 10_000;

/// Times all functions in turn, with telemetry off and on, and takes the best of several rounds. Records are drained
/// between rounds.
const MAIN: &str = r#"
fn timed(run: fn(), mut between: impl FnMut()) -> f64 {
    let round = |_| {
        let start = std::time::Instant::now();
        run();
        let took = start.elapsed().as_nanos() as f64 / ALL.len() as f64;
        between();
        took
    };
    (0..20).map(round).fold(f64::INFINITY, f64::min)
}
fn all() { for f in ALL { std::hint::black_box(f(std::hint::black_box(1))); } }
fn plain() { for f in PLAIN { std::hint::black_box(f(std::hint::black_box(1))); } }
fn main() {
    let (without, off) = (timed(plain, || ()), timed(all, || ()));
    let start = std::time::Instant::now();
    let recording = tracecast::testing::Recording::start(tracecast::testing::RecordingConfig::default()).unwrap();
    let started = start.elapsed().as_secs_f64() * 1e3;
    let mut read = 0;
    let on = timed(all, || read += recording.drain().len());
    assert_eq!(read, 20 * ALL.len());
    println!("{without} {off} {on} {started}");
}
"#;

pub fn report(report: &mut Report) {
    let columns = ["what", "10,000 functions in turn, ns per call"];
    let mut section = Section::new("Growth: number of callsites", columns);
    let folder = std::env::temp_dir().join(format!("tracecast-callsites-{}", std::process::id()));
    match run(&folder) {
        Some(figures) => {
            for (what, figure) in ["plain", "off", "recorded"].iter().zip(&figures) {
                section.row([(*what).to_owned(), format!("{figure:.1}")]);
            }
            section
                .note(format!("Recording started in {:.1} ms, with {CALLSITES} callsites to switch on.", figures[3]));
        }
        None => section.note("The program could not be built."),
    }
    report.add(section);
    let _ = std::fs::remove_dir_all(folder);
}

fn run(folder: &Path) -> Option<Vec<f64>> {
    let benches = Path::new(env!("CARGO_MANIFEST_DIR"));
    let runtime = benches.join("../runtime");
    let manifest = format!(
        "[package]\nname = \"callsites\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
         tracecast = {{ path = {runtime:?}, default-features = false }}\n[profile.release]\nopt-level = 1\ncodegen-units = 16\n"
    );
    std::fs::create_dir_all(folder.join("src")).ok()?;
    std::fs::write(folder.join("Cargo.toml"), manifest).ok()?;
    std::fs::copy(benches.join("Cargo.lock"), folder.join("Cargo.lock")).ok()?;
    std::fs::write(folder.join("src/main.rs"), source()).ok()?;
    let built = Command::new("cargo")
        .args(["build", "--release", "--quiet", "--offline", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .status()
        .ok()?;
    let output = built.success().then(|| Command::new(folder.join("target/release/callsites")).output())?.ok()?;
    let figures: Vec<f64> = String::from_utf8(output.stdout).ok()?.split_whitespace().flat_map(str::parse).collect();
    (figures.len() == 4).then_some(figures)
}

fn source() -> String {
    let (mut source, mut all, mut plain) = (String::new(), String::new(), String::new());
    for n in 0..CALLSITES {
        let _ = writeln!(
            source,
            "#[inline(never)] #[tracecast::tc_span(\"Bench/F{n}\")] fn f{n}(x: u64) -> u64 {{ std::hint::black_box(x) + {n} }}"
        );
        let _ = writeln!(source, "#[inline(never)] fn p{n}(x: u64) -> u64 {{ std::hint::black_box(x) + {n} }}");
        let _ = write!(all, "f{n},");
        let _ = write!(plain, "p{n},");
    }
    format!("{source}type F = fn(u64) -> u64;\nstatic ALL: &[F] = &[{all}];\nstatic PLAIN: &[F] = &[{plain}];\n{MAIN}")
}
