//! One request through arena, cache, explanation and bill.

use std::rc::Rc;
use std::sync::Arc;

use super::alarm::{Alarm, Cause};
use super::briefs::{Brief, Briefs};
use super::drafts::Drafts;
use super::last_requests::{Continuations, LastRequests};
use super::sizes::{Sizer, Sizing};
use super::stems::{BehindStem, MeasuredStem, Stems};
use super::unseen::{Changed, Changes};
use super::{Lookup, Observer};
use crate::cache::{Outcome, Prompt, PromptCache, Refusal, Rules, Ticket};
use crate::diagnosis::{Circumstances, RejectedThinking, Subject};
use crate::ledger::Line;
use crate::model::Unseen;
use crate::pricing::{Date, PriceBook};
use crate::service::{
    Engine, Entry, FRAME_TOKENS, GIVEN_UP, Grounds, Layout, PriceFacts, Quote, RecordedUsage, SizedRequest, Tariff,
};
use crate::time::Instant;
use crate::wire::{ChainId, Draft, Index, Marker, PathSizes, Prefixes, Request, Usage, Wire, number};

/// Serves the requests of a run.
pub struct Service {
    /// Blocks and prefixes of the run.
    pub wire: Wire,
    /// The requests that were sent, if they are kept.
    pub drafts: Option<Drafts>,
    /// Who looks on.
    pub observers: Vec<Box<dyn Observer>>,
    /// Takes the entries when the run is over, instead of a list.
    pub takes_entries: Option<Box<dyn FnMut(Entry)>>,
    /// Calls refused by a rate limit. They have no line.
    pub over_limits: u64,
    /// Whether requests are explained, and compared with those that they continue. If not, a line has usage and money
    /// and no layout, and a request of a wide fan-out costs only its own part, unless there are observers.
    pub explains: bool,
    /// Whether ended agents may go on: then what they sent last is not forgotten.
    pub resumes: bool,
    /// The alarm that a broken law rings.
    pub alarm: Rc<Alarm>,
    /// When the provider's account was created, if that is known.
    pub account_created: Option<Date>,
    rules: Rules,
    /// The cache, and the ledger.
    engine: Engine,
    /// All lines, if nothing is explained and there are no observers.
    briefs: Briefs,
    sizer: Sizer,
    book: Rc<PriceBook>,
    prices_of: Option<Date>,
    scope: Rc<str>,
    chains: Index<Rc<str>, ChainId>,
    /// Names of agents, by chain.
    agents: Vec<Arc<str>>,
    latest: LastRequests,
    stems: Stems,
    continued: Continuations,
    changes: Changes,
}

/// A request that was served; its answer has not begun.
#[derive(Clone, Debug)]
pub struct OpenRequest {
    /// Its line in the ledger.
    pub line: usize,
    /// Usage without output.
    pub usage: Usage,
    ticket: Option<Ticket>,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerEnd {
    /// It ended, or broke off, after this many tokens.
    Ended {
        /// Tokens that arrived.
        output_tokens: u64,
    },
    /// It was cancelled before its first byte: nothing is billed or written.
    GivenUp,
}

impl Service {
    /// A service under `rules` that bills by `book` as of `prices_of` (`None` for the newest prices). All agents share
    /// one `scope`.
    pub fn new(
        rules: Rules,
        sizing: Sizing,
        book: Rc<PriceBook>,
        prices_of: Option<Date>,
        scope: &str,
        seed: u64,
    ) -> Self {
        Self {
            wire: Wire::new(rules.forms),
            drafts: None,
            observers: Vec::new(),
            takes_entries: None,
            over_limits: 0,
            explains: true,
            resumes: false,
            alarm: Rc::default(),
            account_created: None,
            rules,
            engine: Engine::new(&rules, seed, 0, 0),
            briefs: Briefs::default(),
            sizer: Sizer::new(sizing),
            book,
            prices_of,
            scope: scope.into(),
            chains: Index::default(),
            agents: Vec::new(),
            latest: LastRequests::default(),
            stems: Stems::default(),
            continued: Continuations::default(),
            changes: Changes::default(),
        }
    }

    /// Serves `draft`, sent by `agent` at `at`, with what happens `unseen` by the agent.
    ///
    /// # Errors
    /// When the provider would refuse it: nothing is read, written or billed, and there is no line.
    pub fn serve(
        &mut self,
        agent: &Rc<str>,
        draft: &Draft,
        unseen: Unseen,
        at: Instant,
    ) -> Result<OpenRequest, Refusal> {
        if let Some(tokens) = unseen.changed_after_tokens {
            self.change(agent, draft, |_| Some(tokens), Changed::Content)?;
        }
        if let Some((dropped, after)) = unseen.dropped_tokens.zip(unseen.changed_after_tokens) {
            self.drop_tokens(agent, draft, after, dropped)?;
        }
        if let Some(tokens) = unseen.tail_tokens {
            self.change(agent, draft, |total| total.checked_sub(tokens), Changed::Breakpoint)?;
        }
        let mut draft = self.changes.apply(agent, draft);
        if let Some(ttl) = unseen.ttl {
            draft.to_mut().marks.iter_mut().for_each(|mark| mark.ttl = ttl);
        }
        let draft = &*draft;
        let (taken, stem) = match unseen.kept_tokens {
            None => self.take(agent, draft)?,
            Some(tokens) => {
                let taken = self.take_whole(agent, draft)?;
                self.keep(&taken, tokens, at);
                (taken, None)
            }
        };
        let chain = self.chain(agent);
        let continues = self.continued.get(chain).filter(|_| self.explains);
        let prefixes = &self.wire.prefixes;
        let sizes = sizes(&taken, stem.as_deref(), prefixes);
        let prompt = Prompt { total_tokens: sizes.total(), ..taken.prompt(prefixes, &sizes) };
        let parent = self.continued.parent(chain);
        let previous = continues.as_deref();
        let grounds = Grounds { wire: &self.wire, request: &taken, previous, chain: Some(chain), parent };
        let grounds = Some(grounds).filter(|_| self.explains && stem.is_none());
        let layout = grounds.map(|grounds| Layout::of(&taken, grounds.previous)).unwrap_or_default();
        let circumstances = Circumstances { account_created: self.account_created, ..Circumstances::default() };
        let asked = SizedRequest { grounds, circumstances, ..SizedRequest::new(prompt, at) };
        let reading = self.engine.serve(&asked, Some(taken.number));
        let (line, usage) = (taken.number, reading.usage);
        if self.is_brief() {
            self.briefs.push(line, chain, &taken.request.model, at, usage);
        } else {
            let opened = Line {
                explanation: reading.explanation,
                remarks: reading.thinking.iter().map(RejectedThinking::to_string).collect(),
                ..begun(line, &taken.request.model, at)
            };
            self.bill(chain, opened, &usage, layout);
        }
        if let Some(drafts) = &mut self.drafts {
            drafts.push(chain, draft);
        }
        if stem.is_none() {
            self.observe_served(at, agent, draft, &taken, &reading.predicted);
            if self.explains {
                self.continued.put(chain, taken);
            }
        }
        Ok(OpenRequest { line, usage, ticket: reading.ticket })
    }

    /// Whether lines are kept in brief until the run is over.
    fn is_brief(&self) -> bool {
        !self.explains && self.observers.is_empty()
    }

    /// The number of the next line.
    fn next_line(&self) -> usize {
        self.engine.next_line() + self.briefs.len()
    }

    /// The entry of a line without its answer.
    fn bill(&mut self, chain: ChainId, line: Line, usage: &Usage, layout: Layout) {
        let quote = self.quote(&line.model, usage);
        let agent = self.agents[chain.0 as usize].clone();
        let line = Line { chain: Some(chain), predicted: Some(*usage), ..line };
        self.engine.bill(Entry::of_run(line, agent, layout), usage, &quote);
    }

    /// From now on the client changes the agent's prompt after the tokens that `after` gives for the size of this one.
    fn change(
        &mut self,
        agent: &Rc<str>,
        draft: &Draft,
        after: impl FnOnce(u64) -> Option<u64>,
        changed: Changed,
    ) -> Result<(), Refusal> {
        let draft = self.changes.apply(agent, draft);
        let taken = self.take_whole(agent, &draft)?;
        if let Some(tokens) = after(taken.total_tokens()) {
            self.changes.add(agent, &draft, &taken, tokens, changed);
        }
        Ok(())
    }

    /// From now on the client leaves `dropped` tokens out of the agent's prompt, from those after the first `after` ones.
    fn drop_tokens(&mut self, agent: &Rc<str>, draft: &Draft, after: u64, dropped: u64) -> Result<(), Refusal> {
        let draft = self.changes.apply(agent, draft);
        let taken = self.take_whole(agent, &draft)?;
        self.changes.shrink(agent, &draft, &taken, after, dropped);
        Ok(())
    }

    /// A request that is not the agent's keeps `tokens` of its prompt in the cache: they can be read from now on.
    fn keep(&mut self, taken: &Subject, tokens: u64, at: Instant) {
        let prefixes = &self.wire.prefixes;
        let sizes = taken.sizes(prefixes);
        // The first block that ends close to them: further ones may be small, and have no breakpoint.
        let near = taken.cumulative.iter().position(|end| end.saturating_add(FRAME_TOKENS) >= tokens);
        let near = near.filter(|at| taken.cumulative[*at] <= tokens.saturating_add(FRAME_TOKENS));
        let within = || taken.blocks_within(tokens).checked_sub(1);
        let (Some(marked), Some(kept)) = (taken.request.markers.last(), near.or_else(within)) else { return };
        let prompt = taken.prompt(prefixes, &sizes);
        let asked = SizedRequest::new(Prompt { total_tokens: sizes.total(), ..prompt }, at);
        if self.engine.foresee(&asked).read_tokens + FRAME_TOKENS >= tokens {
            return;
        }
        let marker = Marker { node: taken.request.nodes[kept], place: taken.request.places[kept], ..*marked };
        let total_tokens = taken.cumulative[kept];
        // The request's own breakpoints within what is kept are kept with it: the last one may be too far behind them to find
        // what is between.
        let depth = prefixes.depth(marker.node);
        let own = taken.request.markers.iter().filter(|own| prefixes.depth(own.node) < depth);
        let markers: Vec<Marker> = own.chain([&marker]).copied().collect();
        let unseen = Prompt { markers: &markers, minimum_tokens: 0, total_tokens, ..prompt };
        self.engine.serve_unseen(&unseen, at);
        for kept in &markers {
            self.observers.iter_mut().for_each(|observer| observer.kept(kept.node, kept.ttl, at));
        }
    }

    /// The usage that `draft` would have if it were served at `at`; `None` if it would be refused. Nothing is read or
    /// written.
    pub fn foresee(&mut self, agent: &Rc<str>, draft: &Draft, at: Instant) -> Option<Usage> {
        let (taken, stem) = self.take(agent, draft).ok()?;
        let prefixes = &self.wire.prefixes;
        let sizes = sizes(&taken, stem.as_deref(), prefixes);
        let prompt = Prompt { total_tokens: sizes.total(), ..taken.prompt(prefixes, &sizes) };
        Some(self.engine.foresee(&SizedRequest::new(prompt, at)).usage())
    }

    /// The request made from `draft`, as the next line. A request of a wide fan-out has only its own part, after the
    /// stem.
    fn take(&mut self, agent: &Rc<str>, draft: &Draft) -> Result<(Subject, Option<Rc<MeasuredStem>>), Refusal> {
        if self.explains || !self.observers.is_empty() {
            return Ok((self.take_whole(agent, draft)?, None));
        }
        match self.behind_stem(draft) {
            Some(BehindStem { request, cumulative, stem }) => Ok((self.accept(request, cumulative)?, Some(stem))),
            None => Ok((self.take_alone(agent, draft)?, None)),
        }
    }

    /// The same with everything before its own part.
    fn take_whole(&mut self, agent: &Rc<str>, draft: &Draft) -> Result<Subject, Refusal> {
        match self.behind_stem(draft).map(BehindStem::whole) {
            Some((request, cumulative)) => self.accept(request, cumulative),
            None => self.take_alone(agent, draft),
        }
    }

    /// The request of a draft that shares no stem with others.
    fn take_alone(&mut self, agent: &Rc<str>, draft: &Draft) -> Result<Subject, Refusal> {
        let mut taken = self.latest.take(agent, draft);
        let request = self.wire.take_after(draft, &self.scope, &mut taken.trail);
        let cumulative = self.sizer.cumulative(&mut taken.sizes, draft, &request, &self.wire);
        // As wide as a fan-out, and its next request is taken behind the stem.
        if !self.sizer.adds_nothing() || !self.stems.will_serve(draft, &self.scope) {
            self.latest.put(agent, taken);
        }
        self.accept(request, cumulative)
    }

    /// A request as the next line.
    fn accept(&self, request: Request, cumulative: Vec<u64>) -> Result<Subject, Refusal> {
        let mut subject = Subject::new(self.next_line(), request, cumulative, &self.rules);
        subject.refusal.take().map_or(Ok(subject), Err)
    }

    fn behind_stem(&mut self, draft: &Draft) -> Option<BehindStem> {
        let Self { stems, wire, sizer, scope, .. } = self;
        sizer.adds_nothing().then(|| stems.take(wire, sizer, draft, scope)).flatten()
    }

    /// `agent` begins with `parent`'s last request, and its first request is compared with that.
    pub fn forked(&mut self, agent: &Rc<str>, parent: &Rc<str>) {
        self.latest.fork(agent, parent);
        self.changes.fork(agent, parent);
        let fork = self.chain(agent);
        let parent = self.chain(parent);
        if let Some(drafts) = &mut self.drafts {
            drafts.fork(fork, parent);
        }
        if self.explains {
            self.continued.fork(fork, parent);
        }
    }

    /// The task of `agent` has ended: it sends no more requests, and its last one need not be kept.
    pub fn task_ended(&mut self, agent: &Rc<str>) {
        if self.resumes {
            return;
        }
        self.latest.forget(agent);
        if let Some(chain) = self.chains.get(agent) {
            self.continued.forget(*chain);
        }
    }

    fn chain(&mut self, agent: &Rc<str>) -> ChainId {
        let next = ChainId(number(self.chains.len()));
        let agents = &mut self.agents;
        *self.chains.get_or_insert_with(agent.clone(), || {
            agents.push(Arc::from(&**agent));
            next
        })
    }

    /// Prices of a request; a simulation has no days.
    fn quote(&self, model: &str, usage: &Usage) -> Quote {
        let tariff = Tariff { book: &self.book, date: self.prices_of };
        tariff.quote(&PriceFacts::answered(model, &RecordedUsage::default(), None), usage)
    }

    /// Shows the latest entry to the observers.
    fn observe_served(&mut self, at: Instant, agent: &str, draft: &Draft, subject: &Subject, outcome: &Outcome) {
        let Self { wire, engine, observers, .. } = self;
        let Some(Entry { line: ledger, .. }) = engine.entries().last() else { return };
        let Subject { request, cumulative, .. } = subject;
        let line = ledger.index;
        let lookup = Lookup { line, at, agent, draft, wire, request, cumulative, outcome, ledger };
        for observer in observers {
            if let Err(why) = observer.served(&lookup) {
                self.alarm.ring(Cause::BrokenLaw { law: observer.name(), at, why });
            }
        }
    }

    /// The first byte of the answer went out.
    pub fn first_byte(&mut self, served: &OpenRequest, at: Instant) {
        self.tell(served, |cache, prefixes, ticket| cache.first_byte(prefixes, ticket, at));
        match self.briefs.get_mut(served.line) {
            Some(brief) => brief.first_byte_at = Some(at),
            None => self.engine.entry_mut(served.line).line.first_byte_at = Some(at),
        }
        for observer in &mut self.observers {
            if let Err(why) = observer.first_byte(served.line, at) {
                self.alarm.ring(Cause::BrokenLaw { law: observer.name(), at, why });
            }
        }
    }

    /// The answer ended.
    pub fn answered(&mut self, served: &OpenRequest, how: AnswerEnd, at: Instant) {
        match how {
            AnswerEnd::Ended { .. } => self.tell(served, |cache, prefixes, ticket| cache.ended(prefixes, ticket, at)),
            AnswerEnd::GivenUp => self.tell(served, |cache, prefixes, ticket| cache.given_up(prefixes, ticket)),
        }
        match self.briefs.get_mut(served.line) {
            Some(brief) => brief.ended = Some((at, how)),
            None => self.settle(served.line, &served.usage, how, at),
        }
    }

    /// The answer to a line with an entry ended.
    fn settle(&mut self, line: usize, usage: &Usage, how: AnswerEnd, at: Instant) {
        self.engine.entry_mut(line).ended_at = Some(at);
        match how {
            AnswerEnd::Ended { output_tokens } => self.engine.rebill(line, Usage { output_tokens, ..*usage }),
            AnswerEnd::GivenUp => {
                self.engine.rebill(line, Usage::default());
                self.engine.entry_mut(line).line.remarks.push(GIVEN_UP.to_owned());
            }
        }
    }

    /// Reports an answer to the cache.
    fn tell(&mut self, served: &OpenRequest, of: impl FnOnce(&mut dyn PromptCache, &Prefixes, Ticket)) {
        if let Some(ticket) = served.ticket {
            of(self.engine.cache_mut(), &self.wire.prefixes, ticket);
        }
    }

    /// The run ended by itself: final checks of the observers.
    pub fn end(&mut self, at: Instant) {
        for observer in &mut self.observers {
            if let Err(why) = observer.end(at, self.engine.entries()) {
                self.alarm.ring(Cause::BrokenLaw { law: observer.name(), at, why });
            }
        }
    }

    /// The run is over: the ledger, including unread writes; empty if somebody else takes the entries.
    pub fn take_entries(&mut self) -> Vec<Entry> {
        let briefs = self.briefs.take();
        let mut taker = self.takes_entries.take().map(|take| (take, self.engine.unread()));
        if taker.is_none() {
            self.engine.reserve(briefs.len());
        }
        for Brief { chain, model, at, first_byte_at, usage, ended } in briefs {
            let number = self.engine.next_line();
            let line = Line { first_byte_at, ..begun(number, &model, at) };
            self.bill(chain, line, &usage, Layout::default());
            if let Some((at, how)) = ended {
                self.settle(number, &usage, how, at);
            }
            if let Some((take, unread)) = &mut taker {
                self.engine.release(unread, take);
            }
        }
        if let Some((take, unread)) = &mut taker {
            self.engine.release(unread, take);
        }
        self.engine.finish()
    }
}

fn begun(line: usize, model: &str, at: Instant) -> Line {
    Line { at: Some(at), ..Line::begun(line, 0, model.to_owned()) }
}

/// Sizes along the path of a request, or of its part after the stem.
fn sizes<'a>(subject: &'a Subject, stem: Option<&'a MeasuredStem>, prefixes: &'a Prefixes) -> PathSizes<'a> {
    match stem {
        Some(stem) => stem.sizes(prefixes, &subject.cumulative),
        None => subject.sizes(prefixes),
    }
}
