//! The results of a shutdown.

use std::fmt;
use std::process::{ExitCode, Termination};
use std::time::Duration;

use crate::export::init::Report;

/// The outcome of a step.
///
/// ```
/// use tracecast::shutdown::StepOutcome;
///
/// assert_eq!(StepOutcome::Failed("disk full".to_owned()).to_string(), "failed: disk full");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepOutcome {
    /// The step succeeded.
    Ok,
    /// The step returned an error with this text, or could not be started.
    Failed(String),
    /// The step panicked with this message.
    Panicked(String),
    /// The step did not return within its budget, and was abandoned.
    Hung,
}

impl fmt::Display for StepOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepOutcome::Ok => f.write_str("ok"),
            StepOutcome::Failed(text) => write!(f, "failed: {}", OneLine(text)),
            StepOutcome::Panicked(text) => write!(f, "panicked: {}", OneLine(text)),
            StepOutcome::Hung => f.write_str("hung"),
        }
    }
}

/// The result of one step. It prints as one line.
///
/// ```
/// use tracecast::shutdown::{Shutdown, StepOutcome};
///
/// # let telemetry = tracecast::config::Config::new().init()?;
/// let report = Shutdown::new(telemetry).blocking_step("close", || ()).run();
/// let step = &report.steps[0];
/// assert_eq!((step.name.as_str(), &step.outcome), ("close", &StepOutcome::Ok));
/// # Ok::<(), tracecast::InitError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepReport {
    /// The name of the step.
    pub name: String,
    /// The outcome of the step.
    pub outcome: StepOutcome,
    /// The time until the step ended or was abandoned.
    pub duration: Duration,
    /// Whether a failure of the step leaves the exit code 0.
    pub best_effort: bool,
}

impl StepReport {
    /// Returns whether the step succeeded.
    ///
    /// ```
    /// # use tracecast::shutdown::Shutdown;
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let report = Shutdown::new(telemetry).blocking_step("close", || Err::<(), _>("disk full")).run();
    /// assert!(!report.steps[0].is_ok());
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn is_ok(&self) -> bool {
        self.outcome == StepOutcome::Ok
    }
}

impl fmt::Display for StepReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let best_effort = if self.best_effort && !self.is_ok() { ", best effort" } else { "" };
        write!(f, "{}: {} ({:.1?}{best_effort})", OneLine(&self.name), self.outcome, self.duration)
    }
}

/// The result of a shutdown. It prints as one line for each step and one for telemetry, and `main` can return it.
///
/// ```no_run
/// use tracecast::shutdown::{Shutdown, ShutdownReport};
///
/// fn main() -> ShutdownReport {
///     let shutdown = Shutdown::new(tracecast::init()).blocking_step("close", || ());
///     // .. the program runs ..
///     shutdown.run() // the process exits with 0 if every step succeeded
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "it reports failures; `main` can return it"]
#[non_exhaustive]
pub struct ShutdownReport {
    /// The results of the steps, in the order in which they ran.
    pub steps: Vec<StepReport>,
    /// The result of the final report, if one was set.
    pub final_report: Option<StepReport>,
    /// The report of telemetry; `None` if telemetry did not end in time.
    pub telemetry: Option<Report>,
    /// The duration of the whole shutdown.
    pub duration: Duration,
}

impl ShutdownReport {
    /// Returns whether every step and the final report succeeded, except those that are [best
    /// effort](super::Shutdown::best_effort). Telemetry is always best effort: a backend that is down does not make the
    /// shutdown a failure.
    ///
    /// ```
    /// # use tracecast::shutdown::Shutdown;
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let report = Shutdown::new(telemetry).blocking_step("close", || ()).run();
    /// assert!(report.is_ok());
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn is_ok(&self) -> bool {
        self.steps.iter().chain(&self.final_report).all(|step| step.is_ok() || step.best_effort)
    }

    /// Returns the exit code of the process: 0 if the shutdown [succeeded](Self::is_ok), otherwise 1.
    ///
    /// ```
    /// # use tracecast::shutdown::Shutdown;
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let report = Shutdown::new(telemetry).blocking_step("close", || Err::<(), _>("disk full")).run();
    /// assert_eq!(report.exit_code(), 1);
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn exit_code(&self) -> u8 {
        u8::from(!self.is_ok())
    }

    /// Returns a report for a shutdown whose thread ended without one.
    pub(super) fn lost() -> Self {
        let outcome = StepOutcome::Failed("the shutdown thread ended without a report".to_owned());
        let step = StepReport { name: "shutdown".to_owned(), outcome, duration: Duration::ZERO, best_effort: false };
        ShutdownReport { steps: vec![step], final_report: None, telemetry: None, duration: Duration::ZERO }
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let steps = self.steps.iter().chain(&self.final_report).map(StepReport::to_string);
        let telemetry = self.telemetry.as_ref().map_or("not flushed in time".to_owned(), Report::to_string);
        steps.chain([format!("telemetry: {telemetry}")])
    }
}

impl fmt::Display for ShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines().collect::<Vec<_>>().join("\n"))
    }
}

impl Termination for ShutdownReport {
    fn report(self) -> ExitCode {
        self.exit_code().into()
    }
}

/// Prints a text with line breaks and other control characters escaped.
pub(super) struct OneLine<'a>(pub(super) &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in self.0.split_inclusive(char::is_control) {
            match part.chars().next_back() {
                Some(last) if last.is_control() => {
                    write!(f, "{}{}", &part[..part.len() - last.len_utf8()], last.escape_default())?;
                }
                _ => f.write_str(part)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(name: &str, outcome: StepOutcome) -> StepReport {
        StepReport { name: name.to_owned(), outcome, duration: Duration::from_millis(1500), best_effort: false }
    }

    fn report(steps: Vec<StepReport>) -> ShutdownReport {
        ShutdownReport { steps, final_report: None, telemetry: None, duration: Duration::from_secs(2) }
    }

    #[test]
    fn a_report_is_one_line_a_step() {
        let steps = vec![
            step("stop", StepOutcome::Ok),
            step("flush\nindex", StepOutcome::Failed("disk\r\nfull".to_owned())),
            step("drain", StepOutcome::Panicked("größe".to_owned())),
            step("close", StepOutcome::Hung),
        ];
        let expected = "stop: ok (1.5s)\nflush\\nindex: failed: disk\\r\\nfull (1.5s)\ndrain: panicked: größe (1.5s)\n\
                        close: hung (1.5s)\ntelemetry: not flushed in time";
        assert_eq!(report(steps).to_string(), expected);
    }

    #[test]
    fn only_a_step_that_did_not_end_well_makes_it_a_failure() {
        assert_eq!(report(vec![step("a", StepOutcome::Ok)]).exit_code(), 0);
        for outcome in [StepOutcome::Failed(String::new()), StepOutcome::Panicked(String::new()), StepOutcome::Hung] {
            let failed = report(vec![step("a", StepOutcome::Ok), step("b", outcome.clone())]);
            assert_eq!(failed.exit_code(), 1);
            let failed =
                ShutdownReport { final_report: Some(step("final_report", outcome.clone())), ..report(Vec::new()) };
            assert_eq!(failed.exit_code(), 1);
            let tried = StepReport { best_effort: true, ..step("b", outcome) };
            assert!(tried.to_string().ends_with("(1.5s, best effort)") && !tried.is_ok(), "{tried}");
            assert_eq!(report(vec![tried.clone()]).exit_code(), 0);
            assert_eq!(ShutdownReport { final_report: Some(tried), ..report(Vec::new()) }.exit_code(), 0);
        }
    }
}
