//! Methods as labels: learnt, and no more than a few.

use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

use tracecast::Label;

/// Methods that have a series of their own.
const METHODS: usize = 63;

/// A method as a label: one that is known, or `_OTHER`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodLabel(u32);

impl MethodLabel {
    pub(crate) const OTHER: MethodLabel = MethodLabel(METHODS as u32);

    /// The label of a method that is no invention of a caller.
    pub(crate) fn of(text: &str) -> Self {
        let mut texts = TEXTS.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = texts.iter().position(|known| *known == text) {
            return MethodLabel(known as u32);
        }
        if texts.len() == METHODS {
            return MethodLabel::OTHER;
        }
        texts.push(String::from(text).leak());
        MethodLabel(texts.len() as u32 - 1)
    }

    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    pub(crate) fn from_bits(bits: u32) -> Self {
        MethodLabel(bits.min(METHODS as u32))
    }
}

/// By ordinal; kept for as long as the process runs.
static TEXTS: RwLock<Vec<&'static str>> = RwLock::new(Vec::new());

impl Label for MethodLabel {
    const CARDINALITY: usize = METHODS + 1;
    const LEARNT: bool = true;

    fn ordinal(self) -> usize {
        self.0 as usize
    }

    fn value(ordinal: usize) -> Cow<'static, str> {
        let texts = TEXTS.read().unwrap_or_else(PoisonError::into_inner);
        Cow::Borrowed(texts.get(ordinal).copied().unwrap_or("_OTHER"))
    }
}
