//! Metrics of tokio's runtimes, read through tokio's stable API.

use std::sync::Mutex;
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeMetrics};

use self::keys::runtime;
use crate::declare::interned::InternedKey as _;
use crate::declare::observe::Observation;
use crate::tc_metrics;

mod keys {
    crate::tc_keys! {
        /// The name that the program gave to a runtime.
        pub(super) label runtime: Interned<16> = "runtime";
    }
}

tc_metrics! {
    /// Threads that run the runtime's tasks.
    static WORKERS: ObservableGauge<(keys::runtime,), u64> = "tc_runtime_workers";
    /// Tasks that were spawned and have not ended.
    static TASKS: ObservableGauge<(keys::runtime,), u64> = "tc_runtime_tasks_alive";
    /// Tasks in the queue that all workers share.
    static QUEUE: ObservableGauge<(keys::runtime,), u64> = "tc_runtime_global_queue_depth";
    /// Time that all workers together were busy.
    static BUSY: Counter<(keys::runtime,), f64> = "tc_runtime_busy_seconds_total";
    /// Times that workers went to sleep because they had no task.
    static PARKS: Counter<(keys::runtime,)> = "tc_runtime_parks_total";
}

/// Collects the metrics of a runtime until the returned guard is dropped. The metrics are the same for all runtimes; their label
/// `runtime` is `name`. The first 16 names are kept. Later runtimes share the label `other`, which shows only the one that was
/// added last.
///
/// | metric | what it is |
/// |---|---|
/// | `tc_runtime_workers` | threads that run tasks |
/// | `tc_runtime_tasks_alive` | tasks that were spawned and have not ended |
/// | `tc_runtime_global_queue_depth` | tasks in the queue that all workers share |
/// | `tc_runtime_busy_seconds_total` | time that all workers together were busy |
/// | `tc_runtime_parks_total` | times that workers went to sleep because they had no task |
///
/// ```
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// let telemetry = tracecast::config::Config::new().init()?;
/// let _main = tracecast::observe_runtime("main", runtime.handle());
/// let text = telemetry.render_prometheus();
/// assert!(text.contains("tc_runtime_workers{runtime=\"main\"} 1"), "{text}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn observe_runtime(name: &str, runtime: &Handle) -> ObservedRuntime {
    let (name, metrics) = (runtime::intern(name), runtime.metrics());
    let gauge = |read: fn(&RuntimeMetrics) -> usize| {
        let metrics = metrics.clone();
        move || Some(read(&metrics) as u64)
    };
    let workers = {
        let (metrics, counted) = (metrics.clone(), Mutex::new(Counted::of(&metrics)));
        move || {
            // Counters have no callbacks, so the callback of this gauge updates them.
            if let Ok(mut counted) = counted.lock() {
                let before = std::mem::replace(&mut *counted, Counted::of(&metrics));
                BUSY.add(counted.busy.saturating_sub(before.busy).as_secs_f64(), (name,));
                PARKS.add(counted.parks.saturating_sub(before.parks), (name,));
            }
            Some(metrics.num_workers() as u64)
        }
    };
    ObservedRuntime {
        _observations: [
            WORKERS.observe((name,), workers),
            TASKS.observe((name,), gauge(RuntimeMetrics::num_alive_tasks)),
            QUEUE.observe((name,), gauge(RuntimeMetrics::global_queue_depth)),
        ],
    }
}

/// Keeps collecting the metrics of a runtime until it is dropped: see [`observe_runtime`]. Drop it together with the
/// runtime.
///
/// ```
/// let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// let observed = tracecast::observe_runtime("jobs", runtime.handle());
/// runtime.block_on(async { /* .. */ });
/// drop(observed);
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use = "the metrics of the runtime end when this is dropped"]
#[derive(Debug)]
pub struct ObservedRuntime {
    _observations: [Observation; 3],
}

/// The totals of all workers since the runtime began.
struct Counted {
    busy: Duration,
    parks: u64,
}

impl Counted {
    fn of(metrics: &RuntimeMetrics) -> Self {
        let workers = 0..metrics.num_workers();
        Counted {
            busy: workers.clone().map(|worker| metrics.worker_total_busy_duration(worker)).sum(),
            parks: workers.map(|worker| metrics.worker_park_count(worker)).sum(),
        }
    }
}
