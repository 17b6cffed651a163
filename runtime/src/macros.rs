//! The macros, with their documentation.

/// Declares keys.
#[macro_export]
macro_rules! tc_keys {
    ($($tokens:tt)*) => {
        $crate::__private::__keys! { crate = $crate; $($tokens)* }
    };
}

/// Opens a span that ends with the returned [`Scope`](crate::Scope).
#[macro_export]
macro_rules! tc_scope {
    ($($tokens:tt)*) => {
        $crate::__private::__scope! { crate = $crate; $($tokens)* }
    };
}

/// Makes a label of an enum of another crate.
#[macro_export]
macro_rules! label_for {
    ($($tokens:tt)*) => {
        $crate::__private::__label_for! { crate = $crate; $($tokens)* }
    };
}

pub use tracecast_macros::{TcError, TcLabel, tc_span};
