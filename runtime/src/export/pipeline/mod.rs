//! The export thread: takes spans, metrics and log records out of memory and sends them to their receivers.
//!
//! ```text
//!  Source ──> Batcher ──> Routes ──> ExportQueue ──> transport
//!                              │          └────────> spool
//!                              ├───> CustomExporter, on a thread of its own
//!                              └───> console
//! ```
//! A `Pipeline` does this for one signal. The export thread has its own tokio runtime. So the program needs none, and
//! its threads cannot block the export while they wait for a flush or a shutdown. Other threads wait for the export
//! thread only in calls that are documented to block.

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
pub(crate) use self::exporter::ExporterSettings;
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

/// The settings that do not change while the export thread runs.
pub(crate) struct Plan {
    pub(crate) resource: EncodedResource,
    pub(crate) redact: Option<Redact>,
    /// The maximum size of all buffers of telemetry in bytes.
    pub(crate) memory_limit: usize,
    /// The bytes reserved for queued log records, however many requests are pending.
    pub(crate) log_queue: usize,
}

/// A change of a signal's pipeline.
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
    /// Updates the metrics about telemetry, and answers. All earlier commands are done by then.
    Answer(mpsc::Sender<()>),
    /// Exports everything until the deadline, and answers with the progress.
    Flush(Instant, mpsc::Sender<Progress>),
    /// Exports everything until the deadline, answers with the progress, and ends the thread. If the flag is true, open
    /// spans are exported as unfinished.
    Shutdown(Instant, mpsc::Sender<Progress>, bool),
}

/// The counts of all items, by signal and state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    /// Spans that were taken from the recorder.
    pub(crate) spans: Counts,
    /// Metric points.
    pub(crate) points: Counts,
    /// Log records.
    pub(crate) records: Counts,
    /// Spans that have ended. Of these, `dropped` were lost before they were taken, and `buffered` are not taken yet.
    pub(crate) ended: u64,
    pub(crate) dropped: u64,
    pub(crate) buffered: u64,
    /// The names of open spans; filled by a flush or a shutdown only.
    pub(crate) open: Vec<&'static str>,
    /// True if nothing was left in memory at the deadline: all requests were answered or stored on disk.
    pub(crate) complete: bool,
}

/// The running export thread.
pub(crate) struct ExportThread {
    commands: UnboundedSender<Command>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// The last known progress, returned if the thread does not answer.
    latest: Arc<Mutex<Progress>>,
    activity: Arc<Activity>,
}

impl ExportThread {
    /// Starts the thread, which has no signals until the first change.
    ///
    /// # Errors
    /// If the system cannot create the thread or its runtime.
    pub(crate) fn start(plan: Plan) -> std::io::Result<Self> {
        let (commands, receiver) = tokio::sync::mpsc::unbounded_channel();
        let latest = Arc::<Mutex<Progress>>::default();
        let noted = latest.clone();
        let activity = Arc::new(Activity::new());
        let on_thread = activity.clone();
        let (started, has_started) = mpsc::channel();
        let weak = commands.downgrade();
        // The runtime is made on the export thread: if anything fails here, dropping it inside of another runtime would
        // panic.
        let run = move || {
            let runtime = match runtime(&on_thread) {
                Ok(runtime) => runtime,
                Err(error) => return drop(started.send(Err(error))),
            };
            let _ = started.send(Ok(()));
            // The export thread's own activity is not recorded.
            let _suppressed = crate::base::suppress::suppressed();
            let local = tokio::task::LocalSet::new();
            local.block_on(&runtime, Pipelines::new(plan, noted, on_thread.clone(), weak).run(receiver));
            // Blocking tasks that resolve names or read files may still run; they are not waited for.
            runtime.shutdown_background();
            on_thread.idle();
        };
        let thread = thread::Builder::new().name("tracecast".to_owned()).spawn(run)?;
        has_started
            .recv()
            .unwrap_or_else(|_| Err(std::io::Error::other("the export thread exited during start-up")))?;
        Ok(ExportThread { commands, thread: Mutex::new(Some(thread)), latest, activity })
    }

    /// Applies a change.
    pub(crate) fn change(&self, change: Change) {
        // Sending fails only after the thread has ended, when a change has no effect.
        let _ = self.commands.send(Command::Change(Box::new(change)));
    }

    /// Waits until all earlier changes are in force and the metrics about telemetry are updated, for a second at most.
    pub(crate) fn settle(&self) {
        settle(&self.commands);
    }

    /// Returns how long the thread has been busy without progress; zero while it is idle.
    pub(crate) fn stalled(&self) -> Duration {
        self.activity.stalled()
    }

    /// Exports as much as possible within `timeout`, and returns the progress. If the thread does not answer, returns
    /// the last known progress.
    pub(crate) fn flush(&self, timeout: Duration) -> Progress {
        self.ask(timeout, Command::Flush).0
    }

    /// Exports as much as possible within `timeout`, ends the thread, and returns the progress. With `unfinished`, open
    /// spans are exported as unfinished. If the thread does not answer, returns the last known progress and does not
    /// wait for its end.
    pub(crate) fn shutdown(&self, timeout: Duration, unfinished: bool) -> Progress {
        let command = |deadline, answer| Command::Shutdown(deadline, answer, unfinished);
        let (progress, has_answered) = self.ask(timeout, command);
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()
            && has_answered
        {
            // Joined only after an answer: a thread that is stuck in code of the program may never end.
            let _ = thread.join();
        }
        progress
    }

    /// Sends a command, and returns the answer and `true`. If no answer arrives in time, returns the last known
    /// progress and `false`.
    fn ask(
        &self,
        timeout: Duration,
        command: impl FnOnce(Instant, mpsc::Sender<Progress>) -> Command,
    ) -> (Progress, bool) {
        let now = Instant::now();
        let deadline = now.checked_add(timeout).unwrap_or_else(|| now + FAR);
        let (answer, answered) = mpsc::channel();
        let _ = self.commands.send(command(deadline, answer));
        // The thread itself keeps the deadline; the grace is for busy machines.
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

/// Makes the export thread's runtime. Parking marks the thread as idle.
fn runtime(activity: &Arc<Activity>) -> std::io::Result<tokio::runtime::Runtime> {
    let (parked, unparked) = (activity.clone(), activity.clone());
    tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .on_thread_park(move || parked.idle())
        .on_thread_unpark(move || unparked.progress())
        .build()
}

/// Replaces a timeout that is too long for the clock.
const FAR: Duration = Duration::from_secs(24 * 60 * 60);
/// The longest wait for changes to be in force.
const SETTLED: Duration = Duration::from_secs(1);
/// The additional wait for an answer after its deadline.
const GRACE: Duration = Duration::from_millis(150);
