//! Takes requests of wide fan-outs from the end of their common beginning on.

use std::collections::VecDeque;
use std::rc::Rc;

use super::sizes::{Last, Sizer};
use crate::wire::{Beginning, Draft, NodeId, PathSizes, Prefixes, Request, Sizes, Stem, StemSizes, Wire};

/// Most beginnings that are kept. A fan-out has one.
const HELD_MAX: usize = 4;

/// Beginnings of requests that were taken, the newest first.
#[derive(Debug, Default)]
pub(super) struct Stems(VecDeque<KnownBeginning>);

/// The beginning of a request.
#[derive(Debug)]
struct KnownBeginning {
    beginning: Rc<Beginning>,
    /// Made when a second request shares it; `Some(None)` if it cannot be made.
    stem: Option<Option<Rc<MeasuredStem>>>,
}

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
    /// Tokens of those after a beginning.
    Behind(Rc<MeasuredStem>, Vec<u64>),
}

/// The same, for look-ups.
pub(super) enum TokenSizes<'a> {
    Whole(PathSizes<'a>),
    Behind(StemSizes<'a>),
}

impl Stems {
    /// The request made from `draft`, without the part that it shares with others, and its tokens; `None` if it shares
    /// little, or is the first with its beginning.
    pub fn take(
        &mut self,
        wire: &mut Wire,
        sizer: &mut Sizer,
        draft: &Draft,
        scope: &str,
    ) -> Option<(Request, Tokens)> {
        let known = self.known(wire, sizer, draft, scope)?;
        let request = wire.take_behind(&known.stem, draft, scope)?;
        let before = known.tokens.last().copied().unwrap_or(0);
        let own = sizer.behind(before, draft, &request, wire);
        Some((request, Tokens::Behind(known, own)))
    }

    fn known(&mut self, wire: &mut Wire, sizer: &mut Sizer, draft: &Draft, scope: &str) -> Option<Rc<MeasuredStem>> {
        let Some(known) = self.0.iter_mut().find(|known| known.beginning.begins(draft, scope)) else {
            let beginning = Rc::new(Beginning::of(draft, scope)?);
            self.0.push_front(KnownBeginning { beginning, stem: None });
            self.0.truncate(HELD_MAX);
            return None;
        };
        let beginning = &known.beginning;
        let stem = known.stem.get_or_insert_with(|| {
            let stem = wire.stem(beginning)?;
            let tokens = sizer.cumulative(&mut Last::default(), stem.draft(), stem.request(), wire);
            Some(Rc::new(MeasuredStem { stem, tokens }))
        });
        stem.clone()
    }
}

impl Tokens {
    /// The full request for its part `behind`, with the tokens of all its prefixes.
    pub fn completed(self, behind: Request) -> (Request, Self) {
        match self {
            Self::Whole(_) => (behind, self),
            Self::Behind(known, own) => (known.stem.whole(behind), Self::Whole([&known.tokens[..], &own].concat())),
        }
    }

    /// Tokens of the whole prompt.
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

    /// Tokens of all prefixes of the request; `None` if its beginning is not among them.
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
