//! Selects the version of OpenTelemetry's semantic conventions for spans and metrics, where names have changed.
//!
//! `init` reads `OTEL_SEMCONV_STABILITY_OPT_IN`: `rpc` selects the new names of remote calls, `rpc/dup` both versions;
//! `http` selects OpenTelemetry's HTTP metrics instead of `tc_http_*`, `http/dup` both. The layers of `tracecast-tower`
//! use these settings.
//!
//! ```
//! use tracecast::__layers::conventions::{self, Conventions};
//!
//! assert_eq!(conventions::rpc(), Conventions::Old);
//! assert!(conventions::rpc().old() && !conventions::rpc().stable());
//! ```

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// The versions of names that are written.
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
    /// The old names, which existing dashboards use.
    #[default]
    Old = 1,
    /// The new names.
    Stable = 2,
    /// Both, during a migration.
    Both = 3,
}

impl Conventions {
    /// Returns whether the old names are written.
    pub const fn old(self) -> bool {
        self as u8 & Conventions::Old as u8 != 0
    }

    /// Returns whether the new names are written.
    pub const fn stable(self) -> bool {
        self as u8 & Conventions::Stable as u8 != 0
    }

    /// Returns the setting of one area in a list such as `http,rpc/dup`; `Old` if the area is missing. `/dup` takes
    /// precedence.
    fn of<'a>(area: &str, list: impl IntoIterator<Item = &'a str>) -> Self {
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

/// The setting of one area of the conventions: remote calls or HTTP.
struct Area(AtomicU8);

impl Area {
    const fn new() -> Self {
        Area(AtomicU8::new(Conventions::Old as u8))
    }

    #[inline]
    fn get(&self) -> Conventions {
        match self.0.load(Relaxed) {
            1 => Conventions::Old,
            2 => Conventions::Stable,
            _ => Conventions::Both,
        }
    }

    fn set(&self, conventions: Conventions) {
        self.0.store(conventions as u8, Relaxed);
    }
}

struct Areas {
    rpc: Area,
    http: Area,
}

impl Areas {
    const fn new() -> Self {
        Areas { rpc: Area::new(), http: Area::new() }
    }

    fn opt_in<'a>(&self, list: impl Iterator<Item = &'a str> + Clone) {
        self.rpc.set(Conventions::of("rpc", list.clone()));
        self.http.set(Conventions::of("http", list));
    }
}

static AREAS: Areas = Areas::new();

/// Returns which names of remote calls are written.
///
/// ```
/// use tracecast::__layers::conventions;
///
/// let attribute = if conventions::rpc().stable() { "rpc.system.name" } else { "rpc.system" };
/// assert_eq!(attribute, "rpc.system");
/// ```
#[inline]
pub fn rpc() -> Conventions {
    AREAS.rpc.get()
}

/// Sets which names of remote calls are written from now on. `init` does this; call it only in programs without `init`.
///
/// ```
/// use tracecast::__layers::conventions::{self, Conventions};
///
/// conventions::set_rpc(Conventions::Stable);
/// assert_eq!(conventions::rpc(), Conventions::Stable);
/// ```
pub fn set_rpc(conventions: Conventions) {
    AREAS.rpc.set(conventions);
}

/// Returns which HTTP metrics are recorded: `tc_http_*`, OpenTelemetry's, or both. HTTP spans always use the names of
/// the conventions.
///
/// ```
/// use tracecast::__layers::conventions;
///
/// let metric = if conventions::http().stable() { "http.server.request.duration" } else { "tc_http_server_duration_seconds" };
/// assert_eq!(metric, "tc_http_server_duration_seconds");
/// ```
#[inline]
pub fn http() -> Conventions {
    AREAS.http.get()
}

/// Sets which HTTP metrics are recorded from now on. `init` does this; call it only in programs without `init`.
///
/// ```
/// use tracecast::__layers::conventions::{self, Conventions};
///
/// conventions::set_http(Conventions::Stable);
/// assert_eq!(conventions::http(), Conventions::Stable);
/// ```
pub fn set_http(conventions: Conventions) {
    AREAS.http.set(conventions);
}

/// Applies a list such as `http,rpc/dup` to all areas.
#[cfg_attr(not(has_otlp), expect(dead_code, reason = "only the configuration calls it"))]
pub(crate) fn opt_in<'a>(list: impl Iterator<Item = &'a str> + Clone) {
    AREAS.opt_in(list);
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

    #[test]
    fn a_list_changes_all_areas() {
        let areas = Areas::new();
        for (list, http, rpc) in [
            (&["http/dup", "rpc"][..], Conventions::Both, Conventions::Stable),
            (&["http"], Conventions::Stable, Conventions::Old),
            (&[], Conventions::Old, Conventions::Old),
        ] {
            areas.opt_in(list.iter().copied());
            assert_eq!((areas.http.get(), areas.rpc.get()), (http, rpc), "{list:?}");
        }
    }
}
