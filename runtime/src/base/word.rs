//! The unit of data in open spans and finished records: eight bytes, a number or a pointer.

use std::mem::MaybeUninit;

/// Eight bytes that hold either bits or a pointer. The tag of the word's item determines which.
///
/// It is a `MaybeUninit`, so that pointers keep their provenance in a record, while words are passed in registers.
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

    /// # Safety
    /// The word was made by `Word::bits`.
    #[inline(always)]
    pub(crate) const unsafe fn as_bits(self) -> u64 {
        // SAFETY: the contract of this function.
        unsafe { self.0.assume_init() }
    }

    /// # Safety
    /// The word was made by `Word::ptr`.
    #[inline(always)]
    pub(crate) const unsafe fn as_ptr(self) -> *const () {
        // SAFETY: the contract of this function.
        unsafe { self.0.as_ptr().cast::<*const ()>().read() }
    }
}

/// The number of words that hold `bytes` bytes.
pub(crate) const fn words_for(bytes: usize) -> usize {
    bytes.div_ceil(8)
}
