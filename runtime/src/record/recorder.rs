//! The process's recorder: the pools shared by all threads, the reading side, and the accounting of all spans.

use std::collections::HashSet;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::memory::{self, Places};
use crate::base::word::Word;
use crate::record::block::{Block, Blocks};
#[cfg(has_otlp)]
use crate::record::block::{CAPTURED, Head, ORPHANED, RECORDING};
use crate::record::chunk::{CHUNK_WORDS, Chunks, SMALL_WORDS};
use crate::record::layout::Record;
use crate::record::threads::{REASONS, Reason, ThreadCounts, Threads};

/// The capacity of the recorder. Its memory is touched only when it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capacity {
    /// Chunks of 16 KiB for finished spans. Each thread that ends spans holds a chunk, so there should be more chunks than
    /// threads.
    pub(crate) chunks: usize,
    /// Blocks of 512 bytes for open spans; a span uses one, or more if much is recorded on it.
    pub(crate) blocks: usize,
}

impl Default for Capacity {
    /// 32 MiB for finished spans, so that 2,048 threads may end spans at the same time, and 8 MiB for open ones.
    fn default() -> Self {
        if cfg!(miri) { Capacity { chunks: 16, blocks: 256 } } else { Capacity { chunks: 2_048, blocks: 16_384 } }
    }
}

pub(crate) struct Recorder {
    pub(crate) blocks: Blocks,
    pub(crate) chunks: Chunks,
    pub(crate) threads: Threads,
    taken: AtomicU64,
    /// Ids of spans that were taken while they were open. When such a span ends, it is not exported again.
    unfinished: Mutex<HashSet<u64>>,
    /// Spans that ended after they had been taken as unfinished.
    ended_again: AtomicU64,
    /// The numbers of spans that began and of spans that ended on a thread whose counters were gone.
    lost_started: AtomicU64,
    lost_ended: AtomicU64,
}

/// The memory of the recorder.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Memory {
    Exactly(Capacity),
    /// A memory limit that the recorder shares with other users of memory. The recorder has a reserved minimum, and uses free
    /// memory of the part that is not reserved.
    Within(usize),
}

/// The default memory limit.
pub(crate) const DEFAULT_MEMORY_LIMIT: usize = if cfg!(miri) { 1 << 19 } else { 64 << 20 };

/// Bytes of a memory limit that are reserved for open spans, for ended spans, and for everything outside the recorder.
const fn reserved(limit: usize) -> [usize; 3] {
    [limit / 8, limit / 8, limit / 8 * 3]
}

impl Memory {
    fn places(self) -> [Places; 3] {
        let limit = match self {
            Memory::Exactly(Capacity { chunks, blocks }) => {
                let [blocks, chunks] = [blocks, chunks].map(|count| Places::fixed(count.clamp(1, MOST)));
                return [blocks, Places::fixed(0), chunks];
            }
            Memory::Within(limit) => limit.max(LEAST),
        };
        let [open, ended, _] = reserved(limit);
        // Each kind could need all of the shared part. If the system does not provide that much address space, there are fewer
        // places.
        let mut space = limit;
        while space > LEAST && !memory::is_reservable(3 * space) {
            space /= 2;
        }
        [
            Places::within(space, open, size_of::<Block>(), MOST),
            Places::within(space, ended / 2, SMALL_WORDS * 8, MOST),
            Places::within(space, ended / 2, CHUNK_WORDS * 8, MOST),
        ]
    }

    /// Returns the bytes of the limit that are not reserved.
    fn shared(self) -> usize {
        match self {
            Memory::Exactly(_) => 0,
            Memory::Within(limit) => limit.max(LEAST) - reserved(limit.max(LEAST)).iter().sum::<usize>(),
        }
    }
}

/// The minimum memory limit.
const LEAST: usize = 1 << 18;

/// The maximum number of chunks and of blocks, whatever is configured.
const MOST: usize = if cfg!(target_pointer_width = "64") { 1 << 19 } else { 1 << 14 };

static RECORDER: AtomicPtr<Recorder> = AtomicPtr::new(ptr::null_mut());

pub(crate) fn get() -> Option<&'static Recorder> {
    // SAFETY: only `install` stores here, and only leaked boxes.
    unsafe { RECORDER.load(Acquire).as_ref() }
}

/// Returns the recorder; creates it with this memory if there is none yet.
pub(crate) fn install(memory: Memory) -> &'static Recorder {
    if let Some(recorder) = get() {
        return recorder;
    }
    let [blocks, small, large] = memory.places();
    let new = Box::into_raw(Box::new(Recorder {
        blocks: Blocks::new(blocks),
        chunks: Chunks::new(small, large),
        threads: Threads::new(),
        taken: AtomicU64::new(0),
        unfinished: Mutex::default(),
        ended_again: AtomicU64::new(0),
        lost_started: AtomicU64::new(0),
        lost_ended: AtomicU64::new(0),
    }));
    let winner = match RECORDER.compare_exchange(ptr::null_mut(), new, AcqRel, Acquire) {
        Ok(_) => {
            crate::base::memory::SHARED.set(memory.shared());
            new
        }
        Err(other) => {
            // SAFETY: `new` was created above and is not shared with any other thread.
            drop(unsafe { Box::from_raw(new) });
            other
        }
    };
    // SAFETY: a leaked box, as in `get`.
    unsafe { &*winner }
}

/// Detaches a forked child, which has one thread, from the recorder of the parent process.
pub(crate) fn abandon() {
    if let Some(recorder) = get() {
        recorder.blocks.orphan_all();
    }
    RECORDER.store(ptr::null_mut(), Relaxed);
}

impl Recorder {
    /// Calls `take` with each finished record once, until `go_on` returns false. Skips spans that were taken as unfinished.
    /// Returns whether all records were taken.
    pub(crate) fn drain(&self, go_on: impl Fn() -> bool, mut take: impl FnMut(&Record<'_>)) -> bool {
        self.prepare();
        let mut unfinished = lock(&self.unfinished);
        self.chunks.drain(go_on, |run| {
            for_each_record(run, |record| {
                if unfinished.is_empty() || !unfinished.remove(&record.span_id()) {
                    take(&record);
                } else {
                    self.ended_again.fetch_add(1, Relaxed);
                }
                record.release();
                // A single reader: the chunks' lock is held.
                self.taken.store(self.taken.load(Relaxed) + 1, Relaxed);
            });
        })
    }

    /// Returns the heads of the open recorded spans.
    #[cfg(has_otlp)]
    pub(crate) fn open_spans(&self) -> Vec<Head> {
        let mut open = Vec::new();
        self.blocks.for_each_open(|head| {
            if head.flags & (RECORDING | CAPTURED | ORPHANED) == RECORDING {
                open.push(head);
            }
        });
        open
    }

    /// Marks an open span as taken: it no longer counts as open, and its record is skipped when the span ends. Returns false if
    /// the span was marked before.
    #[cfg(has_otlp)]
    pub(crate) fn take_unfinished(&self, span_id: u64) -> bool {
        lock(&self.unfinished).insert(span_id)
    }

    /// Returns the number of spans that were taken as unfinished and are still open.
    fn open_unfinished(&self) -> u64 {
        #[cfg(has_otlp)]
        {
            let taken = lock(&self.unfinished).clone();
            if !taken.is_empty() {
                return self.open_spans().iter().filter(|head| taken.contains(&head.span_id)).count() as u64;
            }
        }
        0
    }

    /// Prepares memory ahead of demand, so that callers do not wait for the kernel to map it.
    fn prepare(&self) {
        #[cfg(not(loom))]
        {
            self.blocks.prepare();
            self.chunks.prepare();
        }
    }

    /// Counts a span that ends on a thread during its teardown.
    pub(crate) fn count_lost_end(&self) {
        self.lost_ended.fetch_add(1, Relaxed);
    }

    /// Counts a span that begins on a thread during its teardown.
    pub(crate) fn count_lost_start(&self) {
        self.lost_started.fetch_add(1, Relaxed);
    }

    /// Counts a span that begins on a thread during its teardown and finds no block, so it ends at once.
    pub(crate) fn count_lost(&self) {
        self.count_lost_start();
        self.count_lost_end();
    }

    pub(crate) fn accounting(&self) -> Accounting {
        let sum = |counter: fn(&ThreadCounts) -> &AtomicU64| {
            self.threads.iter().map(|counts| counter(counts).load(Relaxed)).fold(0, u64::wrapping_add)
        };
        let mut dropped = [0_u64; REASONS];
        for counts in self.threads.iter() {
            for (total, counter) in dropped.iter_mut().zip(&counts.dropped) {
                *total += counter.load(Relaxed);
            }
        }
        let lost = self.lost_ended.load(Relaxed);
        let unfinished = self.open_unfinished();
        let mut buffered = 0;
        self.chunks.peek(|run| for_each_record(run, |_| buffered += 1));
        let ended = sum(|counts| &counts.ended).wrapping_add(lost);
        Accounting {
            ended,
            open: sum(|counts| &counts.started)
                .wrapping_add(self.lost_started.load(Relaxed))
                .saturating_sub(ended + unfinished),
            taken: self.taken.load(Relaxed),
            buffered,
            cut_off: sum(|counts| &counts.cut_off),
            ended_again: self.ended_again.load(Relaxed),
            dropped: Dropped {
                span_buffer_full: dropped[Reason::SpanBufferFull as usize],
                too_many_open_spans: dropped[Reason::TooManyOpenSpans as usize],
                thread_exit: dropped[Reason::ThreadExit as usize] + lost,
            },
        }
    }
}

fn lock(unfinished: &Mutex<HashSet<u64>>) -> MutexGuard<'_, HashSet<u64>> {
    unfinished.lock().unwrap_or_else(PoisonError::into_inner)
}

fn for_each_record(mut run: &[Word], mut visit: impl FnMut(Record<'_>)) {
    // SAFETY: only whole records are written to chunks, and published record by record.
    while let Some((record, rest)) = unsafe { Record::split(run) } {
        visit(record);
        run = rest;
    }
}

/// The accounting of all spans of this process. At rest `ended == taken + buffered + dropped.total()` holds exactly.
///
/// ```
/// use tracecast::{Kind, Span};
/// use tracecast::testing::{Recording, RecordingConfig};
///
/// let recording = Recording::start(RecordingConfig::default())?;
/// Span::builder("Store/Get", Kind::Internal).start().end();
/// let accounting = recording.accounting();
/// assert_eq!((accounting.ended, accounting.buffered, accounting.dropped.total()), (1, 1, 0));
/// # Ok::<(), tracecast::testing::AlreadyRecording>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Accounting {
    /// Sampled spans that have ended.
    pub ended: u64,
    /// Sampled spans that have started and not ended, except those that were taken as unfinished.
    pub open: u64,
    /// Ended spans that the reader has taken.
    pub taken: u64,
    /// Ended spans that are waiting for the reader.
    pub buffered: u64,
    /// Ended spans that were dropped.
    pub dropped: Dropped,
    /// Spans and contexts that were still entered when an outer one ended: leaked guards, and coroutines that were suspended
    /// inside a span. No span is lost, but spans that begin in them later have another parent, or none.
    pub cut_off: u64,
    /// Spans that ended after they had been taken as unfinished.
    pub(crate) ended_again: u64,
}

/// Dropped spans, by reason.
///
/// ```
/// use tracecast::testing::{Recording, RecordingConfig};
///
/// let recording = Recording::start(RecordingConfig::default())?;
/// let dropped = recording.accounting().dropped;
/// assert_eq!((dropped.span_buffer_full, dropped.too_many_open_spans, dropped.total()), (0, 0, 0));
/// # Ok::<(), tracecast::testing::AlreadyRecording>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropped {
    /// All chunks were full: spans end faster than the reader takes them.
    pub span_buffer_full: u64,
    /// Too many spans were open at once.
    pub too_many_open_spans: u64,
    /// The span ended during its thread's teardown.
    pub thread_exit: u64,
}

impl Dropped {
    /// Returns the counts since `before`.
    #[cfg(has_otlp)]
    pub(crate) fn since(&self, before: &Dropped) -> Dropped {
        Dropped {
            span_buffer_full: self.span_buffer_full - before.span_buffer_full,
            too_many_open_spans: self.too_many_open_spans - before.too_many_open_spans,
            thread_exit: self.thread_exit - before.thread_exit,
        }
    }

    /// Returns the sum of all reasons.
    pub fn total(&self) -> u64 {
        self.span_buffer_full + self.too_many_open_spans + self.thread_exit
    }
}
