//! What is recorded of an error: its type, from a closed set where derived, and a bounded message.

use std::any::type_name;
use std::fmt;

use crate::declare::key::Key;
use crate::declare::keys::error::{error_message, error_type};
use crate::declare::value::{Value, cut, formatted};
use crate::record::block::BlockRef;
use crate::record::fields;

/// An error with a closed set of types. Derive it with `#[derive(TcError)]`, or implement it by hand.
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
    /// All the types.
    const TYPES: &'static [&'static str];

    /// The type of this one.
    fn error_type(&self) -> &'static str;
}

/// Bytes of an error's message that are kept.
const MESSAGE_BYTES: usize = 256;

/// An error on its way into a span.
pub struct ErrorInfo<'a> {
    /// `error.type`.
    pub error_type: &'static str,
    /// `error.message`, if it is to be recorded.
    pub message: Option<&'a dyn fmt::Display>,
}

/// Records type and message on a span.
pub(crate) fn record(block: BlockRef, error: &ErrorInfo<'_>) {
    fields::set(block, error_type::META, Value::Static(error.error_type));
    if let Some(message) = error.message {
        formatted(message, |text| fields::set(block, error_message::META, Value::Str(cut(text, MESSAGE_BYTES))));
    }
}

/// Describes an error of which only its `Display` is known. It is shown before `f` is called, because it may be the
/// user's code.
pub(crate) fn with_text<E: fmt::Display + ?Sized>(error: &E, f: impl FnOnce(&ErrorInfo<'_>)) {
    // A reference to an unsized `E` is itself a sized `Display`.
    formatted(&error, |text| f(&ErrorInfo { error_type: type_name::<E>(), message: Some(&text) }));
}
