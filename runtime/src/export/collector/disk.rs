//! A lane's part of the spool: what could not be sent waits on disk, and is sent when the receiver is back.

use std::cell::Cell;

use bytes::Bytes;

use super::counts::Counts;
use super::outbox::Batch;
use crate::export::spool::{Claimed, Encoding, Entry, Lost, Refused, Signal, Spool};

/// The spool, as one lane uses it.
pub(crate) struct Disk {
    spool: Spool,
    signal: Signal,
    encoding: Encoding,
    /// Items that were put there.
    stored: Cell<u64>,
    /// What became of items of this process that were taken from there.
    ours: Cell<Counts>,
    /// The same of items that other processes had put there, earlier ones most often. They are nobody's loss or gain here.
    others: Cell<Counts>,
    /// Whether another lane is in its place by now. What was lost on disk is told once.
    retired: Cell<bool>,
}

impl Disk {
    pub(crate) fn new(spool: Spool, signal: Signal, encoding: Encoding) -> Self {
        Disk {
            spool,
            signal,
            encoding,
            stored: Cell::default(),
            ours: Cell::default(),
            others: Cell::default(),
            retired: Cell::default(),
        }
    }

    /// Puts a request there.
    pub(super) async fn put(&self, batch: &Batch) -> Result<(), Box<Refused>> {
        let (spool, signal, encoding) = (self.spool.clone(), self.signal, self.encoding);
        let (bytes, items): (Bytes, u64) = (batch.bytes.clone(), batch.items);
        let put = move || spool.put(&Entry { signal, encoding, items, bytes: &bytes }).map_err(Box::new);
        // The task fails only if it panics, and the disk is no place to try that twice.
        match tokio::task::spawn_blocking(put).await {
            Ok(Ok(_)) => {
                self.stored.set(self.stored.get() + items);
                Ok(())
            }
            Ok(Err(refused)) => Err(refused),
            Err(_) => Err(Box::new(Refused::panicked())),
        }
    }

    /// The oldest request there.
    pub(super) async fn next(&self) -> Option<Claimed> {
        let (spool, signal, encoding) = (self.spool.clone(), self.signal, self.encoding);
        tokio::task::spawn_blocking(move || spool.next(signal, encoding)).await.ok().flatten()
    }

    /// A request that came from there is dealt with.
    pub(super) async fn done(&self, claimed: Claimed, counts: Counts) {
        let fate = if claimed.ours { &self.ours } else { &self.others };
        fate.set([fate.get(), counts].into_iter().sum());
        let _ = tokio::task::spawn_blocking(move || claimed.done()).await;
    }

    /// A request that came from there waits there again.
    pub(super) fn back(&self, claimed: Claimed) {
        // Giving it back may have to wait for the disk, which nobody here does.
        tokio::task::spawn_blocking(move || claimed.back());
    }

    /// Counts as lost what was put there and is gone.
    pub(super) async fn verify(&self) {
        let spool = self.spool.clone();
        let _ = tokio::task::spawn_blocking(move || spool.verify()).await;
    }

    pub(super) fn is_retired(&self) -> bool {
        self.retired.get()
    }

    /// Another lane is in the place of this one.
    pub(super) fn retire(&self) {
        self.retired.set(true);
    }

    /// Bytes in the directory, of all processes, when it was last looked at.
    pub(super) fn bytes(&self) -> u64 {
        self.spool.bytes()
    }

    /// What became of all that was put there by this process, as far as it is known.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = self.ours.get();
        let lost = if self.retired.get() { Lost::default() } else { self.spool.lost() };
        let of = |tally: crate::export::spool::Tally| tally.ours.of(self.signal);
        counts.spool_lost = of(lost.evicted) + of(lost.expired) + of(lost.damaged);
        counts.lost_on_disk = lost.missing.of(self.signal);
        let dealt_with = counts.exported + counts.unconfirmed + counts.lost();
        // Requests of a lane that was here before may be among those that this one has sent.
        counts.spooled = self.stored.get().wrapping_sub(dealt_with);
        counts.replayed = self.others.get().exported;
        counts
    }
}
