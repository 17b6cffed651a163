//! Fork handling: in a forked child, recording is off until the child calls `init`. From then on the child has its own ids and
//! none of the parent's records.

use std::sync::{Once, OnceLock};

/// Installs the fork handlers, once.
pub(crate) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        #[cfg(all(unix, not(miri)))]
        handlers::install();
    });
}

/// The locks of the rooms above this one that must be held during a fork, as pairs of functions that lock and unlock. Both
/// functions run on the forking thread; the second also runs in the child.
static ABOVE: [OnceLock<HoldAndRelease>; 2] = [const { OnceLock::new() }; 2];

type HoldAndRelease = [fn(); 2];

/// A room above this one whose lock must be held during a fork.
#[cfg(any(has_logs, has_tracing_emit))]
pub(crate) enum Room {
    #[cfg(has_logs)]
    Logs,
    #[cfg(has_tracing_emit)]
    Emitted,
}

/// Registers a lock of a room above this one to be held during forks.
#[cfg(any(has_logs, has_tracing_emit))]
pub(crate) fn hold_too(room: Room, hold: fn(), release: fn()) {
    ABOVE[room as usize].get_or_init(|| [hold, release]);
}

#[cfg_attr(not(all(unix, not(miri))), expect(dead_code, reason = "there is no fork"))]
mod handlers {
    use std::cell::RefCell;
    use std::sync::{MutexGuard, OnceLock, RwLockWriteGuard};

    use super::ABOVE;
    use crate::base::notice;
    use crate::declare::cells::{self, Used};
    use crate::declare::observe::{self, Callbacks};
    use crate::declare::switch::{self, State};
    use crate::record::clock::{self, Calibration};
    use crate::record::local::{self, Local};
    use crate::record::sampling::{self, CustomSampler};
    use crate::record::{bridge, heartbeat, recorder};
    use crate::trace::arrivals::{self, Sent};
    use crate::trace::outside_capture::{self, OutsideCapture};

    /// The guard of the queue of external spans, in builds that have this queue.
    #[cfg(has_otlp)]
    type External = MutexGuard<'static, crate::trace::external::Queue>;
    #[cfg(not(has_otlp))]
    type External = ();

    /// Locks that another thread might hold at the moment of the fork. That thread does not exist in the child, so the child
    /// would wait for its lock forever.
    type Held = (
        MutexGuard<'static, State>,
        MutexGuard<'static, Option<Calibration>>,
        MutexGuard<'static, OutsideCapture>,
        MutexGuard<'static, Vec<Sent>>,
        RwLockWriteGuard<'static, Option<CustomSampler>>,
        MutexGuard<'static, Used>,
        MutexGuard<'static, Callbacks>,
        External,
        notice::Held,
    );

    thread_local! {
        static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
    }

    #[cfg(all(unix, not(miri)))]
    pub(super) fn install() {
        // SAFETY: the handlers have the right signature and are never unloaded; each documents what it does.
        unsafe {
            libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child));
        }
    }

    /// Takes all locks. Runs on the thread that forks.
    extern "C" fn before() {
        #[cfg(has_otlp)]
        let external = crate::trace::external::lock();
        #[cfg(not(has_otlp))]
        let external = ();
        ABOVE.iter().filter_map(OnceLock::get).for_each(|[hold, _]| hold());
        let held = (
            switch::lock(),
            clock::lock(),
            outside_capture::lock(),
            arrivals::lock(),
            sampling::lock(),
            cells::lock(),
            observe::lock(),
            external,
            notice::hold(),
        );
        let _ = HELD.try_with(|cell| *cell.borrow_mut() = Some(held));
    }

    extern "C" fn in_parent() {
        release();
    }

    fn release() {
        let _ = HELD.try_with(RefCell::take);
        ABOVE.iter().filter_map(OnceLock::get).for_each(|[_, release]| release());
    }

    /// Releases the locks and resets the state. Runs in the child, on its only thread, before `fork` returns; it only stores to
    /// memory.
    extern "C" fn in_child() {
        release();
        switch::off_after_fork();
        bridge::off();
        #[cfg(has_otlp)]
        crate::trace::external::off_after_fork();
        cells::abandon();
        observe::abandon();
        heartbeat::forget_all();
        recorder::abandon();
        local::with(Local::forget);
    }
}
