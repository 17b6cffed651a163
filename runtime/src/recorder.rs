//! The process's recorder: the pools behind all threads, the reading side, and the account of what became of each span.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed};

use crate::block::Blocks;
use crate::chunk::Chunks;
use crate::record::Record;
use crate::threads::{REASONS, Reason, ThreadCounts, Threads};
use crate::word::Word;

/// How much the recorder may hold. The memory is touched only as it is needed.
///
/// ```
/// use tracecast::{Capacity, RecordingConfig};
///
/// let capacity = Capacity { chunks: 64, ..Capacity::default() }; // 1 MiB for finished spans
/// let config = RecordingConfig { capacity, ..RecordingConfig::default() };
/// assert_eq!(config.capacity.chunks, 64);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Chunks of 16 KiB for finished spans. Each thread that ends spans holds one, so there should be more than threads.
    pub chunks: usize,
    /// Blocks of 512 bytes for open spans; a span takes one, or more if much is recorded on it.
    pub blocks: usize,
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
    /// Spans that began, and that ended, where no thread's counters could be reached.
    lost_started: AtomicU64,
    lost_ended: AtomicU64,
}

/// Of chunks and of blocks, whatever is asked for: 8 GiB of either.
const MOST: usize = if cfg!(target_pointer_width = "64") { 1 << 19 } else { 1 << 14 };

static RECORDER: AtomicPtr<Recorder> = AtomicPtr::new(ptr::null_mut());

pub(crate) fn get() -> Option<&'static Recorder> {
    // SAFETY: only `install` stores here, and only leaked boxes.
    unsafe { RECORDER.load(Acquire).as_ref() }
}

/// The recorder, made with this capacity if there is none yet.
pub(crate) fn install(capacity: Capacity) -> &'static Recorder {
    if let Some(recorder) = get() {
        return recorder;
    }
    let new = Box::into_raw(Box::new(Recorder {
        blocks: Blocks::new(capacity.blocks.clamp(1, MOST)),
        chunks: Chunks::new(capacity.chunks.clamp(1, MOST)),
        threads: Threads::new(),
        taken: AtomicU64::new(0),
        lost_started: AtomicU64::new(0),
        lost_ended: AtomicU64::new(0),
    }));
    let winner = match RECORDER.compare_exchange(ptr::null_mut(), new, AcqRel, Acquire) {
        Ok(_) => new,
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
        self.chunks.drain(go_on, |run| {
            for_each_record(run, |record| {
                take(&record);
                record.release();
                // One reader at a time: the chunks' lock is held.
                self.taken.store(self.taken.load(Relaxed) + 1, Relaxed);
            });
        })
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
        let mut buffered = 0;
        self.chunks.peek(|run| for_each_record(run, |_| buffered += 1));
        let ended = sum(|counts| &counts.ended).wrapping_add(lost);
        Accounting {
            ended,
            open: sum(|counts| &counts.started).wrapping_add(self.lost_started.load(Relaxed)).saturating_sub(ended),
            taken: self.taken.load(Relaxed),
            buffered,
            dropped: Dropped {
                no_chunk: dropped[Reason::NoChunk as usize],
                no_block: dropped[Reason::NoBlock as usize],
                thread_exit: dropped[Reason::ThreadExit as usize] + lost,
            },
        }
    }
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
/// use tracecast::{Kind, Recording, RecordingConfig, Span};
///
/// let recording = Recording::start(RecordingConfig::default())?;
/// Span::builder("Store/Get", Kind::Internal).start().end();
/// let accounting = recording.accounting();
/// assert_eq!((accounting.ended, accounting.buffered, accounting.dropped.total()), (1, 1, 0));
/// # Ok::<(), tracecast::AlreadyRecording>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Accounting {
    /// Sampled spans that have ended.
    pub ended: u64,
    /// Sampled spans that have started and not ended.
    pub open: u64,
    /// Ended spans that the reader has taken.
    pub taken: u64,
    /// Ended spans that wait for the reader.
    pub buffered: u64,
    /// Ended spans that were not kept.
    pub dropped: Dropped,
}

/// Spans that were not kept, by reason.
///
/// ```
/// use tracecast::{Recording, RecordingConfig};
///
/// let recording = Recording::start(RecordingConfig::default())?;
/// let dropped = recording.accounting().dropped;
/// assert_eq!((dropped.no_chunk, dropped.no_block, dropped.total()), (0, 0, 0));
/// # Ok::<(), tracecast::AlreadyRecording>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropped {
    /// All chunks were full: the reader is slower than the spans come.
    pub no_chunk: u64,
    /// Too many spans were open at once.
    pub no_block: u64,
    /// The span ended while its thread was being torn down.
    pub thread_exit: u64,
}

impl Dropped {
    /// Those that were counted since.
    #[cfg(feature = "otlp")]
    pub(crate) fn since(&self, before: &Dropped) -> Dropped {
        Dropped {
            no_chunk: self.no_chunk - before.no_chunk,
            no_block: self.no_block - before.no_block,
            thread_exit: self.thread_exit - before.thread_exit,
        }
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.no_chunk + self.no_block + self.thread_exit
    }
}
