//! Trace and span ids, from a generator per thread that the operating system seeds.
//!
//! Span ids come from wyrand. Trace ids come from 128 bits of state: the number of the thread's stream, which is unique in the
//! process, and a position in it. A permutation maps the two to an id, so two threads of a process cannot produce the same trace
//! id.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Identifies a trace: 16 bytes, not all zero in a valid id.
///
/// ```
/// use tracecast::TraceId;
///
/// assert_eq!(TraceId(0xa).to_string(), "0000000000000000000000000000000a");
/// assert!(!TraceId::default().is_valid());
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TraceId(pub u128);

/// Identifies a span in its trace: 8 bytes, not all zero in a valid id.
///
/// ```
/// use tracecast::SpanId;
///
/// assert_eq!(SpanId(0xb).to_string(), "000000000000000b");
/// assert!(!SpanId::default().is_valid());
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpanId(pub u64);

macro_rules! hex {
    ($($id:ty: $width:literal),+) => {$(
        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!("{:0", $width, "x}"), self.0)
            }
        }
        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
        impl $id {
            /// Returns whether the id is not zero.
            pub const fn is_valid(self) -> bool {
                self.0 != 0
            }
        }
    )+};
}

hex!(TraceId: 32, SpanId: 16);

/// The generator of one thread. `span` is zero before the generator is seeded and after a fork; callers that create ids call
/// `ensure_seeded` first, off the hot path.
pub(crate) struct Generator {
    span: Cell<u64>,
    stream: Cell<u64>,
    position: Cell<u64>,
}

/// The number of the next stream of trace ids. It starts at a random number; zero means not yet initialised.
static NEXT_STREAM: AtomicU64 = AtomicU64::new(0);

impl Generator {
    pub(crate) const fn new() -> Self {
        Generator { span: Cell::new(0), stream: Cell::new(0), position: Cell::new(0) }
    }

    #[inline(always)]
    pub(crate) fn span_id(&self) -> u64 {
        loop {
            let state = self.span.get().wrapping_add(0xa076_1d64_78bd_642f);
            self.span.set(state);
            let id = mixed(state);
            if id != 0 {
                return id;
            }
        }
    }

    #[inline]
    pub(crate) fn trace_id(&self) -> u128 {
        loop {
            let position = self.position.get().wrapping_add(1);
            self.position.set(position);
            let id = permuted(self.stream.get(), position);
            // The lower half must not be zero either: some receivers keep only that half.
            if id as u64 != 0 {
                return id;
            }
        }
    }

    pub(crate) fn ensure_seeded(&self) {
        if self.span.get() == 0 {
            self.span.set(random().max(1));
            self.position.set(random());
            self.stream.set(new_stream());
        }
    }

    /// Discards the seed, so that later ids come from a new one. For a forked child, on its one thread.
    pub(crate) fn forget(&self) {
        self.span.set(0);
        NEXT_STREAM.store(0, Relaxed);
    }
}

fn new_stream() -> u64 {
    if NEXT_STREAM.load(Relaxed) == 0 {
        // If another thread was faster, its number is kept.
        let _ = NEXT_STREAM.compare_exchange(0, random().max(1), Relaxed, Relaxed);
    }
    NEXT_STREAM.fetch_add(1, Relaxed)
}

/// Maps a stream and a position to an id with a Feistel network of three rounds, so different inputs give different ids.
#[inline]
fn permuted(stream: u64, position: u64) -> u128 {
    let upper = stream ^ mixed(position);
    let lower = position ^ mixed(upper);
    let upper = upper ^ mixed(lower);
    (u128::from(upper) << 64) | u128::from(lower)
}

/// The output function of wyrand.
#[inline(always)]
fn mixed(state: u64) -> u64 {
    let product = u128::from(state) * u128::from(state ^ 0xe703_7ed1_a0b4_28db);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub(crate) fn random() -> u64 {
    let mut bytes = [0; 8];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u64::from_ne_bytes(bytes),
        Err(_) => hashed(),
    }
}

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub(crate) fn random() -> u64 {
    hashed()
}

/// Returns a seed where the system provides no randomness: from the hasher's keys, the process id and the time.
fn hashed() -> u64 {
    use std::hash::BuildHasher;
    let salt = if cfg!(target_family = "wasm") { 0 } else { std::process::id() };
    std::collections::hash_map::RandomState::new().hash_one((salt, crate::record::clock::unix_now()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_print_as_hex_of_full_width() {
        assert_eq!(TraceId(0xab).to_string(), "000000000000000000000000000000ab");
        assert_eq!(SpanId(0xab).to_string(), "00000000000000ab");
    }

    #[test]
    fn ids_differ_between_threads_and_after_a_fork() {
        let ids = || {
            let generator = Generator::new();
            generator.ensure_seeded();
            let first = generator.span_id();
            generator.forget();
            generator.ensure_seeded();
            [first, generator.span_id(), generator.span_id()]
        };
        let mut all: Vec<_> = (0..20).flat_map(|_| std::thread::spawn(ids).join().unwrap()).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 60);
    }

    #[test]
    fn streams_of_trace_ids_cannot_overlap() {
        let [first, second] = [Generator::new(), Generator::new()];
        first.ensure_seeded();
        second.ensure_seeded();
        // The worst case: every other number from the system is the same.
        second.span.set(first.span.get());
        second.position.set(first.position.get());
        let mut all: Vec<_> = (0..1_000).flat_map(|_| [first.trace_id(), second.trace_id()]).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2_000);
        assert_ne!(first.stream.get(), second.stream.get());
    }

    #[test]
    fn a_forked_child_draws_streams_of_its_own() {
        let generator = Generator::new();
        generator.ensure_seeded();
        let of_parent = generator.stream.get();
        generator.forget();
        generator.ensure_seeded();
        // Without a new seed, the next number would be that of the parent's next thread.
        assert!(generator.stream.get().abs_diff(of_parent) > 1 << 20);
    }

    /// Neighbouring positions and streams give ids whose bits are all independent of each other. Not run in miri: there is no
    /// unsafe code here, and so many ids would take minutes.
    #[test]
    #[cfg(not(miri))]
    fn each_bit_of_a_trace_id_is_set_in_half_of_them() {
        const IDS: u32 = 40_000;
        let mut of_bit = [0_u32; 128];
        let mut changed = [0_u32; 128];
        for at in 0..u64::from(IDS) {
            let id = permuted(7 + at % 4, at);
            let beside = permuted(7 + at % 4, at + 1);
            for bit in 0..128 {
                of_bit[bit] += (id >> bit) as u32 & 1;
                changed[bit] += ((id ^ beside) >> bit) as u32 & 1;
            }
        }
        // Five standard deviations are 500.
        for (bit, count) in of_bit.into_iter().chain(changed).enumerate() {
            assert!(count.abs_diff(IDS / 2) < 600, "bit {bit}: {count} of {IDS}");
        }
    }
}
