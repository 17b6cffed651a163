//! Selects the calls that are traced.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

type Predicate<T> = dyn Fn(&T) -> bool + Send + Sync;

/// The application's filter, which decides by the path or the request whether a call is traced.
pub(crate) struct Filter<T: ?Sized>(Option<Arc<Predicate<T>>>);

impl<T: ?Sized> Filter<T> {
    pub(crate) fn set(&mut self, filter: impl Fn(&T) -> bool + Send + Sync + 'static) {
        self.0 = Some(Arc::new(filter));
    }

    /// Returns whether the filter accepts the call; `None` if no filter is set. A filter that panics accepts the call.
    pub(crate) fn takes(&self, call: &T) -> Option<bool> {
        let filter = self.0.as_ref()?;
        Some(catch_unwind(AssertUnwindSafe(|| filter(call))).unwrap_or(true))
    }
}

impl<T: ?Sized> Clone for Filter<T> {
    fn clone(&self) -> Self {
        Filter(self.0.clone())
    }
}

impl<T: ?Sized> Default for Filter<T> {
    fn default() -> Self {
        Filter(None)
    }
}

impl<T: ?Sized> fmt::Debug for Filter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Filter(..)" } else { "Filter" })
    }
}
