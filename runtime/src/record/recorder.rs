//! The process's recorder: the pools behind all threads, the reading side, and the account of what became of each span.

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

/// How much the recorder may hold. The memory is touched only as it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capacity {
    /// Chunks of 16 KiB for finished spans. Each thread that ends spans holds one, so there should be more than threads.
    pub(crate) chunks: usize,
    /// Blocks of 512 bytes for open spans; a span takes one, or more if much is recorded on it.
    pub(crate) blocks: usize,
}

impl Default for Capacity {
    /// 32 MiB for finished spans, so that 2,048 threads may end some at the same time, and 8 MiB for open ones.
    fn default() -> Self {
        if cfg!(miri) { Capacity { chunks: 16, blocks: 256 } } else { Capacity { chunks: 2_048, blocks: 16_384 } }
    }
}

pub(crate) struct Recorder {
    pub(crate) blocks: Blocks,
    pub(crate) chunks: Chunks,
    pub(crate) threads: Threads,
    taken: AtomicU64,
    /// Ids of spans that were taken while they were open. When such a span ends, it was told of already.
    unfinished: Mutex<HashSet<u64>>,
    /// Spans that ended after they were taken so.
    ended_again: AtomicU64,
    /// Spans that began, and that ended, where no thread's counters could be reached.
    lost_started: AtomicU64,
    lost_ended: AtomicU64,
}

/// How much memory the recorder gets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Memory {
    Exactly(Capacity),
    /// What it needs of a memory limit: its reserved minimum, and of the rest what is left.
    Within(usize),
}

/// The memory limit where nobody named one.
pub(crate) const DEFAULT_MEMORY_LIMIT: usize = if cfg!(miri) { 1 << 19 } else { 64 << 20 };

/// Bytes of a memory limit that open spans have in any case, that ended spans have, and that the recorder leaves to others.
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
        // Each kind could need all of it. Where the system gives no such address space, there are fewer places.
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

    /// The bytes of the limit that are reserved for nobody.
    fn shared(self) -> usize {
        match self {
            Memory::Exactly(_) => 0,
            Memory::Within(limit) => limit.max(LEAST) - reserved(limit.max(LEAST)).iter().sum::<usize>(),
        }
    }
}

/// The smallest limit.
const LEAST: usize = 1 << 18;

/// Of chunks and of blocks, whatever is asked for.
const MOST: usize = if cfg!(target_pointer_width = "64") { 1 << 19 } else { 1 << 14 };

static RECORDER: AtomicPtr<Recorder> = AtomicPtr::new(ptr::null_mut());

pub(crate) fn get() -> Option<&'static Recorder> {
    // SAFETY: only `install` stores here, and only leaked boxes.
    unsafe { RECORDER.load(Acquire).as_ref() }
}

/// The recorder, made with this memory if there is none yet.
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
            // SAFETY: `new` was made above and nobody else has seen it.
            drop(unsafe { Box::from_raw(new) });
            other
        }
    };
    // SAFETY: a leaked box, as in `get`.
    unsafe { &*winner }
}

/// Leaves the recorder to the parent process. For a forked child, which has one thread.
pub(crate) fn abandon() {
    if let Some(recorder) = get() {
        recorder.blocks.orphan_all();
    }
    RECORDER.store(ptr::null_mut(), Relaxed);
}

impl Recorder {
    /// Hands finished records to `take`, each once, for as long as `go_on` says so; whether that was all of them.
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
                // One reader at a time: the chunks' lock is held.
                self.taken.store(self.taken.load(Relaxed) + 1, Relaxed);
            });
        })
    }

    /// The heads of recorded spans that are open now.
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

    /// Takes an open span: it counts as ended from now on. When it really ends, that is not counted again.
    #[cfg(has_otlp)]
    pub(crate) fn take_unfinished(&self, span_id: u64) -> bool {
        lock(&self.unfinished).insert(span_id)
    }

    /// Spans that were taken as unfinished and are open.
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

    /// Has memory ready ahead of demand, so that callers do not wait for the kernel to map it.
    fn prepare(&self) {
        #[cfg(not(loom))]
        {
            self.blocks.prepare();
            self.chunks.prepare();
        }
    }

    /// Counts a span that ends on a thread which is being torn down.
    pub(crate) fn count_lost_end(&self) {
        self.lost_ended.fetch_add(1, Relaxed);
    }

    /// Counts a span that begins there.
    pub(crate) fn count_lost_start(&self) {
        self.lost_started.fetch_add(1, Relaxed);
    }

    /// Counts a span that begins there and finds no block: it ends at once.
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
    // SAFETY: chunks are written with whole records only, and published record by record.
    while let Some((record, rest)) = unsafe { Record::split(run) } {
        visit(record);
        run = rest;
    }
}

/// What became of every span of this process. At rest `ended == taken + buffered + dropped.total()`, exactly.
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
    /// Sampled spans that have started and not ended, without those that were taken as unfinished.
    pub open: u64,
    /// Ended spans that the reader has taken.
    pub taken: u64,
    /// Ended spans that wait for the reader.
    pub buffered: u64,
    /// Ended spans that were not kept.
    pub dropped: Dropped,
    /// Spans and contexts that were still entered when the one around them ended: guards that were leaked, and coroutines
    /// that were suspended inside a span. Nothing is lost; spans that begin in them later have another parent, or none.
    pub cut_off: u64,
    /// Spans that ended after they had been taken as unfinished.
    pub(crate) ended_again: u64,
}

/// Spans that were not kept, by reason.
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
    /// All chunks were full: the reader is slower than the spans come.
    pub span_buffer_full: u64,
    /// Too many spans were open at once.
    pub too_many_open_spans: u64,
    /// The span ended while its thread was being torn down.
    pub thread_exit: u64,
}

impl Dropped {
    /// Those that were counted since.
    #[cfg(has_otlp)]
    pub(crate) fn since(&self, before: &Dropped) -> Dropped {
        Dropped {
            span_buffer_full: self.span_buffer_full - before.span_buffer_full,
            too_many_open_spans: self.too_many_open_spans - before.too_many_open_spans,
            thread_exit: self.thread_exit - before.thread_exit,
        }
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.span_buffer_full + self.too_many_open_spans + self.thread_exit
    }
}
