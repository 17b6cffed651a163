//! What became of everything that was taken: for reports, and for metrics about telemetry itself.

use std::sync::PoisonError;

use super::Collection;
use crate::base::notice;
use crate::export::collector::Progress;
use crate::export::own::{Figures, Reason};

impl Collection {
    /// Notes how things stand, for those who cannot wait for an answer.
    pub(super) fn note(&self) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = self.progress();
    }

    pub(super) fn progress(&self) -> Progress {
        let made = self.spans.made();
        Progress {
            spans: self.spans.counts(),
            points: self.points.counts(),
            records: self.records(),
            ended: made.ended(),
            dropped: made.dropped(),
            buffered: made.buffered(),
            open: Vec::new(),
            complete: false,
        }
    }

    /// What there is to say about all of it.
    pub(super) fn figures(&self) -> Figures {
        let made = self.spans.made();
        let counts = [self.spans.counts(), self.points.counts(), self.records()];
        let mut figures = Figures {
            spans_created: made.ended() + made.ours.open,
            spans_open: made.ours.open,
            exported: counts.map(|counts| counts.exported),
            unconfirmed: counts.map(|counts| counts.unconfirmed),
            dropped: counts.map(|counts| counts.dropped),
            queue_items: counts.map(|counts| counts.pending),
            spool_bytes: self.disk_bytes(),
            spans_cut_off: made.ours.cut_off,
            lines_dropped: notice::lost_lines(),
            queue_bytes: [self.spans.bytes(), self.points.bytes(), self.record_bytes()],
            ..Figures::default()
        };
        let spans = &mut figures.dropped[0];
        spans[Reason::NoChunk as usize] = made.ours.dropped.no_chunk;
        spans[Reason::NoBlock as usize] = made.ours.dropped.no_block;
        spans[Reason::ThreadExit as usize] = made.ours.dropped.thread_exit;
        spans[Reason::QueueFull as usize] += made.others.dropped;
        figures
    }

    /// One directory serves both signals, so either knows.
    pub(super) fn disk_bytes(&self) -> Option<u64> {
        let bytes = self.spans.disk_bytes();
        #[cfg(feature = "logs")]
        let bytes = bytes.max(self.records.disk_bytes());
        bytes
    }

    fn record_bytes(&self) -> u64 {
        #[cfg(feature = "logs")]
        return self.records.bytes();
        #[cfg(not(feature = "logs"))]
        0
    }
}
