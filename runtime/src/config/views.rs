//! Views: what is to become of metrics, ours and those of raw OpenTelemetry instruments.

use crate::base::secret::Masked;

/// A view: what it applies to, and what becomes of it.
///
/// ```
/// use tracecast::config::{Aggregation, Config, View};
///
/// let mut view = View::default();
/// view.selector.instrument_name = Some("http.client.*".to_owned().into());
/// view.stream.aggregation = Some(Aggregation::Drop);
/// let config = Config::new().with_view(view);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct View {
    /// What it applies to.
    pub selector: ViewSelector,
    /// What becomes of it.
    pub stream: ViewStream,
}

/// All of what is named here has to fit.
///
/// ```
/// use tracecast::config::{InstrumentType, ViewSelector};
///
/// let mut selector = ViewSelector::default();
/// selector.meter_name = Some("my_library".to_owned().into());
/// selector.instrument_type = Some(InstrumentType::Histogram);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ViewSelector {
    /// A name, or a pattern with `*` and `?`.
    pub instrument_name: Option<Masked<String>>,
    /// The kind of instrument.
    pub instrument_type: Option<InstrumentType>,
    /// The unit.
    pub unit: Option<Masked<String>>,
    /// The meter's name.
    pub meter_name: Option<Masked<String>>,
    /// The meter's version.
    pub meter_version: Option<Masked<String>>,
    /// The meter's schema.
    pub meter_schema_url: Option<Masked<String>>,
}

/// A kind of instrument.
///
/// ```
/// use tracecast::config::{InstrumentType, View};
///
/// let mut view = View::default();
/// view.selector.instrument_type = Some(InstrumentType::Counter);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are the kinds of the OpenTelemetry specification")]
#[non_exhaustive]
pub enum InstrumentType {
    Counter,
    Gauge,
    Histogram,
    ObservableCounter,
    ObservableGauge,
    ObservableUpDownCounter,
    UpDownCounter,
}

/// What becomes of an instrument. What is left out stays as it is.
///
/// ```
/// use tracecast::config::ViewStream;
///
/// let mut stream = ViewStream::default();
/// stream.included = Some(vec!["http.*".to_owned().into()]);
/// stream.cardinality_limit = Some(100);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ViewStream {
    /// Another name.
    pub name: Option<Masked<String>>,
    /// Another description.
    pub description: Option<Masked<String>>,
    /// Another aggregation.
    pub aggregation: Option<Aggregation>,
    /// How many series it may have.
    pub cardinality_limit: Option<u32>,
    /// Attributes to keep, by patterns with `*` and `?`. `None` keeps all.
    pub included: Option<Vec<Masked<String>>>,
    /// Attributes to leave out of those.
    pub excluded: Vec<Masked<String>>,
}

/// How measurements become points.
///
/// ```
/// use tracecast::config::{Aggregation, View};
///
/// let mut view = View::default();
/// view.stream.aggregation = Some(Aggregation::LastValue);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Aggregation {
    /// As the instrument's kind has it.
    Default,
    /// Not at all.
    Drop,
    /// The last one stands.
    LastValue,
    /// They are added up.
    Sum,
    /// A histogram with these bounds, or with the default ones.
    #[non_exhaustive]
    ExplicitBuckets {
        /// Upper bounds, ascending.
        boundaries: Option<Vec<f64>>,
        /// Whether the least and the greatest value are kept.
        record_min_max: bool,
    },
    /// A histogram with exponential buckets.
    #[non_exhaustive]
    Exponential {
        /// The finest scale, 20 by default.
        max_scale: i8,
        /// The most buckets on each side of zero, 160 by default.
        max_size: u32,
        /// Whether the least and the greatest value are kept.
        record_min_max: bool,
    },
}
