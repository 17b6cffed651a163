//! Trace and span ids: wyrand per thread, seeded by the operating system.

use std::cell::Cell;
use std::fmt;

/// Identifies a trace: 16 bytes, not all zero in a valid one.
///
/// ```
/// use tracecast::TraceId;
///
/// assert_eq!(TraceId(0xa).to_string(), "0000000000000000000000000000000a");
/// assert!(!TraceId::default().is_valid());
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TraceId(pub u128);

/// Identifies a span in its trace: 8 bytes, not all zero in a valid one.
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
            /// Whether it identifies anything.
            pub const fn is_valid(self) -> bool {
                self.0 != 0
            }
        }
    )+};
}

hex!(TraceId: 32, SpanId: 16);

/// The generator of one thread. Zero means that it was not seeded yet, or that the process was forked: whoever hands
/// out ids calls `ensure_seeded` first, where that is not on the hot path.
pub(crate) struct Generator(Cell<u64>);

impl Generator {
    pub(crate) const fn new() -> Self {
        Generator(Cell::new(0))
    }

    #[inline(always)]
    pub(crate) fn span_id(&self) -> u64 {
        loop {
            let id = self.next();
            if id != 0 {
                return id;
            }
        }
    }

    #[inline]
    pub(crate) fn trace_id(&self) -> u128 {
        // The span id's loop makes the lower half, and so the whole, not zero.
        (u128::from(self.next()) << 64) | u128::from(self.span_id())
    }

    pub(crate) fn ensure_seeded(&self) {
        if self.0.get() == 0 {
            self.0.set(random().max(1));
        }
    }

    /// Makes later ids come from a new seed.
    pub(crate) fn forget(&self) {
        self.0.set(0);
    }

    #[inline(always)]
    fn next(&self) -> u64 {
        let state = self.0.get().wrapping_add(0xa076_1d64_78bd_642f);
        self.0.set(state);
        let product = u128::from(state) * u128::from(state ^ 0xe703_7ed1_a0b4_28db);
        (product >> 64) as u64 ^ product as u64
    }
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

/// Where the system has no randomness to give: the hasher's keys, the process and the time.
fn hashed() -> u64 {
    use std::hash::BuildHasher;
    let salt = if cfg!(target_family = "wasm") { 0 } else { std::process::id() };
    std::collections::hash_map::RandomState::new().hash_one((salt, crate::clock::unix_now()))
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
}
