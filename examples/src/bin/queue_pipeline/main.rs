//! A pipeline of workers that never call each other: the context travels in a table.
//!
//! A health event of a GPU node goes through detection, quarantine, drain and repair, one worker each, and is one trace: each
//! worker reads the context that the one before left in the row, goes on with it, and leaves its own. Polling is not traced.
//! A drain is a long session, of which a marker tells while it is open. The repair takes several events at once: a trace of its
//! own, with links to theirs.

mod table;
mod workers;

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use table::{State, Table};

/// The nodes that break.
const NODES: [&str; 2] = ["gpu-17", "gpu-42"];
/// How often workers look.
const POLL: Duration = Duration::from_millis(10);

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let telemetry = tracecast::init();
    let file = std::env::temp_dir().join(format!("tracecast-queue-{}.db", std::process::id()));
    let done = AtomicBool::new(false);
    let ended = thread::scope(|scope| {
        let workers = [State::Detected, State::Quarantined, State::Drained].map(|state| {
            let (file, done) = (&file, &done);
            // A connection each, as if they were processes.
            scope.spawn(move || Table::open(file).map_err(Into::into).and_then(|table| work(&table, state, done)))
        });
        let told = Table::open(&file).and_then(|table| tell(&table));
        done.store(true, Relaxed);
        let workers = workers.map(|worker| worker.join().unwrap_or_else(|_| Err("a worker panicked".into())));
        told.map_err(Into::into)
            .and_then(|()| workers.into_iter().collect::<Result<(), Box<dyn Error + Send + Sync>>>())
    });
    let _ = std::fs::remove_file(&file);
    ended?;
    println!("{}", telemetry.shutdown(Duration::from_secs(5)));
    Ok(())
}

/// Reports that nodes are broken, and waits until all are well.
fn tell(table: &Table) -> rusqlite::Result<()> {
    for node in NODES {
        workers::detect(table, node)?;
    }
    while table.count(State::Repaired)? < NODES.len() {
        thread::sleep(POLL);
    }
    println!("{} nodes were repaired", NODES.len());
    Ok(())
}

/// Works on all events of a state until nobody has any more.
fn work(table: &Table, state: State, done: &AtomicBool) -> Result<(), Box<dyn Error + Send + Sync>> {
    while !done.load(Relaxed) {
        let events = table.of(state)?;
        match state {
            State::Detected => events.iter().try_for_each(|event| workers::quarantine(table, event))?,
            State::Quarantined => events.iter().try_for_each(|event| workers::drain(table, event))?,
            // It waits until there are enough for a maintenance window.
            _ if events.len() == NODES.len() => workers::repair(table, &events)?,
            _ => (),
        }
        thread::sleep(POLL);
    }
    Ok(())
}
