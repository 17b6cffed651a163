//! Labels with several attributes, for info metrics: one ordinal represents all attributes of an object.
//!
//! So an info metric has one series per object, however many values the attributes have, and the attributes of an object may
//! change.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// The attribute values of a label, by ordinal, `PARTS` for each. An attribute with an empty value is left out.
pub(crate) struct Texts<const PARTS: usize>(RwLock<BTreeMap<usize, [String; PARTS]>>);

impl<const PARTS: usize> Texts<PARTS> {
    pub(crate) const fn new() -> Self {
        Texts(RwLock::new(BTreeMap::new()))
    }

    pub(crate) fn set(&self, ordinal: usize, texts: [String; PARTS]) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(ordinal, texts);
    }

    pub(crate) fn part(&self, ordinal: usize, part: usize) -> Cow<'static, str> {
        let texts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        texts.get(&ordinal).and_then(|texts| texts.get(part)).cloned().unwrap_or_default().into()
    }
}

/// Declares a label with several attributes, and the table of their values.
macro_rules! described {
    ($(#[doc = $doc:tt] $label:ident of $most:expr, in $texts:ident: [$($part:tt),+];)+) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $label(usize);

        static $texts: $crate::described::Texts<{ [$($part),+].len() }> = $crate::described::Texts::new();

        impl ::tracecast::Label for $label {
            const CARDINALITY: usize = $most;
            const PARTS: &'static [&'static str] = &[$($part),+];
            const LEARNT: bool = true;

            fn ordinal(self) -> usize {
                self.0
            }

            fn value(ordinal: usize) -> ::std::borrow::Cow<'static, str> {
                ordinal.to_string().into()
            }

            fn part(ordinal: usize, part: usize) -> ::std::borrow::Cow<'static, str> {
                $texts.part(ordinal, part)
            }
        }
    )+};
}

pub(crate) use described;
