//! The unit in which open spans and finished records hold their data: eight bytes, a number or a pointer.

/// Eight bytes that hold either bits or a pointer. The tag of the item it belongs to says which.
///
/// A union, and not a `u64`, so that pointers keep their provenance on the way through a record.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) union Word {
    bits: u64,
    ptr: *const (),
}

impl Word {
    pub(crate) const fn bits(bits: u64) -> Self {
        Word { bits }
    }

    pub(crate) const fn ptr<T>(ptr: *const T) -> Self {
        // On 32-bit targets the pointer fills half of the word; the other half is never read.
        Word { ptr: ptr.cast() }
    }

    /// # Safety
    /// The word was made by `Word::bits`.
    pub(crate) const unsafe fn as_bits(self) -> u64 {
        // SAFETY: the contract of this function.
        unsafe { self.bits }
    }

    /// # Safety
    /// The word was made by `Word::ptr`.
    pub(crate) const unsafe fn as_ptr(self) -> *const () {
        // SAFETY: the contract of this function.
        unsafe { self.ptr }
    }
}

/// How many words `bytes` bytes take.
pub(crate) const fn words_for(bytes: usize) -> usize {
    bytes.div_ceil(8)
}
