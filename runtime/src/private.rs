//! Everything generated code may touch. Not public API: it changes without notice.

pub use crate::callsite::{Callsite, Kind};
pub use crate::cells::Metric;
pub use crate::error::TcError;
pub use crate::expansion::{FnOutput, apply, body, call, check, check_parent, no_fields, unreachable_value};
pub use crate::future::{Instrumented, unobserved};
pub use crate::instrument::{Counter, Gauge, Histogram, ObservableGauge, UpDownCounter};
pub use crate::interned::{InternTable, Interned, InternedKey};
pub use crate::key::{Key, KeyMeta, KeyOf, LabelKey, LabelOf};
pub use crate::label::{ClosedLabel, Index, Label, LabelText};
pub use crate::measure::{
    ErrorSet, FallbackTypes, Measured, MeasuredScope, MeasuredStream, MeasuredStreamFuture, begin_measured,
    begin_measured_under, begin_metric, check_labels, enter_measured, enter_measured_under, enter_metric, measured,
    measured_body, rewrap_measured, rewrap_stream_measured, start_measured, start_measured_under, start_metric,
    unjudged,
};
pub use crate::meter::Meter;
pub use crate::metric::{LabelSet, Labels, MetricKind, MetricMeta, OrNone};
pub use crate::span::{Scope, Start, begin, begin_under, enter, enter_under, start, start_under, traced};
pub use crate::stream::{InstrumentedStream, InstrumentedStreamFuture, rewrap, rewrap_stream};
pub use crate::value::{IntoValue, Value};
pub use tracecast_macros::{__keys, __label_for, __metrics, __scope, TcError as TcErrorDerive, TcLabel};

/// The traits by which a result is told apart.
pub mod probe {
    pub use crate::measure::{JudgeNothing, JudgeResult, JudgeTyped};
    pub use crate::probe::{
        Probe, ReportNothing, ReportResult, ReportShown, ReportSilent, ReportTyped, SuccessOfAny, SuccessOfResult,
    };
}
