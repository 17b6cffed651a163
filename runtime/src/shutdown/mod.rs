//! An orderly end of the process: named steps, a watchdog, and telemetry last.
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
//! Steps run in their order, each on a thread of its own. One that fails, panics or hangs does not keep the others from
//! running: it is reported, and one that hangs is left behind when its budget is used up. An async step has a
//! current-thread runtime of its own, with time and I/O, so that it works when the runtime of the program is the one that
//! is stuck; tasks that it spawns there end with it. With [`Shutdown::with_runtime`] async steps run on a runtime of the
//! program instead. Two steps may have the same name.
//!
//! # Time
//! The watchdog is [`Shutdown::with_timeout`], else `SHUTDOWN_TIMEOUT_MS`, else 30 seconds. Its last two seconds (half of
//! one that is shorter than four) are kept for the final report and telemetry. The rest is for the steps: a step without
//! a budget of its own has an even share of what the steps before it have left; one with a budget has that, but never the
//! reserve, and never all that later steps need.
//!
//! # The end
//! Telemetry is exported last. After a signal the process exits 0 if every step and the final report did what they had to, and 1
//! if one failed, panicked or hung. Steps of [best effort](Shutdown::best_effort), and the last export of telemetry, do not change
//! the exit code: a backend that is down is reported, and what it did not take is in the report or on disk. If the end is not
//! reached before the watchdog's, because a handler of the exit hangs or the machine does, a line on standard error names what
//! hung, and the process exits 1 without calling anything else of it. A second SIGTERM or SIGINT names the step that runs and
//! exits 1; a third one exits 1 without waiting for that line.
//!
//! No signal is touched unless [`Shutdown::on_signals`] is called.

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

/// What is to be done when the process ends. Dropped, it runs nothing, and brings out telemetry as its guard does.
///
/// ```
/// use tracecast::shutdown::Shutdown;
///
/// # let telemetry = tracecast::config::Config::new().init()?;
/// let report = Shutdown::new(telemetry).blocking_step("flush_index", || Ok::<(), std::io::Error>(())).run();
/// assert!(report.is_ok());
/// # Ok::<(), tracecast::InitError>(())
/// ```
#[must_use = "dropped, it runs no step, and telemetry stops"]
pub struct Shutdown {
    plan: Plan,
    timeout: Option<Duration>,
    /// The final report was added after all steps so far.
    ends_with_report: bool,
}

/// How long telemetry may take if nothing else is said: a receiver that is down must not make every exit a slow one.
const FLUSH: Duration = Duration::from_secs(5);

impl Shutdown {
    /// Ends telemetry and nothing else, unless steps are added. Take a [`Handle`](crate::Handle) before for what uses telemetry until
    /// then.
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

    /// Gives the step that was added last a time limit of its own.
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
                format_args!("warning: `within({limit:?})` limits no step; call it after `step`"),
            ),
        }
        self
    }

    /// Lets the step or final report that was added last fail, panic or hang without making the exit code 1. It is reported and
    /// warned of all the same.
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
                format_args!("warning: `best_effort()` applies to no step; call it after `step`"),
            ),
        }
        self
    }

    fn with(mut self, step: Step) -> Self {
        self.ends_with_report = false;
        self.plan.steps.push(step);
        self
    }

    /// Runs after the steps, also if they hung, and gets what became of them; on a thread of its own. Telemetry that it
    /// makes still goes out. There is one; another takes its place.
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

    /// Has all async steps run on this runtime. It must be one that runs by itself: a current-thread runtime whose thread
    /// is waiting for [`Shutdown::run`] does nothing.
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

    /// The watchdog: how long all of it may take. Without it, `SHUTDOWN_TIMEOUT_MS` says so.
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

    /// How long telemetry may take at most, if there is that much left: five seconds by default. What a receiver that is down
    /// has not taken by then is put on disk, if there is a spool.
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

    /// Runs everything now, and does not exit. It takes no longer than the watchdog; steps that hang are left behind.
    ///
    /// It blocks: async programs use [`Shutdown::run_async`].
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

    /// As [`Shutdown::run`], without blocking, under any runtime. It begins when it is first polled, and then goes on even
    /// if it is dropped.
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
            // It blocks, but it is done: without a thread, steps fail at once.
            return self.run();
        }
        let _ = give.send(self);
        end.await.unwrap_or_else(|_| ShutdownReport::lost())
    }

    /// Has SIGTERM and SIGINT run everything, each step once, and then exit the process. A second signal names the step that runs and
    /// exits 1.
    ///
    /// Other handlers of these signals still run, as those of tokio. If the signals cannot be taken, that is told on
    /// standard error, and the program runs without.
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
