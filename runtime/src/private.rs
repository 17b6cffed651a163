//! Everything generated code may touch. Not public API: it changes without notice.

pub use crate::callsite::{Callsite, Kind};
pub use crate::error::TcError;
pub use crate::expansion::{FnOutput, apply, body, call, check, check_parent, no_fields, unreachable_value};
pub use crate::future::{Instrumented, unobserved};
pub use crate::interned::{InternTable, Interned, InternedKey};
pub use crate::key::{Key, KeyMeta, KeyOf, LabelKey};
pub use crate::label::{ClosedLabel, Index, Label, LabelText};
pub use crate::metric::{MetricKind, MetricMeta};
pub use crate::span::{Scope, Start, begin, begin_under, enter, enter_under, start, start_under, traced};
pub use crate::stream::{InstrumentedStream, InstrumentedStreamFuture, rewrap, rewrap_stream};
pub use crate::value::{IntoValue, Value};
pub use tracecast_macros::{__keys, __label_for, __scope, TcError as TcErrorDerive, TcLabel};

/// The traits by which a result is told apart.
pub mod probe {
    pub use crate::probe::{
        Probe, ReportNothing, ReportResult, ReportShown, ReportTyped, SuccessOfAny, SuccessOfResult,
    };
}
