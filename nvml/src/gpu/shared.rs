//! What the threads of a monitor share, and the threads themselves.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::config::Config;
use crate::event::Events;
use crate::gpu::availability::Availability;
use crate::gpu::filter::Filter;
use crate::gpu::metrics::MOST_GPUS;
use crate::gpu::slot::Slot;
use crate::gpu::view::Gpu;
use crate::gpu::{sampler, xid};
use crate::stop::Stop;

/// How long the end waits for threads that are not in a call of the driver.
const PATIENCE: Duration = Duration::from_millis(50);

/// What the threads of a monitor share.
pub(crate) struct Shared {
    pub(crate) config: Config,
    filter: Filter,
    pub(crate) stop: Stop,
    pub(crate) availability: Availability,
    events: Arc<Events>,
    gpus: Mutex<BTreeMap<u32, Arc<Slot>>>,
    /// Threads that the end waits for, a little.
    ending: Mutex<Vec<JoinHandle<()>>>,
}

impl Shared {
    pub(crate) fn new(config: Config) -> Self {
        Shared {
            filter: Filter::of_environment(config.devices.as_deref()),
            events: Arc::new(Events::new(config.event_handler.clone())),
            config,
            stop: Stop::default(),
            availability: Availability::default(),
            gpus: Mutex::default(),
            ending: Mutex::default(),
        }
    }

    /// Has the end wait for this thread, a little.
    pub(crate) fn awaits(&self, thread: Option<JoinHandle<()>>) {
        self.ending().extend(thread);
    }

    fn gpus(&self) -> MutexGuard<'_, BTreeMap<u32, Arc<Slot>>> {
        self.gpus.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ending(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.ending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All GPUs as the program sees them, by index.
    pub(crate) fn views(&self) -> Vec<Gpu> {
        self.gpus().values().filter_map(|slot| slot.view()).collect()
    }

    /// Starts the thread that calls the program's handler, if there is one.
    pub(crate) fn handle_events(&self) {
        if self.events.has_handler() {
            let events = self.events.clone();
            self.awaits(self.thread("tracecast-gpu-events", move || events.run()));
        }
    }

    /// Whether a GPU sleeps: to load the library could wake it.
    pub(crate) fn is_any_asleep(&self) -> bool {
        self.gpus().values().any(|slot| slot.is_asleep())
    }

    /// Has threads for the wanted ones of the first `count` GPUs. One that has them keeps them, also while they hang.
    pub(crate) fn look_after(self: &Arc<Self>, count: u32) {
        let mut gpus = self.gpus();
        if self.stop.is_set() {
            return;
        }
        for index in 0..count.min(MOST_GPUS) {
            if self.filter.selects(index, count, None) != Some(false) {
                gpus.entry(index).or_insert_with(|| self.gpu(index));
            }
        }
    }

    fn gpu(self: &Arc<Self>, index: u32) -> Arc<Slot> {
        let slot = Arc::new(Slot::new(index, self.config.names, self.events.clone()));
        let (asking, of_asking) = (self.clone(), slot.clone());
        let (waiting, of_waiting) = (self.clone(), slot.clone());
        let sampler = self.thread(&format!("tracecast-gpu-{index}"), move || {
            sampler::run(&asking.config, &asking.filter, &of_asking, &asking.stop);
        });
        self.thread(&format!("tracecast-xid-{index}"), move || {
            xid::run(&waiting.config, &of_waiting, &waiting.stop);
        });
        self.awaits(sampler);
        slot
    }

    pub(crate) fn thread(&self, name: &str, run: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
        let spawned: io::Result<_> = std::thread::Builder::new().name(name.to_owned()).spawn(run);
        let say = |error: &io::Error| log::warn!(target: "tracecast_nvml", "no thread `{name}`: {error}");
        spawned.inspect_err(say).ok()
    }

    /// The thread that never calls the driver: it sees who has not come back.
    pub(crate) fn watch(&self) {
        let (interval, stale_after) = (self.config.interval, self.config.stale_after());
        let tick = (interval / 2).min(Duration::from_secs(1));
        while !self.stop.wait(tick) {
            self.availability.watch(stale_after);
            self.events.log_overflow();
            for slot in self.gpus().values() {
                slot.watch(interval, stale_after);
            }
        }
    }

    pub(crate) fn end(&self) {
        self.stop.set();
        self.events.close();
        self.availability.retire();
        let gpus = std::mem::take(&mut *self.gpus());
        gpus.values().for_each(|slot| slot.retire());
        // Threads that wait end now, and are done with the driver before the process may be. Others are left behind.
        let deadline = Instant::now() + PATIENCE;
        let threads = std::mem::take(&mut *self.ending());
        while !threads.iter().all(JoinHandle::is_finished) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
