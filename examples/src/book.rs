//! Runs the code of the book's chapters that use several Tracecast crates, as doc tests. Each crate runs the chapters
//! about itself.

#[cfg(doctest)]
#[doc = include_str!("../../book/src/carriers.md")]
struct Carriers;

#[cfg(doctest)]
#[doc = include_str!("../../book/src/gpus.md")]
struct Gpus;
