//! Labels: values from a set that is closed or bounded, so that spans and metrics may carry them.

use std::borrow::Cow;
use std::marker::PhantomData;

use crate::table::Table;

/// The text of a label's value.
pub type LabelText = Cow<'static, str>;

/// A type with a known, finite number of values, each with an ordinal and a text.
///
/// Derive it on an enum with `#[derive(TcLabel)]`; use `label_for!` for an enum of another crate.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a label: its values are not a closed set",
    label = "not a closed set of values",
    note = "derive `TcLabel` (and `Clone, Copy`) on an enum without fields, or use `bool`, `Index<N>`, `Interned<N>`, or `label_for!` for an enum of another crate",
    note = "an open value, as a name or an id, is declared with `id` instead of `label`: it goes on spans, never on metrics"
)]
pub trait Label: Copy {
    /// How many values there are, `other` included.
    const CARDINALITY: usize;

    /// Which of them this is: less than `CARDINALITY`.
    fn ordinal(self) -> usize;

    /// The text of the value with this ordinal.
    fn value(ordinal: usize) -> LabelText;
}

/// A label whose texts are all known at compile time.
pub trait ClosedLabel: Label {
    /// The texts, by ordinal.
    const VALUES: &'static [&'static str];

    /// The value with this text; the `other` variant, where there is one, for any text that has none.
    fn from_value(value: &str) -> Option<Self>;
}

impl Label for bool {
    const CARDINALITY: usize = 2;

    #[inline]
    fn ordinal(self) -> usize {
        usize::from(self)
    }

    fn value(ordinal: usize) -> LabelText {
        Cow::Borrowed(if ordinal == 0 { "false" } else { "true" })
    }
}

/// `None` is the value `none`, the last one.
impl<L: Label> Label for Option<L> {
    const CARDINALITY: usize = L::CARDINALITY + 1;

    #[inline]
    fn ordinal(self) -> usize {
        self.map_or(L::CARDINALITY, L::ordinal)
    }

    fn value(ordinal: usize) -> LabelText {
        if ordinal < L::CARDINALITY { L::value(ordinal) } else { Cow::Borrowed("none") }
    }
}

/// A small number: `0` to `N - 1`, and `other` for everything past the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Index<const N: usize>(u32);

impl<const N: usize> Index<N> {
    /// The index `n`, or `other`.
    #[inline]
    pub const fn new(n: u64) -> Self {
        Index(if n < N as u64 { n as u32 } else { N as u32 })
    }
}

impl<const N: usize> Label for Index<N> {
    const CARDINALITY: usize = N + 1;

    #[inline]
    fn ordinal(self) -> usize {
        self.0 as usize
    }

    fn value(ordinal: usize) -> LabelText {
        if ordinal < N { Cow::Owned(ordinal.to_string()) } else { Cow::Borrowed("other") }
    }
}

/// A text learnt at run time, capped: the first `N` different ones keep their names, every later one is `other`.
///
/// Resolve it once (`keys::tenant::intern("gold")`) and keep the handle: that is the only hash.
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

/// A key whose values are interned. `tc_keys!` implements it for `label name: Interned<N>`.
pub trait InternedKey: Sized {
    /// What is interned, and where.
    fn table() -> &'static InternTable;

    /// The handle of `text`: resolve once, use often.
    fn intern<const N: usize>(text: &str) -> Interned<N, Self> {
        Interned { ordinal: Self::table().resolve(text) as u32, key: PhantomData }
    }

    /// Gives these texts the first ordinals, in this order. Call it at start, with the same list in each replica,
    /// and they agree on ordinals and on what is `other`.
    fn seed(texts: &[&str]) {
        for text in texts {
            Self::table().resolve(text);
        }
    }

    /// How many times a text was recorded as `other` because the table was full.
    fn overflowed() -> u64 {
        Self::table().overflowed()
    }
}

/// The texts of one interned key.
pub struct InternTable {
    capacity: usize,
    table: Table<()>,
}

impl InternTable {
    /// A table for `capacity` different texts.
    pub const fn new(capacity: usize) -> Self {
        InternTable { capacity, table: Table::new(capacity) }
    }

    fn resolve(&self, text: &str) -> usize {
        self.table.resolve(text, |_| ()).unwrap_or_else(|| {
            if self.table.refused() == 1 {
                crate::notice::say(format_args!(
                    "a key with at most {} interned values met another one, `{text}`; it and all further ones are recorded as `other`",
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

    fn texts<L: Label>() -> Vec<LabelText> {
        (0..L::CARDINALITY).map(L::value).collect()
    }

    #[test]
    fn built_in_labels_name_each_ordinal() {
        assert_eq!(texts::<bool>(), ["false", "true"]);
        assert_eq!(texts::<Option<bool>>(), ["false", "true", "none"]);
        assert_eq!(texts::<Index<2>>(), ["0", "1", "other"]);
    }

    #[test]
    fn an_index_past_the_end_is_other() {
        assert_eq!([0, 1, 2, u64::MAX].map(|n| Index::<2>::new(n).ordinal()), [0, 1, 2, 2]);
    }

    #[test]
    fn interned_texts_are_capped_seeded_and_counted() {
        #[derive(Debug, PartialEq)]
        enum Tenant {}
        impl InternedKey for Tenant {
            fn table() -> &'static InternTable {
                static TABLE: InternTable = InternTable::new(2);
                &TABLE
            }
        }
        Tenant::seed(&["gold", "silver"]);
        let [silver, gold, tin] = ["silver", "gold", "tin"].map(Tenant::intern::<2>);
        assert_eq!([silver.ordinal(), gold.ordinal(), tin.ordinal()], [1, 0, 2]);
        assert_eq!(texts::<Interned<2, Tenant>>(), ["gold", "silver", "other"]);
        assert_eq!(Tenant::overflowed(), 1);
    }
}
