//! Requests that wait to be sent, in a bounded space.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use bytes::Bytes;

/// A request on its way out.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) bytes: Bytes,
    /// How many spans, points or records it holds.
    pub(crate) items: u64,
}

/// Bytes, and spans, points or records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) bytes: usize,
    pub(crate) items: u64,
}

/// The memory that all outboxes share. A part of it is set aside for each of them, so that a receiver that is down cannot
/// take it all.
#[derive(Debug)]
pub(crate) struct Pool {
    limit: usize,
    used: Cell<usize>,
    outboxes: Cell<usize>,
}

impl Pool {
    pub(crate) fn new(limit: usize) -> Rc<Self> {
        Rc::new(Pool { limit, used: Cell::new(0), outboxes: Cell::new(0) })
    }

    /// What all outboxes may hold together.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// What each outbox may hold, however full the others are.
    fn own(&self) -> usize {
        self.limit / 2 / self.outboxes.get().max(1)
    }

    /// Whether an outbox that holds so much may hold so much more.
    fn fits(&self, held: usize, more: usize) -> bool {
        let own = self.own();
        // The outboxes that hold less than their own part can still fill it up: that much is spoken for.
        held + more <= own || self.used.get() + more + own * (self.outboxes.get() - 1) <= self.limit
    }
}

/// Requests in the order in which they were made. When there is no more room the oldest gives way: what happened last is
/// what an operator looks for first.
#[derive(Debug)]
pub(crate) struct Outbox {
    pool: Rc<Pool>,
    waiting: VecDeque<Batch>,
    /// The one that is being sent. It takes room, and it does not give way.
    sending: Option<Batch>,
    /// All of them together.
    held: Amount,
    most_items: u64,
}

impl Outbox {
    pub(crate) fn new(pool: Rc<Pool>, most_items: u64) -> Self {
        pool.outboxes.set(pool.outboxes.get() + 1);
        Outbox { pool, waiting: VecDeque::new(), sending: None, held: Amount::default(), most_items }
    }

    /// Adds a request. Gives how many items had to go for it; its own, if there cannot be room for it.
    pub(crate) fn push(&mut self, batch: Batch) -> u64 {
        let mut gone = 0;
        while !self.fits(&batch) {
            let Some(oldest) = self.waiting.pop_front() else { return gone + batch.items };
            self.release(&oldest);
            gone += oldest.items;
        }
        self.held.bytes += batch.bytes.len();
        self.held.items += batch.items;
        self.pool.used.set(self.pool.used.get() + batch.bytes.len());
        self.waiting.push_back(batch);
        gone
    }

    /// Whether it holds something, and there is no room for so many bytes more.
    pub(crate) fn is_busy(&self, bytes: usize) -> bool {
        !self.is_empty() && !self.pool.fits(self.held.bytes, bytes)
    }

    /// Takes over what waits in another one that is not used any more.
    pub(crate) fn adopt(&mut self, other: &mut Outbox) -> u64 {
        other.back();
        let waiting = std::mem::take(&mut other.waiting);
        waiting.iter().for_each(|batch| other.release(batch));
        // The oldest of them first: it is what gives way first.
        waiting.into_iter().map(|batch| self.push(batch)).sum()
    }

    fn fits(&self, batch: &Batch) -> bool {
        self.pool.fits(self.held.bytes, batch.bytes.len()) && self.held.items + batch.items <= self.most_items
    }

    fn release(&mut self, batch: &Batch) {
        self.held.bytes -= batch.bytes.len();
        self.held.items -= batch.items;
        self.pool.used.set(self.pool.used.get() - batch.bytes.len());
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

    /// The request that was to be sent waits again, in its old place.
    pub(crate) fn back(&mut self) {
        if let Some(batch) = self.sending.take() {
            self.waiting.push_front(batch);
        }
    }

    /// All that waits or is being sent.
    pub(crate) fn held(&self) -> Amount {
        self.held
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.sending.is_none()
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.pool.used.set(self.pool.used.get() - self.held.bytes);
        self.pool.outboxes.set(self.pool.outboxes.get() - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(bytes: usize, items: u64) -> Batch {
        Batch { bytes: vec![0; bytes].into(), items }
    }

    fn outbox(bytes: usize, items: u64) -> Outbox {
        Outbox::new(Pool::new(bytes), items)
    }

    #[test]
    fn the_oldest_give_way_and_are_counted() {
        let mut outbox = outbox(100, 1_000);
        assert_eq!([outbox.push(batch(40, 1)), outbox.push(batch(40, 2)), outbox.push(batch(20, 4))], [0, 0, 0]);
        assert_eq!(outbox.held(), Amount { bytes: 100, items: 7 });
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
        assert_eq!(outbox.held(), Amount { bytes: 2, items: 5 });
    }

    #[test]
    fn one_cannot_take_what_is_set_aside_for_another() {
        let pool = Pool::new(800);
        let (mut one, mut two) = (Outbox::new(pool.clone(), 1_000), Outbox::new(pool.clone(), 1_000));
        for _ in 0..20 {
            one.push(batch(100, 1));
        }
        assert_eq!(one.held().bytes, 600, "two hundred stay with the other one");
        assert!(one.is_busy(100) && !two.is_busy(100), "whoever has nothing is not busy");
        assert_eq!(two.push(batch(200, 1)), 0);
        assert_eq!(two.push(batch(100, 1)), 1, "and no more, as long as the first is full");
        assert_eq!((pool.used.get(), two.held().items), (700, 1));
        drop(one);
        assert_eq!(two.push(batch(700, 1)), 0);
        assert_eq!(pool.used.get(), 800);
    }

    #[test]
    fn what_waits_can_be_taken_over() {
        let pool = Pool::new(800);
        let (mut old, mut new) = (Outbox::new(pool.clone(), 1_000), Outbox::new(pool.clone(), 1_000));
        [1, 2].into_iter().for_each(|items| assert_eq!(old.push(batch(10, items)), 0));
        old.send();
        assert_eq!(new.adopt(&mut old), 0);
        assert!(old.is_empty() && old.held() == Amount::default());
        assert_eq!((new.held(), pool.used.get()), (Amount { bytes: 20, items: 3 }, 20));
        assert_eq!(new.send().map(|batch| batch.items), Some(1));
    }
}
