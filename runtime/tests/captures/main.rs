//! Contexts, carriers and scopes, seen through captures. Nothing here starts recording, so all tests run at the same time.

mod carriers;
mod contexts;
mod do_not_mix;
#[cfg(feature = "logs")]
mod logs;
mod scopes;
