//! What is behind the layer, the subscriber and the logger: swapped as a whole when logs are started and stopped.

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
/// Changes with `CURRENT`, so that threads know whether what they have kept of it is old.
static GENERATION: AtomicU64 = AtomicU64::new(0);
/// The least important level that any target has: all that is read of an event that nobody wants.
static MAX_LEVEL: AtomicU8 = AtomicU8::new(Level::Off as u8);

/// A filter, and where what passes it goes.
pub(super) struct Inside {
    pub(super) filter: LogFilter,
    pub(super) outputs: Arc<Outputs>,
}

/// Where events go.
pub(super) struct Outputs {
    pub(super) lines: Option<Writer>,
    pub(super) queue: Option<Queue>,
    /// No records are made for now.
    pub(super) paused: AtomicBool,
    pub(super) limits: LogLimits,
    pub(super) redact: Option<Redact>,
    /// The process that it belongs to: a forked child has no export thread that would take records.
    pub(super) process: u32,
}

/// What a thread uses again for each event.
#[derive(Default)]
struct Scratch {
    generation: u64,
    inside: Option<Arc<Inside>>,
    entry: Entry,
    line: String,
}

thread_local! {
    /// Whether this thread is handling an event: what that logs itself is left out, or it might never end.
    static BUSY: Cell<bool> = const { Cell::new(false) };
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::default());
}

/// Makes `inside` the current one. Who asks before each event, and remembers, has to be told of it.
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

/// Keeps others from swapping it, until `release`. For a thread that forks.
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

/// The least important level that any target has.
pub(super) fn max_level() -> Level {
    let levels = [Level::Off, Level::Error, Level::Warn, Level::Info, Level::Debug, Level::Trace];
    levels.get(usize::from(MAX_LEVEL.load(Ordering::Relaxed))).copied().unwrap_or_default()
}

/// Whether a test has captured in this process. It is never lowered: a level that is lowered while another test begins
/// would cost that test its events.
static CAPTURES: AtomicBool = AtomicBool::new(false);

pub(super) fn expect_captures() {
    CAPTURES.store(true, Ordering::Relaxed);
}

pub(super) fn expects_captures() -> bool {
    CAPTURES.load(Ordering::Relaxed)
}

/// True inside of a test's capture.
pub(super) fn is_captured() -> bool {
    expects_captures() && capture::current().is_some()
}

/// Whether events of this level and target are wanted, outside of captures. For those who ask seldom.
pub(super) fn is_wanted(level: Level, target: &str) -> bool {
    level <= max_level() && current().is_some_and(|inside| level <= inside.filter.level_of(target))
}

/// Handles an event whose target is known before it is read.
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

/// Handles an event that says its target among its fields.
pub(super) fn handle_unknown(level: Level, read: impl FnOnce(&mut Entry)) {
    if is_captured() {
        return captured(level, read);
    }
    if level as u8 <= MAX_LEVEL.load(Ordering::Relaxed) {
        guarded(level, |scratch, inside| scratch.handle(inside, level, read));
    }
}

/// Hands an event to the capture of the current context, whatever its level.
#[cold]
fn captured(level: Level, read: impl FnOnce(&mut Entry)) {
    alone(|| {
        let mut entry = Entry::default();
        entry.begin(clock::unix_now(), level, LogLimits::default(), &None);
        read(&mut entry);
        if let Some(sink) = capture::current().and_then(|ext| ext.sink.clone()) {
            sink.logged(Box::new(LogRecord::of(&entry)));
        }
    });
}

/// Runs `f` with the thread's buffers.
fn guarded(level: Level, f: impl FnOnce(&mut Scratch, &Inside)) {
    if suppress::is_suppressed() && level > Level::Warn {
        return;
    }
    if !alone(|| with_scratch(f)) {
        // Its target is not looked at: it counts as one that was wanted.
        current().iter().filter_map(|inside| inside.outputs.queue.as_ref()).for_each(Queue::lose);
    }
}

/// Runs `f`, unless the thread is handling another event. Catches its panics.
fn alone(f: impl FnOnce()) -> bool {
    if BUSY.replace(true) {
        return false;
    }
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        // Dropping it may run code that panics again.
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
        // The thread ends, and its buffers are gone.
        run(&mut Scratch::default());
    }
}

impl Scratch {
    /// Looks at `CURRENT` again if it has changed, or if a panic has taken what was kept.
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
