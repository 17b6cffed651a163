//! Checks the names of metrics. Each error suggests a valid name.

use syn::LitStr;

use super::kind::Kind;
use super::prefix::Prefix;
use super::units;
use crate::case::Case;
use crate::diagnostics::Errors;

const LONGEST: usize = 128;

/// Reports an invalid name. Returns whether the name is valid.
pub(crate) fn check(name: &LitStr, kind: Kind, errors: &mut Errors) -> bool {
    let mistake = mistake(&name.value(), kind, &Prefix::current());
    mistake.map(|mistake| errors.at(name, mistake)).is_none()
}

/// Returns the error of an invalid name, with a suggestion; `None` if the name is valid.
fn mistake(name: &str, kind: Kind, prefix: &Prefix) -> Option<String> {
    if let Some(mistake) = prefix.mistake() {
        return Some(mistake);
    }
    let better = || corrected(name, kind, prefix.text());
    if name.is_empty() {
        return Some(format!("a metric's name cannot be empty; write for example `{}`", better()));
    }
    if !is_words(name) {
        let better = better();
        return Some(format!("metric name `{name}` must be lower-case words separated by `_`; write `{better}`"));
    }
    let Some(rest) = name.strip_prefix(prefix.text()) else {
        return Some(other_prefix(prefix, &better()));
    };
    if name.len() > LONGEST {
        return Some(format!("this name has {} characters; shorten it to at most {LONGEST}", name.len()));
    }
    total(rest, kind, &better).or_else(|| {
        let nothing = between(rest, kind).is_empty();
        nothing
            .then(|| format!("metric name `{name}` does not name what is measured; write for example `{}`", better()))
    })
}

fn other_prefix(prefix: &Prefix, better: &str) -> String {
    let text = prefix.text();
    match prefix.is_own() {
        true => {
            format!("metric names of this crate must start with `{text}`, as set in its Cargo.toml; write `{better}`")
        }
        false => format!(
            "metric names of this crate must start with `{text}`; write `{better}`, or set another prefix once with \
             `metric-prefix` under `[package.metadata.tracecast]` in Cargo.toml"
        ),
    }
}

/// Returns an error if the name of a counter does not end in its only word `total`, or if another name contains this word.
fn total(rest: &str, kind: Kind, better: &impl Fn() -> String) -> Option<String> {
    let totals = rest.split('_').filter(|word| *word == "total").count();
    let ends = rest.rsplit('_').next() == Some("total");
    match (kind, totals, ends) {
        (Kind::Counter, 1, true) => None,
        (Kind::Counter, 0, _) => Some(format!("the name of a counter must end in `_total`; write `{}`", better())),
        (Kind::Counter, ..) => {
            Some(format!("the word `total` is allowed only at the end of a counter's name; write `{}`", better()))
        }
        (_, 0, _) => None,
        _ => Some(format!("only the name of a `Counter` may contain the word `total`; write `{}`", better())),
    }
}

/// Returns whether the text consists of words of lower-case letters and digits, separated by single `_`.
fn is_words(name: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    name.split('_').all(is_word)
}

/// Returns the words that name the measured quantity: `rest` without its unit and `total`.
fn between(rest: &str, kind: Kind) -> String {
    // Adds a word in front: `without` removes a unit only if a word precedes it.
    let name = format!("x_{rest}");
    let base = units::without(kind, &name);
    let words = base.split('_').skip(1).filter(|word| *word != "total");
    words.collect::<Vec<_>>().join("_")
}

/// Returns a valid name that is close to `name`, or an example if too little remains of `name` or the result is too long.
fn corrected(name: &str, kind: Kind, prefix: &str) -> String {
    let snake = Case::Snake.apply(name);
    let without_prefix = snake.strip_prefix(prefix).or_else(|| snake.strip_prefix("tc_")).unwrap_or(&snake);
    let is_right = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let words = without_prefix.split(|c| !is_right(c)).filter(|word| !word.is_empty() && *word != "total");
    let rest = words.collect::<Vec<_>>().join("_");
    let total = if kind == Kind::Counter { "_total" } else { "" };
    let better = format!("{rest}{total}");
    match rest.is_empty() || between(&better, kind).is_empty() || prefix.len() + better.len() > LONGEST {
        true => format!("{prefix}{}", example(kind)),
        false => format!("{prefix}{better}"),
    }
}

fn example(kind: Kind) -> &'static str {
    match kind {
        Kind::Counter => "loads_total",
        Kind::UpDownCounter => "loads_in_flight",
        Kind::Gauge | Kind::ObservableGauge => "pool_free_bytes",
        Kind::Histogram => "load_seconds",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_with(prefix: &Prefix, kind: Kind, name: &str, expected: &str) {
        let found = mistake(name, kind, prefix).unwrap_or_default();
        assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{found}");
    }

    #[track_caller]
    fn check(kind: Kind, name: &str, expected: &str) {
        check_with(&Prefix::default(), kind, name, expected);
    }

    #[test]
    fn right_names() {
        check(Kind::Counter, "tc_loads_total", "");
        check(Kind::Counter, "tc_p2p_bytes_total", "");
        check(Kind::Histogram, "tc_load_seconds", "");
        check(Kind::UpDownCounter, "tc_2_loads", "");
        check(Kind::Gauge, "tc_bytes_per_second", "");
        check(Kind::Gauge, "tc_totals", "");
        check(Kind::ObservableGauge, "tc_hit_ratio", "");
        check_with(&Prefix::own("acme_db_"), Kind::Counter, "acme_db_loads_total", "");
        check(Kind::Gauge, &format!("tc_{}", "a".repeat(125)), "");
    }

    #[test]
    fn words() {
        for wrong in ["tcLoads", "tc_Loads_total", "tc__loads_total", "tc_loads_total_", "tc-loads", "tc.loads.total"] {
            check(Kind::Counter, wrong, "must be lower-case words separated by `_`; write `tc_loads_total`");
        }
        check(Kind::Counter, "", "cannot be empty; write for example `tc_loads_total`");
        check(Kind::Gauge, "tc_ä_b", "write `tc_b`");
        check(Kind::Gauge, "ä", "write `tc_pool_free_bytes`");
    }

    #[test]
    fn prefixes() {
        let advice = "start with `tc_`; write `tc_loads_total`, or set another prefix once with `metric-prefix` under";
        check(Kind::Counter, "loads_total", advice);
        check(Kind::Counter, "loads", advice);
        let own = Prefix::own("acme_");
        check_with(
            &own,
            Kind::Counter,
            "tc_loads_total",
            "start with `acme_`, as set in its Cargo.toml; write `acme_loads",
        );
        check_with(&Prefix::own("Acme"), Kind::Counter, "tc_loads_total", "`metric-prefix = \"Acme\"` in Cargo.toml");
    }

    #[test]
    fn totals() {
        check(Kind::Counter, "tc_loads", "a counter must end in `_total`; write `tc_loads_total`");
        check(Kind::Counter, "tc_total_loads", "only at the end of a counter's name; write `tc_loads_total`");
        check(Kind::Counter, "tc_total_loads_total", "only at the end of a counter's name; write `tc_loads_total`");
        for kind in [Kind::Gauge, Kind::ObservableGauge, Kind::Histogram, Kind::UpDownCounter] {
            check(
                kind,
                "tc_loads_total",
                "only the name of a `Counter` may contain the word `total`; write `tc_loads`",
            );
            check(kind, "tc_total_loads", "write `tc_loads`");
        }
    }

    #[test]
    fn something_is_measured() {
        check(Kind::Counter, "tc_total", "does not name what is measured; write for example `tc_loads_total`");
        check(Kind::Counter, "tc_bytes_total", "does not name what is measured");
        check(Kind::Histogram, "tc_seconds", "does not name what is measured; write for example `tc_load_seconds`");
        check(Kind::Histogram, "tc_ratio", "");
    }

    #[test]
    fn length() {
        check(Kind::Gauge, &format!("tc_{}", "a".repeat(126)), "has 129 characters; shorten it to at most 128");
    }
}
