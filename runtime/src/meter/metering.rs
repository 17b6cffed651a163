//! Switches metrics on, creates readers, and switches single metrics on and off.
//!
//! Exporters are built on this module. Programs that only need their metrics in memory use it directly.

use std::fmt;
use std::time::Duration;

use crate::base::notice;
use crate::catalogue::conflict::{self, Conflict};
use crate::catalogue::list;
use crate::declare::cells::{self, Metric};
use crate::declare::sections::LINKED;
use crate::declare::switch;
use crate::meter::exemplar::{self, Exemplars};
use crate::meter::reader::Reader;
use crate::meter::snapshot::Temporality;
use crate::record::clock;
use crate::trace::fork;

/// The configuration of metrics: which ones are on, and how they are read.
///
/// ```
/// use std::time::Duration;
/// use tracecast::testing::MetricsConfig;
///
/// let config = MetricsConfig::default().with_off(["tc_debug_*"]).with_patience(Duration::from_millis(100));
/// ```
#[derive(Clone, Debug)]
pub struct MetricsConfig {
    /// Names of metrics that are switched off. A `*` at the end matches any text.
    pub(crate) off: Vec<String>,
    /// The time that a snapshot waits for the callbacks of observable gauges. Values that arrive later are missing from the
    /// snapshot.
    pub(crate) patience: Duration,
    /// The histogram measurements that become exemplars.
    pub(crate) exemplars: Exemplars,
}

impl MetricsConfig {
    /// Sets the names of the metrics that are switched off. A `*` at the end of a name matches any text.
    ///
    /// ```
    /// # use tracecast::testing::MetricsConfig;
    /// let config = MetricsConfig::default().with_off(["tc_debug_*"]);
    /// ```
    #[must_use]
    pub fn with_off<T: Into<String>>(self, names: impl IntoIterator<Item = T>) -> Self {
        MetricsConfig { off: names.into_iter().map(Into::into).collect(), ..self }
    }

    /// Limits how long a snapshot waits for the callbacks of observable gauges, one second by default. Values that arrive
    /// later are missing from the snapshot.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use tracecast::testing::MetricsConfig;
    /// let config = MetricsConfig::default().with_patience(Duration::from_millis(100));
    /// ```
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        MetricsConfig { patience, ..self }
    }

    /// Chooses which histogram measurements become exemplars.
    ///
    /// ```
    /// # use tracecast::testing::{Exemplars, MetricsConfig};
    /// let config = MetricsConfig::default().with_exemplars(Exemplars::Off);
    /// ```
    #[must_use]
    pub fn with_exemplars(self, exemplars: Exemplars) -> Self {
        MetricsConfig { exemplars, ..self }
    }
}

impl Default for MetricsConfig {
    fn default() -> Self {
        MetricsConfig { off: Vec::new(), patience: Duration::from_secs(1), exemplars: Exemplars::default() }
    }
}

/// Keeps metrics on until the guard is dropped. Only one guard can exist at a time.
///
/// ```standalone_crate
/// use tracecast::prelude::*;
/// use tracecast::testing::{MetricsConfig, MetricsGuard, Temporality};
///
/// tc_metrics! {
///     /// Bytes read.
///     static BYTES: Counter = "tc_read_bytes_total";
/// }
///
/// let metering = MetricsGuard::start(MetricsConfig::default())?;
/// BYTES.add(7_u64, ());
/// let snapshot = metering.reader(Temporality::Cumulative).snapshot();
/// assert_eq!(snapshot.value("tc_read_bytes_total", &[]).unwrap().as_f64(), 7.0);
/// # Ok::<(), tracecast::MetricsError>(())
/// ```
#[must_use = "metrics are switched off when the guard is dropped"]
#[derive(Debug)]
pub struct MetricsGuard {
    patience: Duration,
    start_unix_nanos: u64,
    run: u64,
}

/// The reason why metrics could not be switched on.
///
/// ```standalone_crate
/// use tracecast::MetricsError;
/// use tracecast::testing::{MetricsConfig, MetricsGuard};
///
/// let _metering = MetricsGuard::start(MetricsConfig::default())?;
/// let again = MetricsGuard::start(MetricsConfig::default());
/// assert!(matches!(again, Err(MetricsError::AlreadyMetering)));
/// # Ok::<(), MetricsError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum MetricsError {
    /// Metrics are already on.
    AlreadyMetering,
}

impl fmt::Display for MetricsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MetricsError::AlreadyMetering => {
                f.write_str("metrics are already on; drop the first `MetricsGuard` before starting another")
            }
        }
    }
}

impl std::error::Error for MetricsError {}

/// An error for a name that no metric has.
///
/// ```standalone_crate
/// use tracecast::UnknownMetric;
/// use tracecast::testing::{MetricsConfig, MetricsGuard};
///
/// let metering = MetricsGuard::start(MetricsConfig::default())?;
/// let error: UnknownMetric = metering.set_metric_enabled("tc_nothing", false).unwrap_err();
/// assert!(error.to_string().contains("`tc_nothing`"));
/// # Ok::<(), tracecast::MetricsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMetric(pub(crate) String);

impl fmt::Display for UnknownMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no metric is named `{}`; use a name from the catalogue, or a prefix followed by `*`", self.0)
    }
}

impl std::error::Error for UnknownMetric {}

impl MetricsGuard {
    /// Switches metrics on. All metrics start from zero. If declarations of one name have different shapes, the first one
    /// by crate, file and line is used; the others stay off, with a warning.
    ///
    /// ```standalone_crate
    /// use tracecast::MetricsError;
    /// use tracecast::testing::{MetricsConfig, MetricsGuard};
    ///
    /// drop(MetricsGuard::start(MetricsConfig::default())?);
    /// let _again = MetricsGuard::start(MetricsConfig::default())?; // from zero
    /// # Ok::<(), MetricsError>(())
    /// ```
    ///
    /// # Errors
    /// If metrics are already on.
    pub fn start(config: MetricsConfig) -> Result<Self, MetricsError> {
        if !switch::claim_metering() {
            return Err(MetricsError::AlreadyMetering);
        }
        let conflicts = conflict::conflicting(list::metrics(), Metric::meta);
        for (first, second) in &conflicts {
            let conflict = Conflict { first: first.meta(), second: second.meta() };
            notice::say(format_args!("warning: {conflict}; the first is used, the second is off"));
        }
        clock::start();
        fork::watch();
        let run = cells::restart();
        for name in config.off.iter().filter(|name| LINKED && !switch::names_a_metric(name)) {
            notice::say(format_args!("{}", UnknownMetric(name.clone())));
        }
        exemplar::set_filter(config.exemplars);
        switch::start_metering(&config.off, conflicts.into_iter().map(|(_, second)| second).collect());
        Ok(MetricsGuard { patience: config.patience, start_unix_nanos: clock::unix_now(), run })
    }

    /// Creates a reader of all metrics. Readers are independent of each other. After the guard is dropped, a reader still
    /// returns the recorded values; after metrics are switched on again, its snapshots are empty.
    pub fn reader(&self, temporality: Temporality) -> Reader {
        Reader::new(temporality, self.patience, self.start_unix_nanos, self.run)
    }

    /// Switches metrics on or off by name, or by a prefix followed by `*`. If several calls match a metric, the last
    /// call decides.
    ///
    /// ```standalone_crate
    /// use tracecast::prelude::*;
    /// use tracecast::testing::{MetricsConfig, MetricsGuard};
    ///
    /// tc_metrics! {
    ///     /// Bytes read.
    ///     static BYTES: Counter = "tc_read_bytes_total";
    /// }
    ///
    /// let metering = MetricsGuard::start(MetricsConfig::default())?;
    /// metering.set_metric_enabled("tc_read_*", false)?;
    /// assert!(!BYTES.is_on());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If no metric has this name. On targets that register metrics at their first use (wasm), the call nevertheless
    /// applies to metrics that register later.
    pub fn set_metric_enabled(&self, name: &str, on: bool) -> Result<(), UnknownMetric> {
        let known = switch::names_a_metric(name);
        if known || !LINKED {
            switch::switch_metrics(name, on);
        }
        if known { Ok(()) } else { Err(UnknownMetric(name.to_owned())) }
    }
}

impl Drop for MetricsGuard {
    fn drop(&mut self) {
        // In a forked child the run differs: a copy of the parent's guard does nothing.
        if cells::lock().run == self.run {
            switch::stop_metering();
        }
    }
}
