//! What the threads of a monitor share, and the threads themselves.

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

/// How long the end waits for threads that are not in a call of the driver.
const PATIENCE: Duration = Duration::from_millis(50);

/// What the threads of a monitor share.
pub(crate) struct Shared {
    pub(crate) config: Config,
    registry: Registry,
    pub(crate) stop: Stop,
    pub(crate) availability: Availability,
    events: Arc<Events>,
    /// Threads that the end waits for, a little.
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

    /// Has the end wait for this thread, a little.
    pub(crate) fn awaits(&self, thread: Option<JoinHandle<()>>) {
        let mut ending = self.ending();
        ending.retain(|thread| !thread.is_finished());
        ending.extend(thread);
    }

    fn ending(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.ending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All GPUs as the program sees them, by label.
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

    /// Whether a GPU sleeps: to load the library could wake it.
    pub(crate) fn is_any_asleep(&self) -> bool {
        self.registry.is_any_asleep()
    }

    /// Has threads for the wanted ones of `count` GPUs.
    pub(crate) fn look_after(self: &Arc<Self>, count: u32) {
        self.registry.forget_unwanted(count, self.config.longest_pause());
        self.registry.vacancies(count).into_iter().for_each(|vacancy| self.occupy(vacancy));
    }

    fn occupy(self: &Arc<Self>, vacancy: Vacancy) {
        let Vacancy { index, number, slot } = vacancy;
        let (asking, waiting) = (self.clone(), self.clone());
        let sampler = self.thread(&format!("tracecast-gpu-{index}"), move || {
            let moved = sampler::run(&asking.config, &asking.registry, index, slot, &asking.stop);
            // A GPU that left this index may be at one whose GPU was not wanted so far.
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

    /// The thread that never calls the driver: it sees who has not come back.
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
        // Threads that wait end now, and are done with the driver before the process may be. Others are left behind.
        let deadline = Instant::now() + PATIENCE;
        let threads = std::mem::take(&mut *self.ending());
        while !threads.iter().all(JoinHandle::is_finished) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
