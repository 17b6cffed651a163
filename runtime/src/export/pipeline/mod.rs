//! The export thread: takes spans, metrics and log records out of memory and sends them to their receivers.
//!
//! ```text
//!  Source ──> Batcher ──> Routes ──> ExportQueue ──> transport
//!                              │          └────────> spool
//!                              ├───> CustomExporter, on a thread of its own
//!                              └───> console
//! ```
//! A `Pipeline` is this for one signal. The thread has a runtime of its own, so that it works under any runtime of the program
//! and under none, and a thread that flushes or shuts down cannot block it. Other threads wait for it only where they ask to.

mod activity;
mod disk;
mod export_queue;
mod exporter;
mod losses;
mod outbox;
mod points;
#[cfg(has_logs)]
mod records;
mod reported;
mod route;
mod run;
mod scraping;
mod signal_pipeline;
mod size;
mod spans;
mod split;

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

pub(crate) use self::disk::Disk;
pub(crate) use self::export_queue::OtlpReceiver;
pub(crate) use self::exporter::Plugged;
pub(crate) use self::points::Readings;
pub(crate) use self::route::Receiver;
pub(crate) use self::signal_pipeline::Setup;

use self::activity::Activity;
use self::run::Pipelines;
use crate::config::Signal;
use crate::config::redact::Redact;
use crate::encode::resource::EncodedResource;
use crate::export::account::Counts;
use crate::trace::recording::Recording;

/// What does not change while the export thread runs.
pub(crate) struct Plan {
    pub(crate) resource: EncodedResource,
    pub(crate) redact: Option<Redact>,
    /// Bytes that all buffers of telemetry may take.
    pub(crate) memory_limit: usize,
    /// Bytes of log records that may wait for the export thread, however many requests wait.
    pub(crate) log_queue: usize,
}

/// A change of what the export thread does with a signal.
pub(crate) enum Change {
    Traces(Setup<Recording>),
    Metrics(Setup<Readings>),
    #[cfg(has_logs)]
    Logs(Setup<Arc<crate::logs::Logs>>),
    /// Pauses or resumes a signal.
    Pause(Signal, bool),
}

/// Commands to the export thread.
enum Command {
    Change(Box<Change>),
    /// Answer when all earlier commands are done, and the metrics about telemetry are up to date.
    Answer(mpsc::Sender<()>),
    /// Export everything until the deadline, and answer with what became of it.
    Flush(Instant, mpsc::Sender<Progress>),
    /// The same, and end. The flag: whether open spans are exported as unfinished.
    Shutdown(Instant, mpsc::Sender<Progress>, bool),
}

/// What became of all that was taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    /// Of spans.
    pub(crate) spans: Counts,
    /// Of metric points.
    pub(crate) points: Counts,
    /// Of log records.
    pub(crate) records: Counts,
    /// Spans that ended, were lost before they were taken, and have not been taken.
    pub(crate) ended: u64,
    pub(crate) dropped: u64,
    pub(crate) buffered: u64,
    /// The names of spans that are open; only at a flush.
    pub(crate) open: Vec<&'static str>,
    /// Whether nothing was left to send.
    pub(crate) complete: bool,
}

/// The running export thread.
pub(crate) struct ExportThread {
    commands: UnboundedSender<Command>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// What it last noted, for when it does not answer.
    latest: Arc<Mutex<Progress>>,
    activity: Arc<Activity>,
}

impl ExportThread {
    /// Starts the thread. Changes give it something to do.
    ///
    /// # Errors
    /// If the system gives no thread, or the runtime cannot start.
    pub(crate) fn start(plan: Plan) -> std::io::Result<Self> {
        let (commands, receiver) = tokio::sync::mpsc::unbounded_channel();
        let latest = Arc::<Mutex<Progress>>::default();
        let noted = latest.clone();
        let activity = Arc::new(Activity::new());
        let on_thread = activity.clone();
        let (started, has_started) = mpsc::channel();
        let weak = commands.downgrade();
        // The runtime is made on its thread: dropping it inside of another one, should anything fail here, would panic.
        let run = move || {
            let runtime = match runtime(&on_thread) {
                Ok(runtime) => runtime,
                Err(error) => return drop(started.send(Err(error))),
            };
            let _ = started.send(Ok(()));
            // Telemetry does not record what happens here.
            let _suppressed = crate::base::suppress::suppressed();
            let local = tokio::task::LocalSet::new();
            local.block_on(&runtime, Pipelines::new(plan, noted, on_thread.clone(), weak).run(receiver));
            // Connections may still be opening names or files on other threads; nobody waits for those.
            runtime.shutdown_background();
            on_thread.idle();
        };
        let thread = thread::Builder::new().name("tracecast".to_owned()).spawn(run)?;
        has_started.recv().unwrap_or_else(|_| Err(std::io::Error::other("the export thread ended at once")))?;
        Ok(ExportThread { commands, thread: Mutex::new(Some(thread)), latest, activity })
    }

    /// Applies a change.
    pub(crate) fn change(&self, change: Change) {
        // It ends with its guard only, which is who calls this.
        let _ = self.commands.send(Command::Change(Box::new(change)));
    }

    /// Waits until all earlier changes are in force and the metrics about telemetry are up to date; a second at most.
    pub(crate) fn settle(&self) {
        settle(&self.commands);
    }

    /// How long the thread has been without progress.
    pub(crate) fn stalled(&self) -> Duration {
        self.activity.stalled()
    }

    /// Exports everything, or as much as possible within `timeout`.
    pub(crate) fn flush(&self, timeout: Duration) -> Progress {
        self.ask(timeout, Command::Flush).0
    }

    /// The same, and ends the thread.
    pub(crate) fn shutdown(&self, timeout: Duration, unfinished: bool) -> Progress {
        let command = |deadline, answer| Command::Shutdown(deadline, answer, unfinished);
        let (progress, has_answered) = self.ask(timeout, command);
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()
            && has_answered
        {
            // It has answered. One that is stuck in somebody's code ends by itself, or not.
            let _ = thread.join();
        }
        progress
    }

    /// What it answers, and whether it did.
    fn ask(
        &self,
        timeout: Duration,
        command: impl FnOnce(Instant, mpsc::Sender<Progress>) -> Command,
    ) -> (Progress, bool) {
        let now = Instant::now();
        let deadline = now.checked_add(timeout).unwrap_or_else(|| now + FAR);
        let (answer, answered) = mpsc::channel();
        let _ = self.commands.send(command(deadline, answer));
        // It keeps to the deadline itself; a little more, should the machine be busy.
        match answered.recv_timeout(deadline.saturating_duration_since(now) + GRACE) {
            Ok(progress) => (progress, true),
            Err(_) => (self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone(), false),
        }
    }
}

fn settle(commands: &UnboundedSender<Command>) {
    let (answer, answered) = mpsc::channel();
    if commands.send(Command::Answer(answer)).is_ok() {
        let _ = answered.recv_timeout(SETTLED);
    }
}

/// The runtime of the export thread. It is idle while the thread is parked.
fn runtime(activity: &Arc<Activity>) -> std::io::Result<tokio::runtime::Runtime> {
    let (parked, unparked) = (activity.clone(), activity.clone());
    tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .on_thread_park(move || parked.idle())
        .on_thread_unpark(move || unparked.progress())
        .build()
}

/// What stands for "without a limit".
const FAR: Duration = Duration::from_secs(24 * 60 * 60);
/// How long to wait for a change to be in force.
const SETTLED: Duration = Duration::from_secs(1);
/// How much longer than its deadline an answer is waited for.
const GRACE: Duration = Duration::from_millis(150);
