//! One step of a shutdown. If a step fails, panics or hangs, the others still run.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Handle};

use super::report::{StepOutcome, StepReport};

/// The result of a step: nothing, or a `Result` whose error implements `Display`. Sealed: these types only.
///
/// ```
/// use tracecast::shutdown::StepResult;
///
/// fn is_step<R: StepResult>(_: fn() -> R) {}
///
/// is_step(|| ());
/// is_step(|| Err::<u32, _>("disk full"));
/// ```
#[diagnostic::on_unimplemented(
    message = "a shutdown step cannot return `{Self}`",
    label = "returns `{Self}`",
    note = "a step returns nothing, or a `Result` whose error implements `Display`"
)]
pub trait StepResult: sealed::Sealed {}

mod sealed {
    pub trait Sealed {
        fn done(self) -> Result<(), String>;
    }
}

impl StepResult for () {}
impl<T, E: Display> StepResult for Result<T, E> {}

impl sealed::Sealed for () {
    fn done(self) -> Result<(), String> {
        Ok(())
    }
}

impl<T, E: Display> sealed::Sealed for Result<T, E> {
    fn done(self) -> Result<(), String> {
        // The alternate form, in which some error types print their causes.
        self.map(drop).map_err(|error| format!("{error:#}"))
    }
}

type Done = Result<(), String>;
type Work = Box<dyn FnOnce() -> Done + Send>;
type AsyncWork = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = Done> + Send>> + Send>;

/// A step that has not run yet.
pub(super) struct Step {
    pub(super) name: String,
    /// The time limit of the step, if it was set.
    pub(super) budget: Option<Duration>,
    /// Whether a failure of the step leaves the exit code 0.
    pub(super) best_effort: bool,
    kind: Kind,
}

enum Kind {
    Blocking(Work),
    Async(AsyncWork),
}

impl Step {
    pub(super) fn blocking<R: StepResult>(name: String, work: impl FnOnce() -> R + Send + 'static) -> Self {
        Step { name, budget: None, best_effort: false, kind: Kind::Blocking(Box::new(move || work().done())) }
    }

    pub(super) fn future<F>(name: String, work: impl FnOnce() -> F + Send + 'static) -> Self
    where
        F: Future<Output: StepResult> + Send + 'static,
    {
        let work: AsyncWork = Box::new(move || {
            let future = work();
            Box::pin(async move { sealed::Sealed::done(future.await) })
        });
        Step { name, budget: None, best_effort: false, kind: Kind::Async(work) }
    }

    /// Runs the step and waits for it at most `budget`. A step that hangs keeps its thread or its task.
    pub(super) fn run(self, budget: Duration, runtime: Option<&Handle>) -> StepReport {
        let began = Instant::now();
        let (ended, end) = mpsc::channel();
        let started = match (self.kind, runtime) {
            (Kind::Blocking(work), _) => on_thread(&self.name, ended, work),
            (Kind::Async(work), None) => on_thread(&self.name, ended, move || on_own_runtime(work)),
            (Kind::Async(work), Some(runtime)) => {
                on_runtime(runtime, ended, work);
                Ok(())
            }
        };
        let outcome = match started.map(|()| end.recv_timeout(budget)) {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(RecvTimeoutError::Timeout)) => StepOutcome::Hung,
            Ok(Err(RecvTimeoutError::Disconnected)) => StepOutcome::Failed(RUNTIME_ENDED.to_owned()),
            Err(error) => StepOutcome::Failed(format!("could not start a thread: {error}")),
        };
        StepReport { name: self.name, outcome, duration: began.elapsed(), best_effort: self.best_effort }
    }
}

const RUNTIME_ENDED: &str = "the runtime shut down before the step ended";

fn on_thread(
    name: &str,
    ended: Sender<StepOutcome>,
    work: impl FnOnce() -> Done + Send + 'static,
) -> std::io::Result<()> {
    let run = move || {
        let outcome = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(done) => outcome(done),
            Err(payload) => StepOutcome::Panicked(panic_text(payload)),
        };
        // The result of an abandoned step is discarded.
        let _ = ended.send(outcome);
    };
    // Names of threads must not contain NUL.
    thread::Builder::new().name(name.replace('\0', " ")).spawn(run).map(drop)
}

/// Runs the work on a new runtime, because the program's runtime may be the one that hangs.
fn on_own_runtime(work: AsyncWork) -> Done {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("could not create a runtime: {error}"))?;
    let done = runtime.block_on(async { work().await });
    // Does not wait for work that the step left on other threads.
    runtime.shutdown_background();
    done
}

fn on_runtime(runtime: &Handle, ended: Sender<StepOutcome>, work: AsyncWork) {
    let task = runtime.spawn(async move { work().await });
    runtime.spawn(async move {
        let outcome = match task.await {
            Ok(done) => outcome(done),
            Err(error) => match error.try_into_panic() {
                Ok(payload) => StepOutcome::Panicked(panic_text(payload)),
                Err(_) => StepOutcome::Failed(RUNTIME_ENDED.to_owned()),
            },
        };
        let _ = ended.send(outcome);
    });
}

fn outcome(done: Done) -> StepOutcome {
    done.map_or_else(StepOutcome::Failed, |()| StepOutcome::Ok)
}

fn panic_text(payload: Box<dyn Any + Send>) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    // Dropping the payload runs user code, which may panic again.
    std::mem::forget(payload);
    text.unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn blocking<R: StepResult>(work: impl FnOnce() -> R + Send + 'static) -> StepOutcome {
        Step::blocking("step".to_owned(), work).run(LONG, None).outcome
    }

    fn future<F>(work: impl Fn() -> F + Clone + Send + 'static) -> StepOutcome
    where
        F: Future<Output: StepResult> + Send + 'static,
    {
        let own = Step::future("step".to_owned(), work.clone()).run(LONG, None).outcome;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let given = Step::future("step".to_owned(), work).run(LONG, Some(runtime.handle())).outcome;
        assert_eq!(own, given, "on a runtime of its own, and on that of the program");
        own
    }

    #[test]
    fn a_step_returns_nothing_or_a_result() {
        assert_eq!(blocking(|| ()), StepOutcome::Ok);
        assert_eq!(blocking(|| Ok::<_, std::io::Error>(7)), StepOutcome::Ok);
        assert_eq!(blocking(|| Err::<(), _>("disk full")), StepOutcome::Failed("disk full".to_owned()));
        assert_eq!(future(|| async {}), StepOutcome::Ok);
        assert_eq!(future(|| async { Err::<(), _>("late") }), StepOutcome::Failed("late".to_owned()));
        assert_eq!(future(|| tokio::time::sleep(Duration::from_millis(1))), StepOutcome::Ok);
    }

    fn panic_with<P: Any + Send>(payload: P) {
        std::panic::panic_any(payload)
    }

    #[test]
    fn a_panic_is_an_outcome() {
        let no = StepOutcome::Panicked("no".to_owned());
        assert_eq!(blocking(|| panic_with("no")), no);
        assert_eq!(blocking(|| panic_with("no".to_owned())), no);
        assert_eq!(blocking(|| panic_with(7)), StepOutcome::Panicked("no message".to_owned()));
        assert_eq!(future(|| async { panic_with("no") }), no);
        fn before_its_future() -> std::future::Ready<()> {
            panic!("no")
        }
        assert_eq!(future(before_its_future), no);
    }

    #[test]
    fn a_payload_that_panics_again_is_an_outcome_too() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("again");
            }
        }
        assert_eq!(blocking(|| panic_with(Bomb)), StepOutcome::Panicked("no message".to_owned()));
    }

    #[test]
    fn an_error_that_panics_when_it_is_printed_is_an_outcome() {
        struct Unprintable;
        impl Display for Unprintable {
            fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                panic!("unprintable")
            }
        }
        assert_eq!(blocking(|| Err::<(), _>(Unprintable)), StepOutcome::Panicked("unprintable".to_owned()));
    }

    #[test]
    fn a_step_that_hangs_is_abandoned() {
        let (_hold, held) = mpsc::channel::<()>();
        let report = Step::blocking("stuck".to_owned(), move || held.recv()).run(Duration::from_millis(20), None);
        assert_eq!((report.name.as_str(), &report.outcome), ("stuck", &StepOutcome::Hung));
        let report = Step::future("stuck".to_owned(), std::future::pending::<()>).run(Duration::from_millis(20), None);
        assert_eq!(report.outcome, StepOutcome::Hung);
    }

    #[test]
    fn a_runtime_that_is_gone_is_a_failure() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let handle = runtime.handle().clone();
        drop(runtime);
        let report = Step::future("late".to_owned(), || async {}).run(LONG, Some(&handle));
        assert_eq!(report.outcome, StepOutcome::Failed(RUNTIME_ENDED.to_owned()));
    }

    #[test]
    fn any_name_is_a_name() {
        let report = Step::blocking("a\0b".to_owned(), || ()).run(LONG, None);
        assert_eq!((report.name.as_str(), report.is_ok()), ("a\0b", true));
    }
}
