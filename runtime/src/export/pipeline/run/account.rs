//! Collects the counts of all pipelines, for reports and for the metrics about telemetry itself.

use std::sync::PoisonError;

use super::Pipelines;
use crate::base::memory::SHARED;
use crate::base::notice;
use crate::declare::observe;
use crate::export::pipeline::Progress;
use crate::export::pipeline::route::Routes;
use crate::export::pipeline::signal_pipeline::AnyPipeline;
use crate::export::self_metrics::{Figures, Reason};
use crate::record::clock;

impl Pipelines {
    /// Stores the progress for callers whose command gets no answer in time.
    pub(super) fn note(&self) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = self.progress();
    }

    pub(super) fn progress(&self) -> Progress {
        let made = self.spans.source.made();
        let [spans, points, records] = self.by_signal(|pipeline| pipeline.counts());
        Progress {
            spans,
            points,
            records,
            ended: made.ended(),
            dropped: made.dropped(),
            buffered: made.buffered(),
            open: Vec::new(),
            complete: false,
        }
    }

    /// Collects the figures for the metrics about telemetry itself.
    pub(super) fn figures(&self) -> Figures {
        let made = self.spans.source.made();
        let counts = self.by_signal(|pipeline| pipeline.counts());
        let mut figures = Figures {
            spans_created: made.ended() + made.ours.open,
            spans_open: made.ours.open,
            exported: counts.map(|counts| counts.exported),
            unconfirmed: counts.map(|counts| counts.unconfirmed),
            dropped: counts.map(|counts| counts.dropped),
            queue_items: counts.map(|counts| counts.pending),
            queue_capacity_bytes: self.pool.capacity() as u64,
            queue_capacity_items: self.by_signal(|pipeline| pipeline.routes().most_items()),
            memory_limit_bytes: self.memory_limit as u64,
            memory_free_bytes: SHARED.free() as u64,
            spool_bytes: self.disk_bytes(),
            spool_capacity_bytes: self.routes().find_map(Routes::disk_capacity),
            clock_restarts: clock::restarts(),
            callbacks_late: observe::late(),
            spans_cut_off: made.ours.cut_off,
            lines_dropped: notice::lost_lines(),
            queue_bytes: self.by_signal(|pipeline| pipeline.bytes()),
        };
        let spans = &mut figures.dropped[0];
        spans[Reason::SpanBufferFull as usize] = made.ours.dropped.span_buffer_full;
        spans[Reason::TooManyOpenSpans as usize] = made.ours.dropped.too_many_open_spans;
        spans[Reason::ThreadExit as usize] = made.ours.dropped.thread_exit;
        spans[Reason::QueueFull as usize] += made.others.dropped;
        figures
    }

    /// The bytes in the spool. All signals share one directory.
    pub(super) fn disk_bytes(&self) -> Option<u64> {
        self.routes().filter_map(Routes::disk_bytes).max()
    }

    /// Returns a figure of each pipeline, indexed by the signal `as usize`; the default for a signal without a
    /// pipeline.
    fn by_signal<T: Default>(&self, figure: impl Fn(&dyn AnyPipeline) -> T) -> [T; 3] {
        let mut figures = <[T; 3]>::default();
        self.pipelines().for_each(|pipeline| figures[pipeline.signal() as usize] = figure(pipeline));
        figures
    }
}
