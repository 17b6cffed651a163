//! What is wrong with a setting, for the operator who has to change it.

use std::borrow::Cow;
use std::fmt;

use crate::base::secret::Masked;

/// How much of a wrong value is shown.
const SHOWN_CHARS: usize = 80;

/// A setting that could not be understood. It prints as one line that says what to change:
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
    /// The file, if it was read by its path.
    pub(crate) file: Option<String>,
    /// The line of the file, counted from 1.
    pub(crate) line: Option<usize>,
    /// The value, shortened; `[secret]` if it may not be shown.
    pub(crate) value: Option<Masked<String>>,
    /// What is wrong with it.
    pub(crate) complaint: String,
    /// What is accepted instead.
    pub(crate) accepted: String,
    /// What is used in its place.
    pub(crate) used: Option<String>,
    /// What it means for the configuration.
    pub(crate) severity: Severity,
}

impl Problem {
    /// The variable, or the path in the file.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// let config = Config::from_variables(|name| (name == "TC_STRICT").then(|| "maybe".to_owned()));
    /// assert_eq!(config.problems()[0].what(), "TC_STRICT");
    /// ```
    pub fn what(&self) -> &str {
        &self.what
    }

    /// True if the whole file is ignored because of it; otherwise only this setting is.
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

/// What a problem means for the configuration it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// The setting is ignored; the rest holds.
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
        write!(f, "{}; expected {}", self.complaint, self.accepted)?;
        match &self.used {
            Some(used) => write!(f, ", using {used}"),
            None => Ok(()),
        }
    }
}

/// What a parser has to say about a text; where the text stood is known further out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(super) complaint: Cow<'static, str>,
    pub(super) accepted: Cow<'static, str>,
    /// What to show instead of the whole text: the part of it that is wrong.
    pub(super) part: Option<String>,
    pub(super) used: Option<Cow<'static, str>>,
    /// The text may hold a secret.
    pub(super) secret: bool,
}

impl Wrong {
    pub(super) fn new(complaint: impl Into<Cow<'static, str>>, accepted: impl Into<Cow<'static, str>>) -> Self {
        Wrong { complaint: complaint.into(), accepted: accepted.into(), part: None, used: None, secret: false }
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

    /// The problem, where there is no text to show.
    pub(super) fn at_place(self, what: impl Into<String>, severity: Severity) -> Problem {
        Problem { value: None, ..self.at(what, &Masked::default(), severity) }
    }

    /// The problem, once it is known where the text stood.
    pub(super) fn at(self, what: impl Into<String>, text: &Masked<String>, severity: Severity) -> Problem {
        let hidden = text.is_hidden() || self.secret;
        let shown = self.part.as_deref().unwrap_or(text);
        Problem {
            what: what.into(),
            file: None,
            line: None,
            value: Some(Masked::new(if hidden { String::new() } else { shortened(shown) }, hidden)),
            complaint: self.complaint.into_owned(),
            accepted: self.accepted.into_owned(),
            used: self.used.map(Cow::into_owned),
            severity,
        }
    }
}

/// One line of bounded length, whatever the value holds.
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

/// A configuration that cannot be used, with everything that is wrong with it.
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
    /// Everything that was found, warnings too.
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
        let wrong = Wrong::new("is odd", "an even one");
        check("hunter2", true, wrong.clone().part("hunter"), "X: `[secret]` is odd; expected an even one");
        check("hunter2", false, wrong.secret(), "X: `[secret]` is odd; expected an even one");
    }
}
