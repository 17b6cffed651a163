//! Switches callsites and metrics on and off at run time: by recording, capturing and filters.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::AcqRel, Ordering::Relaxed, Ordering::Release};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::declare::callsite::{CAPTURE, Callsite, FILTERED, METER, METER_CAPTURE, NEW, RECORD, TIMED, WATCHED};
use crate::declare::cells::{self, Metric};
use crate::declare::filter::Filter;
use crate::declare::registry;

pub(crate) struct State {
    recording: bool,
    captures: usize,
    filter: Option<Filter>,
    /// The spans that record how long they were polled. A matching rule overrides the option of the function.
    busy: Option<Filter>,
    /// Whether stall detection is on.
    watching: bool,
    metering: bool,
    /// Names of metrics, or prefixes that end in `*`, and whether these metrics are on. The last match decides.
    metrics: Vec<(String, bool)>,
    /// Declarations that are not metered, because a different metric with the same name is.
    conflicting: Vec<&'static Metric>,
}

static STATE: Mutex<State> = Mutex::new(State {
    recording: false,
    captures: 0,
    filter: None,
    busy: None,
    watching: false,
    metering: false,
    metrics: Vec::new(),
    conflicting: Vec::new(),
});

impl State {
    fn of(&self, callsite: &Callsite) -> u8 {
        self.of_spans(callsite) | self.of_meter(callsite)
    }

    fn of_spans(&self, callsite: &Callsite) -> u8 {
        if !callsite.makes_spans() {
            return 0;
        }
        let on = u8::from(self.recording) * RECORD + u8::from(self.captures > 0) * CAPTURE;
        let filtered = || self.filter.as_ref().is_some_and(|filter| !filter.allows(callsite.name()));
        match on {
            0 => 0,
            _ if filtered() => FILTERED,
            on => {
                let timed = if self.is_timed(callsite) { TIMED } else { 0 };
                on | timed | if self.watching { WATCHED } else { 0 }
            }
        }
    }

    /// Returns whether the callsite's spans record how long they were polled. A rule of the configuration overrides the option
    /// of the function.
    fn is_timed(&self, callsite: &Callsite) -> bool {
        let configured = self.busy.as_ref().and_then(|filter| filter.rule_of(callsite.name()));
        configured.unwrap_or_else(|| callsite.asks_for_busy_times())
    }

    /// Returns the flags for the metrics of a callsite. The filter of spans does not affect these flags.
    fn of_meter(&self, callsite: &Callsite) -> u8 {
        let metrics = callsite.metrics().into_iter().flat_map(|meter| meter.metrics());
        let on = metrics.fold(0, |on, metric| on | self.of_metric(metric));
        u8::from(on & cells::RECORD != 0) * METER + u8::from(on & cells::CAPTURE != 0) * METER_CAPTURE
    }

    fn of_metric(&self, metric: &Metric) -> i8 {
        let last = self.metrics.iter().rfind(|(pattern, _)| matches(pattern, metric.meta().name));
        let off = last.is_some_and(|(_, on)| !on);
        // Captures keep declarations of one name apart, which metering cannot.
        let metered = self.metering && !self.conflicting.iter().any(|conflicting| ptr::eq(*conflicting, metric));
        let on = i8::from(metered) * cells::RECORD + i8::from(self.captures > 0) * cells::CAPTURE;
        if off { 0 } else { on }
    }

    fn apply(&self) {
        let is_capturing = self.captures > 0;
        let spans = u8::from(self.recording || is_capturing) * SPANS;
        let metrics = u8::from(self.metering || is_capturing) * METRICS;
        ON.store(spans | metrics, Relaxed);
        CAPTURING.store(is_capturing, Relaxed);
        for callsite in registry::callsites() {
            callsite.set_state(self.of(callsite));
        }
        for metric in registry::metrics() {
            metric.set_state(self.of_metric(metric));
        }
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
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

/// Claims recording for the caller. Returns false if recording is already claimed.
pub(crate) fn claim_recording() -> bool {
    !CLAIMED.swap(true, AcqRel)
}

pub(crate) fn start_recording() {
    change(|state| state.recording = true);
}

/// Pauses recording without giving up the claim, or resumes it. Does not resume if recording is not claimed.
#[cfg(has_otlp)]
pub(crate) fn pause_recording(paused: bool) {
    change(|state| state.recording = !paused && CLAIMED.load(Relaxed));
}

/// Switches recording off, resets filters and stall detection, and gives up the claim.
pub(crate) fn stop_recording() {
    change(|state| {
        state.recording = false;
        (state.filter, state.busy, state.watching) = (None, None, false);
    });
    CLAIMED.store(false, Release);
}

pub(crate) fn set_filter(filter: Filter) {
    change(|state| state.filter = Some(filter));
}

/// Chooses the spans that record how long they were polled. Open spans are not affected.
#[cfg(any(has_otlp, feature = "__internals"))]
pub(crate) fn set_busy(filter: Filter) {
    change(|state| state.busy = Some(filter));
}

/// Switches stall detection on or off, for spans that begin later. Stays off if recording is not claimed.
#[cfg(any(has_otlp, feature = "__internals"))]
pub(crate) fn set_watching(watching: bool) {
    change(|state| state.watching = watching && CLAIMED.load(Relaxed));
}

pub(crate) fn begin_capture() {
    change(|state| state.captures += 1);
}

pub(crate) fn end_capture() {
    change(|state| state.captures = state.captures.saturating_sub(1));
}

static CLAIMED_METERING: AtomicBool = AtomicBool::new(false);

/// Claims metrics for the caller. Returns false if metrics are already claimed.
pub(crate) fn claim_metering() -> bool {
    !CLAIMED_METERING.swap(true, AcqRel)
}

/// Gives up the claim of metrics without switching anything.
pub(crate) fn unclaim_metering() {
    CLAIMED_METERING.store(false, Release);
}

pub(crate) fn start_metering(off: &[String], conflicting: Vec<&'static Metric>) {
    change(|state| {
        state.metering = true;
        state.conflicting = conflicting;
        state.metrics = off.iter().map(|name| (name.clone(), false)).collect();
    });
}

/// Pauses metrics without giving up the claim, or resumes them. Does not resume if metrics are not claimed.
#[cfg(has_otlp)]
pub(crate) fn pause_metering(paused: bool) {
    change(|state| state.metering = !paused && CLAIMED_METERING.load(Relaxed));
}

/// Switches metrics off, resets the switches of single metrics, and gives up the claim.
pub(crate) fn stop_metering() {
    change(|state| {
        state.metering = false;
        (state.metrics, state.conflicting) = (Vec::new(), Vec::new());
    });
    unclaim_metering();
}

/// Switches metrics on or off by name, or by a prefix that ends in `*`.
pub(crate) fn switch_metrics(pattern: &str, on: bool) {
    change(|state| {
        // The new pattern overrides the patterns that it covers.
        state.metrics.retain(|(known, _)| !matches(pattern, known));
        state.metrics.push((pattern.to_owned(), on));
    });
}

/// Returns whether a metric has this name, or begins with this prefix if the pattern ends in `*`.
pub(crate) fn names_a_metric(pattern: &str) -> bool {
    registry::metrics().any(|metric| matches(pattern, metric.meta().name))
}

/// Returns the state of a metric. Registers a metric that is new.
#[cold]
pub(crate) fn resolve_metric(metric: &'static Metric) -> i8 {
    let state = lock();
    if metric.state() & cells::NEW != 0 {
        registry::register_metric(metric);
        metric.set_state(state.of_metric(metric));
    }
    metric.state()
}

/// Returns whether a test is capturing.
#[inline]
pub fn is_capturing() -> bool {
    CAPTURING.load(Relaxed)
}

static CAPTURING: AtomicBool = AtomicBool::new(false);

/// The flags `SPANS` and `METRICS` of the telemetry that can be on.
static ON: AtomicU8 = AtomicU8::new(0);
const SPANS: u8 = 1;
const METRICS: u8 = 2;

/// Returns whether any span can be on. Used for spans that have no callsite yet.
#[inline]
pub(crate) fn is_on() -> bool {
    ON.load(Relaxed) & SPANS != 0
}

/// Returns whether any metric can be on.
#[inline]
pub fn is_measuring() -> bool {
    ON.load(Relaxed) & METRICS != 0
}

/// Returns whether any span or metric can be on.
#[inline]
pub fn is_active() -> bool {
    ON.load(Relaxed) != 0
}

/// Returns the state of a callsite. Registers a callsite that is new.
#[cold]
pub(crate) fn resolve(callsite: &'static Callsite) -> u8 {
    let state = lock();
    // Under the lock, so that the callsite is added once and misses no change.
    if callsite.state() & NEW != 0 {
        registry::register(callsite);
        callsite.set_state(state.of(callsite));
    }
    callsite.state()
}

/// Switches spans, metrics and captures off in a forked child, and gives up the claims.
pub(crate) fn off_after_fork() {
    let mut state = lock();
    state.recording = false;
    state.captures = 0;
    (state.filter, state.busy, state.watching) = (None, None, false);
    state.metering = false;
    CLAIMED.store(false, Relaxed);
    CLAIMED_METERING.store(false, Relaxed);
    state.apply();
}
