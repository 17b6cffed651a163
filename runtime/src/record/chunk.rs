//! Chunks: the memory that holds finished records until the reader takes them.
//!
//! All chunks come from one bounded pool. A chunk has one writer at a time, which appends and publishes a length. The single
//! reader takes all published records, also from a chunk that is still being written, so records of an idle thread are not stuck.
//! A writer that is done detaches the chunk, and the reader recycles it after reading it.

#[cfg(not(loom))]
use std::ops::Range;

use crate::base::memory::Places;
use crate::base::stack::IndexStack;
use crate::base::sync::{Acquire, AtomicU32, AtomicU64, Mutex, Relaxed, Release, Words, lock};
use crate::base::word::Word;

/// The size of a large chunk and the maximum size of a record: 16 KiB.
pub(crate) const CHUNK_WORDS: usize = 2048;
/// The size of a thread's first chunk, 4 KiB, because many threads record few spans.
pub(crate) const SMALL_WORDS: usize = 512;
/// The distance in words between large chunks. Loom's model needs only two words per chunk.
const STRIDE: usize = if cfg!(loom) { 2 } else { CHUNK_WORDS };
/// The number of words that a small chunk lacks: it is addressed as if it were the end of a large one, so that writers test a
/// single bound. The words lacking before the first small chunk are allocated in front of all chunks.
const LEFT_OUT: usize = CHUNK_WORDS - SMALL_WORDS;

/// The numbers of chunks whose memory is prepared before they are used: 128 KiB of each size.
#[cfg(not(loom))]
const SMALL_AHEAD: usize = 32;
#[cfg(not(loom))]
const LARGE_AHEAD: usize = 8;

const FREE: u32 = 0;
const OWNED: u32 = 1;
const DETACHED: u32 = 2;

pub(crate) struct Chunks {
    heads: Heads,
    words: Words,
    /// The small chunks have the first indices, followed by the large ones.
    small: IndexStack,
    large: IndexStack,
    first_large: u32,
    /// The number of chunks acquired so far.
    acquired: AtomicU64,
    /// The lock of the single reader, with its scratch list of chunks: order of acquisition and index.
    reader: Mutex<Vec<(u64, u32)>>,
}

/// Aligned to two cache lines: every record stores the length, and neighbours must not share its line.
#[repr(align(128))]
struct Head {
    /// Words published by the writer.
    len: AtomicU32,
    state: AtomicU32,
    /// The sequence number of the acquisition. The reader follows it, so that the spans of one thread stay in order.
    order: AtomicU64,
    /// Words taken by the reader. Accessed under the reader's lock only, or while the chunk is free.
    read: AtomicU32,
}

#[cfg(not(loom))]
type Heads = crate::base::memory::Region<Head>;

#[cfg(not(loom))]
fn heads(count: usize) -> Heads {
    // SAFETY: zeros are a free chunk.
    unsafe { Heads::zeroed(count) }
}

#[cfg(loom)]
type Heads = Box<[Head]>;

#[cfg(loom)]
fn heads(count: usize) -> Heads {
    let head = |_| Head {
        len: AtomicU32::new(0),
        state: AtomicU32::new(FREE),
        order: AtomicU64::new(0),
        read: AtomicU32::new(0),
    };
    (0..count).map(head).collect()
}

/// The pointers through which a thread writes a chunk.
pub(crate) struct Writer<'a> {
    pub(crate) index: u32,
    /// The address at which a full-size chunk would begin, and the number of words that are left out.
    pub(crate) words: *mut Word,
    pub(crate) written: u32,
    /// The published length, stored with Release after the words.
    pub(crate) published: &'a AtomicU32,
}

impl Chunks {
    pub(crate) fn new(small: Places, large: Places) -> Self {
        let words = LEFT_OUT + small.count * SMALL_WORDS + large.count * STRIDE;
        Chunks {
            heads: heads(small.count + large.count),
            words: Words::new(if cfg!(loom) { large.count * STRIDE } else { words }),
            small: IndexStack::new(small),
            large: IndexStack::new(large),
            first_large: small.count as u32,
            acquired: AtomicU64::new(0),
            reader: Mutex::new(Vec::new()),
        }
    }

    /// Acquires an empty chunk for a record of this many words. Only the caller may write the chunk, until it is detached. If no
    /// chunk of the preferred size is free, the other size is used if the record fits; if none is free, returns `None`.
    pub(crate) fn acquire(&self, words: usize, prefer_small: bool) -> Option<u32> {
        let small = || (words <= SMALL_WORDS).then(|| self.small.pop()).flatten();
        let large = || self.large.pop().map(|index| index + self.first_large);
        let index = if prefer_small { small().or_else(large) } else { large().or_else(small) }?;
        let head = &self.heads[index as usize];
        let left_out = self.left_out(index);
        head.read.store(left_out, Relaxed);
        head.len.store(left_out, Relaxed);
        head.order.store(self.acquired.fetch_add(1, Relaxed), Relaxed);
        head.state.store(OWNED, Release);
        Some(index)
    }

    /// Returns the pointers for writing a chunk.
    pub(crate) fn writer(&self, index: u32) -> Writer<'_> {
        let left_out = self.left_out(index);
        Writer {
            index,
            words: self.words.place(self.place(index) - left_out as usize),
            written: left_out,
            published: &self.heads[index as usize].len,
        }
    }

    /// Detaches a chunk, which the reader then recycles. The writer must not touch the chunk again.
    pub(crate) fn detach(&self, index: u32) {
        self.heads[index as usize].state.store(DETACHED, Release);
    }

    /// Prepares the memory of the next chunks before they are used for the first time.
    #[cfg(not(loom))]
    pub(crate) fn prepare(&self) {
        let words = |next: Range<usize>, first: u32| {
            let [start, end] = [next.start, next.end].map(|index| self.place(index as u32 + first));
            self.words.prepare(start..end);
        };
        self.small.prepare(SMALL_AHEAD, |next| words(next, 0));
        self.large.prepare(LARGE_AHEAD, |next| words(next, self.first_large));
    }

    fn left_out(&self, index: u32) -> u32 {
        if index < self.first_large { LEFT_OUT as u32 } else { 0 }
    }

    /// Returns the index of a chunk's first word.
    fn place(&self, index: u32) -> usize {
        let front = if cfg!(loom) { 0 } else { LEFT_OUT };
        match index.checked_sub(self.first_large) {
            None => front + index as usize * SMALL_WORDS,
            Some(large) => front + self.first_large as usize * SMALL_WORDS + large as usize * STRIDE,
        }
    }

    /// Calls `take` with each run of published, unread words, the chunks in the order in which they were acquired, and recycles
    /// detached chunks. Stops before a chunk if `go_on` returns false. Returns whether all chunks were visited.
    pub(crate) fn drain(&self, go_on: impl Fn() -> bool, mut take: impl FnMut(&[Word])) -> bool {
        // SAFETY: `for_each_run` passes words that were published and not yet read, and holds the reader's lock.
        self.for_each_run(true, go_on, |at, len| take(unsafe { self.words.read(at, len) }))
    }

    /// Calls `look` with each run of published, unread words, and leaves them unread.
    pub(crate) fn peek(&self, mut look: impl FnMut(&[Word])) {
        // SAFETY: as in `drain`.
        self.for_each_run(false, || true, |at, len| look(unsafe { self.words.read(at, len) }));
    }

    fn for_each_run(&self, take: bool, go_on: impl Fn() -> bool, mut visit: impl FnMut(usize, usize)) -> bool {
        let mut used = lock(&self.reader);
        used.clear();
        let small = 0..self.small.touched() as u32;
        let large = self.first_large..self.first_large + self.large.touched() as u32;
        let in_use = small.chain(large).filter(|index| self.heads[*index as usize].state.load(Acquire) != FREE);
        used.extend(in_use.map(|index| (self.heads[index as usize].order.load(Relaxed), index)));
        used.sort_unstable();
        for (_, index) in used.iter().copied() {
            if !go_on() {
                return false;
            }
            let head = &self.heads[index as usize];
            // The state is loaded first: once it is DETACHED, the length does not change any more.
            let state = head.state.load(Acquire);
            let (read, len) = (head.read.load(Relaxed), head.len.load(Acquire));
            // Before the visit: if `visit` panics, records are lost and not read twice.
            if take {
                head.read.store(len, Relaxed);
            }
            if read < len {
                visit(self.place(index) + (read - self.left_out(index)) as usize, (len - read) as usize);
            }
            if take && state == DETACHED {
                self.recycle(index);
            }
        }
        true
    }

    fn recycle(&self, index: u32) {
        self.heads[index as usize].state.store(FREE, Relaxed);
        match index.checked_sub(self.first_large) {
            None => self.small.push(index),
            Some(large) => self.large.push(large),
        }
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;

    impl Chunks {
        fn publish(&self, index: u32, at: u32, value: u64) {
            self.words.write(index as usize * STRIDE + at as usize, value);
            self.heads[index as usize].len.store(at + 1, Release);
        }

        fn recycle_all(&self) {
            while self.acquire(1, false).is_some() {}
            (0..self.heads.len() as u32).for_each(|index| self.recycle(index));
        }

        fn drained(&self) -> Vec<u64> {
            let mut seen = Vec::new();
            self.for_each_run(true, || true, |at, len| seen.extend((at..at + len).map(|at| self.words.get(at))));
            seen
        }
    }

    /// Writes `values` as the recorder does: a chunk at a time, detached when full; values without a free chunk are dropped.
    fn write_all(chunks: &Chunks, values: std::ops::Range<u64>) -> usize {
        let (mut chunk, mut at, mut dropped) = (None, 0, 0);
        for value in values {
            if chunk.is_none() || at == STRIDE as u32 {
                chunk.take().inspect(|full| chunks.detach(*full));
                (chunk, at) = (chunks.acquire(1, false), 0);
            }
            match chunk {
                Some(index) => chunks.publish(index, at, value),
                None => dropped += 1,
            }
            at += 1;
        }
        chunk.inspect(|last| chunks.detach(*last));
        dropped
    }

    #[test]
    fn a_reader_beside_a_writer_sees_each_record_once() {
        loom::model(|| {
            let chunks = loom::sync::Arc::new(Chunks::new(Places::fixed(0), Places::fixed(2)));
            // All chunks were used before, so the reader learns nothing from whether a chunk was ever acquired.
            chunks.recycle_all();
            let writer = loom::thread::spawn({
                let chunks = chunks.clone();
                move || write_all(&chunks, 1..4)
            });
            let mut seen = chunks.drained();
            let dropped = writer.join().unwrap();
            seen.extend(chunks.drained());
            assert_eq!(seen.len() + dropped, 3);
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len() + dropped, 3, "a record was read twice: {seen:?}");
            assert!(
                chunks.acquire(1, false).is_some() && chunks.acquire(1, false).is_some(),
                "both chunks are free again"
            );
        });
    }

    #[test]
    fn two_writers_share_one_pool() {
        loom::model(|| {
            let chunks = loom::sync::Arc::new(Chunks::new(Places::fixed(0), Places::fixed(2)));
            let writer = loom::thread::spawn({
                let chunks = chunks.clone();
                move || write_all(&chunks, 1..3)
            });
            let dropped = write_all(&chunks, 3..5) + writer.join().unwrap();
            let mut seen = chunks.drained();
            seen.sort_unstable();
            assert_eq!((seen, dropped), (vec![1, 2, 3, 4], 0));
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn write(chunks: &Chunks, index: u32, at: usize, value: u64) {
        let Writer { words, written, published, .. } = chunks.writer(index);
        // SAFETY: this test owns the chunk and `at` is within it.
        unsafe { words.add(written as usize + at).write(Word::bits(value)) };
        published.store(written + at as u32 + 1, Release);
    }

    fn drained(chunks: &Chunks) -> Vec<u64> {
        let mut seen = Vec::new();
        // SAFETY: `write` writes only words of bits.
        chunks.drain(|| true, |words| seen.extend(words.iter().map(|word| unsafe { word.as_bits() })));
        seen
    }

    #[test]
    fn a_reader_that_stops_goes_on_where_it_stopped() {
        let chunks = Chunks::new(Places::fixed(0), Places::fixed(3));
        for value in 0..3 {
            let index = chunks.acquire(1, false).unwrap();
            write(&chunks, index, 0, value);
            chunks.detach(index);
        }
        let (left, mut seen) = (std::cell::Cell::new(1_u32), Vec::new());
        let go_on = || left.replace(left.get().saturating_sub(1)) > 0;
        // SAFETY: `write` writes only words of bits.
        let ended = chunks.drain(go_on, |words| seen.extend(words.iter().map(|word| unsafe { word.as_bits() })));
        assert!(!ended && seen.len() == 1);
        seen.extend(drained(&chunks));
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2]);
    }

    #[test]
    fn a_chunk_that_is_still_written_is_drained_and_recycled_once_detached() {
        let chunks = Chunks::new(Places::fixed(0), Places::fixed(1));
        let index = chunks.acquire(1, false).unwrap();
        write(&chunks, index, 0, 7);
        assert_eq!(drained(&chunks), [7]);
        assert_eq!(drained(&chunks), [0_u64; 0]);
        write(&chunks, index, 1, 8);
        assert!(chunks.acquire(1, false).is_none());
        chunks.detach(index);
        assert_eq!(drained(&chunks), [8]);
        assert_eq!(chunks.acquire(1, false), Some(index));
    }

    #[test]
    fn small_chunks_are_filled_to_their_last_word_and_read_back() {
        let chunks = Chunks::new(Places::fixed(2), Places::fixed(1));
        let taken: Vec<_> = std::iter::from_fn(|| chunks.acquire(1, true)).collect();
        assert_eq!(taken, [0, 1, 2], "the large one if there is no small one");
        for index in [0, 1] {
            (0..SMALL_WORDS).for_each(|at| write(&chunks, index, at, u64::from(index)));
            assert_eq!(chunks.heads[index as usize].len.load(Relaxed), CHUNK_WORDS as u32);
        }
        (0..CHUNK_WORDS).for_each(|at| write(&chunks, 2, at, 2));
        let seen = drained(&chunks);
        let expected = [(0, SMALL_WORDS), (1, SMALL_WORDS), (2, CHUNK_WORDS)];
        assert_eq!(seen, expected.map(|(value, words)| vec![value; words]).concat());
        taken.iter().for_each(|index| chunks.detach(*index));
        assert_eq!(drained(&chunks), [0_u64; 0]);
        assert_eq!(chunks.acquire(SMALL_WORDS + 1, true), Some(2), "a large one, though small ones are free");
    }
}
