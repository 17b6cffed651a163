//! The shared state of a monitor's threads, and the start and end of these threads.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::config::Config;
use crate::event::Events;
use crate::gpu::availability::Availability;
use crate::gpu::filter::Filter;
use crate::gpu::registry::{Registry, Vacancy};
use crate::gpu::view::Gpu;
use crate::gpu::{sampler, xid};
use crate::stop::Stop;

/// The longest wait at the monitor's end for its threads, which end at once unless they are in a driver call.
const PATIENCE: Duration = Duration::from_millis(50);

/// The shared state of a monitor's threads.
pub(crate) struct Shared {
    pub(crate) config: Config,
    registry: Registry,
    pub(crate) stop: Stop,
    pub(crate) availability: Availability,
    events: Arc<Events>,
    /// The threads for which the monitor's end waits up to `PATIENCE`.
    ending: Mutex<Vec<JoinHandle<()>>>,
}

impl Shared {
    pub(crate) fn new(config: Config) -> Self {
        let filter = Filter::of_environment(config.devices.as_deref());
        let events = Arc::new(Events::new(config.event_handler.clone()));
        Shared {
            registry: Registry::new(filter, &config, events.clone()),
            events,
            config,
            stop: Stop::default(),
            availability: Availability::default(),
            ending: Mutex::default(),
        }
    }

    /// Lets the monitor's end wait up to `PATIENCE` for this thread.
    pub(crate) fn awaits(&self, thread: Option<JoinHandle<()>>) {
        let mut ending = self.ending();
        ending.retain(|thread| !thread.is_finished());
        ending.extend(thread);
    }

    fn ending(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.ending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns all GPUs for the program, in the order of their labels.
    pub(crate) fn views(&self) -> Vec<Gpu> {
        self.registry.views()
    }

    /// Starts the thread that calls the program's handler, if there is one.
    pub(crate) fn handle_events(&self) {
        if self.events.has_handler() {
            let events = self.events.clone();
            self.awaits(self.thread("tracecast-gpu-events", move || events.run()));
        }
    }

    /// Returns whether any GPU is suspended. Loading the library could wake such a GPU.
    pub(crate) fn is_any_asleep(&self) -> bool {
        self.registry.is_any_asleep()
    }

    /// Starts the missing threads for the selected ones of `count` GPUs.
    pub(crate) fn look_after(self: &Arc<Self>, count: u32) {
        self.registry.forget_unwanted(count, self.config.longest_pause());
        self.registry.vacancies(count).into_iter().for_each(|vacancy| self.occupy(vacancy));
    }

    fn occupy(self: &Arc<Self>, vacancy: Vacancy) {
        let Vacancy { index, number, slot } = vacancy;
        let (asking, waiting) = (self.clone(), self.clone());
        let sampler = self.thread(&format!("tracecast-gpu-{index}"), move || {
            let moved = sampler::run(&asking.config, &asking.registry, index, slot, &asking.stop);
            // The GPU that left this index may now be at an index without threads, whose earlier GPU was not selected.
            moved.into_iter().for_each(|count| asking.look_after(count));
        });
        self.thread(&format!("tracecast-xid-{index}"), move || {
            xid::run(&waiting.config, &waiting.registry, index, number, &waiting.stop);
        });
        self.awaits(sampler);
    }

    pub(crate) fn thread(&self, name: &str, run: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
        let spawned: io::Result<_> = std::thread::Builder::new().name(name.to_owned()).spawn(run);
        let say = |error: &io::Error| log::warn!(target: "tracecast_nvml", "no thread `{name}`: {error}");
        spawned.inspect_err(say).ok()
    }

    /// Runs the watch thread, which never calls the driver and detects calls that hang.
    pub(crate) fn watch(&self) {
        let (interval, stale_after) = (self.config.interval, self.config.stale_after());
        let tick = (interval / 2).min(Duration::from_secs(1));
        while !self.stop.wait(tick) {
            self.availability.watch(stale_after);
            self.events.log_overflow();
            self.registry.watch(interval, stale_after);
        }
    }

    pub(crate) fn end(&self) {
        self.stop.set();
        self.events.close();
        self.availability.retire();
        self.registry.end();
        // Idle threads end now, so they release the driver before the process may exit. Threads in a driver call are left
        // running.
        let deadline = Instant::now() + PATIENCE;
        let threads = std::mem::take(&mut *self.ending());
        while !threads.iter().all(JoinHandle::is_finished) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
