//! Whole attributes: what they expand to, and that a mistake keeps the item.
