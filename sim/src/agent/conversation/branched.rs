//! A list that shares its beginning with its clones.

use std::rc::Rc;

/// A list whose clones share the part that existed when [`Self::share`] was called. A fork stores only what it adds to
/// its parent's conversation.
#[derive(Clone)]
pub(super) struct Branched<T> {
    base: Rc<Vec<T>>,
    /// How many items of the base belong to this list.
    shared: usize,
    own: Vec<T>,
}

impl<T> Default for Branched<T> {
    fn default() -> Self {
        Self { base: Rc::default(), shared: 0, own: Vec::new() }
    }
}

impl<T: Clone> Branched<T> {
    /// Moves all items into the part that clones share.
    pub fn share(&mut self) {
        if self.own.is_empty() {
            return;
        }
        if self.shared < self.base.len() || Rc::get_mut(&mut self.base).is_none() {
            self.base = Rc::new(self.base[..self.shared].to_vec());
        }
        let own = std::mem::take(&mut self.own);
        if let Some(base) = Rc::get_mut(&mut self.base) {
            base.extend(own);
        }
        self.shared = self.base.len();
    }

    pub fn len(&self) -> usize {
        self.shared + self.own.len()
    }

    pub fn get(&self, at: usize) -> Option<&T> {
        match at.checked_sub(self.shared) {
            Some(at) => self.own.get(at),
            None => self.base.get(at),
        }
    }

    pub fn last(&self) -> Option<&T> {
        self.get(self.len().checked_sub(1)?)
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.base[..self.shared].iter().chain(&self.own)
    }

    pub fn push(&mut self, item: T) {
        // Thousands of forks add one or two items each, and a list grows to four places at once.
        if self.own.len() == self.own.capacity() && self.own.len() < 2 {
            self.own.reserve_exact(1);
        }
        self.own.push(item);
    }

    /// Replaces the last item, in this list only.
    pub fn replace_last(&mut self, item: T) {
        debug_assert!(self.len() > 0, "the list is not empty");
        if self.own.pop().is_none() {
            self.shared = self.shared.saturating_sub(1);
        }
        self.own.push(item);
    }
}

impl<T: Clone> Extend<T> for Branched<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

#[cfg(test)]
mod tests {
    use super::Branched;

    fn all(list: &Branched<u32>) -> Vec<u32> {
        list.iter().copied().collect()
    }

    #[test]
    fn branches_grow_independently() {
        let mut parent = Branched::default();
        parent.extend([1, 2, 3]);
        parent.share();
        let mut one = parent.clone();
        let mut other = parent.clone();
        one.push(4);
        other.replace_last(5);
        parent.push(6);
        assert_eq!((all(&parent), all(&one), all(&other)), (vec![1, 2, 3, 6], vec![1, 2, 3, 4], vec![1, 2, 5]));
        other.share();
        assert_eq!((other.len(), other.get(1), other.get(2), other.get(3)), (3, Some(&2), Some(&5), None));
        parent.share();
        parent.push(7);
        assert_eq!((all(&parent), all(&one), parent.last()), (vec![1, 2, 3, 6, 7], vec![1, 2, 3, 4], Some(&7)));
    }
}
