//! SIGTERM and SIGINT: a thread receives the first two, and the third one exits the process.
//!
//! The handler only changes an atomic, writes one byte to a pipe, or exits the process, so it works whatever the other
//! threads are stuck in. Other handlers of these signals, such as those of tokio, still run.

use std::ffi::c_int;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::process;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level;

const SIGNALS: [c_int; 2] = [SIGTERM, SIGINT];

/// The number of signals that the thread receives: one starts the shutdown, one ends it early.
const TOLD: u8 = 2;

/// The process whose signals are handled, or 0. A forked child inherits the handlers, but not the thread.
static TAKEN_IN: AtomicU32 = AtomicU32::new(0);

/// Handles the signals while it lives. Afterwards they have their default effect again.
pub(super) struct Signals {
    process: u32,
    actions: Vec<SigId>,
}

impl Signals {
    /// Installs the handlers. The first two signals can be read, one byte each; the end of the stream is reached when
    /// `Signals` is dropped.
    ///
    /// # Errors
    /// If another shutdown already handles the signals, or a system call fails.
    pub(super) fn take() -> io::Result<(Self, PipeReader)> {
        let process = process::id();
        // A second caller waits here, and then sees that the signals are taken.
        static TAKING: Mutex<()> = Mutex::new(());
        let _taking = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
        if TAKEN_IN.load(Acquire) == process {
            return Err(io::Error::other("another shutdown already handles them"));
        }
        keep_default()?;
        let (reader, writer) = io::pipe()?;
        let gate = Arc::new(Gate { process, came: AtomicU8::new(0), writer });
        let mut signals = Signals { process, actions: Vec::new() };
        for signal in SIGNALS {
            let gate = gate.clone();
            // SAFETY: `Gate::pass` makes only calls that are async-signal-safe, as documented there.
            signals.actions.push(unsafe { low_level::register(signal, move || gate.pass(signal)) }?);
        }
        TAKEN_IN.store(process, Release);
        Ok((signals, reader))
    }

    /// Returns the name of a signal that was read.
    pub(super) fn name(byte: u8) -> &'static str {
        low_level::signal_name(c_int::from(byte)).unwrap_or("a signal")
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // A forked child may have installed its own `Signals` in the meantime.
        let _ = TAKEN_IN.compare_exchange(self.process, 0, AcqRel, Acquire);
        for action in self.actions.drain(..) {
            low_level::unregister(action);
        }
    }
}

/// Registers actions that give the signals their default effect while no shutdown handles them. They are needed because
/// an installed handler is never removed.
fn keep_default() -> io::Result<()> {
    static KEPT: Mutex<bool> = Mutex::new(false);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    for signal in SIGNALS.into_iter().filter(|_| !*kept) {
        let by_default = move || {
            if TAKEN_IN.load(Acquire) != process::id() {
                let _ = low_level::emulate_default_handler(signal);
            }
        };
        // SAFETY: the action loads an atomic, gets the process id, and calls a function that is made for handlers.
        unsafe { low_level::register(signal, by_default) }?;
    }
    *kept = true;
    Ok(())
}

/// The state that the handlers use.
struct Gate {
    process: u32,
    /// The number of received signals, up to `TOLD`.
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
