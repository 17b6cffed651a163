//! Chunks: the memory in which finished records wait for their reader.
//!
//! All chunks come from one bounded pool. A chunk has one writer at a time, which appends and publishes a length; the
//! one reader takes what is published, also from a chunk that is still being written, so that records of an idle
//! thread are not stuck. A writer that is done detaches the chunk; the reader recycles it once it has read it all.

use crate::stack::IndexStack;
use crate::sync::{Acquire, AtomicU32, Mutex, Relaxed, Release, Words, lock};
use crate::word::Word;

/// The size of a chunk, and so of the largest record: 16 KiB.
pub(crate) const CHUNK_WORDS: usize = 2048;
/// How far apart chunks lie. The model gets by with two words each.
const STRIDE: usize = if cfg!(loom) { 2 } else { CHUNK_WORDS };

const FREE: u32 = 0;
const OWNED: u32 = 1;
const DETACHED: u32 = 2;

pub(crate) struct Chunks {
    heads: Box<[Head]>,
    words: Words,
    free: IndexStack,
    /// The one reader, and the chunk at which it goes on.
    reader: Mutex<usize>,
}

/// Two cache lines of its own: the length is stored at every record, and neighbours must not feel it.
#[repr(align(128))]
struct Head {
    /// Words published by the writer.
    len: AtomicU32,
    state: AtomicU32,
    /// Words taken by the reader; touched under its lock only.
    read: AtomicU32,
}

impl Chunks {
    pub(crate) fn new(count: usize) -> Self {
        let head = || Head { len: AtomicU32::new(0), state: AtomicU32::new(FREE), read: AtomicU32::new(0) };
        Chunks {
            heads: (0..count).map(|_| head()).collect(),
            words: Words::new(count * STRIDE),
            free: IndexStack::new(count),
            reader: Mutex::new(0),
        }
    }

    /// An empty chunk that the caller alone may write until it detaches it.
    pub(crate) fn acquire(&self) -> Option<u32> {
        let index = self.free.pop()?;
        self.heads[index as usize].state.store(OWNED, Release);
        Some(index)
    }

    /// Where the words of a chunk begin, and where its length is published (with Release, after the words).
    pub(crate) fn writer(&self, index: u32) -> (*mut Word, &AtomicU32) {
        (self.words.place(index as usize * STRIDE), &self.heads[index as usize].len)
    }

    /// Gives a chunk up. Its writer does not touch it again.
    pub(crate) fn detach(&self, index: u32) {
        self.heads[index as usize].state.store(DETACHED, Release);
    }

    /// Hands every published and unread run of words to `take`, oldest first within a chunk, and recycles what was detached.
    /// Stops before a chunk if `go_on` says no, and goes on there the next time; says whether it came to the end.
    pub(crate) fn drain(&self, go_on: impl Fn() -> bool, mut take: impl FnMut(&[Word])) -> bool {
        // SAFETY: `for_each_run` names words that were published and not yet read, and holds the reader's lock.
        self.for_each_run(true, go_on, |at, len| take(unsafe { self.words.read(at, len) }))
    }

    /// As `drain`, but leaves everything where it is.
    pub(crate) fn peek(&self, mut look: impl FnMut(&[Word])) {
        // SAFETY: as in `drain`.
        self.for_each_run(false, || true, |at, len| look(unsafe { self.words.read(at, len) }));
    }

    fn for_each_run(&self, take: bool, go_on: impl Fn() -> bool, mut visit: impl FnMut(usize, usize)) -> bool {
        let mut first = lock(&self.reader);
        let touched = self.free.touched();
        for step in 0..touched {
            let index = (*first + step) % touched;
            if !go_on() {
                *first = index;
                return false;
            }
            let head = &self.heads[index];
            // The state first: once it is DETACHED the length does not change any more.
            let state = head.state.load(Acquire);
            if state == FREE {
                continue;
            }
            let (read, len) = (head.read.load(Relaxed), head.len.load(Acquire));
            // Before the visit: if it panics, records are lost, and not read twice.
            if take {
                head.read.store(len, Relaxed);
            }
            if read < len {
                visit(index * STRIDE + read as usize, (len - read) as usize);
            }
            if take && state == DETACHED {
                self.recycle(index as u32);
            }
        }
        if take {
            *first = 0;
        }
        true
    }

    fn recycle(&self, index: u32) {
        let head = &self.heads[index as usize];
        head.read.store(0, Relaxed);
        head.len.store(0, Relaxed);
        head.state.store(FREE, Relaxed);
        self.free.push(index);
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
            while self.acquire().is_some() {}
            (0..self.heads.len() as u32).for_each(|index| self.recycle(index));
        }

        fn drained(&self) -> Vec<u64> {
            let mut seen = Vec::new();
            self.for_each_run(true, || true, |at, len| seen.extend((at..at + len).map(|at| self.words.get(at))));
            seen
        }
    }

    /// Writes `values` as the recorder does: a chunk at a time, detached when full; what finds no chunk is dropped.
    fn write_all(chunks: &Chunks, values: std::ops::Range<u64>) -> usize {
        let (mut chunk, mut at, mut dropped) = (None, 0, 0);
        for value in values {
            if chunk.is_none() || at == STRIDE as u32 {
                chunk.take().inspect(|full| chunks.detach(*full));
                (chunk, at) = (chunks.acquire(), 0);
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
            let chunks = loom::sync::Arc::new(Chunks::new(2));
            // The chunks were used before: whether one was ever handed out is then no news to the reader.
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
            assert!(chunks.acquire().is_some() && chunks.acquire().is_some(), "both chunks are free again");
        });
    }

    #[test]
    fn two_writers_share_one_pool() {
        loom::model(|| {
            let chunks = loom::sync::Arc::new(Chunks::new(2));
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
        let (words, len) = chunks.writer(index);
        // SAFETY: this test owns the chunk and `at` is within it.
        unsafe { words.add(at).write(Word::bits(value)) };
        len.store(at as u32 + 1, Release);
    }

    fn drained(chunks: &Chunks) -> Vec<u64> {
        let mut seen = Vec::new();
        // SAFETY: `write` makes only words of bits.
        chunks.drain(|| true, |words| seen.extend(words.iter().map(|word| unsafe { word.as_bits() })));
        seen
    }

    #[test]
    fn a_reader_that_stops_goes_on_where_it_stopped() {
        let chunks = Chunks::new(3);
        for value in 0..3 {
            let index = chunks.acquire().unwrap();
            write(&chunks, index, 0, value);
            chunks.detach(index);
        }
        let (left, mut seen) = (std::cell::Cell::new(1_u32), Vec::new());
        let go_on = || left.replace(left.get().saturating_sub(1)) > 0;
        // SAFETY: `write` makes only words of bits.
        let ended = chunks.drain(go_on, |words| seen.extend(words.iter().map(|word| unsafe { word.as_bits() })));
        assert!(!ended && seen.len() == 1);
        seen.extend(drained(&chunks));
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2]);
    }

    #[test]
    fn a_chunk_that_is_still_written_is_drained_and_recycled_once_detached() {
        let chunks = Chunks::new(1);
        let index = chunks.acquire().unwrap();
        write(&chunks, index, 0, 7);
        assert_eq!(drained(&chunks), [7]);
        assert_eq!(drained(&chunks), [0_u64; 0]);
        write(&chunks, index, 1, 8);
        assert!(chunks.acquire().is_none());
        chunks.detach(index);
        assert_eq!(drained(&chunks), [8]);
        assert_eq!(chunks.acquire(), Some(index));
    }
}
