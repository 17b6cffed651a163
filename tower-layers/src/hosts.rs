//! Servers that may receive baggage.

/// Names of servers, or patterns for all names below a domain: `store.internal`, `*.svc.cluster.local`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hosts(Box<[Box<str>]>);

impl Hosts {
    pub(crate) fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        Hosts(patterns.into_iter().map(|pattern| pattern.to_ascii_lowercase().into()).collect())
    }

    pub(crate) fn has(&self, host: &str) -> bool {
        self.0.iter().any(|pattern| fits(pattern, host.trim_end_matches('.')))
    }
}

/// Returns whether a host matches a pattern. A star matches one or more labels in front of the domain; alone it matches
/// any server.
fn fits(pattern: &str, host: &str) -> bool {
    let Some(domain) = pattern.strip_prefix('*') else { return pattern.eq_ignore_ascii_case(host) };
    if domain.is_empty() {
        return true;
    }
    if !domain.starts_with('.') {
        return false;
    }
    let start = host.len().checked_sub(domain.len()).filter(|start| *start > 0);
    start.and_then(|start| host.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(domain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, fitting: &[&str], others: &[&str]) {
        let hosts = Hosts::new([pattern]);
        fitting.iter().for_each(|host| assert!(hosts.has(host), "{pattern} {host}"));
        others.iter().for_each(|host| assert!(!hosts.has(host), "{pattern} {host}"));
    }

    #[test]
    fn a_name_is_itself_and_a_star_is_any_name_in_front() {
        check(
            "store.internal",
            &["store.internal", "STORE.Internal", "store.internal."],
            &["a.store.internal", "store"],
        );
        check(
            "*.svc.cluster.local",
            &["a.svc.cluster.local", "a.b.SVC.cluster.local"],
            &["svc.cluster.local", ".svc.cluster.local", "asvc.cluster.local", "a.svc.cluster.local.evil.com", ""],
        );
        check("*", &["a", "127.0.0.1", ""], &[]);
        check("*internal", &[], &["internal", "evilinternal", "a.internal"]);
        check("::1", &["::1"], &["::11"]);
    }

    #[test]
    fn nobody_is_allowed_unless_somebody_is() {
        assert!(!Hosts::default().has("localhost"));
        assert!(!Hosts::new(["é.example"]).has("e.example"));
        assert!(!Hosts::new(["*.example"]).has("é"));
    }
}
