//! Telling results apart by type, whatever they are called in the source.
//!
//! A trait per case, each for another level of reference: method lookup on `(&&&Probe(&value)).report(end)` meets a
//! `Result` with a derived `TcError` first, then one with any `Display`, then any `Result`, and last, by value,
//! anything at all.

use std::any::type_name;
use std::fmt::Display;

use crate::trace::error::{ErrorInfo, TcError};
use crate::trace::span::End;

/// Wraps a reference to what a function returned.
pub struct Probe<'a, T: ?Sized>(pub &'a T);

impl<T: ?Sized> Clone for Probe<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Probe<'_, T> {}

macro_rules! report {
    ($(#[$meta:meta])* $trait:ident for $probe:ty, [$($bound:tt)*], |$error:ident| $type:expr, $message:expr) => {
        $(#[$meta])*
        pub trait $trait {
            /// Records an error with its message.
            fn report(&self, end: &mut End);
            /// Records an error's type alone.
            fn report_type(&self, end: &mut End);
        }

        impl<T, E $($bound)*> $trait for $probe {
            #[inline]
            fn report(&self, end: &mut End) {
                if let Err($error) = self.0 {
                    end.fail(&ErrorInfo { error_type: $type, message: $message });
                }
            }

            #[inline]
            fn report_type(&self, end: &mut End) {
                if let Err($error) = self.0 {
                    end.fail(&ErrorInfo { error_type: $type, message: None });
                }
            }
        }
    };
}

report!(
    /// A `Result` whose error has derived types.
    ReportTyped for &&Probe<'_, Result<T, E>>, [: TcError + Display], |error| error.error_type(), Some(error)
);
report!(
    /// A `Result` whose error has derived types and cannot be shown. The lookup meets it second: before it takes a level
    /// of reference away, it tries one more.
    ReportSilent for &&&Probe<'_, Result<T, E>>, [: TcError], |error| error.error_type(), None
);
report!(
    /// A `Result` whose error can be shown.
    ReportShown for &Probe<'_, Result<T, E>>, [: Display], |error| type_name_of(error), Some(error)
);
report!(
    /// Any `Result`.
    ReportResult for Probe<'_, Result<T, E>>, [], |error| type_name_of(error), None
);

/// The name of an error's type.
fn type_name_of<E>(_: &E) -> &'static str {
    type_name::<E>()
}

/// Anything: no error.
pub trait ReportNothing: Sized {
    /// Records nothing.
    #[inline]
    fn report(self, _end: &mut End) {}
    /// Records nothing.
    #[inline]
    fn report_type(self, _end: &mut End) {}
}

impl<T: ?Sized> ReportNothing for Probe<'_, T> {}

/// The value of a `Result`.
pub trait SuccessOfResult<'a> {
    /// What it is.
    type Value: ?Sized;
    /// The value, if it is one.
    fn success(&self) -> Option<&'a Self::Value>;
}

impl<'a, T, E> SuccessOfResult<'a> for Probe<'a, Result<T, E>> {
    type Value = T;

    #[inline]
    fn success(&self) -> Option<&'a T> {
        self.0.as_ref().ok()
    }
}

/// The value of anything else: itself.
pub trait SuccessOfAny<'a> {
    /// What it is.
    type Value: ?Sized;
    /// The value.
    fn success(self) -> Option<&'a Self::Value>;
}

impl<'a, T: ?Sized> SuccessOfAny<'a> for Probe<'a, T> {
    type Value = T;

    #[inline]
    fn success(self) -> Option<&'a T> {
        Some(self.0)
    }
}
