//! Views change metrics before they are exported: declared metrics and those of raw OpenTelemetry instruments.

use crate::base::secret::Masked;

/// A view changes or drops the metrics of the instruments that it selects. If several views select an instrument, each
/// creates a metric stream of its own. A configuration file can also select by type, unit, version and schema, and has
/// more aggregations.
///
/// ```
/// use tracecast::config::{Config, View};
///
/// let config = Config::new()
///     .with_view(View::of("http.client.*").dropped())
///     .with_view(View::of("db.client.operation.duration").with_attributes(["db.*"]).with_buckets([0.01, 0.1, 1.0]));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The instruments that the view selects.
    pub(crate) selector: ViewSelector,
    /// The changes that the view makes.
    pub(crate) stream: ViewStream,
}

impl View {
    /// Creates a view that selects instruments by name, or by a pattern with `*` and `?`.
    ///
    /// ```
    /// # use tracecast::config::View;
    /// let view = View::of("http.client.*");
    /// ```
    pub fn of(instrument_name: impl Into<String>) -> Self {
        let instrument_name = Some(instrument_name.into().into());
        View { selector: ViewSelector { instrument_name, ..Default::default() }, stream: ViewStream::default() }
    }

    /// Selects only instruments of this meter.
    ///
    /// ```
    /// # use tracecast::config::View;
    /// let view = View::of("*").in_meter("my_library").dropped();
    /// ```
    #[must_use]
    pub fn in_meter(mut self, name: impl Into<String>) -> Self {
        self.selector.meter_name = Some(name.into().into());
        self
    }

    /// Renames the metric.
    ///
    /// ```
    /// # use tracecast::config::View;
    /// let view = View::of("requests").with_name("http_requests");
    /// ```
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.stream.name = Some(name.into().into());
        self
    }

    /// Replaces the metric's description.
    ///
    /// ```
    /// # use tracecast::config::View;
    /// let view = View::of("requests").with_description("Requests of all tenants.");
    /// ```
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.stream.description = Some(description.into().into());
        self
    }

    /// Keeps only the attributes that match one of these patterns.
    ///
    /// ```
    /// # use tracecast::config::View;
    /// let view = View::of("http.client.*").with_attributes(["http.*", "server.address"]);
    /// ```
    #[must_use]
    pub fn with_attributes<T: Into<String>>(mut self, patterns: impl IntoIterator<Item = T>) -> Self {
        self.stream.included = Some(patterns.into_iter().map(|pattern| pattern.into().into()).collect());
        self
    }

    /// Removes the attributes that match one of these patterns.
    ///
    /// ```
    /// # use tracecast::config::View;
    /// let view = View::of("http.client.*").without_attributes(["url.*"]);
    /// ```
    #[must_use]
    pub fn without_attributes<T: Into<String>>(mut self, patterns: impl IntoIterator<Item = T>) -> Self {
        self.stream.excluded = patterns.into_iter().map(|pattern| pattern.into().into()).collect();
        self
    }

    /// Limits the series of the metric.
    ///
    /// ```
    /// # use tracecast::config::View;
    /// let view = View::of("http.client.*").with_cardinality_limit(100);
    /// ```
    #[must_use]
    pub fn with_cardinality_limit(mut self, limit: u32) -> Self {
        self.stream.cardinality_limit = Some(limit);
        self
    }

    /// Sets the upper bounds of a raw OpenTelemetry histogram's buckets, in increasing order.
    ///
    /// ```
    /// # use tracecast::config::View;
    /// let view = View::of("db.client.operation.duration").with_buckets([0.01, 0.1, 1.0]);
    /// ```
    #[must_use]
    pub fn with_buckets(mut self, bounds: impl Into<Vec<f64>>) -> Self {
        let boundaries = Some(bounds.into());
        self.stream.aggregation = Some(Aggregation::ExplicitBuckets { boundaries, record_min_max: true });
        self
    }

    /// Drops the metric.
    ///
    /// ```
    /// # use tracecast::config::View;
    /// let view = View::of("http.client.*").dropped();
    /// ```
    #[must_use]
    pub fn dropped(mut self) -> Self {
        self.stream.aggregation = Some(Aggregation::Drop);
        self
    }
}

/// The selection of instruments: every field that is set has to match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ViewSelector {
    /// A name, or a pattern with `*` and `?`.
    pub(crate) instrument_name: Option<Masked<String>>,
    /// The kind of instrument.
    pub(crate) instrument_type: Option<InstrumentType>,
    /// The unit.
    pub(crate) unit: Option<Masked<String>>,
    /// The meter's name.
    pub(crate) meter_name: Option<Masked<String>>,
    /// The meter's version.
    pub(crate) meter_version: Option<Masked<String>>,
    /// The meter's schema.
    pub(crate) meter_schema_url: Option<Masked<String>>,
}

/// A kind of instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstrumentType {
    Counter,
    Gauge,
    Histogram,
    ObservableCounter,
    ObservableGauge,
    ObservableUpDownCounter,
    UpDownCounter,
}

/// The changes to a metric. Fields that are not set leave it unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ViewStream {
    /// The new name.
    pub(crate) name: Option<Masked<String>>,
    /// The new description.
    pub(crate) description: Option<Masked<String>>,
    /// The new aggregation.
    pub(crate) aggregation: Option<Aggregation>,
    /// The maximum number of series.
    pub(crate) cardinality_limit: Option<u32>,
    /// Attributes to keep, by patterns with `*` and `?`. `None` keeps all.
    pub(crate) included: Option<Vec<Masked<String>>>,
    /// Attributes to remove from the kept ones, by patterns with `*` and `?`.
    pub(crate) excluded: Vec<Masked<String>>,
}

/// The conversion of measurements to points.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Aggregation {
    /// The default of the instrument's kind.
    Default,
    /// No points: the metric is dropped.
    Drop,
    /// The last measurement.
    LastValue,
    /// The sum of the measurements.
    Sum,
    /// A histogram with these bounds, or with the default ones.
    ExplicitBuckets {
        /// Upper bounds, in increasing order.
        boundaries: Option<Vec<f64>>,
        /// True if points have the minimum and the maximum.
        record_min_max: bool,
    },
    /// A histogram with exponential buckets.
    Exponential {
        /// The largest scale, which is the finest; 20 by default.
        max_scale: i8,
        /// The maximum number of buckets on each side of zero, 160 by default.
        max_size: u32,
        /// True if points have the minimum and the maximum.
        record_min_max: bool,
    },
}
