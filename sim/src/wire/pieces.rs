//! The blocks of a message. A beginning that many messages share is stored once.

use std::fmt;
use std::iter::Chain;
use std::ops::Index;
use std::rc::Rc;
use std::slice;

use super::piece::Piece;

/// The blocks of a message, in order. A clone shares the part for which [`Pieces::shared`] was called: siblings of a
/// fan-out answer thousands of calls alike, and each of them would store thousands of pointers.
#[derive(Clone, Default)]
pub struct Pieces {
    head: Option<Rc<Head>>,
    own: Vec<Piece>,
}

/// Blocks that several messages begin with.
struct Head {
    pieces: Vec<Piece>,
    is_declared: bool,
}

impl Pieces {
    /// These blocks; clones share them.
    pub fn shared(pieces: Vec<Piece>) -> Self {
        let is_declared = are_declared(&pieces);
        Self { head: Some(Rc::new(Head { pieces, is_declared })), own: Vec::new() }
    }

    /// Appends a block to this message only.
    pub fn push(&mut self, piece: Piece) {
        // Most messages have one block of their own, and a list grows to four places at once.
        if self.own.capacity() == 0 {
            self.own.reserve_exact(1);
        }
        self.own.push(piece);
    }

    /// All blocks as a list of this message's own, to be changed.
    pub fn own(&mut self) -> &mut Vec<Piece> {
        if let Some(head) = self.head.take() {
            self.own.splice(0..0, head.pieces.iter().cloned());
        }
        &mut self.own
    }

    /// The blocks in order.
    pub fn iter(&self) -> Chain<slice::Iter<'_, Piece>, slice::Iter<'_, Piece>> {
        self.head().iter().chain(&self.own)
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.head().len() + self.own.len()
    }

    /// Whether there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The block at this index.
    pub fn get(&self, at: usize) -> Option<&Piece> {
        match at.checked_sub(self.head().len()) {
            Some(behind) => self.own.get(behind),
            None => self.head().get(at),
        }
    }

    /// The last block.
    pub fn last(&self) -> Option<&Piece> {
        self.own.last().or_else(|| self.head().last())
    }

    /// Whether every block has a declared size. Costs a pass over the blocks that are this message's own.
    pub fn are_declared(&self) -> bool {
        self.head.as_ref().is_none_or(|head| head.is_declared) && are_declared(&self.own)
    }

    /// How many of the first blocks are shared.
    pub(crate) fn shared_len(&self) -> usize {
        self.head().len()
    }

    /// The shared blocks only.
    pub(crate) fn shared_part(&self) -> Self {
        Self { head: self.head.clone(), own: Vec::new() }
    }

    /// Whether both begin with the same shared part, not only with equal blocks.
    pub(crate) fn shares_with(&self, other: &Self) -> bool {
        self.head.as_ref().zip(other.head.as_ref()).is_some_and(|(one, other)| Rc::ptr_eq(one, other))
    }

    fn head(&self) -> &[Piece] {
        self.head.as_ref().map_or(&[], |head| &head.pieces)
    }
}

fn are_declared(pieces: &[Piece]) -> bool {
    pieces.iter().all(|piece| piece.declared_tokens().is_some())
}

impl Index<usize> for Pieces {
    type Output = Piece;

    fn index(&self, at: usize) -> &Piece {
        match at.checked_sub(self.head().len()) {
            Some(behind) => &self.own[behind],
            None => &self.head()[at],
        }
    }
}

impl<'a> IntoIterator for &'a Pieces {
    type Item = &'a Piece;
    type IntoIter = Chain<slice::Iter<'a, Piece>, slice::Iter<'a, Piece>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<Vec<Piece>> for Pieces {
    fn from(own: Vec<Piece>) -> Self {
        Self { head: None, own }
    }
}

impl<const N: usize> From<[Piece; N]> for Pieces {
    fn from(own: [Piece; N]) -> Self {
        Vec::from(own).into()
    }
}

impl FromIterator<Piece> for Pieces {
    fn from_iter<I: IntoIterator<Item = Piece>>(pieces: I) -> Self {
        Vec::from_iter(pieces).into()
    }
}

impl fmt::Debug for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece, Pieces};

    fn texts(pieces: &Pieces) -> Vec<&str> {
        pieces.iter().map(Piece::json).collect()
    }

    #[test]
    fn shared_and_own_blocks_form_one_list() {
        let [a, b, c] = ["{\"a\":1}", "{\"b\":1}", "{\"c\":1}"];
        let piece = |json: &str| Piece::new(json.to_owned());
        let head = Pieces::shared(vec![piece(a), piece(b)]);
        let (mut one, mut other) = (head.clone(), head.clone());
        one.push(piece(c));
        assert_eq!((texts(&one), one.len(), one.is_empty()), (vec![a, b, c], 3, false));
        assert_eq!((one[0].json(), one[2].json(), one.get(1).unwrap().json()), (a, c, b));
        assert_eq!((one.get(3).is_none(), one.last().unwrap().json(), head.last().unwrap().json()), (true, c, b));
        assert!(one.shares_with(&other) && one[1].same(&other[1]));
        other.own().reverse();
        assert_eq!((texts(&other), texts(&head)), (vec![b, a], vec![a, b]));
        assert!(!one.shares_with(&other) && !one.shares_with(&vec![piece(a), piece(b)].into()));
    }

    #[test]
    fn sizes_are_declared_if_those_of_all_blocks_are() {
        let piece = || Piece::text("a");
        let mut pieces = Pieces::shared(vec![piece().sized(1)]);
        assert!(pieces.are_declared() && Pieces::default().are_declared());
        pieces.push(piece());
        assert!(!pieces.are_declared() && !Pieces::shared(vec![piece()]).are_declared());
    }
}
