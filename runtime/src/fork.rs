//! A forked child: off until it calls init, with ids of its own, and without the records of its parent.

use std::sync::Once;

/// Has a fork handled from now on.
pub(crate) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        #[cfg(all(unix, not(miri)))]
        // SAFETY: `in_child` has the right signature, lives for ever and only stores to memory.
        unsafe {
            libc::pthread_atfork(None, None, Some(in_child));
        }
    });
}

/// Runs in the child, on its only thread, between `fork` and whatever the program does next: stores to memory only.
#[cfg_attr(not(all(unix, not(miri))), expect(dead_code, reason = "there is no fork"))]
extern "C" fn in_child() {
    crate::switch::off_after_fork();
    crate::recorder::abandon();
    crate::local::with(crate::local::Local::forget);
}
