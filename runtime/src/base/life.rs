//! A counter that is odd while an object is alive, for threads that read what the owner writes (a sequence lock).

#[cfg(any(has_otlp, loom))]
use crate::base::sync::Acquire;
use crate::base::sync::{AtomicU32, Relaxed, Release, fence};

/// One thread at a time begins and ends lives and writes the fields beside this counter. Other threads read these fields,
/// which are atomics, and check whether all of them belong to the same life.
#[derive(Default)]
pub(crate) struct Life(AtomicU32);

impl Life {
    /// Begins a life. The caller has written all fields before; other threads may read them from now on.
    #[inline(always)]
    pub(crate) fn begin(&self) {
        self.0.store(self.0.load(Relaxed).wrapping_add(1), Release);
    }

    /// Ends the life, if there is one. Other threads discard what they read of the fields afterwards.
    #[inline(always)]
    pub(crate) fn end(&self) {
        self.0.store(self.0.load(Relaxed).wrapping_add(1) & !1, Relaxed);
        // A reader that sees a field of the next life also sees this store.
        fence(Release);
    }

    /// Calls `read` during a life and returns its result. Returns `None` if there is no life, or if the life ended before `read`
    /// returned, so that the fields may belong to different lives.
    #[cfg(any(has_otlp, loom))]
    pub(crate) fn read<T>(&self, read: impl FnOnce() -> T) -> Option<T> {
        let life = self.0.load(Acquire);
        if life.is_multiple_of(2) {
            return None;
        }
        let fields = read();
        fence(Acquire);
        (self.0.load(Relaxed) == life).then_some(fields)
    }
}

#[cfg(all(test, loom))]
mod model {
    use loom::sync::Arc;

    use super::*;
    use crate::base::sync::AtomicU64;

    #[test]
    fn a_reader_beside_a_writer_sees_the_fields_of_one_life() {
        loom::model(|| {
            let shared = Arc::new((Life::default(), AtomicU64::new(0), AtomicU64::new(0)));
            let reader = loom::thread::spawn({
                let shared = shared.clone();
                move || {
                    let (life, first, second) = &*shared;
                    life.read(|| (first.load(Relaxed), second.load(Relaxed)))
                }
            });
            let (life, first, second) = &*shared;
            for value in 1..3 {
                first.store(value, Relaxed);
                second.store(value, Relaxed);
                life.begin();
                life.end();
            }
            if let Some((first, second)) = reader.join().unwrap() {
                assert!(first == second && first > 0, "{first} and {second} are of two lives");
            }
            assert!(life.read(|| ()).is_none());
        });
    }
}
