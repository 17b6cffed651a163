//! Outboxes: pending requests, within one memory limit.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use bytes::Bytes;

use super::size::{longest_request, pending_limit};
use crate::base::memory::SHARED;

/// An encoded request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) bytes: Bytes,
    /// The number of spans, points or records in the request.
    pub(crate) items: u64,
}

/// Shrinks a request to the memory it needs, because it may be pending for long and is counted by its length.
pub(crate) fn packed(mut request: Vec<u8>) -> Bytes {
    request.shrink_to_fit();
    request.into()
}

/// A size in bytes, and in spans, points or records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) bytes: usize,
    pub(crate) items: u64,
}

/// The memory of all outboxes. A part is reserved for each outbox, so that one receiver that is down cannot take all
/// the memory.
#[derive(Debug)]
pub(crate) struct Pool {
    /// The bytes reserved for the outboxes.
    reserved: usize,
    /// The bytes taken from the shared part of the memory limit.
    taken: Cell<usize>,
    /// The maximum size of all outboxes in bytes: all reserved and all shared bytes.
    most: usize,
    /// The maximum size of one outbox in bytes while its receiver works.
    healthy: usize,
    used: Cell<usize>,
    outboxes: Cell<usize>,
}

impl Pool {
    /// Makes the pool for a memory limit.
    pub(crate) fn within(memory_limit: usize) -> Rc<Self> {
        let reserved = pending_limit(memory_limit);
        let mut pool = Pool::fixed(reserved, reserved);
        pool.most = memory_limit / 8 * 5;
        Rc::new(pool)
    }

    fn fixed(reserved: usize, healthy: usize) -> Self {
        Pool { reserved, taken: Cell::new(0), most: reserved, healthy, used: Cell::new(0), outboxes: Cell::new(0) }
    }

    /// The bytes that all outboxes may hold now.
    pub(crate) fn limit(&self) -> usize {
        self.reserved + self.taken.get()
    }

    /// The bytes that all outboxes may hold if other buffers need none of the shared part.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// The bytes that all outboxes could hold now: their limit and the free bytes of the shared part.
    pub(crate) fn capacity(&self) -> usize {
        (self.limit() + SHARED.free()).min(self.most)
    }

    /// Raises the limit by at least `bytes` from the shared part. False if not enough is free.
    fn grow(&self, bytes: usize) -> bool {
        let bytes = bytes.max(STEP);
        let grown = self.most > self.reserved && SHARED.take(bytes);
        if grown {
            self.taken.set(self.taken.get() + bytes);
        }
        grown
    }

    /// Returns unused memory to the shared part.
    pub(crate) fn shrink(&self) {
        let unused = self.limit().saturating_sub(self.used.get() + STEP).min(self.taken.get());
        self.taken.set(self.taken.get() - unused);
        SHARED.give_back(unused);
    }

    /// The unused bytes.
    #[cfg(has_logs)]
    pub(crate) fn free(&self) -> usize {
        self.limit().saturating_sub(self.used.get())
    }

    /// The bytes that each outbox can always take, however full the others are.
    fn own(&self) -> usize {
        (self.limit() / 16).min(self.limit() / 2 / self.outboxes.get().max(1))
    }

    /// True if an outbox that holds `held` bytes may take `more`.
    fn fits(&self, held: usize, more: usize) -> bool {
        let own = self.own();
        // The parts reserved for the other outboxes stay free for them.
        held + more <= own || self.used.get() + more + own * (self.outboxes.get() - 1) <= self.limit()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        SHARED.give_back(self.taken.get());
    }
}

/// The minimum number of bytes to take from the shared part at a time, and to keep unused.
const STEP: usize = 256 << 10;

/// Pending requests in the order in which they were made. If there is no room, the oldest is evicted: operators need
/// the latest data first.
#[derive(Debug)]
pub(crate) struct Outbox {
    pool: Rc<Pool>,
    waiting: VecDeque<Batch>,
    /// The request in flight. It counts towards the limits and is never evicted.
    sending: Option<Batch>,
    /// The size of all requests, including the one in flight.
    held: Amount,
    most_items: u64,
}

impl Outbox {
    pub(crate) fn new(pool: Rc<Pool>, most_items: u64) -> Self {
        pool.outboxes.set(pool.outboxes.get() + 1);
        Outbox { pool, waiting: VecDeque::new(), sending: None, held: Amount::default(), most_items }
    }

    /// Adds a request. Returns the number of items evicted for it, or dropped with it if it cannot fit.
    pub(crate) fn push(&mut self, batch: Batch) -> u64 {
        let mut evicted = 0;
        while !self.fits(&batch) {
            if self.held.items + batch.items <= self.most_items && self.pool.grow(batch.bytes.len()) {
                continue;
            }
            let Some(oldest) = self.waiting.pop_front() else { return evicted + batch.items };
            self.release(&oldest);
            evicted += oldest.items;
        }
        self.hold(&batch);
        self.waiting.push_back(batch);
        evicted
    }

    /// The maximum size of a request for this outbox in bytes.
    pub(crate) fn longest_request(&self) -> usize {
        longest_request(self.pool.most())
    }

    /// True if the outbox is not empty and may not take `bytes` more while its receiver works.
    pub(crate) fn is_busy(&self, bytes: usize) -> bool {
        let fits = self.held.bytes + bytes <= self.pool.healthy && self.pool.fits(self.held.bytes, bytes);
        !self.is_empty() && !fits
    }

    /// Sets the maximum number of pending items. If more are pending, the next request evicts the oldest requests.
    pub(crate) fn set_most_items(&mut self, most_items: u64) {
        self.most_items = most_items;
    }

    /// The maximum number of pending items; `None` if it is not limited.
    pub(crate) fn most_items(&self) -> Option<u64> {
        (self.most_items != u64::MAX).then_some(self.most_items)
    }

    fn fits(&self, batch: &Batch) -> bool {
        self.pool.fits(self.held.bytes, batch.bytes.len()) && self.held.items + batch.items <= self.most_items
    }

    fn hold(&mut self, batch: &Batch) {
        self.held.bytes += batch.bytes.len();
        self.held.items += batch.items;
        self.pool.used.set(self.pool.used.get() + batch.bytes.len());
    }

    fn release(&mut self, batch: &Batch) {
        self.held.bytes -= batch.bytes.len();
        self.held.items -= batch.items;
        self.pool.used.set(self.pool.used.get() - batch.bytes.len());
    }

    /// Marks the oldest pending request as in flight, and returns a clone; `None` if no request is pending.
    pub(crate) fn send(&mut self) -> Option<Batch> {
        self.sending = self.waiting.pop_front();
        self.sending.clone()
    }

    /// Removes the request in flight.
    pub(crate) fn sent(&mut self) {
        self.sent_but(Vec::new());
    }

    /// Replaces the request in flight by the parts in `rest`, which are pending again in its old place.
    pub(crate) fn sent_but(&mut self, rest: Vec<Batch>) {
        let Some(batch) = self.sending.take() else { return };
        self.release(&batch);
        for part in rest.into_iter().rev() {
            self.hold(&part);
            self.waiting.push_front(part);
        }
    }

    /// Makes the request in flight pending again, in its old place.
    pub(crate) fn back(&mut self) {
        if let Some(batch) = self.sending.take() {
            self.waiting.push_front(batch);
        }
    }

    /// The size of all requests, including the one in flight.
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
        Outbox::new(Rc::new(Pool::fixed(bytes, bytes)), items)
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
        let pool = Rc::new(Pool::fixed(1_600, 1_600));
        let (mut one, mut two) = (Outbox::new(pool.clone(), 1_000), Outbox::new(pool.clone(), 1_000));
        for _ in 0..20 {
            one.push(batch(100, 1));
        }
        assert_eq!(one.held().bytes, 1_500, "a hundred stay with the other one");
        assert!(one.is_busy(100) && !two.is_busy(100), "whoever has nothing is not busy");
        assert_eq!(two.push(batch(100, 1)), 0);
        assert_eq!(two.push(batch(50, 1)), 1, "and no more, as long as the first is full");
        assert_eq!((pool.used.get(), two.held().items), (1_550, 1));
        drop(one);
        assert_eq!(two.push(batch(1_500, 1)), 0);
        assert_eq!(pool.used.get(), 1_550);
    }

    #[test]
    fn a_receiver_that_is_down_has_more_room_than_one_that_works() {
        let pool = Rc::new(Pool::fixed(1_000, 300));
        let mut outbox = Outbox::new(pool.clone(), 1_000);
        assert!((0..10).all(|_| outbox.push(batch(100, 1)) == 0));
        assert_eq!((outbox.push(batch(100, 1)), outbox.held().bytes), (1, 1_000));
        assert!(outbox.is_busy(1), "one that works has less");
    }

    #[test]
    fn what_was_not_sent_waits_again_in_its_place() {
        let pool = Rc::new(Pool::fixed(800, 800));
        let mut outbox = Outbox::new(pool.clone(), 1_000);
        [3, 4].into_iter().for_each(|items| assert_eq!(outbox.push(batch(10, items)), 0));
        outbox.send();
        outbox.back();
        assert_eq!((outbox.held(), pool.used.get()), (Amount { bytes: 20, items: 7 }, 20));
        assert_eq!(outbox.send().map(|batch| batch.items), Some(3));
        outbox.sent_but(vec![batch(4, 1), batch(4, 1)]);
        assert_eq!((outbox.held(), pool.used.get()), (Amount { bytes: 18, items: 6 }, 18));
        assert_eq!(outbox.send().map(|batch| batch.items), Some(1));
    }

    #[test]
    fn a_lower_limit_of_items_holds_from_the_next_request_on() {
        let mut outbox = outbox(100, 10);
        [1, 2, 3].into_iter().for_each(|items| assert_eq!(outbox.push(batch(1, items)), 0));
        outbox.set_most_items(4);
        assert_eq!((outbox.push(batch(1, 1)), outbox.held().items), (1 + 2, 4));
    }
}
