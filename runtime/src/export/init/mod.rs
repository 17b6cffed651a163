//! Starts, changes and ends telemetry.

mod error;
mod guard;
mod handle;
mod health;
mod panic;
mod report;
mod running;
mod start;

pub use self::error::{InitError, NotRunning, ReloadError, SetEnabledError};
pub use self::guard::Guard;
pub use self::handle::Handle;
pub use self::health::{Health, State};
pub use self::report::Report;
pub use self::running::Reloaded;

use crate::base::notice;
use crate::config::{Config, Level, Problem, Severity};

/// Starts telemetry as the environment configures it: by `OTEL_*` variables, or by the file that `OTEL_CONFIG_FILE`
/// names. By default every signal is off.
///
/// Never fails the program. An invalid setting is reported on standard error and ignored; if telemetry cannot start at
/// all, the error is reported and the program runs without it. [`try_init`] returns the error instead; with
/// `TC_STRICT=true` an invalid setting is such an error.
///
///
/// ```no_run
/// let _telemetry = tracecast::init(); // in `main`: telemetry runs until its end
/// // .. the program runs ..
/// ```
pub fn init() -> Guard {
    match try_init() {
        Ok(guard) => guard,
        Err(error) => {
            notice::at(notice::ERROR, format_args!("error: telemetry is off: {error}"));
            Guard::off()
        }
    }
}

/// Like [`init`], but returns an error if telemetry cannot start, also because of an invalid file. With
/// `TC_STRICT=true` any invalid setting, a metric that is declared twice with different shapes, and exporters for
/// telemetry that the feature `off` has compiled out are also errors.
///
/// ```no_run
/// let _telemetry = tracecast::try_init()?;
/// // .. the program runs ..
/// # Ok::<(), tracecast::InitError>(())
/// ```
///
/// # Errors
/// Fails if telemetry is already running, if the export thread cannot be started, if a receiver's settings cannot be used, or if the
/// configuration is unusable (with `TC_STRICT`: if it has any problem).
pub fn try_init() -> Result<Guard, InitError> {
    Config::from_env().init()
}

impl Config {
    /// Starts telemetry with this configuration.
    ///
    /// ```
    /// use tracecast::config::{Config, Signal};
    ///
    /// let telemetry = Config::new().with_service_name("store").init()?;
    /// assert!(!telemetry.is_on(Signal::Traces)); // traces have no exporter
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    ///
    /// # Errors
    /// Fails if telemetry is already running, if the export thread cannot be started, if a receiver's settings cannot be used, or if
    /// the configuration is unusable (with `TC_STRICT`: if it has any problem).
    pub fn init(self) -> Result<Guard, InitError> {
        report_problems(&self)?;
        Guard::start(self)
    }
}

/// Reports the problems of a configuration as warnings, or fails if it is unusable or strict.
fn report_problems(config: &Config) -> Result<(), InitError> {
    notice::set_level(match config.settings.diagnostics_level {
        Level::Off => 0,
        Level::Error => notice::ERROR,
        Level::Warn => notice::WARN,
        Level::Info | Level::Debug | Level::Trace => notice::INFO,
    });
    start::format_notices(config);
    let problems = config.problems();
    let unusable = problems.iter().any(|problem| problem.severity == Severity::Error);
    if unusable || config.settings.strict && !problems.is_empty() {
        // With an error nothing starts, so the text names no value that replaces the invalid one.
        let problems = problems.iter().cloned().map(|problem| Problem { used: None, ..problem });
        return Err(InitError::Config(problems.collect()));
    }
    for problem in problems {
        notice::at(notice::WARN, format_args!("warning: {problem}"));
    }
    Ok(())
}
