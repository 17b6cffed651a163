//! The kinds of metrics, their names, and the number types that they accept.

/// The kind of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Counter,
    UpDownCounter,
    Gauge,
    Histogram,
    ObservableGauge,
}

/// The names of the kinds, in the order of `Kind`.
pub(crate) const NAMES: [&str; 5] = ["Counter", "UpDownCounter", "Gauge", "Histogram", "ObservableGauge"];

impl Kind {
    pub(crate) const ALL: [Self; 5] =
        [Self::Counter, Self::UpDownCounter, Self::Gauge, Self::Histogram, Self::ObservableGauge];

    /// Returns the kind with this name, if there is one.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the name of the kind's type in the runtime.
    pub(crate) fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    /// Returns the number types that the kind accepts, the default first.
    pub(crate) fn numbers(self) -> &'static [&'static str] {
        match self {
            Self::Counter => &["u64", "f64"],
            Self::UpDownCounter => &["i64", "f64"],
            Self::Gauge | Self::ObservableGauge => &["f64", "u64", "i64"],
            Self::Histogram => &["f64", "u64"],
        }
    }

    /// Returns whether the kind exports a current value.
    pub(crate) fn is_gauge(self) -> bool {
        matches!(self, Self::Gauge | Self::ObservableGauge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_the_kinds() {
        for kind in Kind::ALL {
            assert_eq!(format!("{kind:?}"), kind.name());
            assert_eq!(Kind::named(kind.name()), Some(kind));
        }
        assert_eq!(Kind::named("Timer"), None);
    }
}
