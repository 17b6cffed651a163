//! Items for generated code. Not public API: they may change without notice.

pub use crate::declare::callsite::{Callsite, Kind};
pub use crate::declare::cells::Metric;
pub use crate::declare::interned::{InternTable, Interned, InternedKey};
pub use crate::declare::key::{AnyAttribute, Key, KeyMeta, KeyOf, LabelKey, LabelOf};
pub use crate::declare::label::{ClosedLabel, Index, Label, LabelText};
pub use crate::declare::meter::Meter;
pub use crate::declare::metric::{LabelSet, Labels, MetricKind, MetricMeta, OrNone};
pub use crate::declare::registry::callsite;
pub use crate::declare::sections::{Source, in_section};
pub use crate::declare::value::{IntoValue, Place, Value};
pub use crate::meter::instrument::{Counter, Gauge, Histogram, ObservableGauge, UpDownCounter};
pub use crate::meter::measure::{ErrorSet, FallbackTypes, Metered};
pub use crate::trace::covered::Covered;
pub use crate::trace::error::TcError;
pub use crate::trace::future::{Wrapped as Instrumented, wrap};
pub use crate::trace::observe::{FnOutput, Otherwise, Tag, Unwanted, apply};
pub use crate::trace::span::{Begin, Scope, Start, begin, check, enter, run, run_begun, run_observed, run_probed};
pub use crate::trace::stream::{InstrumentedStreamFuture, WrappedStream as InstrumentedStream, rewrap, rewrap_stream};
pub use tracecast_macros::{__keys, __label_for, __metrics, __scope, TcError as TcErrorDerive, TcLabel};
