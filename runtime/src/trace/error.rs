//! Records errors: the type, from a closed set if the error implements `TcError`, and a message of limited length.

use std::any::type_name;
use std::fmt;

use crate::declare::key::Key;
use crate::declare::keys::error::{error_message, error_type};
use crate::declare::value::{Value, cut, formatted};
use crate::record::block::BlockRef;
use crate::record::fields;

/// An error with a closed set of types. Derive it with `#[derive(TcError)]`, or implement it.
///
/// ```
/// use tracecast::TcError;
///
/// #[derive(TcError)]
/// enum StoreError {
///     NotFound,
///     Full,
/// }
///
/// assert_eq!(StoreError::TYPES, ["NotFound", "Full"]);
/// assert_eq!(StoreError::Full.error_type(), "Full");
/// # let _ = StoreError::NotFound;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no closed set of error types",
    label = "`TcError` is not derived",
    note = "add `#[derive(tracecast::TcError)]` to it"
)]
pub trait TcError {
    /// All possible types.
    const TYPES: &'static [&'static str];

    /// Returns the type of this error.
    fn error_type(&self) -> &'static str;
}

/// The maximum length of a recorded error message in bytes.
const MESSAGE_BYTES: usize = 256;

/// An error that is to be recorded on a span.
pub struct ErrorInfo<'a> {
    /// The value of `error.type`.
    pub error_type: &'static str,
    /// The value of `error.message`; `None` if no message is recorded.
    pub message: Option<&'a dyn fmt::Display>,
}

/// Records the type on a span, and the message if there is one, cut to its maximum length.
pub(crate) fn record(block: BlockRef, error: &ErrorInfo<'_>) {
    fields::set(block, error_type::META, Value::Static(error.error_type));
    if let Some(message) = error.message {
        formatted(message, |text| fields::set(block, error_message::META, Value::Str(cut(text, MESSAGE_BYTES))));
    }
}

/// Calls `f` with an error's type name and message. The message is formatted before the call, because `Display` may run user
/// code.
pub(crate) fn with_text<E: fmt::Display + ?Sized>(error: &E, f: impl FnOnce(&ErrorInfo<'_>)) {
    // A reference to an unsized `E` is itself a sized `Display`.
    formatted(&error, |text| f(&ErrorInfo { error_type: type_name::<E>(), message: Some(&text) }));
}
