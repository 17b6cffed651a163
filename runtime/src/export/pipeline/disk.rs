//! An export queue's access to the spool: requests that could not be sent are stored, and sent when the receiver is
//! back.

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

    /// Stores a request whose items are pending in `account`.
    pub(super) async fn put(&self, batch: &Batch, account: &Arc<Account>) -> Result<(), Box<Refused>> {
        let (spool, signal, encoding) = (self.spool.clone(), self.signal, self.encoding);
        let (bytes, items, account): (Bytes, u64, _) = (batch.bytes.clone(), batch.items, account.clone());
        let put = move || {
            let entry = Entry { signal, encoding, items, bytes: &bytes, account: &account };
            spool.put(&entry).map_err(Box::new)
        };
        // The task fails only if it panics. The request then stays in memory.
        tokio::task::spawn_blocking(put).await.unwrap_or_else(|_| Err(Box::new(Refused::panicked())))
    }

    /// Claims the oldest request; `None` if there is none to claim.
    pub(super) async fn next(&self) -> Option<Claimed> {
        let (spool, signal, encoding) = (self.spool.clone(), self.signal, self.encoding);
        tokio::task::spawn_blocking(move || spool.next(signal, encoding)).await.ok().flatten()
    }

    /// Removes a request that the receiver has answered, and counts its items. Requests of other processes have no
    /// account here: their accepted items count as replayed in `sender`.
    pub(super) async fn done(&self, claimed: Claimed, outcome: &Counts, sender: &Account) {
        match &claimed.account {
            Some(account) => account.settle(State::Spooled, outcome),
            None => sender.add_replayed(outcome.exported),
        }
        let _ = tokio::task::spawn_blocking(move || claimed.done()).await;
    }

    /// Releases a claimed request, to be sent later.
    pub(super) fn back(&self, claimed: Claimed) {
        // Releasing a request may block on the disk, which the export thread must not do.
        tokio::task::spawn_blocking(move || claimed.back());
    }

    /// Counts stored requests of this process as lost if their files are missing.
    pub(super) async fn verify(&self) {
        let spool = self.spool.clone();
        let _ = tokio::task::spawn_blocking(move || spool.verify()).await;
    }

    /// The bytes in the directory, of all processes, as of the last stored request or listing.
    pub(super) fn bytes(&self) -> u64 {
        self.spool.bytes()
    }

    /// Bytes that the directory may hold.
    pub(super) fn capacity(&self) -> u64 {
        self.spool.capacity()
    }
}
