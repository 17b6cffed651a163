//! Divides the time until the watchdog fires among the steps, the final report and telemetry.

use std::time::{Duration, Instant};

use crate::base::notice;
use crate::config::{Problem, Severity};

/// The variable that sets the watchdog.
const VARIABLE: &str = "SHUTDOWN_TIMEOUT_MS";
/// The default of the watchdog.
const DEFAULT: Duration = Duration::from_millis(30_000);
/// The time reserved for the final report and telemetry, unless half of the watchdog's time is shorter.
const RESERVE: Duration = Duration::from_secs(2);
/// The longest timeout; longer ones are cut to it.
const FAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The start and the limit of a shutdown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    began: Instant,
    total: Duration,
}

impl Times {
    pub(super) fn new(began: Instant, total: Duration) -> Self {
        Times { began, total: total.min(FAR) }
    }

    pub(super) fn began(self) -> Instant {
        self.began
    }

    /// Returns the time at which the watchdog fires.
    pub(super) fn end(self) -> Instant {
        self.began + self.total
    }

    /// Returns the remaining time for steps.
    pub(super) fn left_for_steps(self) -> Duration {
        (self.end() - self.reserve()).saturating_duration_since(Instant::now())
    }

    /// Returns the remaining time for the final report. The second half of the reserve belongs to telemetry.
    pub(super) fn left_for_final_report(self) -> Duration {
        (self.end() - self.reserve() / 2).saturating_duration_since(Instant::now())
    }

    /// Returns the remaining time until the watchdog fires.
    pub(super) fn left(self) -> Duration {
        self.end().saturating_duration_since(Instant::now())
    }

    fn reserve(self) -> Duration {
        RESERVE.min(self.total / 2)
    }
}

/// Returns the budget of the first remaining step. `left` is the time for all remaining steps; `remaining` contains the
/// budget that each of them was given, or `None`.
///
/// Steps without their own budget share evenly the time that the budgets of later steps leave, but get at least half of
/// an even share of `left`. A step with a budget gets it, but leaves every later step a tenth of an even share: even if
/// a drain has a budget as long as the watchdog, later steps run.
pub(super) fn budget(left: Duration, remaining: &[Option<Duration>]) -> Duration {
    let Some((own, later)) = remaining.split_first() else { return left };
    let count = |steps: usize| u32::try_from(steps).unwrap_or(u32::MAX);
    let even = left / count(remaining.len());
    match own {
        Some(own) => (*own).min(left.saturating_sub(even / 10 * count(later.len()))),
        None => {
            let claimed = later.iter().flatten().fold(Duration::ZERO, |sum, claim| sum.saturating_add(*claim));
            let sharing = remaining.iter().filter(|claim| claim.is_none()).count();
            (left.saturating_sub(claimed) / count(sharing)).max(even / 2)
        }
    }
}

/// Reads the time of the watchdog from `SHUTDOWN_TIMEOUT_MS`. Without the variable, returns the default; if its value
/// is invalid, also writes a warning.
pub(super) fn from_environment() -> Duration {
    let text = std::env::var_os(VARIABLE).map(|text| text.to_string_lossy().into_owned());
    parse(text.as_deref()).unwrap_or_else(|problem| {
        notice::say(format_args!("warning: {problem}"));
        DEFAULT
    })
}

fn parse(text: Option<&str>) -> Result<Duration, Box<Problem>> {
    let text = text.unwrap_or_default().trim();
    if text.is_empty() {
        return Ok(DEFAULT);
    }
    let timeout = text.parse::<u32>().ok().filter(|timeout| *timeout > 0);
    timeout.map(|timeout| Duration::from_millis(timeout.into())).ok_or_else(|| Box::new(problem(text)))
}

fn problem(text: &str) -> Problem {
    let shown: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    Problem {
        what: VARIABLE.to_owned(),
        file: None,
        line: None,
        value: Some(shown.into()),
        complaint: "is not a timeout".to_owned(),
        help: "expected a whole number of milliseconds, at least 1".to_owned(),
        used: Some(DEFAULT.as_millis().to_string()),
        severity: Severity::Warning,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(left: u64, remaining: &[Option<u64>], expected: u64) {
        let remaining: Vec<_> = remaining.iter().map(|own| own.map(Duration::from_millis)).collect();
        assert_eq!(budget(Duration::from_millis(left), &remaining), Duration::from_millis(expected));
    }

    #[test]
    fn steps_without_a_budget_share_what_is_left() {
        check(28_000, &[None], 28_000);
        check(28_000, &[None, None], 14_000);
        check(28_000, &[None, None, None, None], 7_000);
        check(0, &[None, None], 0);
    }

    #[test]
    fn a_budget_is_honoured_and_kept_free_for_a_later_step() {
        check(28_000, &[Some(10_000), None], 10_000);
        check(28_000, &[Some(25_000), None, None], 25_000);
        check(28_000, &[None, Some(10_000)], 18_000);
        check(28_000, &[None, None, Some(10_000)], 9_000);
    }

    #[test]
    fn budgets_beyond_the_whole_leave_something_for_all() {
        check(30_000, &[Some(60_000)], 30_000);
        check(30_000, &[Some(60_000), None, None], 28_000);
        check(30_000, &[None, Some(60_000), None], 5_000);
        check(30_000, &[None, Some(u64::MAX), Some(u64::MAX)], 5_000);
    }

    #[test]
    fn the_reserve_is_two_seconds_or_half() {
        let reserve = |millis| Times::new(Instant::now(), Duration::from_millis(millis)).reserve();
        assert_eq!(reserve(30_000), Duration::from_secs(2));
        assert_eq!(reserve(4_000), Duration::from_secs(2));
        assert_eq!(reserve(3_000), Duration::from_millis(1_500));
        assert_eq!(reserve(0), Duration::ZERO);
    }

    #[test]
    fn a_watchdog_without_end_is_no_overflow() {
        let times = Times::new(Instant::now(), Duration::MAX);
        assert!(times.left() > Duration::from_secs(24 * 60 * 60));
    }

    #[test]
    fn the_variable_is_a_number_of_milliseconds() {
        let millis = |text| parse(text).map(|timeout| timeout.as_millis()).map_err(|problem| problem.to_string());
        assert_eq!(millis(None), Ok(30_000));
        assert_eq!(millis(Some(" ")), Ok(30_000));
        assert_eq!(millis(Some(" 1500 ")), Ok(1500));
        for wrong in ["0", "-1", "5s", "1.5", "99999999999"] {
            let expected = format!(
                "SHUTDOWN_TIMEOUT_MS: `{wrong}` is not a timeout; expected a whole number of milliseconds, at least 1, \
                 using 30000"
            );
            assert_eq!(millis(Some(wrong)), Err(expected));
        }
        assert!(millis(Some("a\nb")).is_err_and(|text| text.contains(r"`a\nb`")));
    }
}
