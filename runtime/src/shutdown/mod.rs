//! Graceful shutdown: named steps, a watchdog, and telemetry last.
//!
//! ```no_run
//! use std::time::Duration;
//! use tracecast::shutdown::Shutdown;
//!
//! # struct Index;
//! # impl Index { fn flush(&self) -> std::io::Result<()> { Ok(()) } }
//! # async fn drained() {}
//! # let index = Index;
//! # #[cfg(unix)]
//! # {
//! let telemetry = tracecast::init();
//! let handle = telemetry.handle(); // for `/metrics` and the health endpoint
//! let _armed = Shutdown::new(telemetry)
//!     .step("drain", || drained())
//!     .within(Duration::from_secs(10))
//!     .blocking_step("flush_index", move || index.flush())
//!     .final_report(|steps| steps.iter().for_each(|step| eprintln!("{step}")))
//!     .on_signals();
//! # }
//! ```
//!
//! # Steps
//! Steps run one after another in the order in which they were added, each on its own thread. If a step fails, panics
//! or hangs, a warning is written and the next step runs; a step that hangs is abandoned when its budget is used up. An
//! async step gets its own current-thread runtime with time and I/O, so that it works even if the program's runtime is
//! stuck; tasks that the step spawns there end with the step. With [`Shutdown::with_runtime`] async steps run on a
//! runtime of the program instead. Two steps may have the same name.
//!
//! # Time
//! The watchdog limits the whole shutdown. Its time is set with [`Shutdown::with_timeout`] or `SHUTDOWN_TIMEOUT_MS`;
//! the default is 30 seconds. The last two seconds (half of the time if it is shorter than four seconds) are reserved
//! for the final report and telemetry. Steps share the rest: a step without its own budget gets an even share of the
//! time that the budgets of later steps leave; a step with a budget gets that, but not the reserve, and never all the
//! time that later steps need.
//!
//! # The end
//! Telemetry is exported last. After a signal the process exits with 0 if every step and the final report succeeded,
//! and with 1 if one failed, panicked or hung. [Best-effort](Shutdown::best_effort) steps and the last export of
//! telemetry do not change the exit code: if a backend is down, that is reported, and undelivered data is in the report
//! or on disk. If the watchdog fires first, for example because an exit handler hangs, a line on standard error names
//! the step that hung, and the process exits with 1 without running any more of its code. After a second SIGTERM or
//! SIGINT, a line names the running step and the process exits with 1; after a third signal it exits with 1
//! immediately.
//!
//! Signals are handled only if [`Shutdown::on_signals`] is called.

#[cfg(unix)]
mod armed;
mod report;
mod run;
#[cfg(unix)]
mod signals;
mod step;
mod times;

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

#[cfg(unix)]
pub use self::armed::Armed;
pub use self::report::{ShutdownReport, StepOutcome, StepReport};
pub use self::step::StepResult;

use self::run::{Plan, Progress};
use self::step::Step;
use self::times::Times;
use crate::base::notice;
use crate::export::init::Guard;
pub use crate::export::init::{Health, State};

/// The steps to run when the process ends. Dropping it runs no step and flushes telemetry, as dropping the guard does.
///
/// ```
/// use tracecast::shutdown::Shutdown;
///
/// # let telemetry = tracecast::config::Config::new().init()?;
/// let report = Shutdown::new(telemetry).blocking_step("flush_index", || Ok::<(), std::io::Error>(())).run();
/// assert!(report.is_ok());
/// # Ok::<(), tracecast::InitError>(())
/// ```
#[must_use = "if dropped, no shutdown step runs, and telemetry stops; call `run` or `on_signals`"]
pub struct Shutdown {
    plan: Plan,
    timeout: Option<Duration>,
    /// Whether the final report was added after all steps so far.
    ends_with_report: bool,
}

/// The default limit for flushing telemetry: a backend that is down must not make every exit slow.
const FLUSH: Duration = Duration::from_secs(5);

impl Shutdown {
    /// Creates a shutdown without steps, which only ends telemetry. To use telemetry before the shutdown runs, take a
    /// [`Handle`](crate::Handle) from the guard first.
    ///
    /// ```
    /// use tracecast::shutdown::{Shutdown, State};
    ///
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let handle = telemetry.handle();
    /// let shutdown = Shutdown::new(telemetry);
    /// assert_eq!(handle.health().state(), State::Running);
    /// # drop(shutdown);
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn new(telemetry: Guard) -> Self {
        let plan = Plan {
            guard: telemetry,
            steps: Vec::new(),
            final_report: None,
            final_best_effort: false,
            runtime: None,
            flush_timeout: FLUSH,
        };
        Shutdown { plan, timeout: None, ends_with_report: false }
    }

    /// Adds an async step.
    ///
    /// ```
    /// # use tracecast::shutdown::Shutdown;
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// # async fn drained() {}
    /// let report = Shutdown::new(telemetry).step("drain", || drained()).run();
    /// assert_eq!(report.steps[0].name, "drain");
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn step<F>(self, name: impl Into<String>, work: impl FnOnce() -> F + Send + 'static) -> Self
    where
        F: Future<Output: StepResult> + Send + 'static,
    {
        self.with(Step::future(name.into(), work))
    }

    /// Adds a step that may block.
    ///
    /// ```
    /// # use tracecast::shutdown::Shutdown;
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let report = Shutdown::new(telemetry).blocking_step("flush_index", || Err::<(), _>("disk full")).run();
    /// assert_eq!(report.steps[0].outcome.to_string(), "failed: disk full");
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn blocking_step<R: StepResult>(
        self,
        name: impl Into<String>,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> Self {
        self.with(Step::blocking(name.into(), work))
    }

    /// Sets the time limit of the last added step. If no step was added yet, it only writes a warning.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use tracecast::shutdown::Shutdown;
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// # async fn drained() {}
    /// let report = Shutdown::new(telemetry).step("drain", || drained()).within(Duration::from_secs(10)).run();
    /// assert!(report.is_ok());
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn within(mut self, limit: Duration) -> Self {
        match self.plan.steps.last_mut() {
            Some(step) => step.budget = Some(limit),
            None => notice::at(
                notice::WARN,
                format_args!("warning: `within({limit:?})` has no effect before the first step; call it after `step`"),
            ),
        }
        self
    }

    /// Makes the last added step or final report best effort: if it fails, panics or hangs, the exit code does not
    /// become 1. The failure is still reported with a warning. Before the first step or final report, this only writes
    /// a warning.
    ///
    /// ```
    /// # use tracecast::shutdown::Shutdown;
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let unreachable = || Err::<(), _>("connection refused");
    /// let report = Shutdown::new(telemetry).blocking_step("report_usage", unreachable).best_effort().run();
    /// assert!(!report.steps[0].is_ok());
    /// assert_eq!(report.exit_code(), 0);
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn best_effort(mut self) -> Self {
        match self.plan.steps.last_mut() {
            _ if self.ends_with_report => self.plan.final_best_effort = true,
            Some(step) => step.best_effort = true,
            None => notice::at(
                notice::WARN,
                format_args!("warning: `best_effort()` has no effect before the first step; call it after `step`"),
            ),
        }
        self
    }

    fn with(mut self, step: Step) -> Self {
        self.ends_with_report = false;
        self.plan.steps.push(step);
        self
    }

    /// Sets the final report: a function that runs after all steps on its own thread, even if steps hung, and gets
    /// their results. Telemetry that the function records is still exported. A second call replaces the first.
    ///
    /// ```
    /// # use tracecast::shutdown::Shutdown;
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let shutdown = Shutdown::new(telemetry).final_report(|steps| steps.iter().for_each(|step| eprintln!("{step}")));
    /// assert!(shutdown.run().final_report.is_some_and(|report| report.is_ok()));
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn final_report(mut self, report: impl FnOnce(&[StepReport]) + Send + 'static) -> Self {
        self.plan.final_report = Some(Box::new(report));
        (self.plan.final_best_effort, self.ends_with_report) = (false, true);
        self
    }

    /// Runs all async steps on this runtime. Its own threads must drive it: a current-thread runtime whose thread
    /// blocks in [`Shutdown::run`] makes no progress.
    ///
    /// ```
    /// # use tracecast::shutdown::Shutdown;
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let runtime = tokio::runtime::Runtime::new()?;
    /// let shutdown = Shutdown::new(telemetry).with_runtime(runtime.handle().clone()).step("drain", || async {});
    /// assert!(shutdown.run().is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_runtime(mut self, runtime: Handle) -> Self {
        self.plan.runtime = Some(runtime);
        self
    }

    /// Sets the watchdog: the limit for the whole shutdown. The default is the value of `SHUTDOWN_TIMEOUT_MS`, or 30
    /// seconds.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use tracecast::shutdown::Shutdown;
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let shutdown = Shutdown::new(telemetry).with_timeout(Duration::from_secs(20));
    /// assert!(shutdown.run().is_ok());
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Limits the time for flushing telemetry, within the remaining time: five seconds by default. Data that an
    /// unavailable backend has not accepted by then is written to disk, if there is a spool.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use tracecast::shutdown::Shutdown;
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let shutdown = Shutdown::new(telemetry).with_flush_timeout(Duration::from_secs(2));
    /// assert!(shutdown.run().telemetry.is_some());
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn with_flush_timeout(mut self, timeout: Duration) -> Self {
        self.plan.flush_timeout = timeout;
        self
    }

    /// Runs the steps and the final report and flushes telemetry; does not exit the process. The shutdown takes no
    /// longer than the watchdog allows; steps that hang are abandoned.
    ///
    /// Blocks the calling thread; in async programs use [`Shutdown::run_async`].
    ///
    /// ```
    /// # use tracecast::shutdown::Shutdown;
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let report = Shutdown::new(telemetry).blocking_step("close", || ()).run();
    /// assert_eq!(report.exit_code(), 0);
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn run(self) -> ShutdownReport {
        let began = Instant::now();
        let times = Times::new(began, self.timeout.unwrap_or_else(times::from_environment));
        run::run(self.plan, times, &Progress::default())
    }

    /// Runs the shutdown like [`Shutdown::run`], but on its own thread, so that it does not block; works under any
    /// runtime. The shutdown starts at the first poll, and then continues even if the future is dropped.
    ///
    /// ```
    /// # use tracecast::shutdown::Shutdown;
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let report = Shutdown::new(telemetry).step("drain", || async {}).run_async().await;
    /// assert!(report.is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn run_async(self) -> ShutdownReport {
        let (give, given) = mpsc::channel::<Self>();
        let (ended, end) = oneshot::channel();
        let run = move || {
            if let Ok(shutdown) = given.recv() {
                let _ = ended.send(shutdown.run());
            }
        };
        if thread::Builder::new().name("tracecast-stop".to_owned()).spawn(run).is_err() {
            // This blocks, but not for long: if no thread can be started, steps fail immediately.
            return self.run();
        }
        let _ = give.send(self);
        end.await.unwrap_or_else(|_| ShutdownReport::lost())
    }

    /// Runs the shutdown on SIGTERM or SIGINT, each step once, and then exits the process. On a second signal, a line
    /// on standard error names the running step and the process exits with 1.
    ///
    /// Other handlers of these signals, such as those of tokio, still run. If the handlers cannot be installed, an error is
    /// written to standard error, and the program runs without them.
    ///
    /// ```no_run
    /// # use tracecast::shutdown::Shutdown;
    /// let _armed = Shutdown::new(tracecast::init()).blocking_step("close", || ()).on_signals();
    /// // .. the program runs until a signal comes ..
    /// ```
    #[cfg(unix)]
    #[cfg_attr(docsrs, doc(cfg(unix)))]
    pub fn on_signals(self) -> Armed {
        let timeout = self.timeout.unwrap_or_else(times::from_environment);
        Armed::new(self.plan, timeout)
    }
}
