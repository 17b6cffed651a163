//! Everything generated code may touch. Not public API: it changes without notice.

pub use crate::declare::callsite::{Callsite, Kind};
pub use crate::declare::cells::Metric;
pub use crate::declare::interned::{InternTable, Interned, InternedKey};
pub use crate::declare::key::{Key, KeyMeta, KeyOf, LabelKey, LabelOf};
pub use crate::declare::label::{ClosedLabel, Index, Label, LabelText};
pub use crate::declare::meter::Meter;
pub use crate::declare::metric::{LabelSet, Labels, MetricKind, MetricMeta, OrNone};
pub use crate::declare::registry::source;
pub use crate::declare::sections::{Source, in_section};
pub use crate::declare::value::{IntoValue, Value};
pub use crate::meter::instrument::{Counter, Gauge, Histogram, ObservableGauge, UpDownCounter};
pub use crate::meter::measure::{
    ErrorSet, FallbackTypes, Measured, MeasuredScope, MeasuredStream, MeasuredStreamFuture, begin_measured,
    begin_measured_under, begin_metric, check_labels, enter_measured, enter_measured_under, enter_metric, measured,
    measured_body, rewrap_measured, rewrap_stream_measured, start_measured, start_measured_under, start_metric,
    unjudged,
};
pub use crate::trace::error::TcError;
pub use crate::trace::expansion::{FnOutput, apply, body, call, check, check_parent, no_fields, unreachable_value};
pub use crate::trace::future::{Instrumented, unobserved};
pub use crate::trace::span::{Scope, Start, begin, begin_under, enter, enter_under, start, start_under, traced};
pub use crate::trace::stream::{InstrumentedStream, InstrumentedStreamFuture, rewrap, rewrap_stream};
pub use tracecast_macros::{__keys, __label_for, __metrics, __scope, TcError as TcErrorDerive, TcLabel};

/// The traits by which a result is told apart.
pub mod probe {
    pub use crate::meter::measure::{JudgeNothing, JudgeResult, JudgeTyped};
    pub use crate::trace::probe::{
        Probe, ReportNothing, ReportResult, ReportShown, ReportSilent, ReportTyped, SuccessOfAny, SuccessOfResult,
    };
}
