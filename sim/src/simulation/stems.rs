//! Requests of wide fan-outs, taken from where their common beginning ends, where nobody asks for more of them than usage.

use std::collections::VecDeque;
use std::rc::Rc;

use super::sizes::{Last, Sizer};
use crate::wire::{Draft, NodeId, PathSizes, Prefixes, Request, Sizes, Stem, StemSizes, Wire};

/// Beginnings that are held. A fan-out has one.
const HELD_MAX: usize = 4;

/// Beginnings of requests that were taken, the newest first.
#[derive(Debug, Default)]
pub(super) struct Stems(VecDeque<Rc<MeasuredStem>>);

/// A beginning with the tokens of each of its prefixes.
#[derive(Debug)]
pub(super) struct MeasuredStem {
    stem: Stem,
    tokens: Vec<u64>,
}

/// Tokens of the prefixes of a request, shortest first.
#[derive(Debug)]
pub(super) enum Tokens {
    /// Of all of them.
    Whole(Vec<u64>),
    /// Of those behind a beginning.
    Behind(Rc<MeasuredStem>, Vec<u64>),
}

/// The same, to be asked.
pub(super) enum TokenSizes<'a> {
    Whole(PathSizes<'a>),
    Behind(StemSizes<'a>),
}

impl Stems {
    /// The request that `draft` is, without what it shares with others, and its tokens; nothing where it shares little.
    pub fn take(
        &mut self,
        wire: &mut Wire,
        sizer: &mut Sizer,
        draft: &Draft,
        scope: &str,
    ) -> Option<(Request, Tokens)> {
        let known = match self.0.iter().find(|known| known.stem.begins(draft, scope)) {
            Some(known) => known.clone(),
            None => {
                let stem = wire.stem(draft, scope)?;
                self.hold(wire, sizer, stem)
            }
        };
        let request = wire.take_behind(&known.stem, draft, scope)?;
        let before = known.tokens.last().copied().unwrap_or(0);
        let own = sizer.behind(before, draft, &request, wire);
        Some((request, Tokens::Behind(known, own)))
    }

    fn hold(&mut self, wire: &Wire, sizer: &mut Sizer, stem: Stem) -> Rc<MeasuredStem> {
        let tokens = sizer.cumulative(&mut Last::default(), stem.draft(), stem.request(), wire);
        let known = Rc::new(MeasuredStem { stem, tokens });
        self.0.push_front(known.clone());
        self.0.truncate(HELD_MAX);
        known
    }
}

impl Tokens {
    /// Of the whole prompt.
    pub fn total(&self) -> u64 {
        let last = match self {
            Self::Whole(all) => all.last(),
            Self::Behind(known, own) => own.last().or(known.tokens.last()),
        };
        last.copied().unwrap_or(0)
    }

    /// Sizes of the prefixes of `nodes`, the path of the request.
    pub fn asked<'a>(&'a self, prefixes: &'a Prefixes, nodes: &[NodeId]) -> TokenSizes<'a> {
        match self {
            Self::Whole(all) => TokenSizes::Whole(PathSizes::new(prefixes, nodes, all)),
            Self::Behind(known, own) => TokenSizes::Behind(known.stem.sizes(prefixes, &known.tokens, own)),
        }
    }

    /// Of all prefixes of the request; nothing where its beginning is not among them.
    pub fn whole(&self) -> Option<&[u64]> {
        match self {
            Self::Whole(all) => Some(all),
            Self::Behind(..) => None,
        }
    }
}

impl Sizes for TokenSizes<'_> {
    fn tokens_at(&self, node: NodeId) -> u64 {
        match self {
            Self::Whole(sizes) => sizes.tokens_at(node),
            Self::Behind(sizes) => sizes.tokens_at(node),
        }
    }
}
