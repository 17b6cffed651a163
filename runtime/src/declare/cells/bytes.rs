//! The memory of a metric, as shown in the catalogue.

use super::exemplar::Exemplar;
use super::stripe::Counts;
use super::table::{self, Table};
use super::{Metric, exponential, histogram};
use crate::declare::metric::{Buckets, MetricKind, MetricMeta, NumberType};

impl MetricMeta {
    /// Returns the bytes that a thread takes if it uses all series; 0 for a gauge, whose cells all threads share.
    #[doc(hidden)]
    pub const fn bytes_per_thread(&self) -> usize {
        let sets = self.sets();
        match self.kind {
            MetricKind::Counter => table::cells_bytes(sets),
            MetricKind::UpDownCounter => table::cells_bytes(sets.saturating_mul(2)),
            MetricKind::Gauge => 0,
            MetricKind::Histogram => {
                let row = table::cells_bytes(histogram::row_words(self)).saturating_add(size_of::<usize>());
                sets.saturating_mul(row)
            }
        }
    }

    /// Returns the largest number of bytes that the metric can use on a machine of up to 16 processors. The metric reaches it
    /// if more threads than there are stripes use all series: 63 threads have a stripe each, and all others share 8 stripes.
    /// Larger machines have four stripes for each processor, up to 1,023, and one shared stripe for two processors, up to 64.
    /// An unused metric takes only the memory of its static.
    ///
    /// ```
    /// let most: usize = tracecast::catalogue().metrics.iter().map(|metric| metric.bytes()).sum();
    /// println!("the metrics take at most {most} bytes");
    /// ```
    pub const fn bytes(&self) -> usize {
        let stripes = self.bytes_per_thread().saturating_mul(Counts::LEAST.own - 1 + Counts::LEAST.shared);
        let gauges = if matches!(self.kind, MetricKind::Gauge) { table::cells_bytes(self.sets()) } else { 0 };
        let exemplars = match (self.kind, self.buckets) {
            (MetricKind::Histogram, Buckets::Explicit(bounds)) => bounds.len() + 1,
            (MetricKind::Histogram, Buckets::Exponential) => exponential::BUCKETS,
            _ => 0,
        };
        let exemplars = exemplars.saturating_mul(self.sets()).saturating_mul(2 * size_of::<Exemplar>());
        let fixed = size_of::<Metric>() + size_of::<Table>() + Counts::LEAST.own * size_of::<usize>();
        stripes.saturating_add(gauges).saturating_add(exemplars).saturating_add(fixed)
    }

    /// Returns whether sums and values of this metric are floating-point numbers.
    pub(crate) fn is_f64(&self) -> bool {
        self.number == NumberType::F64
    }
}
