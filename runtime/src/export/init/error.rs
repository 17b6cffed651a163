//! Errors of starting and of changing telemetry.

use std::fmt;

use crate::catalogue::Conflict;
use crate::config::{ConfigError, Problem, Signal};
use crate::meter::metering::UnknownMetric;

/// An error that keeps telemetry from starting.
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
    /// Telemetry is already running in this process.
    AlreadyRunning,
    /// The configuration file is invalid, or the configuration is strict and has problems.
    Config(Vec<Problem>),
    /// Metrics are declared twice with different shapes, and the configuration is strict.
    Metrics(Vec<Conflict>),
    /// The settings of a receiver cannot be used.
    Receiver {
        /// The signal that the receiver is for.
        signal: Signal,
        /// The reason.
        cause: String,
    },
    /// The feature `off` has removed spans and metrics from the program, and the configuration is strict.
    CompiledOut(&'static str),
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
            InitError::Metrics(conflicts) => {
                let texts: Vec<_> = conflicts.iter().map(Conflict::to_string).collect();
                f.write_str(&texts.join("; "))
            }
            InitError::CompiledOut(text) => f.write_str(text),
            InitError::Receiver { signal, cause } => write!(f, "cannot export {}: {cause}", signal.name()),
            InitError::Thread(error) => write!(f, "could not start the export thread: {error}"),
        }
    }
}

impl std::error::Error for InitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            InitError::Thread(error) => Some(error),
            InitError::AlreadyRunning
            | InitError::Config(_)
            | InitError::CompiledOut(_)
            | InitError::Metrics(_)
            | InitError::Receiver { .. } => None,
        }
    }
}

/// The reason why a [`Handle`](crate::Handle) cannot change or export anything.
///
/// ```
/// use tracecast::{NotRunning, Sampler, config::Config};
///
/// let telemetry = Config::new().init()?;
/// let handle = telemetry.handle();
/// drop(telemetry);
/// assert_eq!(handle.set_sampler(&Sampler::AlwaysOn), Err(NotRunning::Ended));
/// # Ok::<(), tracecast::InitError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotRunning {
    /// `init` failed, and wrote the reason to standard error.
    NotStarted,
    /// The guard was dropped or shut down.
    Ended,
    /// This process is a forked child; telemetry runs in its parent.
    Forked,
}

impl fmt::Display for NotRunning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotRunning::NotStarted => "telemetry did not start; the error of `init` on standard error has the reason",
            NotRunning::Ended => "telemetry has ended: its guard was dropped or shut down",
            NotRunning::Forked => "telemetry runs in the parent process; call `init` in the forked child",
        })
    }
}

impl std::error::Error for NotRunning {}

/// The error of [`Handle::set_enabled`](crate::Handle::set_enabled) and
/// [`Handle::set_metric_enabled`](crate::Handle::set_metric_enabled).
///
/// ```
/// use tracecast::SetEnabledError;
/// use tracecast::config::{Config, Signal};
///
/// let telemetry = Config::new().init()?;
/// assert_eq!(telemetry.set_enabled(Signal::Traces, true), Err(SetEnabledError::NoExporter(Signal::Traces)));
/// # Ok::<(), tracecast::InitError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetEnabledError {
    /// The signal has no exporter.
    NoExporter(Signal),
    /// No metric has this name.
    UnknownMetric(UnknownMetric),
    /// Telemetry does not run.
    NotRunning(NotRunning),
}

impl From<NotRunning> for SetEnabledError {
    fn from(reason: NotRunning) -> Self {
        SetEnabledError::NotRunning(reason)
    }
}

impl fmt::Display for SetEnabledError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SetEnabledError::NoExporter(signal) => {
                let name = signal.name();
                write!(f, "{name} have no exporter; set OTEL_{}_EXPORTER or an endpoint", name.to_uppercase())
            }
            SetEnabledError::UnknownMetric(error) => error.fmt(f),
            SetEnabledError::NotRunning(reason) => reason.fmt(f),
        }
    }
}

impl std::error::Error for SetEnabledError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SetEnabledError::NoExporter(_) => None,
            SetEnabledError::UnknownMetric(error) => Some(error),
            SetEnabledError::NotRunning(reason) => Some(reason),
        }
    }
}

/// The error of [`Handle::reload`](crate::Handle::reload). The previous configuration stays in force.
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
    /// The program built the configuration without reading a file or variables.
    NothingToRead,
    /// Telemetry does not run.
    NotRunning(NotRunning),
    /// The configuration is invalid.
    Config(ConfigError),
    /// The configuration could not be applied.
    Init(InitError),
}

impl fmt::Display for ReloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReloadError::NothingToRead => f.write_str(
                "nothing to reload: the program built the configuration; use `Config::from_env` or `Config::from_file`",
            ),
            ReloadError::NotRunning(reason) => reason.fmt(f),
            ReloadError::Config(error) => error.fmt(f),
            ReloadError::Init(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReloadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReloadError::NothingToRead => None,
            ReloadError::NotRunning(reason) => Some(reason),
            ReloadError::Config(error) => Some(error),
            ReloadError::Init(error) => Some(error),
        }
    }
}
