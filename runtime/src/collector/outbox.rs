//! Requests that wait to be sent, in a bounded space.

use std::collections::VecDeque;

use bytes::Bytes;

/// A request on its way out.
#[derive(Debug)]
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
    bytes: usize,
    limit: usize,
}

impl Outbox {
    /// An outbox that holds up to `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Outbox { waiting: VecDeque::new(), bytes: 0, limit }
    }

    /// Adds a request. Gives how many items had to go for it; its own, if it is larger than the whole outbox.
    pub(crate) fn push(&mut self, batch: Batch) -> u64 {
        if batch.bytes.len() > self.limit {
            return batch.items;
        }
        let mut gone = 0;
        while self.bytes + batch.bytes.len() > self.limit {
            gone += self.pop().map_or(0, |oldest| oldest.items);
        }
        self.bytes += batch.bytes.len();
        self.waiting.push_back(batch);
        gone
    }

    /// The oldest request.
    pub(crate) fn pop(&mut self) -> Option<Batch> {
        let oldest = self.waiting.pop_front()?;
        self.bytes -= oldest.bytes.len();
        Some(oldest)
    }

    /// How many items wait.
    pub(crate) fn items(&self) -> u64 {
        self.waiting.iter().map(|batch| batch.items).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(bytes: usize, items: u64) -> Batch {
        Batch { bytes: vec![0; bytes].into(), items }
    }

    #[test]
    fn the_oldest_give_way_and_are_counted() {
        let mut outbox = Outbox::new(100);
        assert_eq!([outbox.push(batch(40, 1)), outbox.push(batch(40, 2)), outbox.push(batch(20, 4))], [0, 0, 0]);
        assert_eq!(outbox.items(), 7);
        assert_eq!(outbox.push(batch(60, 8)), 1 + 2);
        assert_eq!(outbox.items(), 12);
        assert_eq!(outbox.pop().map(|batch| batch.items), Some(4));
        assert_eq!(outbox.pop().map(|batch| batch.items), Some(8));
        assert!(outbox.pop().is_none() && outbox.is_empty());
    }

    #[test]
    fn what_is_larger_than_all_of_it_goes_alone() {
        let mut outbox = Outbox::new(100);
        outbox.push(batch(100, 3));
        assert_eq!(outbox.push(batch(101, 5)), 5);
        assert_eq!(outbox.items(), 3);
    }
}
