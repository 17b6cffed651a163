//! SIGTERM and SIGINT: a thread is told of the first two, and the third one ends the process.
//!
//! The handler changes an atomic, writes one byte to a pipe, and may end the process; nothing else, so it works whatever the other
//! threads are stuck in. Other handlers of these signals still run, as those of tokio.

use std::ffi::c_int;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::process;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level;

const SIGNALS: [c_int; 2] = [SIGTERM, SIGINT];

/// How many signals the thread is told of: the one that starts the shutdown, and the one that ends it early.
const TOLD: u8 = 2;

/// The process whose signals are taken, or 0. A forked child inherits the handlers, but not who waits for them.
static TAKEN_IN: AtomicU32 = AtomicU32::new(0);

/// The signals, for as long as this lives. After it they do again what they do by default.
pub(super) struct Signals {
    process: u32,
    actions: Vec<SigId>,
}

impl Signals {
    /// Takes the signals. The first two of them can be read, a byte each; reading ends when this is dropped.
    ///
    /// # Errors
    /// If they are taken already, or the system does not give what is needed.
    pub(super) fn take() -> io::Result<(Self, PipeReader)> {
        let process = process::id();
        // Whoever comes second waits here, and then sees that they are taken.
        static TAKING: Mutex<()> = Mutex::new(());
        let _taking = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
        if TAKEN_IN.load(Acquire) == process {
            return Err(io::Error::other("another shutdown has taken them"));
        }
        keep_default()?;
        let (reader, writer) = io::pipe()?;
        let gate = Arc::new(Gate { process, came: AtomicU8::new(0), writer });
        let mut signals = Signals { process, actions: Vec::new() };
        for signal in SIGNALS {
            let gate = gate.clone();
            // SAFETY: `Gate::pass` does only what a signal handler may, as is said there.
            signals.actions.push(unsafe { low_level::register(signal, move || gate.pass(signal)) }?);
        }
        TAKEN_IN.store(process, Release);
        Ok((signals, reader))
    }

    /// The name of what was read.
    pub(super) fn name(byte: u8) -> &'static str {
        low_level::signal_name(c_int::from(byte)).unwrap_or("a signal")
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // A forked child may have taken its own by now.
        let _ = TAKEN_IN.compare_exchange(self.process, 0, AcqRel, Acquire);
        for action in self.actions.drain(..) {
            low_level::unregister(action);
        }
    }
}

/// Has the signals do what they do by default while nobody takes them: a handler that was installed once stays.
fn keep_default() -> io::Result<()> {
    static KEPT: Mutex<bool> = Mutex::new(false);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    for signal in SIGNALS.into_iter().filter(|_| !*kept) {
        let by_default = move || {
            if TAKEN_IN.load(Acquire) != process::id() {
                let _ = low_level::emulate_default_handler(signal);
            }
        };
        // SAFETY: it loads an atomic, asks for the process id, and calls what is made for handlers.
        unsafe { low_level::register(signal, by_default) }?;
    }
    *kept = true;
    Ok(())
}

/// What a signal passes.
struct Gate {
    process: u32,
    /// How many came, up to `TOLD`.
    came: AtomicU8,
    writer: PipeWriter,
}

impl Gate {
    /// Runs in the handler: one atomic update, and either `write` of one byte, for which the pipe has room, or `_exit`.
    fn pass(&self, signal: c_int) {
        if self.process != process::id() {
            return;
        }
        let one_more = |came| (came < TOLD).then_some(came + 1);
        if self.came.fetch_update(AcqRel, Acquire, one_more).is_err() {
            low_level::exit(1);
        }
        let byte = u8::try_from(signal).unwrap_or_default();
        let _ = (&self.writer).write(&[byte]);
    }
}
