//! What became of spans, points and log records.

/// What became of the items of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// The receiver took them.
    pub(crate) exported: u64,
    /// A success that is not one of OTLP was the answer: nobody knows whether a receiver has them.
    pub(crate) unconfirmed: u64,
    /// There was no room for them.
    pub(crate) no_room: u64,
    /// The receiver does not want the request they were in.
    pub(crate) refused: u64,
    /// The receiver took the request they were in, but not them.
    pub(crate) rejected: u64,
    /// There was no room for them in front of the collector.
    pub(crate) queue_full: u64,
    /// They wait, or are being sent.
    pub(crate) waiting: u64,
    /// They wait on disk.
    pub(crate) spooled: u64,
    /// They were on disk for too long, or there was no room for them there, or the disk did not give them back.
    pub(crate) spool_lost: u64,
    /// They were on disk, and their file is gone although nobody here removed it.
    pub(crate) lost_on_disk: u64,
    /// Items of earlier processes that the receiver took. They are in none of the other counts.
    pub(crate) replayed: u64,
}

impl Counts {
    /// All that is lost.
    pub(crate) fn lost(&self) -> u64 {
        self.no_room + self.refused + self.rejected + self.queue_full + self.spool_lost + self.lost_on_disk
    }
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Counts>>(all: I) -> Counts {
        all.fold(Counts::default(), |sum, counts| Counts {
            exported: sum.exported + counts.exported,
            unconfirmed: sum.unconfirmed + counts.unconfirmed,
            no_room: sum.no_room + counts.no_room,
            refused: sum.refused + counts.refused,
            rejected: sum.rejected + counts.rejected,
            queue_full: sum.queue_full + counts.queue_full,
            waiting: sum.waiting + counts.waiting,
            // What one lane has put on disk another one may have sent; only the sum is right.
            spooled: sum.spooled.wrapping_add(counts.spooled),
            spool_lost: sum.spool_lost + counts.spool_lost,
            lost_on_disk: sum.lost_on_disk + counts.lost_on_disk,
            replayed: sum.replayed + counts.replayed,
        })
    }
}
