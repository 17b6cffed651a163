//! The unit of data in open spans and finished records: eight bytes, a number or a pointer.

use std::mem::MaybeUninit;

/// Eight bytes that hold either bits or a pointer. The tag of the word's item determines which.
///
/// A `MaybeUninit` preserves the provenance of pointers in a record, and is passed in a register.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Word(MaybeUninit<u64>);

impl Word {
    #[inline(always)]
    pub(crate) const fn bits(bits: u64) -> Self {
        Word(MaybeUninit::new(bits))
    }

    #[inline(always)]
    pub(crate) const fn ptr<T>(ptr: *const T) -> Self {
        let mut word = MaybeUninit::new(0_u64);
        // SAFETY: a thin pointer fits into eight bytes on every target, and is aligned no more strictly.
        unsafe { word.as_mut_ptr().cast::<*const T>().write(ptr) };
        Word(word)
    }

    /// Returns the bits.
    ///
    /// # Safety
    /// The word was made by `Word::bits`.
    #[inline(always)]
    pub(crate) const unsafe fn as_bits(self) -> u64 {
        // SAFETY: the contract of this function.
        unsafe { self.0.assume_init() }
    }

    /// Returns the pointer.
    ///
    /// # Safety
    /// The word was made by `Word::ptr`.
    #[inline(always)]
    pub(crate) const unsafe fn as_ptr(self) -> *const () {
        // SAFETY: the contract of this function.
        unsafe { self.0.as_ptr().cast::<*const ()>().read() }
    }
}

/// Returns the number of words that hold `bytes` bytes.
pub(crate) const fn words_for(bytes: usize) -> usize {
    bytes.div_ceil(8)
}
