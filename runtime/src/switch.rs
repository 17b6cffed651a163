//! The switch of every callsite: recording or not, capturing or not, filtered or not. Hot, at any time.

use std::sync::atomic::{AtomicBool, Ordering::AcqRel, Ordering::Relaxed, Ordering::Release};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::callsite::{CAPTURE, Callsite, FILTERED, NEW, RECORD};
use crate::filter::Filter;
use crate::registry;

pub(crate) struct State {
    recording: bool,
    captures: usize,
    filter: Option<Filter>,
}

static STATE: Mutex<State> = Mutex::new(State { recording: false, captures: 0, filter: None });

impl State {
    fn of(&self, callsite: &Callsite) -> u8 {
        let on = u8::from(self.recording) * RECORD + u8::from(self.captures > 0) * CAPTURE;
        let filtered = || self.filter.as_ref().is_some_and(|filter| !filter.allows(callsite.name()));
        if on != 0 && filtered() { FILTERED } else { on }
    }

    fn apply(&self) {
        ON.store(self.recording || self.captures > 0, Relaxed);
        for callsite in registry::callsites() {
            callsite.set_state(self.of(callsite));
        }
    }
}

pub(crate) fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn change(change: impl FnOnce(&mut State)) {
    let mut state = lock();
    change(&mut state);
    state.apply();
}

static CLAIMED: AtomicBool = AtomicBool::new(false);

/// Makes the caller the one that may switch recording on; false if somebody is already.
pub(crate) fn claim_recording() -> bool {
    !CLAIMED.swap(true, AcqRel)
}

pub(crate) fn start_recording() {
    change(|state| state.recording = true);
}

/// Switches recording off, and leaves it to the next one.
pub(crate) fn stop_recording() {
    change(|state| {
        state.recording = false;
        state.filter = None;
    });
    CLAIMED.store(false, Release);
}

pub(crate) fn set_filter(filter: Filter) {
    change(|state| state.filter = Some(filter));
}

pub(crate) fn begin_capture() {
    change(|state| state.captures += 1);
}

pub(crate) fn end_capture() {
    change(|state| state.captures = state.captures.saturating_sub(1));
}

static ON: AtomicBool = AtomicBool::new(false);

/// Whether anything at all is on, for spans that have no callsite of their own yet.
#[inline]
pub(crate) fn is_on() -> bool {
    ON.load(Relaxed)
}

/// The state of a callsite, which is registered first if need be.
#[cold]
pub(crate) fn resolve(callsite: &'static Callsite) -> u8 {
    let state = lock();
    // Under the lock, so that it is added once and no change passes it by.
    if callsite.state() & NEW != 0 {
        registry::register(callsite);
        callsite.set_state(state.of(callsite));
    }
    callsite.state()
}

/// Everything off: for a forked child.
pub(crate) fn off_after_fork() {
    let mut state = lock();
    state.recording = false;
    state.captures = 0;
    state.filter = None;
    CLAIMED.store(false, Relaxed);
    state.apply();
}
