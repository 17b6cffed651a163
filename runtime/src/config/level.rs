//! Which log events are written: `info`, or `info,hyper=warn`.

use std::str::FromStr;

use super::problem::Wrong;

/// How important a log event is.
///
/// ```
/// use tracecast::config::{Config, Level, LogFilter};
///
/// let config = Config::new().with_log_filter(LogFilter::new(Level::Warn));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the levels of `log` and `tracing`")]
#[non_exhaustive]
pub enum Level {
    Off,
    Error,
    Warn,
    #[default]
    Info,
    Debug,
    Trace,
}

impl Level {
    pub(super) fn parse(text: &str) -> Result<Level, Wrong> {
        match text.to_ascii_lowercase().as_str() {
            "off" | "none" => Ok(Level::Off),
            "error" => Ok(Level::Error),
            "warn" | "warning" => Ok(Level::Warn),
            "info" => Ok(Level::Info),
            "debug" => Ok(Level::Debug),
            "trace" => Ok(Level::Trace),
            _ => Err(Wrong::new("is not a log level", "off, error, warn, info, debug or trace")),
        }
    }

    /// A severity of the declarative configuration: the same words, with `fatal`, and numbers 2 to 4 for what is between.
    pub(super) fn parse_severity(text: &str) -> Result<Level, Wrong> {
        let lower = text.to_ascii_lowercase();
        let word = lower.strip_suffix(['2', '3', '4']).unwrap_or(&lower);
        match word {
            "fatal" => Ok(Level::Error),
            "trace" | "debug" | "info" | "warn" | "error" => Level::parse(word),
            _ => Err(Wrong::new(
                "is not a severity",
                "trace, debug, info, warn, error or fatal, or one of these with 2, 3 or 4",
            )),
        }
    }
}

/// The level of each target; the longest target that fits decides.
///
/// ```
/// use tracecast::config::{Config, LogFilter};
///
/// let filter: LogFilter = "info,hyper=warn".parse()?;
/// let config = Config::new().with_log_filter(filter);
/// # Ok::<(), tracecast::config::LogFilterError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFilter {
    pub(crate) level: Level,
    pub(crate) targets: Vec<(String, Level)>,
}

impl LogFilter {
    /// One level for all targets.
    ///
    /// ```
    /// use tracecast::config::{Level, LogFilter};
    ///
    /// assert_eq!(LogFilter::new(Level::Debug), "debug".parse()?);
    /// # Ok::<(), tracecast::config::LogFilterError>(())
    /// ```
    pub fn new(level: Level) -> Self {
        LogFilter { level, targets: Vec::new() }
    }

    /// The least important level that is written of a target.
    #[cfg(any(test, feature = "logs"))]
    pub(crate) fn level_of(&self, target: &str) -> Level {
        let fits =
            |prefix: &str| target.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
        let fitting = self.targets.iter().filter(|(prefix, _)| fits(prefix));
        fitting.max_by_key(|(prefix, _)| prefix.len()).map_or(self.level, |(_, level)| *level)
    }

    /// Reads directives, and says what is wrong with those that it leaves out.
    pub(super) fn read(text: &str) -> (Option<LogFilter>, Vec<Wrong>) {
        let (mut filter, mut any, mut wrong) = (LogFilter::default(), false, Vec::new());
        let directives = text.split(',').map(str::trim).filter(|directive| !directive.is_empty());
        // Those who name targets only, want nothing but these targets from `env_logger`; here the rest stays at info.
        for directive in directives {
            match directive_of(directive) {
                Ok((None, level)) => filter.level = level,
                Ok((Some(target), level)) => filter.targets.push((target.to_owned(), level)),
                Err(()) => {
                    wrong.push(Wrong::new("is not a log directive", ACCEPTED).part(directive));
                    continue;
                }
            }
            any = true;
        }
        (any.then_some(filter), wrong)
    }
}

const ACCEPTED: &str = "off, error, warn, info, debug or trace, or `target=level`, separated by commas";

/// A level, `target=level`, or a target of which everything is written.
fn directive_of(text: &str) -> Result<(Option<&str>, Level), ()> {
    if let Ok(level) = Level::parse(text) {
        return Ok((None, level));
    }
    let (target, level) = match text.split_once('=') {
        Some((target, level)) => (target.trim(), Level::parse(level.trim()).map_err(|_| ())?),
        None if text.contains("::") => (text, Level::Trace),
        None => return Err(()),
    };
    let named = !target.is_empty() && target.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '.'));
    if named { Ok((Some(target), level)) } else { Err(()) }
}

impl FromStr for LogFilter {
    type Err = LogFilterError;

    fn from_str(text: &str) -> Result<Self, LogFilterError> {
        match LogFilter::read(text) {
            (Some(filter), wrong) if wrong.is_empty() => Ok(filter),
            _ => Err(LogFilterError),
        }
    }
}

/// A log filter that cannot be understood.
///
/// ```
/// use tracecast::config::{LogFilter, LogFilterError};
///
/// assert_eq!("store=loud".parse::<LogFilter>(), Err(LogFilterError));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogFilterError;

impl std::fmt::Display for LogFilterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the log filter is not understood; expected {ACCEPTED}")
    }
}

impl std::error::Error for LogFilterError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_target_decides() {
        let filter: LogFilter = "WARN,hyper=error,hyper::client=trace,a::b".parse().unwrap();
        let cases = [
            ("x", Level::Warn),
            ("hyper", Level::Error),
            ("hyper::server", Level::Error),
            ("hyper::client::pool", Level::Trace),
            ("hyperx", Level::Warn),
            ("a::b", Level::Trace),
        ];
        for (target, expected) in cases {
            assert_eq!(filter.level_of(target), expected, "{target}");
        }
    }

    #[test]
    fn a_wrong_directive_leaves_the_others() {
        let (filter, wrong) = LogFilter::read("debug,x=loud,[span]=info");
        assert_eq!(filter, Some(LogFilter::new(Level::Debug)));
        assert_eq!(
            wrong.iter().map(|wrong| wrong.part.as_deref().unwrap()).collect::<Vec<_>>(),
            ["x=loud", "[span]=info"]
        );
        assert!("loud".parse::<LogFilter>().is_err());
    }

    #[test]
    fn severities_are_rounded_to_levels() {
        assert_eq!(Level::parse_severity("INFO3"), Ok(Level::Info));
        assert_eq!(Level::parse_severity("fatal"), Ok(Level::Error));
        assert!(Level::parse_severity("off").is_err());
    }
}
