//! The shared state of the layer, the subscriber and the logger. Starting and stopping logs replaces it as a whole.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::entry::{Entry, KEPT, Text};
use super::line::Writer;
use super::queue::Queue;
use super::record::LogRecord;
use crate::base::suppress;
use crate::config::redact::Redact;
use crate::config::{Level, LogFilter, LogLimits};
use crate::meter::capture;
use crate::record::clock;

static CURRENT: Mutex<Option<Arc<Inside>>> = Mutex::new(None);
/// A counter that changes with `CURRENT`, by which each thread detects that its copy is old.
static GENERATION: AtomicU64 = AtomicU64::new(0);
/// The most verbose level that is enabled for any target. More verbose events are rejected before their other data is
/// read.
static MAX_LEVEL: AtomicU8 = AtomicU8::new(Level::Off as u8);

/// A log filter and the outputs for events that pass it.
pub(super) struct Inside {
    pub(super) filter: LogFilter,
    pub(super) outputs: Arc<Outputs>,
}

/// The destinations of events.
pub(super) struct Outputs {
    pub(super) lines: Option<Writer>,
    pub(super) queue: Option<Queue>,
    /// Whether creating records is paused.
    pub(super) paused: AtomicBool,
    pub(super) limits: LogLimits,
    pub(super) redact: Option<Redact>,
    /// The process that started logs. A forked child has no export thread that would take records, so it creates none.
    pub(super) process: u32,
}

/// Buffers that a thread reuses for each event.
#[derive(Default)]
struct Scratch {
    generation: u64,
    inside: Option<Arc<Inside>>,
    entry: Entry,
    line: String,
}

thread_local! {
    /// Whether this thread is handling an event. Events logged meanwhile on the same thread are dropped, because the
    /// recursion might never end.
    static BUSY: Cell<bool> = const { Cell::new(false) };
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::default());
}

/// Replaces the current state. The caller must then notify `tracing` and `log`, which cache levels.
pub(super) fn swap(inside: Option<Arc<Inside>>) {
    let max_level = inside.as_ref().map_or(Level::Off, |inside| max_level_of(&inside.filter));
    let mut current = lock();
    *current = inside;
    MAX_LEVEL.store(max_level as u8, Ordering::Relaxed);
    GENERATION.fetch_add(1, Ordering::Release);
}

pub(super) fn current() -> Option<Arc<Inside>> {
    lock().clone()
}

thread_local! {
    static HELD: RefCell<Option<MutexGuard<'static, Option<Arc<Inside>>>>> = const { RefCell::new(None) };
}

/// Locks the state until `release`, for a thread that forks.
pub(super) fn hold() {
    let _ = HELD.try_with(|held| *held.borrow_mut() = Some(lock()));
}

pub(super) fn release() {
    let _ = HELD.try_with(RefCell::take);
}

fn lock() -> MutexGuard<'static, Option<Arc<Inside>>> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn max_level_of(filter: &LogFilter) -> Level {
    filter.targets.iter().map(|(_, level)| *level).fold(filter.level, Level::max)
}

/// Returns the most verbose level that is enabled for any target.
pub(super) fn max_level() -> Level {
    let levels = [Level::Off, Level::Error, Level::Warn, Level::Info, Level::Debug, Level::Trace];
    levels.get(usize::from(MAX_LEVEL.load(Ordering::Relaxed))).copied().unwrap_or_default()
}

/// Whether a test has prepared captures in this process. The flag is never reset: a reset could lose events of another
/// test that begins at the same time.
static CAPTURES: AtomicBool = AtomicBool::new(false);

pub(super) fn expect_captures() {
    CAPTURES.store(true, Ordering::Relaxed);
}

pub(super) fn expects_captures() -> bool {
    CAPTURES.load(Ordering::Relaxed)
}

/// Returns whether the thread is in a test's capture.
pub(super) fn is_captured() -> bool {
    expects_captures() && capture::current().is_some()
}

/// Returns whether events of this level and target are enabled, outside of captures. This takes a lock, so the result
/// must be cached.
pub(super) fn is_wanted(level: Level, target: &str) -> bool {
    level <= max_level() && current().is_some_and(|inside| level <= inside.filter.level_of(target))
}

/// Handles an event whose target is known before its fields are read.
#[inline]
pub(super) fn handle(level: Level, target: &str, read: impl FnOnce(&mut Entry)) {
    if is_captured() {
        return captured(level, read);
    }
    if level as u8 <= MAX_LEVEL.load(Ordering::Relaxed) {
        guarded(level, |scratch, inside| {
            if level <= inside.filter.level_of(target) {
                scratch.handle(inside, level, read);
            }
        });
    }
}

/// Handles an event whose target is in its fields.
pub(super) fn handle_unknown(level: Level, read: impl FnOnce(&mut Entry)) {
    if is_captured() {
        return captured(level, read);
    }
    if level as u8 <= MAX_LEVEL.load(Ordering::Relaxed) {
        guarded(level, |scratch, inside| scratch.handle(inside, level, read));
    }
}

/// Passes an event to the capture of the current context, whatever its level.
#[cold]
fn captured(level: Level, read: impl FnOnce(&mut Entry)) {
    alone(|| {
        let mut entry = Entry::default();
        entry.begin(clock::unix_now(), level, LogLimits::default(), &None);
        read(&mut entry);
        if let Some(sink) = capture::current().and_then(|propagated| propagated.sink.clone()) {
            sink.logged(Box::new(LogRecord::of(&entry)));
        }
    });
}

/// Runs `f` with the thread's buffers and the current state. Skips an event below `warn` if telemetry is suppressed on
/// this thread; counts an event as lost if the thread is handling another one.
fn guarded(level: Level, f: impl FnOnce(&mut Scratch, &Inside)) {
    if suppress::is_suppressed() && level > Level::Warn {
        return;
    }
    if !alone(|| with_scratch(f)) {
        // The target is not checked: the event counts as lost even if the filter would reject it.
        current().iter().filter_map(|inside| inside.outputs.queue.as_ref()).for_each(Queue::lose);
    }
}

/// Runs `f` and catches its panics. If the thread is already handling an event, returns false without running `f`.
fn alone(f: impl FnOnce()) -> bool {
    if BUSY.replace(true) {
        return false;
    }
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        // Dropping the payload may panic again.
        std::mem::forget(payload);
    }
    BUSY.set(false);
    true
}

fn with_scratch(f: impl FnOnce(&mut Scratch, &Inside)) {
    let mut f = Some(f);
    let mut run = |scratch: &mut Scratch| {
        scratch.renew();
        if let (Some(f), Some(inside)) = (f.take(), scratch.inside.take()) {
            f(scratch, &inside);
            scratch.inside = Some(inside);
        }
    };
    let kept = SCRATCH.try_with(|scratch| scratch.try_borrow_mut().map(|mut scratch| run(&mut scratch)));
    if !matches!(kept, Ok(Ok(()))) {
        // The thread is ending, and its buffers are already dropped.
        run(&mut Scratch::default());
    }
}

impl Scratch {
    /// Loads `CURRENT` again if it has changed, or if a panic has lost the copy.
    fn renew(&mut self) {
        let generation = GENERATION.load(Ordering::Acquire);
        if generation != self.generation || self.inside.is_none() {
            self.inside = current();
            self.generation = generation;
        }
    }

    fn handle(&mut self, inside: &Inside, level: Level, read: impl FnOnce(&mut Entry)) {
        let outputs = &*inside.outputs;
        self.entry.begin(clock::unix_now(), level, outputs.limits, &outputs.redact);
        read(&mut self.entry);
        if matches!(self.entry.target, Text::Own(_))
            && level > inside.filter.level_of(self.entry.text(&self.entry.target))
        {
            return;
        }
        if let Some(lines) = &outputs.lines {
            lines.write(&mut self.line, &self.entry);
            if self.line.capacity() > KEPT {
                self.line = String::new();
            }
        }
        if let Some(queue) = &outputs.queue
            && !outputs.paused.load(Ordering::Relaxed)
            && !suppress::is_suppressed()
            && outputs.process == std::process::id()
        {
            queue.push(LogRecord::of(&self.entry));
        }
    }
}
