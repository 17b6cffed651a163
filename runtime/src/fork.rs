//! A forked child: off until it calls init, with ids of its own, and without the records of its parent.

use std::sync::Once;

/// Has a fork handled from now on.
pub(crate) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        #[cfg(all(unix, not(miri)))]
        handlers::install();
    });
}

#[cfg_attr(not(all(unix, not(miri))), expect(dead_code, reason = "there is no fork"))]
mod handlers {
    use std::cell::RefCell;
    use std::sync::{MutexGuard, RwLockWriteGuard};

    use crate::cells::{self, Used};
    use crate::clock::{self, Calibration};
    use crate::local::{self, Local};
    use crate::observe::{self, Callbacks};
    use crate::sampling::{self, CustomSampler};
    use crate::stray::{self, Strays};
    use crate::switch::{self, State};
    use crate::{announce, bridge, recorder};

    /// That of the spans which are not ours, where there are any.
    #[cfg(feature = "otlp")]
    type Foreign = MutexGuard<'static, crate::foreign::Queue>;
    #[cfg(not(feature = "otlp"))]
    type Foreign = ();

    /// That of what log events go to.
    #[cfg(all(feature = "logs", not(target_family = "wasm"), not(loom)))]
    type Logs = crate::logs::Held;
    #[cfg(not(all(feature = "logs", not(target_family = "wasm"), not(loom))))]
    type Logs = ();

    /// Locks that another thread might hold at the moment of the fork. That thread does not exist in the child, which
    /// would then wait for ever.
    type Held = (
        MutexGuard<'static, State>,
        MutexGuard<'static, Option<Calibration>>,
        MutexGuard<'static, Strays>,
        RwLockWriteGuard<'static, Option<CustomSampler>>,
        MutexGuard<'static, Used>,
        MutexGuard<'static, Callbacks>,
        Foreign,
        Logs,
    );

    thread_local! {
        static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
    }

    #[cfg(all(unix, not(miri)))]
    pub(super) fn install() {
        // SAFETY: the handlers have the right signature and live for ever; what they do is said at each.
        unsafe {
            libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child));
        }
    }

    /// Runs on the thread that forks.
    extern "C" fn before() {
        #[cfg(feature = "otlp")]
        let foreign = crate::foreign::lock();
        #[cfg(not(feature = "otlp"))]
        let foreign = ();
        #[cfg(all(feature = "logs", not(target_family = "wasm"), not(loom)))]
        let logs = crate::logs::hold();
        #[cfg(not(all(feature = "logs", not(target_family = "wasm"), not(loom))))]
        let logs = ();
        let held = (
            switch::lock(),
            clock::lock(),
            stray::lock(),
            sampling::lock(),
            cells::lock(),
            observe::lock(),
            foreign,
            logs,
        );
        let _ = HELD.try_with(|cell| *cell.borrow_mut() = Some(held));
    }

    extern "C" fn in_parent() {
        let _ = HELD.try_with(RefCell::take);
    }

    /// Runs in the child, on its only thread, between `fork` and whatever the program does next: gives the locks back
    /// and stores to memory, nothing else.
    extern "C" fn in_child() {
        let _ = HELD.try_with(RefCell::take);
        switch::off_after_fork();
        bridge::off();
        #[cfg(feature = "otlp")]
        crate::foreign::off_after_fork();
        cells::abandon();
        observe::abandon();
        announce::forget_all();
        recorder::abandon();
        local::with(Local::forget);
    }
}
