//! A shutdown that a signal starts.

use std::io::{self, PipeReader, Read};
use std::os::fd::AsRawFd as _;
use std::process;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::low_level;

use super::report::ShutdownReport;
use super::run::{self, Plan, Progress};
use super::signals::Signals;
use super::times::Times;
use crate::base::notice;

/// The longest wait for the watchdog's message to be written before the process exits.
const LAST_LINE: Duration = Duration::from_millis(500);

/// A [`Shutdown`](super::Shutdown) that runs on SIGTERM or SIGINT and then exits the process.
///
/// Keep it until the end of `main`. If dropped before a signal arrives, it flushes telemetry like its guard, runs no
/// step, and releases the signals. If dropped while a shutdown runs, for example because a step stopped the server of
/// `main`, it blocks until the process exits.
///
/// ```no_run
/// use tracecast::shutdown::Shutdown;
///
/// let armed = Shutdown::new(tracecast::init()).blocking_step("close", || ()).on_signals();
/// // .. the program runs; without a signal it ends by itself ..
/// std::process::exit(armed.run().exit_code().into());
/// ```
#[must_use = "if dropped, no signal runs the steps, and telemetry stops; bind it to a name in `main`"]
pub struct Armed {
    shared: Arc<Shared>,
    /// `None` if the handlers could not be installed.
    signals: Option<Signals>,
}

struct Shared {
    /// The id of the process that created the shutdown. In a forked child no thread waits for signals.
    process: u32,
    timeout: Duration,
    stage: Mutex<Stage>,
    ended: Condvar,
    progress: Progress,
}

enum Stage {
    Waiting(Box<Plan>),
    /// The shutdown runs, or is dropped, without a signal.
    ByHand,
    /// A shutdown without a signal has ended with this exit code.
    Ended(u8),
    /// A signal started the shutdown, which exits the process at its end.
    Signalled,
}

/// The first signal, and the times of the shutdown that it starts.
struct Came {
    name: &'static str,
    times: Times,
}

impl Armed {
    /// Installs the signal handlers. If installing fails, reports the error, and the program runs without handlers.
    pub(super) fn new(plan: Plan, timeout: Duration) -> Self {
        let shared = Arc::new(Shared {
            process: process::id(),
            timeout,
            stage: Mutex::new(Stage::Waiting(Box::new(plan))),
            ended: Condvar::new(),
            progress: Progress::default(),
        });
        let signals = listen(&shared);
        if let Err(error) = &signals {
            notice::at(
                notice::ERROR,
                format_args!("error: cannot handle SIGTERM and SIGINT: {error}; no step will run on a signal"),
            );
        }
        Armed { shared, signals: signals.ok() }
    }

    /// Runs the steps and the final report and flushes telemetry without a signal, for example when `main` has nothing
    /// left to do. Does not exit the process. If a signal has already started the shutdown, blocks until the process
    /// exits. A signal that arrives while this runs exits the process when the shutdown is complete, a second signal
    /// immediately.
    ///
    /// ```no_run
    /// # use tracecast::shutdown::Shutdown;
    /// let armed = Shutdown::new(tracecast::init()).blocking_step("close", || ()).on_signals();
    /// let report = armed.run();
    /// assert!(report.is_ok());
    /// ```
    pub fn run(self) -> ShutdownReport {
        let Some(plan) = self.shared.take(Stage::ByHand) else { wait_for_exit() };
        let times = Times::new(Instant::now(), self.shared.timeout);
        let report = run::run(plan, times, &self.shared.progress);
        self.shared.end(report.exit_code());
        report
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        if self.shared.process != process::id() {
            return;
        }
        if let Some(plan) = self.shared.take(Stage::ByHand) {
            // The handlers stay installed during the flush: a signal that arrives now exits the process after the
            // flush.
            drop(plan);
            self.shared.end(0);
        } else if matches!(*self.shared.lock(), Stage::Signalled) {
            wait_for_exit();
        }
        self.signals = None;
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the plan and enters the stage `next`; returns `None` if the plan was already taken.
    fn take(&self, next: Stage) -> Option<Plan> {
        let mut stage = self.lock();
        if !matches!(*stage, Stage::Waiting(_)) {
            return None;
        }
        match std::mem::replace(&mut *stage, next) {
            Stage::Waiting(plan) => Some(*plan),
            _ => None,
        }
    }

    fn end(&self, code: u8) {
        *self.lock() = Stage::Ended(code);
        self.ended.notify_all();
    }

    fn wait_for_end(&self) -> u8 {
        let mut stage = self.lock();
        loop {
            match *stage {
                Stage::Ended(code) => return code,
                _ => stage = self.ended.wait(stage).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// Installs the handlers and starts two threads that wait for a signal: one runs the shutdown, the other becomes its
/// watchdog. Both are started in advance, because a process at its end may be unable to start threads.
fn listen(shared: &Arc<Shared>) -> io::Result<Signals> {
    let (signals, reader) = Signals::take()?;
    let (tell, told) = mpsc::channel();
    let (waiting, running) = (shared.clone(), shared.clone());
    spawn("tracecast-watch", move || watch(reader, &tell, &waiting))?;
    spawn("tracecast-stop", move || run_when_told(&told, &running))?;
    Ok(signals)
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(run).map(drop)
}

/// Waits for a signal, passes it to the thread that runs the shutdown, and becomes the watchdog: exits the process with
/// 1 when the time is used up or a second signal arrives. The watchdog never blocks on another thread for long, and
/// exits without running code of the program.
fn watch(mut reader: PipeReader, tell: &Sender<Came>, shared: &Shared) {
    let mut byte = [0];
    if reader.read_exact(&mut byte).is_err() {
        return;
    }
    let times = Times::new(Instant::now(), shared.timeout);
    let came = Came { name: Signals::name(byte[0]), times };
    let _ = tell.send(came);
    let second = signal_within(&mut reader, times);
    let culprits = shared.progress.culprits();
    match second {
        Some(name) => {
            notice::at(notice::ERROR, format_args!("error: second {name} during {culprits}; exiting with code 1"))
        }
        None => {
            let total = shared.timeout;
            notice::at(
                notice::ERROR,
                format_args!("error: shutdown timed out after {total:?}; hung in {culprits}; exiting with code 1"),
            );
        }
    }
    notice::settle(LAST_LINE);
    low_level::exit(1);
}

/// Returns the name of the second signal, or `None` if the watchdog's time ends first.
fn signal_within(reader: &mut PipeReader, times: Times) -> Option<&'static str> {
    loop {
        let left = times.left();
        if left.is_zero() {
            return None;
        }
        // Rounded up: without the last fraction of a millisecond `poll` would be called in a busy loop.
        let timeout = i32::try_from(left.as_millis()).unwrap_or(i32::MAX).saturating_add(1);
        let mut poll = libc::pollfd { fd: reader.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor, which the reader keeps open.
        if unsafe { libc::poll(&mut poll, 1, timeout) } == 1 {
            let mut byte = [0];
            match reader.read_exact(&mut byte) {
                Ok(()) => return Some(Signals::name(byte[0])),
                // No second signal can arrive: the program has released the handlers.
                Err(_) => thread::sleep(times.left()),
            }
        }
    }
}

fn run_when_told(told: &Receiver<Came>, shared: &Shared) {
    let Ok(Came { name, times }) = told.recv() else { return };
    notice::at(notice::INFO, format_args!("{name}: shutting down within {:?}", shared.timeout));
    let code = match shared.take(Stage::Signalled) {
        Some(plan) => run::run(plan, times, &shared.progress).exit_code(),
        None => shared.wait_for_end(),
    };
    // Exit handlers may hang; the watchdog still runs.
    shared.progress.enter("the exit handlers".to_owned());
    process::exit(code.into());
}

/// Blocks the calling thread while another thread ends the process.
fn wait_for_exit() -> ! {
    loop {
        thread::park();
    }
}
