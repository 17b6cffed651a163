//! The labels of a metric: a tuple of keys, a tuple of values, and the index that they make together.

use std::marker::PhantomData;

use crate::key::{Key, KeyMeta, LabelKey};
use crate::label::Label;
use crate::value::{IntoValue, Value};

/// What no label set has as its index.
const NOWHERE: usize = usize::MAX;

/// The labels of a metric: a tuple of keys that were declared with `label`, or `()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of label keys",
    label = "not a tuple of label keys",
    note = "write `(keys::source, keys::device)`, with a comma behind a single one: `(keys::source,)`; at most eight"
)]
pub trait LabelSet: 'static {
    /// The keys.
    const KEYS: &'static [&'static KeyMeta];
    /// How many sets of values there are.
    const CARDINALITY: usize;
}

/// Values for the labels `L`: a tuple of them, in the order of the keys.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are not values for the labels `{L}`",
    label = "one value for each label of `{L}` is needed",
    note = "give a tuple with a value for each key, in their order; a label takes its own type, never a `String`"
)]
pub trait LabelValues<L> {
    /// Which of the sets of values this is.
    fn index(self) -> usize;
}

impl LabelSet for () {
    const KEYS: &'static [&'static KeyMeta] = &[];
    const CARDINALITY: usize = 1;
}

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
        }

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

/// Label values on their way to an index.
#[derive(Clone, Copy, Debug)]
pub struct Labels(usize);

impl Labels {
    /// No labels yet.
    #[inline(always)]
    #[expect(clippy::new_without_default, reason = "generated code calls it by this name")]
    pub const fn new() -> Self {
        Labels(0)
    }

    /// One more label.
    #[inline(always)]
    pub fn label<K: LabelKey>(self, value: impl IntoValue<K::Value>) -> Self
    where
        K::Value: Label,
    {
        Labels(appended(self.0, ordinal::<K>(value), <K::Value as Label>::CARDINALITY))
    }

    /// Which of the sets of values this is.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0
    }
}

/// The index that grows by one label, or nowhere if the label is none of its values: one that was written by hand.
#[inline(always)]
pub(crate) fn appended(index: usize, ordinal: usize, cardinality: usize) -> usize {
    if ordinal >= cardinality || index == NOWHERE { NOWHERE } else { index * cardinality + ordinal }
}

#[inline(always)]
pub(crate) fn ordinal<K: LabelKey>(value: impl IntoValue<K::Value>) -> usize {
    value.with_value(|value| match value {
        Value::Label(ordinal) => ordinal,
        _ => NOWHERE,
    })
}

/// The label key `K` where its value may be missing, as after an error: then it is `none`.
pub struct OrNone<K>(PhantomData<fn() -> K>);

impl<K: LabelKey> Key for OrNone<K>
where
    K::Value: Label,
{
    type Value = Option<K::Value>;
    const META: &'static KeyMeta =
        &KeyMeta::label::<Option<K::Value>>(K::META.name, K::META.description).at(K::META.location);
}

impl<K: LabelKey> LabelKey for OrNone<K>
where
    K::Value: Label,
{
    type Itself = Self;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{SourceType, device, source};
    use crate::label::LabelText;

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
    }
}
