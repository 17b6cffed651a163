//! The code of those chapters of the book that use several crates of ours, run as doc tests. The others' is run by the crate
//! that they are about.

#[cfg(doctest)]
#[doc = include_str!("../../book/src/carriers.md")]
struct Carriers;

#[cfg(doctest)]
#[doc = include_str!("../../book/src/gpus.md")]
struct Gpus;
