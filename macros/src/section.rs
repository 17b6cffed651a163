//! Link sections through which the runtime finds every callsite, key and metric without a constructor before `main`.
//!
//! The names carry the version, so that two incompatible versions of Tracecast in one program never read each other's
//! entries. Where there are no sections (wasm, miri) the runtime registers on first use.

use proc_macro2::TokenStream;

/// What a section holds.
#[derive(Clone, Copy)]
pub(crate) enum Section {
    Spans,
    Keys,
    Metrics,
}

impl Section {
    /// The attributes that put a static into this section.
    pub(crate) fn attributes(self) -> TokenStream {
        // Text, because the compiler's own lexer is many times faster than building these tokens one by one.
        let text = match self {
            Self::Spans => SPANS,
            Self::Keys => KEYS,
            Self::Metrics => METRICS,
        };
        text.parse().unwrap_or_default()
    }
}

const SPANS: &str = r#"#[used]
#[cfg_attr(all(not(miri), any(target_os = "linux", target_os = "android", target_os = "freebsd", target_os = "netbsd", target_os = "openbsd", target_os = "illumos")), unsafe(link_section = "tc0_1_spans"))]
#[cfg_attr(all(not(miri), target_vendor = "apple"), unsafe(link_section = "__DATA,tc0_1_spans"))]
#[cfg_attr(all(not(miri), windows), unsafe(link_section = ".tc01s$b"))]"#;

const KEYS: &str = r#"#[used]
#[cfg_attr(all(not(miri), any(target_os = "linux", target_os = "android", target_os = "freebsd", target_os = "netbsd", target_os = "openbsd", target_os = "illumos")), unsafe(link_section = "tc0_1_keys"))]
#[cfg_attr(all(not(miri), target_vendor = "apple"), unsafe(link_section = "__DATA,tc0_1_keys"))]
#[cfg_attr(all(not(miri), windows), unsafe(link_section = ".tc01k$b"))]"#;

const METRICS: &str = r#"#[used]
#[cfg_attr(all(not(miri), any(target_os = "linux", target_os = "android", target_os = "freebsd", target_os = "netbsd", target_os = "openbsd", target_os = "illumos")), unsafe(link_section = "tc0_1_metrics"))]
#[cfg_attr(all(not(miri), target_vendor = "apple"), unsafe(link_section = "__DATA,tc0_1_metrics"))]
#[cfg_attr(all(not(miri), windows), unsafe(link_section = ".tc01m$b"))]"#;

#[cfg(test)]
mod tests {
    use super::*;

    const MAJOR: &str = env!("CARGO_PKG_VERSION_MAJOR");
    const MINOR: &str = env!("CARGO_PKG_VERSION_MINOR");

    #[test]
    fn names_carry_the_version() {
        for (text, name, letter) in [(SPANS, "spans", 's'), (KEYS, "keys", 'k'), (METRICS, "metrics", 'm')] {
            assert_eq!(text.matches(&format!("tc{MAJOR}_{MINOR}_{name}\"")).count(), 2);
            assert!(text.contains(&format!("\".tc{MAJOR}{MINOR}{letter}$b\"")));
        }
    }

    #[test]
    fn attributes_are_rust() {
        assert_eq!(Section::Spans.attributes().into_iter().count(), 8);
        assert_eq!(Section::Keys.attributes().into_iter().count(), 8);
        assert_eq!(Section::Metrics.attributes().into_iter().count(), 8);
    }
}
