//! Requests that wait to be sent, in a bounded space.

use std::collections::VecDeque;

use bytes::Bytes;

use super::way::Room;

/// A request on its way out.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) bytes: Bytes,
    /// How many spans, points or records it holds.
    pub(crate) items: u64,
}

/// Requests in the order in which they were made. When there is no more room the oldest gives way: what happened last is
/// what an operator looks for first.
#[derive(Debug)]
pub(crate) struct Outbox {
    waiting: VecDeque<Batch>,
    /// The one that is being sent. It takes room, and it does not give way.
    sending: Option<Batch>,
    /// All of them together.
    held: Room,
    limit: Room,
}

impl Outbox {
    pub(crate) fn new(limit: Room) -> Self {
        Outbox { waiting: VecDeque::new(), sending: None, held: Room { bytes: 0, items: 0 }, limit }
    }

    /// Adds a request. Gives how many items had to go for it; its own, if there cannot be room for it.
    pub(crate) fn push(&mut self, batch: Batch) -> u64 {
        let mut gone = 0;
        while !self.fits(&batch) {
            let Some(oldest) = self.waiting.pop_front() else { return gone + batch.items };
            self.release(&oldest);
            gone += oldest.items;
        }
        self.held = Room { bytes: self.held.bytes + batch.bytes.len(), items: self.held.items + batch.items };
        self.waiting.push_back(batch);
        gone
    }

    fn fits(&self, batch: &Batch) -> bool {
        self.held.bytes + batch.bytes.len() <= self.limit.bytes && self.held.items + batch.items <= self.limit.items
    }

    fn release(&mut self, batch: &Batch) {
        self.held = Room { bytes: self.held.bytes - batch.bytes.len(), items: self.held.items - batch.items };
    }

    /// The oldest request, to be sent.
    pub(crate) fn send(&mut self) -> Option<Batch> {
        self.sending = self.waiting.pop_front();
        self.sending.clone()
    }

    /// The request that was to be sent is dealt with.
    pub(crate) fn sent(&mut self) {
        if let Some(batch) = self.sending.take() {
            self.release(&batch);
        }
    }

    /// All that waits or is being sent.
    pub(crate) fn held(&self) -> Room {
        self.held
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.sending.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(bytes: usize, items: u64) -> Batch {
        Batch { bytes: vec![0; bytes].into(), items }
    }

    fn outbox(bytes: usize, items: u64) -> Outbox {
        Outbox::new(Room { bytes, items })
    }

    #[test]
    fn the_oldest_give_way_and_are_counted() {
        let mut outbox = outbox(100, 1_000);
        assert_eq!([outbox.push(batch(40, 1)), outbox.push(batch(40, 2)), outbox.push(batch(20, 4))], [0, 0, 0]);
        assert_eq!(outbox.held(), Room { bytes: 100, items: 7 });
        assert_eq!(outbox.push(batch(60, 8)), 1 + 2);
        assert_eq!(outbox.held().items, 12);
        assert_eq!(outbox.send().map(|batch| batch.items), Some(4));
        outbox.sent();
        assert_eq!(outbox.send().map(|batch| batch.items), Some(8));
        assert!(!outbox.is_empty());
        outbox.sent();
        assert!(outbox.send().is_none() && outbox.is_empty());
    }

    #[test]
    fn what_is_larger_than_all_of_it_goes_alone() {
        let mut outbox = outbox(100, 1_000);
        outbox.push(batch(100, 3));
        outbox.send();
        assert_eq!(outbox.push(batch(101, 5)), 5);
        assert_eq!(outbox.push(batch(1, 5)), 5, "what is being sent keeps its room");
        assert_eq!(outbox.held().items, 3);
    }

    #[test]
    fn items_are_limited_too() {
        let mut outbox = outbox(100, 10);
        assert_eq!([outbox.push(batch(1, 6)), outbox.push(batch(1, 4)), outbox.push(batch(1, 1))], [0, 0, 6]);
        assert_eq!(outbox.held(), Room { bytes: 2, items: 5 });
    }
}
