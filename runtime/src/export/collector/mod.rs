//! The collector: one thread that takes spans, metrics and log records out of memory and brings them to their receivers.
//!
//! It has a runtime of its own, so that it works under any runtime of the program and under none, and nobody who flushes
//! or shuts down can keep it from working. The program's threads never wait for it but where they ask to.

mod beat;
mod disk;
mod export_queue;
mod exporter;
mod losses;
mod outbox;
mod pipeline;
mod points;
#[cfg(feature = "logs")]
mod records;
mod run;
mod size;
mod spans;
mod split;
mod told;
mod way;

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

pub(crate) use self::disk::Disk;
pub(crate) use self::export_queue::OtlpReceiver;
pub(crate) use self::exporter::Plugged;
pub(crate) use self::pipeline::Setup;
pub(crate) use self::points::Readings;
pub(crate) use self::way::Receiver;

use self::beat::Beat;
use self::run::Collection;
use crate::config::Signal;
use crate::config::redact::Redact;
use crate::encode::resource::EncodedResource;
use crate::export::account::Counts;
use crate::trace::recording::Recording;

/// What holds for as long as the collector runs.
pub(crate) struct Plan {
    pub(crate) resource: EncodedResource,
    pub(crate) redact: Option<Redact>,
    /// Bytes that all buffers of telemetry may take.
    pub(crate) memory_limit: usize,
    /// Bytes of log records that may wait for the export thread, however many requests wait.
    pub(crate) log_queue: usize,
}

/// What the collector shall do from now on with a signal.
pub(crate) enum Change {
    Traces(Setup<Recording>),
    Metrics(Setup<Readings>),
    #[cfg(feature = "logs")]
    Logs(Setup<Arc<crate::logs::Logs>>),
    /// Stops taking a signal out of memory, or goes on with it.
    Pause(Signal, bool),
}

/// What the collector is told.
enum Command {
    /// Work differently.
    Change(Box<Change>),
    /// Say that all that was said before is done, after having told what was counted.
    Answer(mpsc::Sender<()>),
    /// Bring everything out until then, and say how far it came.
    Flush(Instant, mpsc::Sender<Progress>),
    /// The same, and end.
    /// Whether spans that are open are sent as unfinished.
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

/// The running collector.
pub(crate) struct Collector {
    commands: UnboundedSender<Command>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// How things stood a moment ago, should it not answer.
    latest: Arc<Mutex<Progress>>,
    beat: Arc<Beat>,
}

impl Collector {
    /// Starts it, with nothing to do yet.
    ///
    /// # Errors
    /// If the system gives no thread, or the runtime cannot start.
    pub(crate) fn start(plan: Plan) -> std::io::Result<Self> {
        let (commands, told) = tokio::sync::mpsc::unbounded_channel();
        let latest = Arc::<Mutex<Progress>>::default();
        let noted = latest.clone();
        let beat = Arc::new(Beat::new());
        let beating = beat.clone();
        let (started, has_started) = mpsc::channel();
        // The runtime is made on its thread: dropping it inside of another one, should anything fail here, would panic.
        let run = move || {
            let runtime = match runtime(&beating) {
                Ok(runtime) => runtime,
                Err(error) => return drop(started.send(Err(error))),
            };
            let _ = started.send(Ok(()));
            // What happens here is not to be told to anybody by telemetry.
            let _suppressed = crate::base::suppress::suppressed();
            let local = tokio::task::LocalSet::new();
            local.block_on(&runtime, Collection::new(plan, noted, beating.clone()).run(told));
            // Connections may still be opening names or files on other threads; nobody waits for those.
            runtime.shutdown_background();
            beating.rest();
        };
        let thread = thread::Builder::new().name("tracecast".to_owned()).spawn(run)?;
        has_started.recv().unwrap_or_else(|_| Err(std::io::Error::other("the collector ended at once")))?;
        Ok(Collector { commands, thread: Mutex::new(Some(thread)), latest, beat })
    }

    /// Has it work differently from now on.
    pub(crate) fn change(&self, change: Change) {
        // It ends with its guard only, which is who calls this.
        let _ = self.commands.send(Command::Change(Box::new(change)));
    }

    /// Waits until it works as it was told to, and has told what it counted; not for long, should it be busy.
    pub(crate) fn settle(&self) {
        let (answer, answered) = mpsc::channel();
        if self.commands.send(Command::Answer(answer)).is_ok() {
            let _ = answered.recv_timeout(SETTLED);
        }
    }

    /// How long the thread has been stuck in something.
    pub(crate) fn stalled(&self) -> Duration {
        self.beat.stalled()
    }

    /// Brings everything out, or as much as can be within `timeout`.
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
            // It has said its last word. One that is stuck in somebody's code ends by itself, or not.
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

/// The runtime of the export thread. Its beat rests while the thread is parked.
fn runtime(beat: &Arc<Beat>) -> std::io::Result<tokio::runtime::Runtime> {
    let (parked, unparked) = (beat.clone(), beat.clone());
    tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .on_thread_park(move || parked.rest())
        .on_thread_unpark(move || unparked.beat())
        .build()
}

/// What stands for "without a limit".
const FAR: Duration = Duration::from_secs(24 * 60 * 60);
/// How long to wait for a change to be in force.
const SETTLED: Duration = Duration::from_secs(1);
/// How much longer than its deadline an answer is waited for.
const GRACE: Duration = Duration::from_millis(150);
