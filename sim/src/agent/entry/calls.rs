//! The tool calls of one message, and their positions.

use std::cell::OnceCell;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;
use std::slice;

use serde_json::Value;

use super::block::Block;
use crate::wire::{Index, Piece};

/// A tool call as the model made it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolUse {
    /// Id of the call.
    pub id: Rc<str>,
    /// The tool.
    pub name: Rc<str>,
    /// Its input.
    pub input: Rc<Value>,
}

impl ToolUse {
    /// The call in a block, if it is one.
    pub fn of(piece: &Piece) -> Option<Self> {
        let block = Block::of(piece, "tool_use")?;
        Some(Self { id: block.id?.into(), name: block.name?.into(), input: Rc::new(block.input?) })
    }
}

/// A call of a message, without its input: that is in the message's block alone, for a parsed one takes ten times as much
/// memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCall {
    /// Id of the call.
    pub id: Rc<str>,
    /// The tool.
    pub name: Rc<str>,
}

impl From<&ToolUse> for NamedCall {
    fn from(call: &ToolUse) -> Self {
        Self { id: call.id.clone(), name: call.name.clone() }
    }
}

/// The tool calls of a message in order of arrival. Clones share one list, because every fork of a message holds all of
/// its calls.
#[derive(Clone, Default)]
pub struct Calls(Option<Rc<Made>>);

struct Made {
    calls: Vec<NamedCall>,
    ids: OnceCell<Rc<[Rc<str>]>>,
    places: OnceCell<Index<Rc<str>, usize>>,
}

/// Up to this many calls, a linear search is as fast as a map.
const FEW: usize = 8;

impl Calls {
    /// The ids in order, shared between callers.
    pub fn ids(&self) -> Rc<[Rc<str>]> {
        let Some(made) = &self.0 else { return Rc::default() };
        made.ids.get_or_init(|| made.calls.iter().map(|call| call.id.clone()).collect()).clone()
    }

    /// The position of call `id`; the first one if two share an id.
    pub fn place(&self, id: &str) -> Option<usize> {
        let made = self.0.as_ref()?;
        if made.calls.len() <= FEW {
            return made.calls.iter().position(|call| *call.id == *id);
        }
        made.places.get_or_init(|| places(&made.calls)).get(id).copied()
    }

    /// Whether `ids` came from [`Calls::ids`]: then it holds all ids, in order.
    pub fn is_answered_by(&self, ids: &Rc<[Rc<str>]>) -> bool {
        let known = self.0.as_ref().and_then(|made| made.ids.get());
        known.is_some_and(|known| Rc::ptr_eq(known, ids))
    }
}

fn places(calls: &[NamedCall]) -> Index<Rc<str>, usize> {
    let mut places = Index::default();
    for (at, call) in calls.iter().enumerate().rev() {
        places.insert(call.id.clone(), at);
    }
    places
}

impl Deref for Calls {
    type Target = [NamedCall];

    fn deref(&self) -> &[NamedCall] {
        self.0.as_ref().map_or(&[], |made| &made.calls)
    }
}

impl From<Vec<NamedCall>> for Calls {
    fn from(calls: Vec<NamedCall>) -> Self {
        let made = |calls| Rc::new(Made { calls, ids: OnceCell::new(), places: OnceCell::new() });
        Self((!calls.is_empty()).then(|| made(calls)))
    }
}

impl FromIterator<NamedCall> for Calls {
    fn from_iter<I: IntoIterator<Item = NamedCall>>(calls: I) -> Self {
        Vec::from_iter(calls).into()
    }
}

impl<'a> IntoIterator for &'a Calls {
    type Item = &'a NamedCall;
    type IntoIter = slice::Iter<'a, NamedCall>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq for Calls {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::{Calls, NamedCall};

    fn calls(ids: &[&str]) -> Calls {
        let call = |id: &&str| NamedCall { id: (*id).into(), name: "Read".into() };
        ids.iter().map(call).collect()
    }

    #[test]
    fn an_id_has_the_position_of_its_first_call_in_short_and_long_lists() {
        let long = ["a", "b", "a", "c", "d", "e", "f", "g", "h", "b"];
        for ids in [&long[..4], &long[..]] {
            let calls = calls(ids);
            let places = ["a", "b", "c", "z"].map(|id| calls.place(id));
            assert_eq!(places, [Some(0), Some(1), Some(3), None]);
        }
        assert_eq!(Calls::default().place("a"), None);
    }

    #[test]
    fn calls_are_answered_by_their_own_list_of_ids() {
        let (calls, other) = (calls(&["a", "b"]), calls(&["a", "b"]));
        let same = calls.clone();
        assert!(calls.is_answered_by(&same.ids()) && same.is_answered_by(&calls.ids()));
        assert!(!other.is_answered_by(&calls.ids()), "equal, but another list");
        assert!(!Calls::default().is_answered_by(&Calls::default().ids()));
    }
}
