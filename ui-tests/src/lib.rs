//! Holds nothing: the tests of this package are programs of which each makes one mistake. See `tests/ui.rs`.
