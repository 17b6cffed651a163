//! Runs this program under callgrind.

use std::path::Path;
use std::process::Command;

/// The rows to count; each takes about a second.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// One row of each kind.
    Quick,
    /// All rows except peers and the hand-written reference.
    Ours,
    All,
}

impl Extent {
    pub fn of(quick: bool) -> Self {
        if quick { Extent::Quick } else { Extent::All }
    }

    /// Whether a row is counted; `quick` marks the rows of a quick run.
    pub fn has(self, name: &str, quick: &[&str]) -> bool {
        const OTHERS: [&str; 7] =
            ["fastrace", "tracing", "SdkTracer", "opentelemetry", "tower-http", "by hand", "floor"];
        match self {
            Extent::Quick => quick.contains(&name),
            Extent::Ours => !OTHERS.iter().any(|other| name.contains(other)),
            Extent::All => true,
        }
    }
}

/// Counts the instructions inside `function` when this program runs with these arguments; `None` if valgrind is not
/// installed.
pub fn collected(function: &str, arguments: &[&str]) -> Option<u64> {
    collected_of(&std::env::current_exe().ok()?, function, arguments)
}

/// Counts the instructions in another build of this program.
pub fn collected_of(program: &Path, function: &str, arguments: &[&str]) -> Option<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--toggle-collect={function}"))
        .arg(program)
        .args(arguments)
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| line.contains("Collected :"));
    let line = line.unwrap_or_else(|| panic!("{arguments:?}: {text}"));
    line.rsplit(' ').next()?.parse().ok()
}

/// Counts several concurrently: instruction counts do not depend on load.
pub fn at_once<T: Sync, R: Send>(all: &[T], count: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let share = all.len().div_ceil(std::thread::available_parallelism().map_or(1, usize::from)).max(1);
    let count = &count;
    std::thread::scope(|scope| {
        let part = |part| scope.spawn(move || <[T]>::iter(part).map(count).collect::<Vec<R>>());
        let parts: Vec<_> = all.chunks(share).map(part).collect();
        parts.into_iter().flat_map(|part| part.join().expect("valgrind runs")).collect()
    })
}
