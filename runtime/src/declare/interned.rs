//! Labels whose values are learnt at run time, up to a limit. Further values become `other`.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::base::table::Table;
use crate::declare::key::Key;
use crate::declare::label::{Label, LabelText};

/// A label value learnt at run time. The first `N` different texts are kept; every later text becomes `other`.
///
/// Resolve a text once (`keys::tenant::intern("gold")`) and keep the handle: only the resolution needs a hash lookup.
///
/// ```
/// use tracecast::prelude::*;
///
/// tracecast::tc_keys! {
///     /// The class of a tenant.
///     pub label tenant_class: Interned<2> = "tc.example.tenant_class";
/// }
///
/// let gold = tenant_class::intern("gold");
/// assert!(gold == tenant_class::intern("gold") && gold != tenant_class::intern("silver"));
/// assert!(tenant_class::intern("bronze") == tenant_class::intern("iron")); // both are `other`
/// ```
#[derive(Debug)]
pub struct Interned<const N: usize, K = ()> {
    ordinal: u32,
    key: PhantomData<fn() -> K>,
}

impl<const N: usize, K> Clone for Interned<N, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<const N: usize, K> Copy for Interned<N, K> {}

impl<const N: usize, K> PartialEq for Interned<N, K> {
    fn eq(&self, other: &Self) -> bool {
        self.ordinal == other.ordinal
    }
}

impl<const N: usize, K> Eq for Interned<N, K> {}

/// A key whose values are interned. Implemented by `tc_keys!` for `label name: Interned<N>`, not by hand.
///
/// ```
/// use tracecast::prelude::*;
///
/// tracecast::tc_keys! {
///     /// The region of a tenant.
///     pub label tenant_region: Interned<2> = "tc.example.tenant_region";
/// }
///
/// tenant_region::seed(&["east", "west"]);
/// tenant_region::intern("north");
/// assert_eq!(tenant_region::overflowed(), 1);
/// ```
pub trait InternedKey: Key + Sized {
    /// Returns the table of the key's texts.
    #[doc(hidden)]
    fn table() -> &'static InternTable;

    /// Returns the handle of `text`, or the handle of `other` if the text is new and the table is full. Keep the handle for later
    /// calls.
    fn intern(text: &str) -> Self::Value
    where
        Self::Value: Sized,
    {
        Self::handle(Self::ordinal(text))
    }

    #[doc(hidden)]
    fn handle(ordinal: usize) -> Self::Value
    where
        Self::Value: Sized;

    #[doc(hidden)]
    fn ordinal(text: &str) -> usize {
        Self::table().resolve(text, Self::META.name)
    }

    /// Gives these texts the first ordinals, in this order. If each replica calls this function at start with the same list, all
    /// replicas use the same ordinals and agree on the texts of this list that become `other`.
    fn seed(texts: &[&str]) {
        for text in texts {
            Self::ordinal(text);
        }
    }

    /// Returns how often a text was resolved to `other` because the table was full.
    fn overflowed() -> u64 {
        Self::table().overflowed()
    }
}

impl<const N: usize, K> Interned<N, K> {
    #[doc(hidden)]
    pub fn of(ordinal: usize) -> Self {
        Interned { ordinal: ordinal as u32, key: PhantomData }
    }
}

/// The texts of one interned key.
pub struct InternTable {
    capacity: usize,
    table: Table<()>,
    /// Whether a notice has reported that the table is full.
    reported: AtomicBool,
}

impl InternTable {
    /// Creates a table for `capacity` different texts.
    pub const fn new(capacity: usize) -> Self {
        InternTable { capacity, table: Table::new(capacity), reported: AtomicBool::new(false) }
    }

    fn resolve(&self, text: &str, key: &str) -> usize {
        self.table.resolve(text, |_| ()).unwrap_or_else(|| {
            if !self.reported.load(Relaxed) && !self.reported.swap(true, Relaxed) {
                // The notice omits the text, which is not redacted.
                crate::base::notice::say(format_args!(
                    "label `{key}` reached its limit of {} values; new values become `other`",
                    self.capacity
                ));
            }
            self.capacity
        })
    }

    fn overflowed(&self) -> u64 {
        self.table.refused()
    }
}

impl<const N: usize, K: InternedKey> Label for Interned<N, K> {
    const CARDINALITY: usize = N + 1;
    const LEARNT: bool = true;

    #[inline]
    fn ordinal(self) -> usize {
        self.ordinal as usize
    }

    fn value(ordinal: usize) -> LabelText {
        match K::table().table.get(ordinal) {
            Some((text, ())) => Cow::Borrowed(text),
            None => Cow::Borrowed("other"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interned_texts_are_capped_seeded_and_counted() {
        crate::tc_keys! {
            /// The class of a tenant.
            label tenant: Interned<2> = "tc.tenant.class";
        }
        tenant::seed(&["gold", "silver"]);
        let [silver, gold, tin] = ["silver", "gold", "tin"].map(tenant::intern);
        assert_eq!([silver.ordinal(), gold.ordinal(), tin.ordinal()], [1, 0, 2]);
        assert_eq!((0..3).map(Interned::<2, tenant>::value).collect::<Vec<_>>(), ["gold", "silver", "other"]);
        assert_eq!(tenant::overflowed(), 1);
    }
}
