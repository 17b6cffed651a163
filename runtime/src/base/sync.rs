//! Atomics and memory that threads share, in one place so that loom can replace them.

#[cfg(not(loom))]
pub(crate) use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU32, AtomicU64, fence},
};

#[cfg(loom)]
pub(crate) use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU32, AtomicU64, fence},
};

pub(crate) use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use crate::base::word::Word;
#[cfg(not(loom))]
use {crate::base::memory::Region, std::cell::UnsafeCell, std::mem::MaybeUninit};

/// Locks a mutex and ignores poisoning: everything that our mutexes guard is consistent between two statements.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A region of words that one thread writes and another reads, never the same part at the same time.
///
/// The memory is not touched before its first use: a large region costs only address space.
#[cfg(not(loom))]
pub(crate) struct Words(Region<UnsafeCell<MaybeUninit<Word>>>);

// SAFETY: words are plain data; the callers of `place` and `read` exclude simultaneous access to a part.
#[cfg(not(loom))]
unsafe impl Sync for Words {}
// SAFETY: words are plain data; only the reader of a record follows the pointers that words may hold.
#[cfg(not(loom))]
unsafe impl Send for Words {}

#[cfg(not(loom))]
impl Words {
    pub(crate) fn new(len: usize) -> Self {
        // SAFETY: an `UnsafeCell<MaybeUninit<_>>` has no invalid bit pattern.
        Words(unsafe { Region::zeroed(len) })
    }

    /// Maps the memory of these words before their first use.
    pub(crate) fn prepare(&self, words: std::ops::Range<usize>) {
        self.0.prepare(words);
    }

    /// Returns the address of word `at`. The caller makes sure that no other thread accesses the word during a write.
    pub(crate) fn place(&self, at: usize) -> *mut Word {
        self.0[at..].as_ptr().cast_mut().cast()
    }

    /// Returns the words `at..at + len`.
    ///
    /// # Safety
    /// All these words were written, the writes happened before this call, and no thread writes the words while the slice lives.
    pub(crate) unsafe fn read(&self, at: usize, len: usize) -> &[Word] {
        let range = &self.0[at..at + len];
        // SAFETY: initialised and not written meanwhile, by the contract; the layout of the wrappers is transparent.
        unsafe { std::slice::from_raw_parts(range.as_ptr().cast(), len) }
    }
}

/// Under loom each word is a separate cell, so that loom finds unordered accesses to the same word.
#[cfg(loom)]
pub(crate) struct Words(Box<[loom::cell::UnsafeCell<u64>]>);

#[cfg(loom)]
impl Words {
    pub(crate) fn new(len: usize) -> Self {
        Words((0..len).map(|_| loom::cell::UnsafeCell::new(0)).collect())
    }

    pub(crate) fn write(&self, at: usize, value: u64) {
        // SAFETY: loom checks that no other thread touches the cell meanwhile.
        self.0[at].with_mut(|cell| unsafe { *cell = value });
    }

    pub(crate) fn get(&self, at: usize) -> u64 {
        // SAFETY: loom checks that no other thread writes the cell meanwhile.
        self.0[at].with(|cell| unsafe { *cell })
    }

    pub(crate) unsafe fn read(&self, _at: usize, _len: usize) -> &[Word] {
        unreachable!("the model reads words one by one")
    }

    pub(crate) fn place(&self, _at: usize) -> *mut Word {
        unreachable!("the model writes words one by one")
    }
}
