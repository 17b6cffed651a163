//! Spans that were made while a test captured, but in no context: a spawned task or thread that nobody gave one.

use std::sync::{Mutex, PoisonError};

use crate::callsite::Callsite;

const KEPT: usize = 256;

static STRAYS: Mutex<Vec<&'static Callsite>> = Mutex::new(Vec::new());

#[cold]
pub(crate) fn note(callsite: &'static Callsite) {
    let mut strays = STRAYS.lock().unwrap_or_else(PoisonError::into_inner);
    if strays.len() < KEPT {
        strays.push(callsite);
    }
}

/// How many there are by now.
pub(crate) fn count() -> usize {
    STRAYS.lock().unwrap_or_else(PoisonError::into_inner).len()
}

/// The names of those after the first `seen`.
pub(crate) fn since(seen: usize) -> Vec<&'static str> {
    let strays = STRAYS.lock().unwrap_or_else(PoisonError::into_inner);
    strays.iter().skip(seen).map(|callsite| callsite.name()).collect()
}
