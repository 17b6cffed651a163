//! Spans: what an annotated function enters and leaves, the scope guard, and spans made by hand.

mod enter;
mod handmade;
mod relatives;
mod scope;
mod start;

#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
pub(crate) use self::enter::end_entered_as_panicked;
pub(crate) use self::enter::{
    Entered, Pending, Starting, enter_block, enter_block_under, finish, leave, leave_recorded, start_clock,
    start_reading,
};
pub use self::enter::{begin, begin_under, enter, enter_under, start, start_under, traced};
pub use self::handmade::Span;
pub use self::relatives::{IntoLinks, IntoParent};
pub use self::scope::Scope;
pub use self::start::Start;
pub(crate) use self::start::{End, fail, link};
