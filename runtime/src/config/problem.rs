//! Problems of settings, written for the operator who has to fix them.

use std::borrow::Cow;
use std::fmt;

use crate::base::secret::Masked;

/// The number of characters of an invalid value that are shown.
const SHOWN_CHARS: usize = 80;

/// A setting that is invalid or not supported. It prints as one line with the value and what is accepted:
/// ``OTEL_TRACES_SAMPLER_ARG: `1.5` is not a ratio; expected a number from 0 to 1, using 1``.
///
/// ```
/// use tracecast::config::Config;
///
/// let config = Config::from_variables(|name| (name == "OTEL_EXPORTER_OTLP_PROTOCOL").then(|| "soap".to_owned()));
/// let problem = &config.problems()[0];
/// assert!(!problem.is_error());
/// assert!(problem.to_string().starts_with("OTEL_EXPORTER_OTLP_PROTOCOL: `soap` "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The variable, or the path in the file.
    pub(crate) what: String,
    /// The path of the file, if it was read from one.
    pub(crate) file: Option<String>,
    /// The line in the file, from 1.
    pub(crate) line: Option<usize>,
    /// The invalid value, shortened; hidden if it may be a secret.
    pub(crate) value: Option<Masked<String>>,
    /// The verdict, as a predicate of the value: `is not a ratio`.
    pub(crate) complaint: String,
    /// What the operator can do, or the consequence: `expected a number from 0 to 1`, `remove it`.
    pub(crate) help: String,
    /// The value that is used instead.
    pub(crate) used: Option<String>,
    /// The consequence for the rest of the configuration.
    pub(crate) severity: Severity,
}

impl Problem {
    /// Returns the variable, or the path in the file.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// let config = Config::from_variables(|name| (name == "TC_STRICT").then(|| "maybe".to_owned()));
    /// assert_eq!(config.problems()[0].what(), "TC_STRICT");
    /// ```
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Returns whether the problem makes the whole file unusable; otherwise only this setting is ignored.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// let error = Config::from_yaml("tracer_provider: [", |_| None).unwrap_err();
    /// assert!(error.problems().iter().any(|problem| problem.is_error()));
    /// ```
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// The consequence of a problem for the configuration that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// The setting is ignored; the rest is used.
    Warning,
    /// The file is not used.
    Error,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file} line {line}: ")?,
            (Some(file), None) => write!(f, "{file}: ")?,
            (None, Some(line)) => write!(f, "line {line}: ")?,
            (None, None) => {}
        }
        write!(f, "{}: ", self.what)?;
        if let Some(value) = &self.value {
            write!(f, "`{value}` ")?;
        }
        write!(f, "{}; {}", self.complaint, self.help)?;
        match &self.used {
            Some(used) => write!(f, ", using {used}"),
            None => Ok(()),
        }
    }
}

/// The reason why a parser rejects a text. The caller adds the place where the text was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(super) complaint: Cow<'static, str>,
    pub(super) help: Cow<'static, str>,
    /// The invalid part of the text; it is shown instead of the whole text.
    pub(super) part: Option<String>,
    pub(super) used: Option<Cow<'static, str>>,
    /// Whether the text may contain a secret.
    pub(super) secret: bool,
}

impl Wrong {
    /// Creates the reason from a complaint and a list of accepted values: `is not a ratio`, `a number from 0 to 1`.
    pub(super) fn new(complaint: impl Into<Cow<'static, str>>, accepted: impl fmt::Display) -> Self {
        Wrong::with_help(complaint, format!("expected {accepted}"))
    }

    /// Creates the reason from a complaint and a help for the operator: what to do, or the consequence.
    pub(super) fn with_help(complaint: impl Into<Cow<'static, str>>, help: impl Into<Cow<'static, str>>) -> Self {
        Wrong { complaint: complaint.into(), help: help.into(), part: None, used: None, secret: false }
    }

    pub(super) fn part(self, part: impl Into<String>) -> Self {
        Wrong { part: Some(part.into()), ..self }
    }

    pub(super) fn using(self, used: impl Into<Cow<'static, str>>) -> Self {
        Wrong { used: Some(used.into()), ..self }
    }

    pub(super) fn secret(self) -> Self {
        Wrong { secret: true, ..self }
    }

    /// Creates the problem of a setting without a value to show.
    pub(super) fn at_place(self, what: impl Into<String>, severity: Severity) -> Problem {
        Problem { value: None, ..self.at(what, &Masked::default(), severity) }
    }

    /// Creates the problem of a setting with this text.
    pub(super) fn at(self, what: impl Into<String>, text: &Masked<String>, severity: Severity) -> Problem {
        let hidden = text.is_hidden() || self.secret;
        let shown = self.part.as_deref().unwrap_or(text);
        Problem {
            what: what.into(),
            file: None,
            line: None,
            value: Some(Masked::new(if hidden { String::new() } else { shortened(shown) }, hidden)),
            complaint: self.complaint.into_owned(),
            help: self.help.into_owned(),
            used: self.used.map(Cow::into_owned),
            severity,
        }
    }
}

/// Makes one line of bounded length: control characters are escaped.
fn shortened(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS).flat_map(escaped).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

fn escaped(c: char) -> impl Iterator<Item = char> {
    let (control, plain) = if c.is_control() { (Some(c.escape_default()), None) } else { (None, Some(c)) };
    control.into_iter().flatten().chain(plain)
}

/// A configuration that cannot be used, with all its problems.
///
/// ```
/// use tracecast::config::Config;
///
/// let error = Config::from_yaml("file_format: [", |_| None).unwrap_err();
/// error.problems().iter().for_each(|problem| eprintln!("{problem}"));
/// assert!(!error.problems().is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    pub(crate) problems: Vec<Problem>,
}

impl ConfigError {
    /// Returns all problems, warnings included.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// let error = Config::from_yaml("file_format: [", |_| None).unwrap_err();
    /// assert!(error.problems()[0].to_string().starts_with("line "));
    /// ```
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = self.problems.iter().filter(|problem| problem.is_error());
        for (index, problem) in errors.enumerate() {
            write!(f, "{}{problem}", if index == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, hidden: bool, wrong: Wrong, expected: &str) {
        let problem = wrong.at("X", &Masked::new(text.to_owned(), hidden), Severity::Warning);
        assert_eq!(problem.to_string(), expected);
    }

    #[test]
    fn a_problem_is_one_line() {
        let wrong = Wrong::new("is not a ratio", "a number from 0 to 1");
        check(
            "1.5",
            false,
            wrong.clone().using("1"),
            "X: `1.5` is not a ratio; expected a number from 0 to 1, using 1",
        );
        check("a\nb", false, wrong.clone(), "X: `a\\nb` is not a ratio; expected a number from 0 to 1");
        check("a,b", false, wrong.clone().part("b"), "X: `b` is not a ratio; expected a number from 0 to 1");
        let long = format!("X: `{}…` is not a ratio; expected a number from 0 to 1", "x".repeat(80));
        check(&"x".repeat(100), false, wrong, &long);
    }

    #[test]
    fn a_secret_is_not_kept_in_the_problem() {
        let wrong = Wrong::with_help("is odd", "use an even one");
        check("hunter2", true, wrong.clone().part("hunter"), "X: `[secret]` is odd; use an even one");
        check("hunter2", false, wrong.secret(), "X: `[secret]` is odd; use an even one");
    }
}
