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
use crate::gpu::fault::Fault;
use crate::gpu::metrics::*;
use crate::gpu::publish::{self, Subject, Totals};
use crate::gpu::sample::Sample;
use crate::gpu::view::{Description, Gpu, GpuState};
use crate::names::Names;

pub(crate) struct Slot {
    /// The label of the GPU.
    pub(crate) gpu: u32,
    names: Names,
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
    description: Description,
    totals: Totals,
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

/// What a GPU is called, and its index in the driver, as labels.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Identity {
    uuid: <uuid as tracecast::Key>::Value,
    model: <model as tracecast::Key>::Value,
    pci: <pci as tracecast::Key>::Value,
    index: u32,
}

impl Slot {
    pub(crate) fn new(gpu: u32, names: Names, events: Arc<Events>) -> Self {
        Slot { gpu, names, events, state: Mutex::default() }
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
    pub(crate) fn is(&self, index: u32, of_uuid: &str, of_model: &str, of_pci: &str) {
        let Some(mut state) = self.filled_from(index) else { return };
        let (uuid, model, pci) = (uuid::intern(of_uuid), model::intern(of_model), pci::intern(of_pci));
        let new = Identity { uuid, model, pci, index };
        if let Some(old) = state.identity.replace(new).filter(|old| *old != new) {
            self.forget(old);
        }
        let [uuid, model, pci_bus_id] = [of_uuid, of_model, of_pci].map(|text| Some(text.to_owned()));
        state.description = Description { uuid, model, pci_bus_id };
        if self.names == Names::SemanticConventions {
            self.call(&mut state, hw_id::intern(of_uuid));
        }
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
        // Each time, as metrics may have been switched on meanwhile.
        if let Some(identity) = state.identity {
            INFO.set(1_u64, (self.gpu, identity.uuid));
            MODEL_INFO.set(1_u64, (self.gpu, identity.model));
            PCI_INFO.set(1_u64, (self.gpu, identity.pci));
            INDEX_INFO.set(1_u64, (self.gpu, identity.index));
        }
        let of = self.subject(&state);
        publish::gauges(of, sample);
        publish::counters(of, sample, &mut state.totals, since);
        // Last: who reads meanwhile sees no GPU that is up and has no values.
        publish::up(of, Some(true));
        self.recover(state);
    }

    /// The GPU answers.
    fn recover(&self, mut state: MutexGuard<'_, State>) {
        let before = std::mem::replace(&mut state.health, Health::Up);
        if matches!(before, Health::Hung | Health::Lost) {
            self.push(&state, GpuEventKind::Recovered);
            drop(state);
            log::info!(target: "tracecast_nvml", "GPU {} answers again", self.gpu);
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
            state.sample = None;
            publish::gauges(self.subject(&state), &Sample::default());
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
        if fault == Fault::NotFound
            && let Some(identity) = state.identity.take()
        {
            // The driver does not have it: it may return in another place.
            self.forget(identity);
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
            self.push(&state, GpuEventKind::Hung);
        }
        // Each time, as metrics may have been switched on meanwhile.
        state.health.is_up().into_iter().for_each(|up| publish::up(self.subject(&state), Some(up)));
        drop(state);
        if is_stale {
            log::error!(
                target: "tracecast_nvml",
                "GPU {} hangs: a driver call has not returned for {stale_after:?}; its values are absent until it does",
                self.gpu
            );
        }
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
        if let Some(identity) = state.identity.take() {
            self.forget(identity);
        }
        state.retired = true;
    }

    fn hide(&self, state: &mut State, health: Health) {
        (state.health, state.sample, state.asleep) = (health, None, false);
        ASLEEP.clear((self.gpu,));
        SAMPLE_DURATION.clear((self.gpu,));
        publish::gauges(self.subject(state), &Sample::default());
        publish::up(self.subject(state), Some(false));
    }

    fn forget(&self, identity: Identity) {
        INFO.clear((self.gpu, identity.uuid));
        MODEL_INFO.clear((self.gpu, identity.model));
        PCI_INFO.clear((self.gpu, identity.pci));
        INDEX_INFO.clear((self.gpu, identity.index));
    }

    /// Queues an XID for the program and has `record` count it, unless the monitor has ended; whether it did.
    pub(crate) fn xid(&self, number: u64, record: impl FnOnce(Subject)) -> bool {
        let state = self.live();
        if let Some(state) = &state {
            self.push(state, GpuEventKind::Xid(number));
            record(self.subject(state));
        }
        state.is_some()
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
        let index = state.identity.map(|identity| identity.index);
        let sample = state.sample.unwrap_or_default();
        Some(Gpu::new((self.gpu, index), state.description.clone(), seen, age, &sample))
    }
}
