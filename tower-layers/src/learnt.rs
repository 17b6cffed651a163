//! Bounded tables of texts that peers choose: methods, routes, servers.
//!
//! Span names and label values stay in memory until the process exits, and a peer may invent any number of them. So a
//! table keeps a few texts when they are first seen, and more only after they have answered once. Texts are hashed with
//! a random seed, so that a peer cannot choose texts that collide.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use foldhash::fast::RandomState;

use crate::side::Side;

/// The name of all texts that have no name of their own.
pub(crate) const OTHER: &str = "_OTHER";

/// An item of a table, made from a text.
pub(crate) trait Learnt {
    /// The maximum number of items that are kept when they are first seen.
    const NEW: usize;
    /// The maximum number of items that are kept because they have answered.
    const KNOWN: usize;
    /// The longest text that is kept.
    const LONGEST: usize;

    fn new(entry: Entry) -> Self;

    fn entry(&self) -> &Entry;

    /// Returns whether the text has a form that can be learnt.
    fn is_learnable(&self) -> bool;

    /// Called when the item has answered and the table has room for it.
    fn learnt(&self) {}
}

/// The table's data about a text.
#[derive(Debug)]
pub(crate) struct Entry {
    group: usize,
    /// A text that is too long to be kept is cut one byte above the limit.
    text: Box<str>,
    /// Whether the table keeps the item.
    is_kept: bool,
    /// The number among the known items, plus one; zero if it is not known.
    known: AtomicU32,
}

impl Entry {
    #[cfg(feature = "http")]
    pub(crate) fn group(&self) -> usize {
        self.group
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Returns the item's number, if it is known.
    #[inline]
    pub(crate) fn number(&self) -> Option<u32> {
        self.known.load(Relaxed).checked_sub(1)
    }
}

/// The tables of both sides, created at first use.
pub(crate) struct Tables<T, const GROUPS: usize = 1> {
    server: LazyLock<Table<T, GROUPS>>,
    client: LazyLock<Table<T, GROUPS>>,
}

impl<T: Learnt, const GROUPS: usize> Tables<T, GROUPS> {
    pub(crate) const fn new() -> Self {
        Tables { server: LazyLock::new(Table::new), client: LazyLock::new(Table::new) }
    }

    pub(crate) fn of(&self, side: Side) -> &Table<T, GROUPS> {
        match side {
            Side::Server => &self.server,
            Side::Client => &self.client,
        }
    }
}

/// A table of items in groups; within a group a text identifies one item.
pub(crate) struct Table<T, const GROUPS: usize = 1> {
    items: RwLock<Items<T, GROUPS>>,
    /// Whether `KNOWN` items are known, readable without the lock.
    is_full: AtomicBool,
}

struct Items<T, const GROUPS: usize> {
    groups: [HashMap<Box<str>, Arc<T>, RandomState>; GROUPS],
    /// The number of items in all groups.
    len: usize,
    /// The known items by number.
    known: Vec<Arc<T>>,
}

impl<T: Learnt, const GROUPS: usize> Table<T, GROUPS> {
    pub(crate) fn new() -> Self {
        let groups = std::array::from_fn(|_| HashMap::default());
        Table { items: RwLock::new(Items { groups, len: 0, known: Vec::new() }), is_full: AtomicBool::new(false) }
    }

    pub(crate) fn find(&self, group: usize, text: &str) -> Arc<T> {
        let items = self.read();
        if let Some(item) = items.groups[group].get(text) {
            return item.clone();
        }
        let has_room = text.len() <= T::LONGEST && items.has_room();
        drop(items);
        if has_room { self.keep(group, text) } else { make(group, text, false) }
    }

    /// Marks an item as known because it has answered, so no peer invented it. Does nothing if the table is full or the
    /// item cannot be learnt.
    #[inline]
    pub(crate) fn learn(&self, item: &T) {
        if item.entry().number().is_none() && !self.is_full.load(Relaxed) {
            self.learn_new(item);
        }
    }

    /// Returns the text of the known item with this number.
    pub(crate) fn text(&self, number: u32) -> Option<Box<str>> {
        self.read().known.get(number as usize).map(|item| item.entry().text.clone())
    }

    /// Returns the item of a text. Adds the item if there is still room.
    fn keep(&self, group: usize, text: &str) -> Arc<T> {
        let mut items = self.write();
        // Another thread may have added this item or taken the last place.
        if let Some(item) = items.groups[group].get(text) {
            return item.clone();
        }
        if items.has_room() { items.add(group, text) } else { make(group, text, false) }
    }

    #[cold]
    fn learn_new(&self, item: &T) {
        let entry = item.entry();
        if entry.text.len() > T::LONGEST || !item.is_learnable() {
            return;
        }
        let mut items = self.write();
        if items.known.len() >= T::KNOWN {
            return;
        }
        let found = items.groups[entry.group].get(&entry.text).cloned();
        let kept = found.unwrap_or_else(|| items.add(entry.group, &entry.text));
        // Another thread may have marked the item.
        if kept.entry().number().is_none() {
            items.known.push(kept.clone());
            kept.learnt();
            kept.entry().known.store(items.known.len() as u32, Relaxed);
            self.is_full.store(items.known.len() >= T::KNOWN, Relaxed);
        }
        if !entry.is_kept {
            item.learnt();
            entry.known.store(kept.entry().known.load(Relaxed), Relaxed);
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Items<T, GROUPS>> {
        self.items.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Items<T, GROUPS>> {
        self.items.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of items, and of known items.
    #[cfg(test)]
    pub(crate) fn sizes(&self) -> (usize, usize) {
        let items = self.read();
        assert_eq!(items.groups.iter().map(HashMap::len).sum::<usize>(), items.len);
        (items.len, items.known.len())
    }
}

impl<T: Learnt, const GROUPS: usize> Items<T, GROUPS> {
    /// Returns whether there is room for one more item that has not answered.
    fn has_room(&self) -> bool {
        self.len - self.known.len() < T::NEW
    }

    fn add(&mut self, group: usize, text: &str) -> Arc<T> {
        let item: Arc<T> = make(group, text, true);
        self.groups[group].insert(text.into(), item.clone());
        self.len += 1;
        item
    }
}

/// Returns the longest prefix of `text` with at most `limit` bytes that ends between two characters.
pub(crate) fn cut(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn make<T: Learnt>(group: usize, text: &str, is_kept: bool) -> Arc<T> {
    let text = cut(text, T::LONGEST + 1).into();
    Arc::new(T::new(Entry { group, text, is_kept, known: AtomicU32::new(0) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::BuildHasher;

    struct Item(Entry);

    impl Learnt for Item {
        const NEW: usize = 2;
        const KNOWN: usize = 3;
        const LONGEST: usize = 8;

        fn new(entry: Entry) -> Self {
            Item(entry)
        }

        fn entry(&self) -> &Entry {
            &self.0
        }

        fn is_learnable(&self) -> bool {
            !self.0.text.is_empty()
        }
    }

    #[test]
    fn one_text_is_an_item_in_each_group() {
        let table = Table::<Item, 2>::new();
        let [one, other] = [0, 1].map(|group| table.find(group, "a"));
        assert!(!Arc::ptr_eq(&one, &other));
        assert!(Arc::ptr_eq(&one, &table.find(0, "a")));
        assert_eq!([one, other].map(|item| (item.0.group(), item.0.is_kept())), [(0, true), (1, true)]);
        assert!(!table.find(0, "b").0.is_kept());
    }

    #[test]
    fn a_full_table_learns_nothing_and_keeps_what_it_has() {
        let table = Table::<Item>::new();
        for text in ["a", "b", "c", "d", "e", "f", "g"] {
            table.learn(&table.find(0, text));
        }
        assert_eq!(table.sizes(), (5, 3));
        let numbers = ["a", "b", "c", "d"].map(|text| table.find(0, text).0.number());
        assert_eq!(numbers, [Some(0), Some(1), Some(2), None]);
        assert_eq!([0, 2, 3].map(|number| table.text(number)), [Some("a".into()), Some("c".into()), None]);
    }

    #[test]
    fn an_item_without_a_place_is_learnt_with_the_one_that_gets_it() {
        let table = Table::<Item>::new();
        ["a", "b"].iter().for_each(|text| drop(table.find(0, text)));
        let [one, other] = [table.find(0, "c"), table.find(0, "c")];
        assert!(!Arc::ptr_eq(&one, &other));
        [&one, &other, &one].iter().for_each(|item| table.learn(item));
        assert_eq!([&one, &other, &table.find(0, "c")].map(|item| item.0.number()), [Some(0); 3]);
        assert_eq!(table.sizes(), (3, 1));
    }

    #[test]
    fn texts_that_are_too_long_or_of_no_shape_are_never_learnt() {
        let table = Table::<Item>::new();
        for text in ["123456789", ""] {
            table.learn(&table.find(0, text));
        }
        assert_eq!(table.sizes(), (1, 0));
    }

    #[test]
    fn texts_are_hashed_with_a_seed() {
        let [one, other] = [Table::<Item>::new(), Table::<Item>::new()];
        let hash = |table: &Table<Item>| table.read().groups[0].hasher().hash_one("/Svc/M");
        assert_ne!(hash(&one), hash(&other));
    }
}
