//! How long `cargo check` takes for 1,000 annotated functions, over the same ones without the attribute.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

pub fn print(quick: bool) {
    let functions = if quick { 20 } else { 1_000 };
    let rounds = if quick { 1 } else { 5 };
    let folder = std::env::temp_dir().join(format!("tracecast-check-{}", std::process::id()));
    let [plain, annotated] =
        ["plain", "annotated"].map(|kind| write_crate(&folder.join(kind), functions, kind == "annotated"));
    // Dependencies are built before the clock starts.
    check(&plain);
    check(&annotated);
    let (mut plain_times, mut annotated_times) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        plain_times.push(check(&plain));
        annotated_times.push(check(&annotated));
    }
    let (plain, annotated) = (median(plain_times), median(annotated_times));
    let ratio = annotated / plain;
    println!("## `cargo check` of {functions} async fns\n\n| plain | annotated | ratio | target |\n|---|---|---|---|");
    println!("| {plain:.2} s | {annotated:.2} s | {ratio:.2} | <= 2.3 |\n");
    let _ = std::fs::remove_dir_all(folder);
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn write_crate(folder: &Path, functions: usize, annotated: bool) -> PathBuf {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime");
    let manifest = format!(
        "[package]\nname = \"checked\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\ntracecast = {{ path = {runtime:?}, default-features = false }}\n"
    );
    std::fs::create_dir_all(folder.join("src")).expect("a temporary folder");
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
    std::fs::write(folder.join("src/lib.rs"), source(functions, annotated)).expect("a source file");
    folder.to_owned()
}

fn source(functions: usize, annotated: bool) -> String {
    let mut source = String::from("use tracecast as _;\n");
    for n in 0..functions {
        if annotated {
            let _ = writeln!(source, "#[tracecast::tc_span(\"Bench/F{n}\")]");
        }
        let _ = writeln!(
            source,
            "pub async fn f{n}(input: &str, count: usize) -> Result<String, std::num::ParseIntError> {{\n    \
             let parsed: usize = input.trim().parse()?;\n    let mut out = String::new();\n    \
             for step in 0..count.min(parsed) {{\n        std::future::ready(step).await;\n        out.push_str(input);\n    }}\n    Ok(out)\n}}"
        );
    }
    source
}

fn check(folder: &Path) -> f64 {
    // Touched, so that the crate itself is checked again and nothing else.
    let lib = folder.join("src/lib.rs");
    let text = std::fs::read_to_string(&lib).expect("the source file");
    std::fs::write(&lib, text).expect("the source file");
    let start = Instant::now();
    let status = Command::new("cargo")
        .args(["check", "--quiet", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env("CARGO_INCREMENTAL", "0")
        .status()
        .expect("cargo starts");
    assert!(status.success(), "cargo check failed in {}", folder.display());
    start.elapsed().as_secs_f64()
}
