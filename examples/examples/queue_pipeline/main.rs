//! A pipeline of workers that never call each other: the context travels in a table.
//!
//! A health event of a GPU node passes through detection, quarantine, drain and repair, one worker each, in one trace:
//! each worker reads the context that the previous one stored in the row, continues it, and stores its own. Polling is
//! not traced. A drain is a long session, which markers show while it is in progress. A repair handles several events
//! at once: it is a trace of its own, with links to theirs.

mod table;
mod workers;

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use table::{State, Table};

/// The nodes that break.
const NODES: [&str; 2] = ["gpu-17", "gpu-42"];
/// The polling interval of workers.
const POLL: Duration = Duration::from_millis(10);

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let telemetry = tracecast::init();
    let file = std::env::temp_dir().join(format!("tracecast-queue-{}.db", std::process::id()));
    let ended = run(&file);
    let _ = std::fs::remove_file(&file);
    println!("{}", telemetry.shutdown(Duration::from_secs(5)));
    ended
}

/// Runs all workers until all nodes are healthy, or one worker fails.
fn run(file: &Path) -> Result<(), Failure> {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let workers = [State::Detected, State::Quarantined, State::Drained].map(|state| {
            let done = &done;
            scope.spawn(move || {
                let ended = work(file, state, done);
                done.store(true, Relaxed);
                ended
            })
        });
        let told = tell(file, &done);
        done.store(true, Relaxed);
        let ended = workers.map(|worker| worker.join().unwrap_or_else(|_| Err("a worker panicked".into())));
        ended.into_iter().chain([told]).collect()
    })
}

/// Reports broken nodes, and waits until all are healthy.
fn tell(file: &Path, done: &AtomicBool) -> Result<(), Failure> {
    let table = Table::open(file)?;
    for node in NODES {
        workers::detect(&table, node)?;
    }
    while !done.load(Relaxed) && table.count(State::Repaired)? < NODES.len() {
        thread::sleep(POLL);
    }
    println!("{} of {} nodes were repaired", table.count(State::Repaired)?, NODES.len());
    Ok(())
}

/// Handles all events of a state until no worker has any left. Each worker has its own connection, as in separate
/// processes.
fn work(file: &Path, state: State, done: &AtomicBool) -> Result<(), Failure> {
    let table = Table::open(file)?;
    while !done.load(Relaxed) {
        let events = table.of(state)?;
        match state {
            State::Detected => events.iter().try_for_each(|event| workers::quarantine(&table, event))?,
            State::Quarantined => events.iter().try_for_each(|event| workers::drain(&table, event))?,
            // The worker waits until there are enough for a maintenance window.
            _ if events.len() == NODES.len() => workers::repair(&table, &events)?,
            _ => (),
        }
        thread::sleep(POLL);
    }
    Ok(())
}
