//! Runs a shutdown from its first step to the end of telemetry.

use std::sync::mpsc;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::report::{OneLine, ShutdownReport, StepOutcome, StepReport};
use super::step::Step;
use super::times::{self, Times};
use crate::base::notice;
use crate::export::init::{Guard, Report};

/// The part of the remaining time that telemetry does not get, so that its report arrives before the watchdog fires.
const MARGIN: Duration = Duration::from_millis(500);
/// The longest wait at the end for log lines to be written.
const SETTLED: Duration = Duration::from_secs(1);

/// The work of a shutdown.
pub(super) struct Plan {
    pub(super) guard: Guard,
    pub(super) steps: Vec<Step>,
    pub(super) final_report: Option<FinalReport>,
    /// Whether a failure of the final report leaves the exit code 0.
    pub(super) final_best_effort: bool,
    pub(super) runtime: Option<Handle>,
    pub(super) flush_timeout: Duration,
}

pub(super) type FinalReport = Box<dyn FnOnce(&[StepReport]) + Send>;

/// The current activity of a shutdown, for the watchdog.
#[derive(Default)]
pub(super) struct Progress(Mutex<Doing>);

#[derive(Default)]
struct Doing {
    now: Option<String>,
    hung: Vec<String>,
}

impl Progress {
    pub(super) fn enter(&self, what: String) {
        self.lock().now = Some(what);
    }

    fn left_behind(&self, step: &str) {
        let mut doing = self.lock();
        doing.now = None;
        doing.hung.push(named(step));
    }

    fn lock(&self) -> MutexGuard<'_, Doing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the names of the steps that hung and the current activity; `unknown` if another thread holds the lock.
    #[cfg_attr(not(unix), expect(dead_code, reason = "without signals there is no watchdog"))]
    pub(super) fn culprits(&self) -> String {
        let doing = match self.0.try_lock() {
            Ok(doing) => doing,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return "unknown".to_owned(),
        };
        let all: Vec<_> = doing.hung.iter().chain(&doing.now).map(String::as_str).collect();
        if all.is_empty() { "the start of the shutdown".to_owned() } else { all.join(", ") }
    }
}

fn named(step: &str) -> String {
    format!("step `{}`", OneLine(step))
}

/// Runs the whole shutdown. It never waits longer than `times` allows.
pub(super) fn run(plan: Plan, times: Times, progress: &Progress) -> ShutdownReport {
    let Plan { guard, steps, final_report, final_best_effort, runtime, flush_timeout } = plan;
    guard.health().begin();
    let runner = Runner { times, progress };
    let steps = runner.steps(steps, runtime.as_ref());
    let final_report = final_report.map(|work| runner.final_report(work, final_best_effort, &steps));
    let telemetry = runner.telemetry(guard, flush_timeout);
    let report = ShutdownReport { steps, final_report, telemetry, duration: times.began().elapsed() };
    let lines: Vec<_> = report.lines().collect();
    notice::at(notice::INFO, format_args!("shutdown took {:.1?}: {}", report.duration, lines.join("; ")));
    notice::settle(SETTLED.min(times.left()));
    report
}

struct Runner<'a> {
    times: Times,
    progress: &'a Progress,
}

impl Runner<'_> {
    fn steps(&self, steps: Vec<Step>, runtime: Option<&Handle>) -> Vec<StepReport> {
        let budgets: Vec<_> = steps.iter().map(|step| step.budget).collect();
        let run = |(index, step): (usize, Step)| {
            let budget = times::budget(self.times.left_for_steps(), &budgets[index..]);
            self.step(step, budget, runtime)
        };
        steps.into_iter().enumerate().map(run).collect()
    }

    fn final_report(&self, work: FinalReport, best_effort: bool, steps: &[StepReport]) -> StepReport {
        let steps = steps.to_vec();
        let mut step = Step::blocking("final_report".to_owned(), move || work(&steps));
        step.best_effort = best_effort;
        self.step(step, self.times.left_for_final_report(), None)
    }

    fn step(&self, step: Step, budget: Duration, runtime: Option<&Handle>) -> StepReport {
        self.progress.enter(named(&step.name));
        let report = step.run(budget, runtime);
        if report.outcome == StepOutcome::Hung {
            self.progress.left_behind(&report.name);
        }
        if !report.is_ok() {
            notice::at(notice::WARN, format_args!("warning: shutdown step {report}"));
        }
        report
    }

    /// Flushes telemetry on a separate thread, so that a flush that hangs cannot keep the process from ending. Returns
    /// `None` if telemetry does not end in time.
    fn telemetry(&self, guard: Guard, timeout: Duration) -> Option<Report> {
        self.progress.enter("telemetry".to_owned());
        let left = self.times.left();
        let margin = MARGIN.min(left / 4);
        let until = Instant::now() + (left - margin / 2);
        let (ended, end) = mpsc::channel();
        let flush = move || {
            let _ = ended.send(guard.shutdown_unfinished(timeout.min(left - margin)));
        };
        // If no thread can be started, the guard is dropped here, which flushes telemetry.
        let _ = std::thread::Builder::new().name("tracecast-flush".to_owned()).spawn(flush);
        end.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
    }
}
