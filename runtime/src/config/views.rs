//! Views: what is to become of metrics, ours and those of raw OpenTelemetry instruments.

use crate::base::secret::Masked;

/// A view: which instruments it applies to, and what becomes of their metrics. Each view that applies to an instrument makes a
/// stream of its own. A file can select by more than name and meter, and name other aggregations.
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
    /// What it applies to.
    pub(crate) selector: ViewSelector,
    /// What becomes of it.
    pub(crate) stream: ViewStream,
}

impl View {
    /// A view of the instruments with this name, or pattern with `*` and `?`.
    ///
    /// ```
    /// # use tracecast::config::View;
    /// let view = View::of("http.client.*");
    /// ```
    pub fn of(instrument_name: impl Into<String>) -> Self {
        let instrument_name = Some(instrument_name.into().into());
        View { selector: ViewSelector { instrument_name, ..Default::default() }, stream: ViewStream::default() }
    }

    /// Applies it to instruments of this meter only.
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

    /// Gives the metric another name.
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

    /// Gives the metric another description.
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

    /// Keeps the attributes that fit one of these patterns, and no others.
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

    /// Leaves out the attributes that fit one of these patterns.
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

    /// Gives a raw OpenTelemetry histogram buckets with these upper bounds, which ascend.
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

    /// Removes the metric.
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

/// All of what is named here has to fit.
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

/// What becomes of an instrument. What is left out stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ViewStream {
    /// Another name.
    pub(crate) name: Option<Masked<String>>,
    /// Another description.
    pub(crate) description: Option<Masked<String>>,
    /// Another aggregation.
    pub(crate) aggregation: Option<Aggregation>,
    /// How many series it may have.
    pub(crate) cardinality_limit: Option<u32>,
    /// Attributes to keep, by patterns with `*` and `?`. `None` keeps all.
    pub(crate) included: Option<Vec<Masked<String>>>,
    /// Attributes to leave out of those.
    pub(crate) excluded: Vec<Masked<String>>,
}

/// How measurements become points.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Aggregation {
    /// As the instrument's kind has it.
    Default,
    /// Not at all.
    Drop,
    /// The last one stands.
    LastValue,
    /// They are added up.
    Sum,
    /// A histogram with these bounds, or with the default ones.
    ExplicitBuckets {
        /// Upper bounds, ascending.
        boundaries: Option<Vec<f64>>,
        /// Whether the least and the greatest value are kept.
        record_min_max: bool,
    },
    /// A histogram with exponential buckets.
    Exponential {
        /// The finest scale, 20 by default.
        max_scale: i8,
        /// The most buckets on each side of zero, 160 by default.
        max_size: u32,
        /// Whether the least and the greatest value are kept.
        record_min_max: bool,
    },
}
