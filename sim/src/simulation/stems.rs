//! Takes requests of wide fan-outs from the end of their common beginning on.

use std::collections::VecDeque;
use std::rc::Rc;

use super::sizes::{Last, Sizer};
use crate::wire::{Beginning, Draft, PathSizes, Prefixes, Request, Stem, Wire};

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

/// A request without its beginning.
pub(super) struct BehindStem {
    pub request: Request,
    /// Tokens of its prefixes, shortest first.
    pub cumulative: Vec<u64>,
    pub stem: Rc<MeasuredStem>,
}

impl Stems {
    /// The request made from `draft`, without the part that it shares with others; `None` if it shares little, or is the
    /// first with its beginning.
    pub fn take(&mut self, wire: &mut Wire, sizer: &mut Sizer, draft: &Draft, scope: &str) -> Option<BehindStem> {
        let stem = self.known(wire, sizer, draft, scope)?;
        let request = wire.take_behind(&stem.stem, draft, scope)?;
        let before = stem.tokens.last().copied().unwrap_or(0);
        let cumulative = sizer.behind(before, draft, &request, wire);
        Some(BehindStem { request, cumulative, stem })
    }

    /// Whether the next request with the beginning of this one is likely to be taken without it.
    pub fn will_serve(&self, draft: &Draft, scope: &str) -> bool {
        self.0.iter().any(|known| !matches!(known.stem, Some(None)) && known.beginning.begins(draft, scope))
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

impl BehindStem {
    /// The request with its beginning.
    pub fn whole(self) -> (Request, Vec<u64>) {
        let Self { request, cumulative, stem } = self;
        (stem.stem.whole(request), [&stem.tokens[..], &cumulative].concat())
    }
}

impl MeasuredStem {
    /// Sizes along the path of a request; these are its prefixes after the beginning.
    pub fn sizes<'a>(&'a self, prefixes: &'a Prefixes, behind: &'a [u64]) -> PathSizes<'a> {
        self.stem.sizes(prefixes, &self.tokens, behind)
    }
}
