//! Labels: values from a closed or bounded set, so that spans and metrics may carry them.

use std::borrow::Cow;

/// The text of a label's value.
pub type LabelText = Cow<'static, str>;

/// A type with a known, finite number of values, each with an ordinal and a text.
///
/// Derive it on an enum with `#[derive(TcLabel)]`; use `tc_label_for!` for an enum of another crate. Other types may
/// implement it by hand.
///
/// ```
/// use tracecast::{Label, TcLabel};
///
/// #[derive(Clone, Copy, TcLabel)]
/// enum Tier {
///     Hot,
///     Cold,
/// }
///
/// assert_eq!(Tier::CARDINALITY, 2);
/// assert_eq!(Tier::value(Tier::Cold.ordinal()), "cold");
/// # let _ = Tier::Hot;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a label: its values are not a closed set",
    label = "not a closed set of values",
    note = "derive `TcLabel` (and `Clone, Copy`) on an enum without fields, or use `bool`, `Index<N>`, `Interned<N>`, or `tc_label_for!` for an enum of another crate",
    note = "declare an open value, such as a name or an id, with `id` instead of `label`: spans may carry it, metrics may not"
)]
pub trait Label: Copy {
    /// The number of values, `other` included.
    const CARDINALITY: usize;

    /// The names of the attributes that represent the label on metrics, if one value represents several attributes that
    /// depend on each other, such as a service and its method. Then only existing pairs count as series, not all
    /// combinations. Empty for a label that is one attribute, named by its key.
    const PARTS: &'static [&'static str] = &[];

    /// Whether texts are learnt at run time. Then the same ordinal may have different texts in two programs or two tables.
    #[doc(hidden)]
    const LEARNT: bool = false;

    /// The ordinal of the value whose text is `none`, if there is one.
    #[doc(hidden)]
    const NONE: Option<usize> = None;

    /// Returns the ordinal of this value, which is less than `CARDINALITY`.
    fn ordinal(self) -> usize;

    /// Returns the text of the value with this ordinal. Tracecast calls this function while it reads records, so an
    /// implementation must not read records itself.
    fn value(ordinal: usize) -> Cow<'static, str>;

    /// Returns the text of the attribute at this position of `PARTS`; an empty text leaves the attribute out. The default is
    /// the text of the whole value.
    fn part(ordinal: usize, part: usize) -> Cow<'static, str> {
        let _ = part;
        Self::value(ordinal)
    }
}

/// A label whose texts are all known at compile time. Implemented by `#[derive(TcLabel)]` and `tc_label_for!`, not by hand.
///
/// ```
/// use tracecast::ClosedLabel;
/// use tracecast::keys::tensor::SourceType;
///
/// assert_eq!(SourceType::VALUES, ["remote", "disk"]);
/// assert_eq!(SourceType::from_value("tape"), None);
/// ```
pub trait ClosedLabel: Sized {
    /// The texts, in the order of the ordinals.
    const VALUES: &'static [&'static str];

    /// Returns the value with this text. For an unknown text, returns the `other` variant, or `None` if there is no such variant.
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

/// A label that may be missing: `None` is the last value and has the text `none`.
impl<L: Label> Label for Option<L> {
    const CARDINALITY: usize = L::CARDINALITY + 1;
    const PARTS: &'static [&'static str] = L::PARTS;
    const LEARNT: bool = L::LEARNT;
    const NONE: Option<usize> = Some(L::CARDINALITY);

    #[inline]
    fn ordinal(self) -> usize {
        self.map_or(L::CARDINALITY, L::ordinal)
    }

    fn value(ordinal: usize) -> LabelText {
        if ordinal < L::CARDINALITY { L::value(ordinal) } else { Cow::Borrowed("none") }
    }

    fn part(ordinal: usize, part: usize) -> LabelText {
        if ordinal < L::CARDINALITY { L::part(ordinal, part) } else { Cow::Borrowed("none") }
    }
}

/// The texts of the first numbers, which need no allocation.
const SMALL: [&str; 16] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"];

/// A small number from `0` to `N - 1`. Larger numbers become `other`.
///
/// ```
/// use tracecast::{Index, Label};
///
/// assert_eq!(Index::<8>::value(Index::<8>::new(3).ordinal()), "3");
/// assert_eq!(Index::<8>::value(Index::<8>::new(8).ordinal()), "other");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Index<const N: usize>(u32);

impl<const N: usize> Index<N> {
    /// Creates the index `n`, or `other` if `n` is `N` or more.
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
        if ordinal >= N {
            return Cow::Borrowed("other");
        }
        SMALL.get(ordinal).map_or_else(|| Cow::Owned(ordinal.to_string()), |text| Cow::Borrowed(*text))
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
        assert_eq!(texts::<Index<18>>()[14..], ["14", "15", "16", "17", "other"]);
    }

    #[test]
    fn an_index_past_the_end_is_other() {
        assert_eq!([0, 1, 2, u64::MAX].map(|n| Index::<2>::new(n).ordinal()), [0, 1, 2, 2]);
    }
}
