//! The only unordered map: fixed hasher, no iteration.
//!
//! `std`'s maps draw a seed per process, and iterating any hash map makes output depend on it. This wrapper only offers
//! look-ups, so nothing observable can depend on the hashing.

use std::borrow::Borrow;
use std::hash::Hash;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// A map for look-ups by key. It cannot be iterated.
#[derive(Clone, Debug)]
pub struct Index<K, V>(HashMap<K, V, FxBuildHasher>);

impl<K, V> Default for Index<K, V> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<K: Eq + Hash, V> Index<K, V> {
    /// The value at `key`.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.0.get(key)
    }

    /// A mutable reference to the value at `key`.
    pub fn get_mut<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.0.get_mut(key)
    }

    /// Whether `key` is present.
    pub fn contains<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.contains_key(key)
    }

    /// Stores `value` at `key`; returns the value that it replaces.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.0.insert(key, value)
    }

    /// Removes the value at `key`.
    pub fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.0.remove(key)
    }

    /// The value at `key`; made by `make` if there is none.
    pub fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        self.0.entry(key).or_insert_with(make)
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the map is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
