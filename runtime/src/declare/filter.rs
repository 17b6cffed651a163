//! Filters of spans by component and operation: `StoreDaemon=on,GlobalStore/Heartbeat=off,*=off`.

use std::fmt;
use std::str::FromStr;

/// Rules by component and by operation. The most specific matching rule decides; of equally specific rules, the last one does.
/// Without a matching rule a span is on.
///
/// ```
/// use tracecast::Filter;
///
/// let filter: Filter = "*=off,StoreDaemon=on,StoreDaemon/Heartbeat=off".parse()?;
/// assert!(filter.allows("StoreDaemon/Get"));
/// assert!(!filter.allows("StoreDaemon/Heartbeat") && !filter.allows("Loader/Load"));
/// # Ok::<(), tracecast::FilterError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    /// `*`, a component, or `Component/Operation`.
    pattern: String,
    on: bool,
}

impl Filter {
    /// Returns whether spans with this name are recorded.
    ///
    /// ```
    /// use tracecast::Filter;
    ///
    /// let filter: Filter = "Store=off,Store/Get=on".parse()?;
    /// assert!(filter.allows("Store/Get") && !filter.allows("Store/Put"));
    /// # Ok::<(), tracecast::FilterError>(())
    /// ```
    pub fn allows(&self, name: &str) -> bool {
        self.rule_of(name).unwrap_or(true)
    }

    /// Returns whether the rule for spans with this name is `on`; `None` if there is no such rule.
    pub(crate) fn rule_of(&self, name: &str) -> Option<bool> {
        let component = name.split('/').next().unwrap_or(name);
        let precision = |rule: &&Rule| match rule.pattern.as_str() {
            "*" => Some(0),
            pattern if pattern == component => Some(1),
            pattern if pattern == name => Some(2),
            _ => None,
        };
        // `max_by_key` returns the last of several equal rules.
        self.rules.iter().filter(|rule| precision(rule).is_some()).max_by_key(precision).map(|rule| rule.on)
    }
}

/// A filter that could not be parsed.
///
/// ```
/// use tracecast::Filter;
///
/// let error = "Store=maybe".parse::<Filter>().unwrap_err();
/// assert!(error.to_string().starts_with("`Store=maybe` is not a filter rule"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError {
    rule: String,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a filter rule; expected `Component=on`, `Component/Operation=off` or `*=off`, separated by commas",
            self.rule
        )
    }
}

impl std::error::Error for FilterError {}

impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let rules = text.split(',').map(str::trim).filter(|rule| !rule.is_empty());
        Ok(Filter { rules: rules.map(parse_rule).collect::<Result<_, _>>()? })
    }
}

fn parse_rule(text: &str) -> Result<Rule, FilterError> {
    let error = || FilterError { rule: text.to_owned() };
    let (pattern, switch) = text.split_once('=').ok_or_else(error)?;
    let pattern = pattern.trim();
    let named = pattern.split('/').all(|part| !part.is_empty() && !part.contains(['*', ' ']))
        && pattern.matches('/').count() <= 1;
    if pattern != "*" && !named {
        return Err(error());
    }
    let on = match switch.trim() {
        "on" => true,
        "off" => false,
        _ => return Err(error()),
    };
    Ok(Rule { pattern: pattern.to_owned(), on })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(filter: &str, name: &str, expected: bool) {
        assert_eq!(filter.parse::<Filter>().unwrap().allows(name), expected, "{filter}: {name}");
    }

    #[test]
    fn the_most_precise_rule_decides() {
        check("", "A/B", true);
        check("A=off", "A/B", false);
        check("A=off", "AA/B", true);
        check("A=off, A/B=on", "A/B", true);
        check("A/B=on, A=off", "A/B", true);
        check("*=off,A=on", "A/B", true);
        check("*=off,A=on", "C/B", false);
        check("A=off,A=on", "A/B", true);
        check("collection.find=off", "collection.find", false);
    }

    #[test]
    fn a_wrong_rule_is_named() {
        for wrong in ["A", "A=maybe", "=on", "A/B/C=on", "A*=on", "A/=off"] {
            let error = format!("A=on,{wrong}").parse::<Filter>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{wrong}` is not a filter rule; expected")), "{error}");
        }
    }
}
