//! The memory limit: reserved parts and a shared part.
//!
//! Open spans, ended spans and pending requests each have a reserved minimum. The rest of the limit is shared, first come,
//! first served. Address space for blocks and chunks is reserved at the start, but takes memory only from the first use of a
//! page on.

use std::alloc::Layout;
use std::ops::{Deref, Range};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The free bytes of the shared part.
pub(crate) static SHARED: Shared = Shared(AtomicUsize::new(0));

/// A number of bytes that several users take from.
#[derive(Debug)]
pub(crate) struct Shared(AtomicUsize);

impl Shared {
    /// Sets the number of available bytes.
    pub(crate) fn set(&self, bytes: usize) {
        self.0.store(bytes, Relaxed);
    }

    /// Takes bytes. If too few are free, takes none and returns false.
    pub(crate) fn take(&self, bytes: usize) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }

    /// Returns the number of free bytes.
    #[cfg(has_otlp)]
    pub(crate) fn free(&self) -> usize {
        self.0.load(Relaxed)
    }

    /// Gives back bytes that were taken.
    pub(crate) fn give_back(&self, bytes: usize) {
        self.0.fetch_add(bytes, Relaxed);
    }
}

/// The capacity of a pool, and the part of it that is reserved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    pub(crate) count: usize,
    pub(crate) reserved: usize,
    /// The bytes of one place. A place that is not reserved takes its bytes from the shared part at its first use.
    pub(crate) bytes: usize,
}

impl Places {
    /// Describes a pool whose places are all reserved.
    pub(crate) const fn fixed(count: usize) -> Self {
        Places { count, reserved: count, bytes: 0 }
    }

    /// Describes a pool of as many places of this size as fit into `limit` bytes, but at least 1 and at most `most`. As many
    /// places as fit into `reserved` bytes are reserved, but at least 1.
    pub(crate) fn within(limit: usize, reserved: usize, bytes: usize, most: usize) -> Self {
        Places { count: (limit / bytes).clamp(1, most), reserved: (reserved / bytes).max(1), bytes }
    }
}

/// Returns whether the system can reserve this many bytes of address space.
pub(crate) fn is_reservable(bytes: usize) -> bool {
    Layout::array::<u8>(bytes).is_ok_and(|layout| {
        let start = pages::try_reserve(layout);
        // SAFETY: reserved just now with this layout, and not used by any other code.
        start.inspect(|start| unsafe { pages::release(*start, layout) }).is_some()
    })
}

/// Zeroed memory whose pages are not touched before their first use: a large region costs only address space.
///
/// The memory is mapped directly where possible, because allocators may zero or count memory that is only reserved.
pub(crate) struct Region<T> {
    start: NonNull<T>,
    count: usize,
}

// SAFETY: a region owns its values, as a box does.
unsafe impl<T: Send> Send for Region<T> {}
// SAFETY: a region owns its values, as a box does.
unsafe impl<T: Sync> Sync for Region<T> {}

impl<T> Region<T> {
    /// Reserves memory for `count` values.
    ///
    /// # Safety
    /// All bits zero is a valid `T`, and a `T` needs no destructor.
    pub(crate) unsafe fn zeroed(count: usize) -> Self {
        let start = Layout::array::<T>(count).ok().filter(|layout| layout.size() > 0).map(pages::reserve);
        Region { start: start.map_or(NonNull::dangling(), NonNull::cast), count }
    }

    /// Maps the pages of these values on Linux, so that their first use does not wait for the kernel. Has no effect elsewhere.
    pub(crate) fn prepare(&self, values: Range<usize>) {
        let values = values.start.min(self.count)..values.end.min(self.count);
        pages::prepare(self.start.as_ptr().wrapping_add(values.start).addr(), values.len() * size_of::<T>());
    }
}

impl<T> Deref for Region<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `zeroed` reserved memory for `count` values, and zeros are valid ones.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.count) }
    }
}

impl<T> Drop for Region<T> {
    fn drop(&mut self) {
        if let Some(layout) = Layout::array::<T>(self.count).ok().filter(|layout| layout.size() > 0) {
            // SAFETY: reserved with this layout, and no reference to it is left.
            unsafe { pages::release(self.start.cast(), layout) };
        }
    }
}

/// Memory that the kernel maps.
#[cfg(all(unix, not(miri)))]
mod pages {
    use std::alloc::{Layout, handle_alloc_error};
    use std::ptr::{self, NonNull};

    pub(super) fn reserve(layout: Layout) -> NonNull<u8> {
        try_reserve(layout).unwrap_or_else(|| handle_alloc_error(layout))
    }

    pub(super) fn try_reserve(layout: Layout) -> Option<NonNull<u8>> {
        debug_assert!(layout.align() <= 4096, "a page is aligned no more strictly");
        let (access, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE);
        // SAFETY: a new private mapping at an address that the kernel chooses.
        let start = unsafe { libc::mmap(ptr::null_mut(), layout.size(), access, flags, -1, 0) };
        NonNull::new(start.cast::<u8>()).filter(|start| start.as_ptr().cast() != libc::MAP_FAILED)
    }

    /// # Safety
    /// `reserve` gave this start for this layout, and the memory is no longer used.
    pub(super) unsafe fn release(start: NonNull<u8>, layout: Layout) {
        // SAFETY: the contract of this function.
        unsafe { libc::munmap(start.as_ptr().cast(), layout.size()) };
    }

    /// Asks the kernel to map the whole pages within these bytes, without changing their content. Kernels before 5.14 cannot do
    /// this; there the first use maps the pages.
    #[cfg(target_os = "linux")]
    pub(super) fn prepare(start: usize, bytes: usize) {
        let (first, end) = (start.next_multiple_of(4096), (start + bytes) & !4095);
        if first < end {
            // SAFETY: the call changes no byte of the memory; for memory that is not mapped the kernel returns an error.
            unsafe { libc::madvise(ptr::with_exposed_provenance_mut(first), end - first, libc::MADV_POPULATE_WRITE) };
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn prepare(_: usize, _: usize) {}
}

#[cfg(not(all(unix, not(miri))))]
mod pages {
    use std::alloc::{self, Layout, handle_alloc_error};
    use std::ptr::NonNull;

    pub(super) fn reserve(layout: Layout) -> NonNull<u8> {
        try_reserve(layout).unwrap_or_else(|| handle_alloc_error(layout))
    }

    pub(super) fn try_reserve(layout: Layout) -> Option<NonNull<u8>> {
        // SAFETY: the size is not zero, which the callers checked.
        NonNull::new(unsafe { alloc::alloc_zeroed(layout) })
    }

    /// # Safety
    /// `reserve` gave this start for this layout, and the memory is no longer used.
    pub(super) unsafe fn release(start: NonNull<u8>, layout: Layout) {
        // SAFETY: the contract of this function.
        unsafe { alloc::dealloc(start.as_ptr(), layout) };
    }

    pub(super) fn prepare(_: usize, _: usize) {}
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn taken_bytes_are_unavailable_until_they_are_returned() {
        let shared = Shared(AtomicUsize::new(0));
        shared.set(100);
        assert!(shared.take(60) && !shared.take(60) && shared.take(40) && !shared.take(1));
        shared.give_back(60);
        assert!(shared.take(60));
    }
}
