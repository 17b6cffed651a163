//! From a configuration to telemetry that leaves the process, and to its end.

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

/// Starts telemetry as the environment says: `OTEL_*` variables, or the file that `OTEL_CONFIG_FILE` names. Nothing is on
/// unless something there says so.
///
/// It never fails the program. A setting that is wrong is told on standard error and left out; if telemetry cannot start
/// at all, that is told, and the program runs without. With `TC_STRICT=true`, or with [`try_init`], that is an error.
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

/// As [`init`], and gives an error if telemetry cannot start, because of a file that is wrong too, or, with `TC_STRICT`, if any
/// setting is wrong, a metric is declared twice with different shapes, or the feature `off` has compiled out what is to be exported.
///
/// ```no_run
/// let _telemetry = tracecast::try_init()?;
/// // .. the program runs ..
/// # Ok::<(), tracecast::InitError>(())
/// ```
///
/// # Errors
/// If telemetry runs already, the export thread cannot start, a receiver cannot be spoken to as it is described, or something is wrong
/// that `TC_STRICT` does not let pass.
pub fn try_init() -> Result<Guard, InitError> {
    Config::from_env().init()
}

impl Config {
    /// Starts telemetry as this says.
    ///
    /// ```
    /// use tracecast::config::{Config, Signal};
    ///
    /// let telemetry = Config::new().with_service_name("store").init()?;
    /// assert!(!telemetry.is_on(Signal::Traces)); // nothing says where spans go
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`try_init`].
    pub fn init(self) -> Result<Guard, InitError> {
        tell_problems(&self)?;
        Guard::start(self)
    }
}

/// Says what is wrong with a configuration, or fails because of it.
fn tell_problems(config: &Config) -> Result<(), InitError> {
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
        // Nothing is used in place of what is wrong.
        let problems = problems.iter().cloned().map(|problem| Problem { used: None, ..problem });
        return Err(InitError::Config(problems.collect()));
    }
    for problem in problems {
        notice::at(notice::WARN, format_args!("warning: {problem}"));
    }
    Ok(())
}
