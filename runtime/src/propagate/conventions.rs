//! Which of OpenTelemetry's semantic conventions spans and metrics follow, where those have changed.
//!
//! `OTEL_SEMCONV_STABILITY_OPT_IN` says it, and `init` reads it: `rpc` for the new names of remote calls, `rpc/dup` for both.
//! The layers of `tracecast-tower` ask here; so may instrumentation of your own.
//!
//! ```
//! use tracecast::__layers::conventions::{self, Conventions};
//!
//! assert_eq!(conventions::rpc(), Conventions::Old);
//! assert!(conventions::rpc().old() && !conventions::rpc().stable());
//! ```

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Which names are written.
///
/// ```
/// use tracecast::__layers::conventions::Conventions;
///
/// assert!(Conventions::Both.old() && Conventions::Both.stable());
/// assert_eq!(Conventions::default(), Conventions::Old);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Conventions {
    /// Those that dashboards know.
    #[default]
    Old = 1,
    /// Those that are to come.
    Stable = 2,
    /// Both, while one moves from one to the other.
    Both = 3,
}

impl Conventions {
    /// Whether the old names are written.
    pub const fn old(self) -> bool {
        self as u8 & Conventions::Old as u8 != 0
    }

    /// Whether the new names are written.
    pub const fn stable(self) -> bool {
        self as u8 & Conventions::Stable as u8 != 0
    }

    /// What a list such as `http,rpc/dup` says of one area. Both wins over one.
    #[cfg_attr(not(feature = "otlp"), expect(dead_code, reason = "the configuration has the list"))]
    pub(crate) fn of<'a>(area: &str, list: impl IntoIterator<Item = &'a str>) -> Self {
        let mut found = Conventions::Old;
        for entry in list {
            match entry.strip_prefix(area) {
                Some("/dup") => return Conventions::Both,
                Some("") => found = Conventions::Stable,
                _ => {}
            }
        }
        found
    }
}

static RPC: AtomicU8 = AtomicU8::new(Conventions::Old as u8);

/// What is written of remote calls.
///
/// ```
/// use tracecast::__layers::conventions;
///
/// let attribute = if conventions::rpc().stable() { "rpc.system.name" } else { "rpc.system" };
/// assert_eq!(attribute, "rpc.system");
/// ```
#[inline]
pub fn rpc() -> Conventions {
    match RPC.load(Relaxed) {
        1 => Conventions::Old,
        2 => Conventions::Stable,
        _ => Conventions::Both,
    }
}

/// Says what is written of remote calls from now on: what `init` does, for programs that start without it.
///
/// ```
/// use tracecast::__layers::conventions::{self, Conventions};
///
/// conventions::set_rpc(Conventions::Stable);
/// assert_eq!(conventions::rpc(), Conventions::Stable);
/// ```
pub fn set_rpc(conventions: Conventions) {
    RPC.store(conventions as u8, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_says_it_of_each_area() {
        let check =
            |list: &[&str], expected| assert_eq!(Conventions::of("rpc", list.iter().copied()), expected, "{list:?}");
        check(&[], Conventions::Old);
        check(&["http", "rpcs", "rpc/", "database/dup"], Conventions::Old);
        check(&["http", "rpc"], Conventions::Stable);
        check(&["rpc/dup", "rpc"], Conventions::Both);
        check(&["rpc", "rpc/dup"], Conventions::Both);
    }
}
