//! The metrics that were used, with their tables: what readers go through.

use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Metric;
use super::stripe;
use super::table::{EMPTY, Table};

/// Every metric that has a table.
pub(crate) struct Used {
    /// Those whose tables are read. Other declarations of the same metric share them.
    pub(crate) read: Vec<(&'static Metric, &'static Table)>,
    /// All that have one, to take it away.
    all: Vec<&'static Metric>,
    /// Tables of earlier runs. Calls that began then still may write there.
    _retired: Vec<&'static Table>,
}

static USED: Mutex<Used> = Mutex::new(Used { read: Vec::new(), all: Vec::new(), _retired: Vec::new() });

pub(crate) fn lock() -> MutexGuard<'static, Used> {
    USED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The table of a metric that has none yet: that of another declaration with the same name and shape, or a new one.
#[cold]
pub(super) fn table_for(metric: &'static Metric) -> &'static Table {
    let mut used = lock();
    let now = metric.table();
    if !ptr::eq(now, &EMPTY) {
        return now;
    }
    let same = |other: &Metric| other.meta.name == metric.meta.name && other.meta.same_shape(&metric.meta);
    let twin = used.read.iter().find(|(other, _)| same(other)).map(|(_, table)| *table);
    let table = twin.unwrap_or_else(|| {
        let table: &'static Table = Box::leak(Box::new(Table::new()));
        used.read.push((metric, table));
        table
    });
    used.all.push(metric);
    metric.set_table(table);
    table
}

/// Starts all metrics again from nothing.
pub(crate) fn restart() {
    let mut used = lock();
    for metric in std::mem::take(&mut used.all) {
        metric.set_table(&EMPTY);
    }
    let read = std::mem::take(&mut used.read);
    used._retired.extend(read.iter().map(|(_, table)| *table));
}

/// Forgets what belongs to the parent process. For a forked child, on its one thread: it stores to memory, and frees
/// and allocates nothing.
pub(crate) fn abandon() {
    let mut used = lock();
    for metric in &used.all {
        metric.set_table(&EMPTY);
    }
    used.all.clear();
    used.read.clear();
    stripe::forget();
}
