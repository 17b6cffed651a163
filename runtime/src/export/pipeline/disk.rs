//! An export queue's part of the spool: what could not be sent waits on disk, and is sent when the receiver is back.

use std::sync::Arc;

use bytes::Bytes;

use super::outbox::Batch;
use crate::export::account::{Account, Counts, State};
use crate::export::spool::{Claimed, Encoding, Entry, Refused, Spool, Spooled};

/// The spool, as one export queue uses it.
#[derive(Clone)]
pub(crate) struct Disk {
    spool: Spool,
    signal: Spooled,
    encoding: Encoding,
}

impl Disk {
    pub(crate) fn new(spool: Spool, signal: Spooled, encoding: Encoding) -> Self {
        Disk { spool, signal, encoding }
    }

    /// Puts a request there that is pending in `account`.
    pub(super) async fn put(&self, batch: &Batch, account: &Arc<Account>) -> Result<(), Box<Refused>> {
        let (spool, signal, encoding) = (self.spool.clone(), self.signal, self.encoding);
        let (bytes, items, account): (Bytes, u64, _) = (batch.bytes.clone(), batch.items, account.clone());
        let put = move || {
            let entry = Entry { signal, encoding, items, bytes: &bytes, account: &account };
            spool.put(&entry).map_err(Box::new)
        };
        // The task fails only if it panics, and the disk is no place to try that twice.
        tokio::task::spawn_blocking(put).await.unwrap_or_else(|_| Err(Box::new(Refused::panicked())))
    }

    /// The oldest request there.
    pub(super) async fn next(&self) -> Option<Claimed> {
        let (spool, signal, encoding) = (self.spool.clone(), self.signal, self.encoding);
        tokio::task::spawn_blocking(move || spool.next(signal, encoding)).await.ok().flatten()
    }

    /// A request that came from there is dealt with. `sender` counts those that earlier processes put there: they are
    /// nobody's loss or gain here.
    pub(super) async fn done(&self, claimed: Claimed, outcome: &Counts, sender: &Account) {
        match &claimed.account {
            Some(account) => account.settle(State::Spooled, outcome),
            None => sender.add_replayed(outcome.exported),
        }
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

    /// Bytes in the directory, of all processes, when it was last looked at.
    pub(super) fn bytes(&self) -> u64 {
        self.spool.bytes()
    }

    /// Bytes that the directory may hold.
    pub(super) fn capacity(&self) -> u64 {
        self.spool.capacity()
    }
}
