//! The memory limit: how it is shared out, and the part that is not set aside for anybody.
//!
//! Open spans, ended spans and pending requests each have a reserved minimum. The rest of the limit belongs to whoever
//! needs it first. Address space for blocks and chunks is reserved at the start; a page counts from its first use on.

use std::alloc::Layout;
use std::ops::{Deref, Range};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The bytes of the limit that are reserved for nobody and that nobody has taken.
pub(crate) static SHARED: Shared = Shared(AtomicUsize::new(0));

/// A number of bytes that several take from.
#[derive(Debug)]
pub(crate) struct Shared(AtomicUsize);

impl Shared {
    /// Makes so many bytes available to all.
    pub(crate) fn set(&self, bytes: usize) {
        self.0.store(bytes, Relaxed);
    }

    /// Takes bytes, if there are as many.
    pub(crate) fn take(&self, bytes: usize) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }

    /// Puts bytes back that were taken.
    pub(crate) fn give_back(&self, bytes: usize) {
        self.0.fetch_add(bytes, Relaxed);
    }
}

/// How many places a pool has, and how many of them it has however full the memory is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    pub(crate) count: usize,
    pub(crate) reserved: usize,
    /// Bytes of one place, taken from the shared part when it is used for the first time.
    pub(crate) bytes: usize,
}

impl Places {
    /// Places that are all reserved.
    pub(crate) const fn fixed(count: usize) -> Self {
        Places { count, reserved: count, bytes: 0 }
    }

    /// As many places of this size as fit into `limit` bytes and are not more than `most`, those in `reserved` bytes in any
    /// case.
    pub(crate) fn within(limit: usize, reserved: usize, bytes: usize, most: usize) -> Self {
        Places { count: (limit / bytes).clamp(1, most), reserved: (reserved / bytes).max(1), bytes }
    }
}

/// Whether the system gives so many bytes of address space.
pub(crate) fn is_reservable(bytes: usize) -> bool {
    Layout::array::<u8>(bytes).is_ok_and(|layout| {
        let start = pages::try_reserve(layout);
        // SAFETY: reserved just now with this layout, and used by nobody.
        start.inspect(|start| unsafe { pages::release(*start, layout) }).is_some()
    })
}

/// Zeroed memory whose pages are not touched before they are used: a large region costs address space only.
///
/// Mapped and not allocated, where that can be done: allocators zero or count what is only reserved.
pub(crate) struct Region<T> {
    start: NonNull<T>,
    count: usize,
}

// SAFETY: it owns its values, as a box does.
unsafe impl<T: Send> Send for Region<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Region<T> {}

impl<T> Region<T> {
    /// # Safety
    /// All bits zero is a valid `T`, and a `T` needs no destructor.
    pub(crate) unsafe fn zeroed(count: usize) -> Self {
        let start = Layout::array::<T>(count).ok().filter(|layout| layout.size() > 0).map(pages::reserve);
        Region { start: start.map_or(NonNull::dangling(), NonNull::cast), count }
    }

    /// Has the pages of these values ready, so that their first use does not wait for the kernel.
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
            // SAFETY: reserved with this layout, and nobody has it any more.
            unsafe { pages::release(self.start.cast(), layout) };
        }
    }
}

/// Pages of the kernel.
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
    /// `reserve` gave this start for this layout, and nobody uses the memory any more.
    pub(super) unsafe fn release(start: NonNull<u8>, layout: Layout) {
        // SAFETY: the contract of this function.
        unsafe { libc::munmap(start.as_ptr().cast(), layout.size()) };
    }

    /// Has the kernel map whole pages within these bytes, which leaves what is in them as it is. Older kernels do not know
    /// how; then the first use maps them.
    #[cfg(target_os = "linux")]
    pub(super) fn prepare(start: usize, bytes: usize) {
        let (first, end) = (start.next_multiple_of(4096), (start + bytes) & !4095);
        if first < end {
            // SAFETY: it changes no byte of the memory; of memory that is not ours the kernel says no.
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
    /// `reserve` gave this start for this layout, and nobody uses the memory any more.
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
    fn what_is_taken_is_not_there_for_others_until_it_is_given_back() {
        let shared = Shared(AtomicUsize::new(0));
        shared.set(100);
        assert!(shared.take(60) && !shared.take(60) && shared.take(40) && !shared.take(1));
        shared.give_back(60);
        assert!(shared.take(60));
    }
}
