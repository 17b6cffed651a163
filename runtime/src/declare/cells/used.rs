//! The list of used metrics and their tables, for readers.

use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Metric;
use super::stripe;
use super::table::{EMPTY, Table};

/// Every metric that has a table.
pub(crate) struct Used {
    /// The number of restarts. Each restart resets all metrics to zero.
    pub(crate) run: u64,
    /// Metrics whose tables are read. Other declarations of the same metric share these tables.
    pub(crate) read: Vec<(&'static Metric, &'static Table)>,
    /// All metrics that have a table, which a restart removes.
    all: Vec<&'static Metric>,
    /// Tables of earlier runs. Calls that began in these runs may still write there.
    retired: Vec<&'static Table>,
}

static USED: Mutex<Used> = Mutex::new(Used { run: 0, read: Vec::new(), all: Vec::new(), retired: Vec::new() });

pub(crate) fn lock() -> MutexGuard<'static, Used> {
    USED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the table for a metric that has no table yet: the table of another declaration with the same name and shape, or a new
/// table.
#[cold]
pub(super) fn table_for(metric: &'static Metric) -> &'static Table {
    let same = |other: &Metric| other.meta.name == metric.meta.name && other.meta.same_shape(&metric.meta);
    // Shapes are compared without the lock, because labels return their texts by calling user code.
    let known = lock().read.clone();
    let twin = known.iter().find(|(other, _)| same(other)).map(|(_, table)| *table);
    let new = Table::parts();
    let mut used = lock();
    let now = metric.table();
    if !ptr::eq(now, &EMPTY) {
        return now;
    }
    // The metrics may have restarted meanwhile, or a twin may have been added: names are compared once more.
    let still = |twin: &Table| used.read.iter().any(|(_, table)| ptr::eq(*table, twin));
    let came = used.read.iter().skip(known.len()).any(|(other, _)| other.meta.name == metric.meta.name);
    if came {
        drop(used);
        return table_for(metric);
    }
    let table = twin.filter(|twin| still(twin)).unwrap_or_else(|| {
        let table = Table::leaked(new);
        used.read.push((metric, table));
        table
    });
    used.all.push(metric);
    metric.set_table(table);
    table
}

/// Restarts all metrics from zero. Returns the number of the run.
pub(crate) fn restart() -> u64 {
    let mut used = lock();
    for metric in std::mem::take(&mut used.all) {
        metric.set_table(&EMPTY);
    }
    let read = std::mem::take(&mut used.read);
    used.retired.extend(read.iter().map(|(_, table)| *table));
    used.run += 1;
    used.run
}

/// Removes the data of the parent process in a forked child, on its only thread. Only stores to memory: neither allocates nor
/// frees.
pub(crate) fn abandon() {
    let mut used = lock();
    for metric in &used.all {
        metric.set_table(&EMPTY);
    }
    used.all.clear();
    used.read.clear();
    // Invalidates copies of the parent's readers.
    used.run += 1;
    stripe::forget();
}
