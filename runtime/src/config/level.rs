//! Log levels and filters: `info`, or `info,hyper=warn`.

use std::str::FromStr;

use super::problem::Wrong;

/// The severity of a log event.
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

    /// Parses a severity of the declarative configuration: the names of levels and `fatal`, with the numbers 2 to 4 for
    /// the severities between.
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

/// The log level of each target; the longest matching prefix of a target decides.
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
    /// Creates a filter with one level for all targets.
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

    /// Returns the most verbose level that is enabled for a target.
    #[cfg(any(test, has_logs))]
    pub(crate) fn level_of(&self, target: &str) -> Level {
        let fits =
            |prefix: &str| target.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
        let fitting = self.targets.iter().filter(|(prefix, _)| fits(prefix));
        fitting.max_by_key(|(prefix, _)| prefix.len()).map_or(self.level, |(_, level)| *level)
    }

    /// Parses directives. Invalid ones are skipped and reported; without a valid one, there is no filter.
    pub(super) fn read(text: &str) -> (Option<LogFilter>, Vec<Wrong>) {
        // A word alone is more likely a misspelt level than a target.
        LogFilter::read_by(text, Level::default(), ACCEPTED, |text| text.contains("::"))
    }

    /// Reads directives of `RUST_LOG` as `EnvFilter` and `env_logger` do: a word that is no level is a target, and where all directives
    /// name targets, the rest is off.
    pub(super) fn read_rust_log(text: &str) -> (Option<LogFilter>, Vec<Wrong>) {
        LogFilter::read_by(text, Level::Off, ACCEPTED_IN_RUST_LOG, |_| true)
    }

    /// Parses directives. `rest` is the level of targets that no directive names, unless a directive is a level alone.
    fn read_by(
        text: &str,
        rest: Level,
        accepted: &'static str,
        is_target: fn(&str) -> bool,
    ) -> (Option<LogFilter>, Vec<Wrong>) {
        let (mut filter, mut any, mut wrong) = (LogFilter::new(rest), false, Vec::new());
        let mut depth = 0_usize;
        // The fields of a span directive may have commas between them.
        let is_end = |character| {
            match character {
                '[' | '{' => depth += 1,
                ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            character == ',' && depth == 0
        };
        let directives = text.split(is_end).map(str::trim).filter(|directive| !directive.is_empty());
        for directive in directives {
            match directive_of(directive, is_target) {
                Ok((None, level)) => filter.level = level,
                Ok((Some(target), level)) => filter.targets.push((target.to_owned(), level)),
                Err(complaint) => {
                    wrong.push(Wrong::new(complaint, accepted).part(directive));
                    continue;
                }
            }
            any = true;
        }
        (any.then_some(filter), wrong)
    }
}

const ACCEPTED: &str = "off, error, warn, info, debug or trace, or `target=level`, separated by commas";
const ACCEPTED_IN_RUST_LOG: &str =
    "off, error, warn, info, debug or trace, `target=level`, or a target alone for all its levels, separated by commas";
const NO_DIRECTIVE: &str = "is not a log directive";
const OF_SPANS: &str = "selects events by `tracing` span, which only an `EnvFilter` around `logs::layer()` supports";

/// Parses a level, `target=level`, or a target alone, which enables all its levels.
fn directive_of(text: &str, is_target: fn(&str) -> bool) -> Result<(Option<&str>, Level), &'static str> {
    if let Ok(level) = level_of(text) {
        return Ok((None, level));
    }
    if text.contains('[') {
        return Err(OF_SPANS);
    }
    let (target, level) = match text.split_once('=') {
        Some((target, level)) => (target.trim(), level_of(level.trim()).map_err(|_| NO_DIRECTIVE)?),
        None if is_target(text) => (text, Level::Trace),
        None => return Err(NO_DIRECTIVE),
    };
    let named = !target.is_empty() && target.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '.'));
    if named { Ok((Some(target), level)) } else { Err(NO_DIRECTIVE) }
}

/// Parses a level by its name, or by its number as in `tracing`.
fn level_of(text: &str) -> Result<Level, Wrong> {
    let numbered = [Level::Off, Level::Error, Level::Warn, Level::Info, Level::Debug, Level::Trace];
    let number = text.parse::<usize>().ok().and_then(|number| numbered.get(number));
    number.map_or_else(|| Level::parse(text), |level| Ok(*level))
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

/// The error of an invalid log filter.
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
        write!(f, "the log filter is invalid; expected {ACCEPTED}")
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
        for read in [LogFilter::read, LogFilter::read_rust_log] {
            let (filter, wrong) = read("debug,x=loud,[span]=info,store[load{a=1,b=2}]=trace,[load],");
            assert_eq!(filter, Some(LogFilter::new(Level::Debug)));
            let wrong: Vec<_> = wrong.iter().map(|wrong| (wrong.part.as_deref().unwrap(), &*wrong.complaint)).collect();
            let of_spans = ["[span]=info", "store[load{a=1,b=2}]=trace", "[load]"].map(|part| (part, OF_SPANS));
            assert_eq!((wrong[0], &wrong[1..]), (("x=loud", NO_DIRECTIVE), &of_spans[..]));
        }
        assert!("loud".parse::<LogFilter>().is_err());
    }

    #[test]
    fn severities_are_rounded_to_levels() {
        assert_eq!(Level::parse_severity("INFO3"), Ok(Level::Info));
        assert_eq!(Level::parse_severity("fatal"), Ok(Level::Error));
        assert!(Level::parse_severity("off").is_err());
    }
}
