//! A shutdown that waits for a signal.

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

/// How much later than the watchdog the process may exit, for its line to be written.
const LAST_LINE: Duration = Duration::from_millis(500);

/// A [`Shutdown`](super::Shutdown) that runs when SIGTERM or SIGINT comes, and then exits the process.
///
/// Hold it until the end of `main`. Dropped before a signal came, it brings out telemetry as its guard does, runs no
/// step, and gives the signals back. Dropped while a shutdown runs, as when `main` returns because a step stopped its
/// server, it waits for the end of the process.
///
/// ```no_run
/// use tracecast::shutdown::Shutdown;
///
/// let armed = Shutdown::new(tracecast::init()).blocking_step("close", || ()).on_signals();
/// // .. the program runs; without a signal it ends by itself ..
/// std::process::exit(armed.run().exit_code().into());
/// ```
#[must_use = "dropped, it waits for no signal, and telemetry stops; bind it to a name in `main`"]
pub struct Armed {
    shared: Arc<Shared>,
    /// `None` if they could not be taken.
    signals: Option<Signals>,
}

struct Shared {
    /// The process it belongs to: in a forked child nobody waits for signals.
    process: u32,
    timeout: Duration,
    stage: Mutex<Stage>,
    ended: Condvar,
    progress: Progress,
}

enum Stage {
    Waiting(Box<Plan>),
    /// Somebody else than a signal ends it.
    ByHand,
    /// It ended so, with what the process should exit with.
    Ended(u8),
    /// A signal runs it, and exits the process.
    Signalled,
}

/// A signal that came.
struct Came {
    name: &'static str,
    times: Times,
}

impl Armed {
    /// Without signals, should the system not give what is needed: that is no reason for the program not to run.
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
            notice::at(notice::ERROR, format_args!("error: no signal starts the shutdown: {error}"));
        }
        Armed { shared, signals: signals.ok() }
    }

    /// Runs everything without a signal, as when `main` has nothing left to do, and does not exit. Should a signal have
    /// begun it, this waits for the end of the process. A signal that comes meanwhile exits the process when all is done,
    /// a second one without waiting for that.
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
            // With the signals still taken: one that comes now waits for telemetry too.
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

    /// What is to be done, for the first who asks.
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

/// Starts the threads that wait for a signal: one to run everything, and one that is the watchdog from then on. They exist
/// from the beginning, as a process that is to end may have no room for more.
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

/// Waits for the signal, hands it on, and from then on is the watchdog, which a second signal fires early. Nothing it does there
/// waits for another thread for longer than a moment, and nothing of the program runs on its way out.
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
        Some(name) => notice::at(notice::ERROR, format_args!("error: second {name} during {culprits}; exit 1")),
        None => {
            let total = shared.timeout;
            notice::at(
                notice::ERROR,
                format_args!("error: shutdown is not done after {total:?}, hung in {culprits}; exit 1"),
            );
        }
    }
    notice::settle(LAST_LINE);
    low_level::exit(1);
}

/// The name of the signal that comes before the watchdog's end, if one does.
fn signal_within(reader: &mut PipeReader, times: Times) -> Option<&'static str> {
    loop {
        let left = times.left();
        if left.is_zero() {
            return None;
        }
        // Rounded up: with the last millisecond cut off it would be asked many times.
        let timeout = i32::try_from(left.as_millis()).unwrap_or(i32::MAX).saturating_add(1);
        let mut poll = libc::pollfd { fd: reader.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor, which the reader keeps open.
        if unsafe { libc::poll(&mut poll, 1, timeout) } == 1 {
            let mut byte = [0];
            match reader.read_exact(&mut byte) {
                Ok(()) => return Some(Signals::name(byte[0])),
                // No more signals can come: the program gave them back.
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
    // Those of other libraries too; the watchdog is still there.
    shared.progress.enter("the exit handlers".to_owned());
    process::exit(code.into());
}

/// For whoever must not go on while another thread ends the process.
fn wait_for_exit() -> ! {
    loop {
        thread::park();
    }
}
