//! What is known of one GPU, which is one UUID, and since when.
//!
//! A slot is filled by the thread of one index of the driver. What the thread of another index brings is ignored.
//!
//! The thread that asks the GPU and the one that watches both change its metrics; whoever does holds the lock of the
//! slot, and never calls the driver meanwhile. So a sample that comes back late is shown whole or not at all.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tracecast::InternedKey;

use crate::event::{Events, GpuEvent, GpuEventKind};
use crate::gpu::conventional::{Id, hw_id};
use crate::gpu::counters::{self, Totals};
use crate::gpu::fault::Fault;
use crate::gpu::identity::{Identity, Instances};
use crate::gpu::metrics::*;
use crate::gpu::publish::{self, Subject};
use crate::gpu::sample::Sample;
use crate::gpu::view::{Description, Gpu, GpuState};
use crate::gpu::window::{QUANTITIES, Window};
use crate::gpu::xid_log::XidLog;
use crate::names::Names;

pub(crate) struct Slot {
    /// The label of the GPU.
    pub(crate) gpu: u32,
    names: Names,
    window: Duration,
    events: Arc<Events>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The index of the driver whose thread fills this slot.
    index: Option<u32>,
    /// Since when no thread does.
    left: Option<Instant>,
    /// What the conventions call it, if it has said that.
    id: Option<Id>,
    /// Since when the driver has been asked, if it is being asked.
    asking: Option<Instant>,
    /// When the newest values came.
    sampled: Option<Instant>,
    /// The newest values, for as long as they are shown.
    sample: Option<Sample>,
    health: Health,
    /// It sleeps: it is well, and has no values.
    asleep: bool,
    /// The monitor has ended: nothing is shown any more.
    retired: bool,
    identity: Option<Identity>,
    instances: Instances,
    description: Description,
    window: Window,
    totals: Totals,
    xids: XidLog,
    /// Since when a call hangs.
    hung: Option<Instant>,
}

/// Whether a GPU answers.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Health {
    #[default]
    Unknown,
    Up,
    Hung,
    Lost,
}

impl Health {
    fn is_up(self) -> Option<bool> {
        (self != Health::Unknown).then_some(self == Health::Up)
    }
}

impl Slot {
    pub(crate) fn new(gpu: u32, names: Names, window: Duration, events: Arc<Events>) -> Self {
        Slot { gpu, names, window, events, state: Mutex::default() }
    }

    /// The GPU as metrics know it.
    fn subject(&self, state: &State) -> Subject {
        Subject { gpu: self.gpu, names: self.names, id: state.id }
    }

    /// The state, unless the monitor has ended.
    fn live(&self) -> Option<MutexGuard<'_, State>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (!state.retired).then_some(state)
    }

    /// The state, unless the monitor has ended or the slot is filled from elsewhere.
    fn filled_from(&self, index: u32) -> Option<MutexGuard<'_, State>> {
        self.live().filter(|state| state.index == Some(index))
    }

    pub(crate) fn is_filled_from(&self, index: u32) -> bool {
        self.filled_from(index).is_some()
    }

    /// From now on the slot is filled from this index.
    pub(crate) fn take(&self, index: u32) {
        let Some(mut state) = self.live() else { return };
        if state.index.replace(index) != Some(index) {
            (state.asking, state.left) = (None, None);
        }
    }

    /// Nobody fills the slot.
    pub(crate) fn leave(&self) {
        if let Some(mut state) = self.live() {
            (state.index, state.left) = (None, Some(Instant::now()));
        }
    }

    pub(crate) fn has_uuid(&self) -> bool {
        self.live().is_some_and(|state| state.description.uuid.is_some())
    }

    pub(crate) fn has_this_uuid(&self, uuid: &str) -> bool {
        self.live().is_some_and(|state| state.description.uuid.as_deref() == Some(uuid))
    }

    /// The UUID, if nobody has filled the slot for that long.
    pub(crate) fn uuid_if_left_for(&self, pause: Duration) -> Option<String> {
        let state = self.live()?;
        state.left.filter(|left| left.elapsed() > pause).and_then(|_| state.description.uuid.clone())
    }

    /// The driver is about to be called.
    pub(crate) fn asks(&self, index: u32) {
        if let Some(mut state) = self.filled_from(index) {
            state.asking = Some(Instant::now());
        }
    }

    /// The GPU said who it is.
    pub(crate) fn is(&self, index: u32, description: Description) {
        let Some(mut state) = self.filled_from(index) else { return };
        if self.names == Names::SemanticConventions {
            self.call(&mut state, hw_id::intern(description.uuid.as_deref().unwrap_or_default()));
        }
        if state.identity.as_ref().is_none_or(|identity| !identity.is(index, &description)) {
            // The old one goes first: both may have the same labels.
            state.identity = None;
            state.identity = Some(Identity::new(self.names, self.gpu, index, &description));
        }
        state.description = description;
    }

    /// Takes a name of the conventions. What was said under another holds no longer.
    fn call(&self, state: &mut State, id: Id) {
        if state.id == Some(id) {
            return;
        }
        if state.health != Health::Unknown {
            publish::gauges(self.subject(state), &Sample::default());
            publish::up(self.subject(state), None);
        }
        state.id = Some(id);
    }

    /// The GPU has answered.
    pub(crate) fn show(&self, index: u32, sample: &Sample) {
        let Some(mut state) = self.filled_from(index) else { return };
        let now = Instant::now();
        if let Some(start) = state.asking.take() {
            SAMPLE_DURATION.set(now.duration_since(start).as_secs_f64(), (self.gpu,));
        }
        // Whatever it moved while it was not seen is not known.
        let last = state.sampled.filter(|_| state.health == Health::Up && !state.asleep);
        let since = last.map_or(Duration::ZERO, |last| now.duration_since(last));
        (state.sampled, state.sample, state.asleep) = (Some(now), Some(*sample), false);
        ASLEEP.set(0_u64, (self.gpu,));
        state.identity.iter().for_each(Identity::show);
        let of = self.subject(&state);
        publish::gauges(of, sample);
        state.instances.show(self.gpu, &sample.instances);
        publish::window(self.gpu, &state.window.add(now, self.window, publish::summarized(sample)));
        counters::counters(of, sample, &mut state.totals, since);
        // Last: who reads meanwhile sees no GPU that is up and has no values.
        publish::up(of, Some(true));
        self.recover(state);
    }

    /// The GPU answers.
    fn recover(&self, mut state: MutexGuard<'_, State>) {
        let before = std::mem::replace(&mut state.health, Health::Up);
        if matches!(before, Health::Hung | Health::Lost) {
            self.push(&state, GpuEventKind::Recovered);
            let hung = state.hung.take();
            drop(state);
            match hung {
                Some(since) => log::info!(
                    target: "tracecast_nvml",
                    "GPU {} answers again: the driver call returned after {:.1?}",
                    self.gpu,
                    since.elapsed()
                ),
                None => log::info!(target: "tracecast_nvml", "GPU {} answers again", self.gpu),
            }
        }
    }

    /// Queues an event for the program. The lock of the state is held, so events are queued in their order.
    fn push(&self, state: &State, kind: GpuEventKind) {
        if self.events.has_handler() {
            let (uuid, time) = (state.description.uuid.clone(), SystemTime::now());
            self.events.push(GpuEvent { gpu: self.gpu, uuid, time, kind });
        }
    }

    /// The GPU sleeps, and is not asked.
    pub(crate) fn sleep(&self, index: u32) {
        let Some(mut state) = self.filled_from(index) else { return };
        state.asking = None;
        if !std::mem::replace(&mut state.asleep, true) {
            self.clear(&mut state);
        }
        ASLEEP.set(1_u64, (self.gpu,));
        publish::up(self.subject(&state), Some(true));
        self.recover(state);
    }

    pub(crate) fn is_asleep(&self) -> bool {
        self.live().is_some_and(|state| state.asleep)
    }

    /// The GPU does not answer as it should; the driver is not being asked. False if the slot is filled from elsewhere.
    pub(crate) fn lose(&self, index: u32, fault: Fault) -> bool {
        let Some(mut state) = self.filled_from(index) else { return false };
        state.asking = None;
        if state.health != Health::Lost {
            self.push(&state, GpuEventKind::Lost { error: fault.text() });
        }
        self.hide(&mut state, Health::Lost);
        state.hung = None;
        if fault == Fault::NotFound {
            // The driver does not have it: it may return in another place.
            state.identity = None;
        }
        true
    }

    /// Looks at the clock: what has become too old is a gap.
    pub(crate) fn watch(&self, interval: Duration, stale_after: Duration) {
        let Some(mut state) = self.live() else { return };
        let now = Instant::now();
        let since = |then: Instant| now.saturating_duration_since(then);
        if let Some(sampled) = state.sampled {
            SAMPLE_AGE.set(since(sampled).as_secs_f64(), (self.gpu,));
        }
        let is_old = |then| since(then) > stale_after;
        let asking = state.asking.map(since).unwrap_or_default();
        STUCK.set(if asking > interval { asking.as_secs_f64() } else { 0.0 }, (self.gpu,));
        let is_stale = match state.health {
            // One that sleeps has no new values, but may hang as it wakes.
            Health::Up => asking > stale_after || !state.asleep && state.sampled.is_some_and(is_old),
            Health::Hung | Health::Lost => false,
            Health::Unknown => asking > stale_after,
        };
        if is_stale {
            self.hide(&mut state, Health::Hung);
            state.hung = state.asking.or(Some(now));
            self.push(&state, GpuEventKind::Hung);
        }
        // Each time, as metrics may have been switched on meanwhile.
        state.health.is_up().into_iter().for_each(|up| publish::up(self.subject(&state), Some(up)));
        let xids = state.xids.due(self.gpu, now);
        drop(state);
        xids.iter().for_each(|line| log::error!(target: "tracecast_nvml", "{line}"));
        if is_stale {
            log::error!(
                target: "tracecast_nvml",
                "GPU {} hangs: a driver call has not returned for {stale_after:?}; its values are absent until it does",
                self.gpu
            );
        }
    }

    /// The monitor ends: logs what was not logged yet, and shows nothing any more.
    pub(crate) fn end(&self) {
        let xids = self.live().map(|mut state| state.xids.rest(self.gpu, Instant::now())).unwrap_or_default();
        self.retire();
        xids.iter().for_each(|line| log::error!(target: "tracecast_nvml", "{line}"));
    }

    /// The monitor has ended: everything is a gap, whatever comes back later.
    pub(crate) fn retire(&self) {
        let Some(mut state) = self.live() else { return };
        let health = state.health;
        self.hide(&mut state, health);
        publish::up(self.subject(&state), None);
        SAMPLE_AGE.clear((self.gpu,));
        STUCK.clear((self.gpu,));
        XID_TIME.clear((self.gpu,));
        (state.identity, state.retired) = (None, true);
    }

    fn hide(&self, state: &mut State, health: Health) {
        (state.health, state.asleep) = (health, false);
        ASLEEP.clear((self.gpu,));
        SAMPLE_DURATION.clear((self.gpu,));
        self.clear(state);
        publish::up(self.subject(state), Some(false));
    }

    /// Nothing is known of it.
    fn clear(&self, state: &mut State) {
        let nothing = Sample::default();
        (state.sample, state.window) = (None, Window::default());
        publish::gauges(self.subject(state), &nothing);
        publish::window(self.gpu, &[None; QUANTITIES]);
        state.instances.show(self.gpu, &nothing.instances);
    }

    /// Queues an XID for the program and has `record` count it, unless the monitor has ended. The line to log, if it is time for one.
    pub(crate) fn xid(&self, number: u64, record: impl FnOnce(Subject)) -> Option<String> {
        let mut state = self.live()?;
        self.push(&state, GpuEventKind::Xid(number));
        record(self.subject(&state));
        state.xids.add(self.gpu, number, Instant::now())
    }

    /// The GPU as the program sees it, unless the monitor has ended.
    pub(crate) fn view(&self) -> Option<Gpu> {
        let state = self.live()?;
        let seen = match state.health {
            Health::Unknown => GpuState::Starting,
            Health::Up if state.asleep => GpuState::Asleep,
            Health::Up => GpuState::Up,
            Health::Hung => GpuState::Hung,
            Health::Lost => GpuState::Lost,
        };
        let age = state.sampled.map(|sampled| sampled.elapsed());
        let index = state.identity.as_ref().map(|identity| identity.index);
        let sample = state.sample.unwrap_or_default();
        Some(Gpu::new((self.gpu, index), state.description.clone(), seen, age, &sample))
    }
}
