//! Labels that stand for several attributes, for info metrics: one ordinal for everything that is known of a thing.
//!
//! So an info metric has as many series as things, however many values their attributes have, and a thing may change its texts.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// The texts of a label, by ordinal: `PARTS` attributes each. An empty text leaves its attribute out.
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

/// Declares a label that stands for several attributes, with the table of their texts.
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
