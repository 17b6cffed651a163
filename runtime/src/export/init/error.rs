//! Why telemetry cannot start, or not do what it is asked to.

use std::fmt;

use crate::config::{ConfigError, Problem, Signal};
use crate::meter::metering::MetricsError;

/// Why telemetry cannot start.
///
/// ```
/// use tracecast::{InitError, config::Config};
///
/// let _telemetry = Config::new().init()?;
/// assert!(matches!(Config::new().init(), Err(InitError::AlreadyRunning)));
/// # Ok::<(), InitError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum InitError {
    /// It runs already.
    AlreadyRunning,
    /// Settings are wrong, and the configuration is strict.
    Config(Vec<Problem>),
    /// A metric is declared twice with different shapes.
    Metrics(MetricsError),
    /// A receiver cannot be spoken to as it is described.
    Receiver {
        /// What would have gone there.
        signal: Signal,
        /// What is wrong.
        cause: String,
    },
    /// The export thread could not start.
    Thread(std::io::Error),
}

impl fmt::Display for InitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InitError::AlreadyRunning => f.write_str("telemetry is already running; call `init` once, in `main`"),
            InitError::Config(problems) => {
                let texts: Vec<_> = problems.iter().map(Problem::to_string).collect();
                f.write_str(&texts.join("; "))
            }
            InitError::Metrics(error) => error.fmt(f),
            InitError::Receiver { signal, cause } => write!(f, "the receiver of {}: {cause}", signal.name()),
            InitError::Thread(error) => write!(f, "could not start the export thread: {error}"),
        }
    }
}

impl std::error::Error for InitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            InitError::Metrics(error) => Some(error),
            InitError::Thread(error) => Some(error),
            InitError::AlreadyRunning | InitError::Config(_) | InitError::Receiver { .. } => None,
        }
    }
}

/// A signal that goes nowhere cannot be switched on.
///
/// ```
/// use tracecast::NoExporter;
/// use tracecast::config::{Config, Signal};
///
/// let telemetry = Config::new().init()?;
/// let error: NoExporter = telemetry.set_enabled(Signal::Traces, true).unwrap_err();
/// eprintln!("{error}");
/// # Ok::<(), tracecast::InitError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoExporter(pub(super) Signal);

impl fmt::Display for NoExporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.0.name();
        write!(f, "{name} have no exporter; name one with OTEL_{}_EXPORTER or an endpoint", name.to_uppercase())
    }
}

impl std::error::Error for NoExporter {}

/// Why a configuration cannot be read again. What was in force stays in force.
///
/// ```
/// use tracecast::{ReloadError, config::Config};
///
/// let telemetry = Config::new().init()?;
/// assert!(matches!(telemetry.reload(), Err(ReloadError::NothingToRead)));
/// # Ok::<(), tracecast::InitError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ReloadError {
    /// The program made it, and read no file and no variables.
    NothingToRead,
    /// Telemetry does not run, or not in this process.
    NotRunning,
    /// It is wrong.
    Config(ConfigError),
    /// It cannot be put into force.
    Init(InitError),
}

impl fmt::Display for ReloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReloadError::NothingToRead => f.write_str(
                "the configuration was made by the program; only one of `Config::from_env` or `from_file` is read again",
            ),
            ReloadError::NotRunning => f.write_str("telemetry does not run in this process; call `init` first"),
            ReloadError::Config(error) => error.fmt(f),
            ReloadError::Init(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReloadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReloadError::NothingToRead | ReloadError::NotRunning => None,
            ReloadError::Config(error) => Some(error),
            ReloadError::Init(error) => Some(error),
        }
    }
}
