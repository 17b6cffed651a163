//! Secrets that are never printed: headers, keys, and values from variables in a file.

use std::fmt;
use std::ops::Deref;

const SHOWN: &str = "[secret]";

/// A secret text. `Display` and `Debug` print `[secret]`. Only code that sends the secret reads it.
///
/// ```
/// use tracecast::config::Secret;
///
/// assert_eq!(format!("{0} {0:?}", Secret::new("hunter2")), "[secret] [secret]");
/// ```
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// Creates a secret from `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// Returns the secret text, for sending only.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SHOWN)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SHOWN)
    }
}

/// A value that prints as `[secret]` if it came from a variable that a configuration file refers to (`${VAR}`).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Masked<T> {
    value: T,
    hidden: bool,
}

impl<T> Masked<T> {
    /// Creates a value, which prints as `[secret]` if it is `hidden`.
    pub(crate) fn new(value: T, hidden: bool) -> Self {
        Masked { value, hidden }
    }

    /// Returns whether the value prints as `[secret]`.
    pub(crate) fn is_hidden(&self) -> bool {
        self.hidden
    }

    /// Returns the value without its mask: it prints even if it was hidden.
    pub(crate) fn into_inner(self) -> T {
        self.value
    }

    /// Converts the value and keeps its visibility.
    pub(crate) fn map<U>(self, f: impl FnOnce(T) -> U) -> Masked<U> {
        Masked { value: f(self.value), hidden: self.hidden }
    }
}

impl<T> From<T> for Masked<T> {
    fn from(value: T) -> Self {
        Masked { value, hidden: false }
    }
}

impl<T> Deref for Masked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Masked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.hidden { f.write_str(SHOWN) } else { self.value.fmt(f) }
    }
}

impl<T: fmt::Display> fmt::Display for Masked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.hidden { f.write_str(SHOWN) } else { self.value.fmt(f) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_print() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret} {secret:?} {:?}", Some(&secret)), "[secret] [secret] Some([secret])");
        assert_eq!(secret.reveal(), "hunter2");
    }

    #[test]
    fn a_masked_value_prints_unless_hidden() {
        let (open, hidden) = (Masked::from("a"), Masked::new("b", true));
        assert_eq!(format!("{open} {open:?} {hidden} {hidden:?}"), "a \"a\" [secret] [secret]");
        assert_eq!(*hidden.map(str::len), 1);
    }
}
