//! The labels of a metric as a tuple of keys, their values as a tuple, and the index of a label set, computed from the values.

use std::marker::PhantomData;

use crate::declare::key::{Key, KeyMeta, LabelKey};
use crate::declare::label::{Label, LabelText};
use crate::declare::value::{IntoValue, Value};

/// The index for labels that are out of range. No label set has this index.
const NOWHERE: usize = usize::MAX;

/// The labels of a metric: a tuple of keys that were declared with `label`, or `()`. Sealed: tuples of up to eight keys only.
///
/// ```
/// use tracecast::{Counter, LabelSet, LabelValues};
///
/// fn count_twice<L: LabelSet>(counter: &'static Counter<L>, labels: impl LabelValues<L>) {
///     counter.add(2, labels);
/// }
/// # let _ = |counter| count_twice::<()>(counter, ());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of label keys",
    label = "not a tuple of label keys",
    note = "write `(keys::tensor::source, keys::device)`, with a trailing comma after a single key: `(keys::tensor::source,)`; at most eight"
)]
pub trait LabelSet: sealed::Sealed + 'static {
    /// The keys of the labels.
    #[doc(hidden)]
    const KEYS: &'static [&'static KeyMeta];
    /// The number of label sets.
    #[doc(hidden)]
    const CARDINALITY: usize;
    /// The label set in which each label is `none`, or its last value if it has no `none`.
    #[doc(hidden)]
    const MISSING: usize;
}

/// Values for the labels `L`: a tuple of values in the order of the keys. Sealed: tuples of up to eight values only.
///
/// ```
/// use tracecast::keys::tensor::{SourceType, source};
/// use tracecast::{Counter, LabelValues};
///
/// fn count(counter: &'static Counter<(source,)>, labels: impl LabelValues<(source,)>) {
///     counter.add(1, labels);
/// }
/// # tracecast::tc_metrics! {
/// #     /// Files that were copied.
/// #     static COPIED: Counter<(source,)> = "tc_example_copied_total";
/// # }
///
/// let captured = tracecast::testing::capture(|| count(&COPIED, (SourceType::Disk,)));
/// captured.assert_metrics("tc_example_copied_total{tc.source.type=disk} 1");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not match the labels `{L}`",
    label = "wrong values for the labels `{L}`",
    note = "pass a tuple with one value per key, in the order of the keys, or `()` if there are none; each value must have the label's own type, never `String`"
)]
pub trait LabelValues<L>: sealed::Sealed {
    /// Returns the index of this label set.
    #[doc(hidden)]
    fn index(self) -> usize;
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for () {}
}

impl LabelSet for () {
    const KEYS: &'static [&'static KeyMeta] = &[];
    const CARDINALITY: usize = 1;
    const MISSING: usize = 0;
}

#[diagnostic::do_not_recommend]
impl LabelValues<()> for () {
    #[inline(always)]
    fn index(self) -> usize {
        0
    }
}

macro_rules! tuples {
    ($(($($key:ident $value:ident $field:tt),+))+) => {$(
        impl<$($key: LabelKey),+> LabelSet for ($($key,)+)
        where
            $($key::Value: Label),+
        {
            const KEYS: &'static [&'static KeyMeta] = &[$($key::META),+];
            const CARDINALITY: usize = {
                let sets: usize = 1;
                $(let sets = sets.saturating_mul(<$key::Value as Label>::CARDINALITY);)+
                sets
            };
            const MISSING: usize = {
                let set = 0;
                $(let set = appended(set, missing::<$key::Value>(), <$key::Value as Label>::CARDINALITY);)+
                set
            };
        }

        impl<$($value),+> sealed::Sealed for ($($value,)+) {}

        #[diagnostic::do_not_recommend]
        impl<$($key: LabelKey, $value: IntoValue<$key::Value>),+> LabelValues<($($key,)+)> for ($($value,)+)
        where
            $($key::Value: Label),+
        {
            #[inline(always)]
            fn index(self) -> usize {
                Labels::new()$(.label::<$key>(self.$field))+.index()
            }
        }
    )+};
}

tuples! {
    (A VA 0)
    (A VA 0, B VB 1)
    (A VA 0, B VB 1, C VC 2)
    (A VA 0, B VB 1, C VC 2, D VD 3)
    (A VA 0, B VB 1, C VC 2, D VD 3, E VE 4)
    (A VA 0, B VB 1, C VC 2, D VD 3, E VE 4, F VF 5)
    (A VA 0, B VB 1, C VC 2, D VD 3, E VE 4, F VF 5, G VG 6)
    (A VA 0, B VB 1, C VC 2, D VD 3, E VE 4, F VF 5, G VG 6, H VH 7)
}

/// Computes the index of a label set.
#[derive(Clone, Copy, Debug)]
pub struct Labels(usize);

impl Labels {
    /// Creates the index of no labels.
    #[inline(always)]
    #[expect(clippy::new_without_default, reason = "generated code calls it by this name")]
    pub const fn new() -> Self {
        Labels(0)
    }

    /// Adds a label.
    #[inline(always)]
    pub fn label<K: LabelKey>(self, value: impl IntoValue<K::Value>) -> Self
    where
        K::Value: Label,
    {
        Labels(appended(self.0, ordinal::<K>(value), <K::Value as Label>::CARDINALITY))
    }

    /// Returns the index of this label set.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0
    }
}

/// Returns the index extended by a label. Returns `NOWHERE` if the ordinal is out of range, as with an incorrect `Label`
/// implementation, or if the index was `NOWHERE`.
#[inline(always)]
pub(crate) const fn appended(index: usize, ordinal: usize, cardinality: usize) -> usize {
    if ordinal >= cardinality || index == NOWHERE { NOWHERE } else { index * cardinality + ordinal }
}

/// Returns the ordinal of `none`, or the last ordinal if there is no `none`.
const fn missing<L: Label>() -> usize {
    match L::NONE {
        Some(none) => none,
        None => L::CARDINALITY.saturating_sub(1),
    }
}

#[inline(always)]
pub(crate) fn ordinal<K: LabelKey>(value: impl IntoValue<K::Value>) -> usize {
    value.with_value(|value| match value {
        Value::Label(ordinal) => ordinal,
        Value::Absent => K::META.none.unwrap_or(NOWHERE),
        _ => NOWHERE,
    })
}

/// Stands for the label key `K` where its value may be missing, for example after an error. A missing value becomes `none`.
pub struct OrNone<K>(PhantomData<fn() -> K>);

impl<K: LabelKey> Key for OrNone<K>
where
    K::Value: Label,
{
    type Value = Maybe<K::Value>;
    const META: &'static KeyMeta =
        &KeyMeta::label::<Maybe<K::Value>>(K::META.name, K::META.description, K::META.source).at(K::META.location);
}

#[diagnostic::do_not_recommend]
impl<K: LabelKey> LabelKey for OrNone<K>
where
    K::Value: Label,
{
    type Itself = Self;
}

/// A label or `none`. If the label itself has no value `none`, this type adds that value.
#[derive(Clone, Copy, Debug)]
pub struct Maybe<L>(Option<L>);

#[diagnostic::do_not_recommend]
impl<L: Label> Label for Maybe<L> {
    const CARDINALITY: usize = L::CARDINALITY + if L::NONE.is_some() { 0 } else { 1 };
    const PARTS: &'static [&'static str] = L::PARTS;
    const LEARNT: bool = L::LEARNT;
    const NONE: Option<usize> = match L::NONE {
        Some(none) => Some(none),
        None => Some(L::CARDINALITY),
    };

    fn ordinal(self) -> usize {
        self.0.map_or(missing::<Self>(), L::ordinal)
    }

    fn value(ordinal: usize) -> LabelText {
        if ordinal < L::CARDINALITY { L::value(ordinal) } else { LabelText::Borrowed("none") }
    }

    fn part(ordinal: usize, part: usize) -> LabelText {
        if ordinal < L::CARDINALITY { L::part(ordinal, part) } else { LabelText::Borrowed("none") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::keys::{
        device,
        tensor::{SourceType, source},
    };

    #[test]
    fn values_make_an_index() {
        type Two = (source, device);
        assert_eq!(Two::CARDINALITY, 2 * 17);
        let index = |source, device: u32| LabelValues::<Two>::index((source, device));
        assert_eq!(index(SourceType::Remote, 0), 0);
        assert_eq!(index(SourceType::Disk, 3), 17 + 3);
        assert_eq!(index(SourceType::Disk, 99), 2 * 17 - 1);
        assert_eq!(LabelValues::<()>::index(()), 0);
    }

    #[test]
    fn a_label_out_of_its_range_is_nowhere() {
        assert_eq!(appended(1, 2, 3), 5);
        assert_eq!(appended(1, 3, 3), NOWHERE);
        assert_eq!(appended(NOWHERE, 0, 3), NOWHERE);
    }

    #[test]
    fn a_missing_value_is_none() {
        let meta = OrNone::<source>::META;
        assert_eq!((meta.name, meta.cardinality), ("tc.source.type", Some(3)));
        let texts: Vec<LabelText> = (0..3).map(|ordinal| meta.label_text(ordinal)).collect();
        assert_eq!(texts, ["remote", "disk", "none"]);
        assert_eq!(<(OrNone<source>, OrNone<source>)>::MISSING, 8);
    }

    #[test]
    fn a_label_that_has_none_itself_gets_no_second_one() {
        assert_eq!((Maybe::<Option<bool>>::CARDINALITY, Maybe::<bool>::CARDINALITY), (3, 3));
        assert_eq!(Maybe::<Option<bool>>(None).ordinal(), Maybe(Some(None::<bool>)).ordinal());
        let texts = |ordinal| Maybe::<Option<bool>>::value(ordinal);
        assert_eq!([texts(0), texts(1), texts(2)], ["false", "true", "none"]);
    }
}
