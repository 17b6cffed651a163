//! The state of one GPU, identified by its UUID, and the update of its metrics.
//!
//! The thread of one index fills a slot. Samples from the threads of other indices are ignored.
//!
//! The sampling thread and the watch thread both change the GPU's metrics. Each does so under the slot's lock, under which the
//! driver is never called, so a late sample is shown entirely or not at all.

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
    /// The time at which a thread last stopped filling this slot, if none fills it now.
    left: Option<Instant>,
    /// The conventional identifier, once the UUID is known.
    id: Option<Id>,
    /// The start of the current driver call, if one is in progress.
    asking: Option<Instant>,
    /// The time of the newest sample.
    sampled: Option<Instant>,
    /// The newest sample, while its values are shown.
    sample: Option<Sample>,
    health: Health,
    /// Whether the GPU is suspended: it counts as up, but has no values.
    asleep: bool,
    /// Whether the monitor has ended or the GPU was removed. A retired slot shows nothing.
    retired: bool,
    identity: Option<Identity>,
    instances: Instances,
    description: Description,
    window: Window,
    totals: Totals,
    xids: XidLog,
    /// The start of the call that hangs.
    hung: Option<Instant>,
}

/// The health of a GPU; unknown until the first sample or fault.
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

    /// Returns the labels and naming style of the GPU's metrics.
    fn subject(&self, state: &State) -> Subject {
        Subject { gpu: self.gpu, names: self.names, id: state.id }
    }

    /// Locks the state, unless the slot is retired.
    fn live(&self) -> Option<MutexGuard<'_, State>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (!state.retired).then_some(state)
    }

    /// Locks the state, unless the slot is retired or this index does not fill the slot.
    fn filled_from(&self, index: u32) -> Option<MutexGuard<'_, State>> {
        self.live().filter(|state| state.index == Some(index))
    }

    pub(crate) fn is_filled_from(&self, index: u32) -> bool {
        self.filled_from(index).is_some()
    }

    /// Makes this index the one that fills the slot.
    pub(crate) fn take(&self, index: u32) {
        let Some(mut state) = self.live() else { return };
        if state.index.replace(index) != Some(index) {
            (state.asking, state.left) = (None, None);
        }
    }

    /// Notes that no index fills the slot any more.
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

    /// Returns the UUID if no index has filled the slot for longer than `pause`.
    pub(crate) fn uuid_if_left_for(&self, pause: Duration) -> Option<String> {
        let state = self.live()?;
        state.left.filter(|left| left.elapsed() > pause).and_then(|_| state.description.uuid.clone())
    }

    /// Notes that a driver call begins.
    pub(crate) fn asks(&self, index: u32) {
        if let Some(mut state) = self.filled_from(index) {
            state.asking = Some(Instant::now());
        }
    }

    /// Stores the GPU's identity and shows it on the info metrics with the next sample.
    pub(crate) fn is(&self, index: u32, description: Description) {
        let Some(mut state) = self.filled_from(index) else { return };
        if self.names == Names::SemanticConventions {
            self.call(&mut state, hw_id::intern(description.uuid.as_deref().unwrap_or_default()));
        }
        if state.identity.as_ref().is_none_or(|identity| !identity.is(index, &description)) {
            // The old identity is dropped first, because both may have the same labels.
            state.identity = None;
            state.identity = Some(Identity::new(self.names, self.gpu, index, &description));
        }
        state.description = description;
    }

    /// Sets the conventional identifier, and clears the metrics under the old one.
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

    /// Shows a sample.
    pub(crate) fn show(&self, index: u32, sample: &Sample) {
        let Some(mut state) = self.filled_from(index) else { return };
        let now = Instant::now();
        if let Some(start) = state.asking.take() {
            SAMPLE_DURATION.set(now.duration_since(start).as_secs_f64(), (self.gpu,));
        }
        // Bytes that were transferred during a gap are unknown.
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
        // Set last, so that no reader sees a GPU that is up without values.
        publish::up(of, Some(true));
        self.recover(state);
    }

    /// Marks the GPU as up; reports and logs its recovery if it was lost or hung.
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

    /// Queues an event for the program. The caller holds the lock of the state, so events are queued in order.
    fn push(&self, state: &State, kind: GpuEventKind) {
        if self.events.has_handler() {
            let (uuid, time) = (state.description.uuid.clone(), SystemTime::now());
            self.events.push(GpuEvent { gpu: self.gpu, uuid, time, kind });
        }
    }

    /// Marks the GPU as suspended; it is not queried then.
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

    /// Marks the GPU as lost after a fault. Returns `false` without an effect if this index does not fill the slot or
    /// the slot is retired.
    pub(crate) fn lose(&self, index: u32, fault: Fault) -> bool {
        let Some(mut state) = self.filled_from(index) else { return false };
        state.asking = None;
        if state.health != Health::Lost {
            self.push(&state, GpuEventKind::Lost { error: fault.text() });
        }
        self.hide(&mut state, Health::Lost);
        state.hung = None;
        if fault == Fault::NotFound {
            // The driver no longer lists the GPU; it may return at another index.
            state.identity = None;
        }
        true
    }

    /// Checks the age of the values: if they are too old, they become gaps and the GPU counts as hung.
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
            // A suspended GPU has no new values, but a call may hang when the GPU resumes.
            Health::Up => asking > stale_after || !state.asleep && state.sampled.is_some_and(is_old),
            Health::Hung | Health::Lost => false,
            Health::Unknown => asking > stale_after,
        };
        if is_stale {
            self.hide(&mut state, Health::Hung);
            state.hung = state.asking.or(Some(now));
            self.push(&state, GpuEventKind::Hung);
        }
        // Set each time, because metrics may have been switched on meanwhile.
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

    /// Ends the slot: logs the XIDs that were not logged yet, and clears the metrics.
    pub(crate) fn end(&self) {
        let xids = self.live().map(|mut state| state.xids.rest(self.gpu, Instant::now())).unwrap_or_default();
        self.retire();
        xids.iter().for_each(|line| log::error!(target: "tracecast_nvml", "{line}"));
    }

    /// Clears all metrics of the GPU and ignores later samples.
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

    /// Clears the values of the GPU.
    fn clear(&self, state: &mut State) {
        let nothing = Sample::default();
        (state.sample, state.window) = (None, Window::default());
        publish::gauges(self.subject(state), &nothing);
        publish::window(self.gpu, &[None; QUANTITIES]);
        state.instances.show(self.gpu, &nothing.instances);
    }

    /// Queues an XID for the program and calls `record` to count it, unless the slot is retired. Returns a line to log
    /// if one is due.
    pub(crate) fn xid(&self, number: u64, record: impl FnOnce(Subject)) -> Option<String> {
        let mut state = self.live()?;
        self.push(&state, GpuEventKind::Xid(number));
        record(self.subject(&state));
        state.xids.add(self.gpu, number, Instant::now())
    }

    /// Returns the GPU for the program, unless the slot is retired.
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
