//! A stage for requests: an arena, and requests written as lists of blocks.

use forkcast_replay::rebuild::{Dispatch, DispatchMarker, MarkerRole};
use forkcast_replay::what_if::{Bound, BoundPings, Columns, Hypothetical, WhatIf};
use forkcast_sim::cache::Rules;
use forkcast_sim::pricing::{Date, ModelKey, PriceBook, Rates, Terms};
use forkcast_sim::service::{Quote, Times};
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::{
    BlockKind, Blocks, Content, Level, Marker, NodeId, NodeSizes, Place, Prefixes, Role, Sizes, Ttl,
};

/// Opus 4.8 since 2026-05-28: input 5, 5m write 6.25, 1h write 10, read 0.50, output 25 USD per million tokens
/// (`providers.md` 6.1); minimum 1,024 tokens (1.4).
pub const OPUS: &str = "claude-opus-4-8";

/// A request.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Blocks by name and tokens.
    pub blocks: Vec<(String, u64)>,
    /// Blocks that belong to tools and system prompt.
    pub head: usize,
    /// Marked blocks: how many blocks the prefix has, and for how long.
    pub markers: Vec<(usize, Ttl)>,
    pub agent: usize,
    pub at_secs: u64,
    pub answer_secs: u64,
    pub output_tokens: u64,
    pub hidden: bool,
    pub compacts: bool,
    pub is_last: bool,
    pub model: &'static str,
}

/// `name:tokens` with spaces between; a bar ends tools and system prompt.
pub fn ask(blocks: &str, at_secs: u64) -> Ask {
    let mut head = 0;
    let mut list = Vec::new();
    for word in blocks.split_whitespace() {
        if word == "|" {
            head = list.len();
        } else {
            let (name, tokens) = word.split_once(':').unwrap();
            list.push((name.to_owned(), tokens.parse().unwrap()));
        }
    }
    let markers = vec![(list.len(), Ttl::FiveMinutes)];
    Ask {
        blocks: list,
        head,
        markers,
        agent: 0,
        at_secs,
        answer_secs: 1,
        output_tokens: 0,
        hidden: false,
        compacts: false,
        is_last: false,
        model: OPUS,
    }
}

impl Ask {
    pub fn marked(mut self, markers: &[(usize, Ttl)]) -> Self {
        self.markers = markers.to_vec();
        self
    }

    pub fn agent(mut self, agent: usize) -> Self {
        self.agent = agent;
        self
    }

    pub fn hidden(mut self) -> Self {
        self.hidden = true;
        self
    }

    pub fn model(mut self, model: &'static str) -> Self {
        self.model = model;
        self
    }

    pub fn output(mut self, tokens: u64) -> Self {
        self.output_tokens = tokens;
        self
    }
}

/// Blocks whose names begin with `r` are tool results, with `u` calls; all others are text.
fn kind(name: &str) -> BlockKind {
    match name.as_bytes().first() {
        Some(b'r') => BlockKind::ToolResult,
        Some(b'u') => BlockKind::ToolUse,
        _ => BlockKind::Text,
    }
}

/// The arena.
#[derive(Default)]
pub struct Stage {
    blocks: Blocks,
    pub prefixes: Prefixes,
    pub sizes: NodeSizes,
    pub book: PriceBook,
    pub date: Option<Date>,
}

impl Stage {
    /// The prefixes of a request, shortest first.
    pub fn path(&mut self, ask: &Ask) -> Vec<NodeId> {
        let mut node = self.prefixes.root("stage", ask.model);
        let mut path = vec![node];
        for (name, tokens) in &ask.blocks {
            let (bytes, kind) = (name.as_bytes(), kind(name));
            let content = Content { level: Level::Messages, role: Role::User, kind, bytes };
            let block = self.blocks.intern(content);
            node = self.prefixes.extend(node, block, kind).0;
            self.sizes.declare(&self.prefixes, node, *tokens);
            path.push(node);
        }
        path
    }

    pub fn rates(&self, ask: &Ask) -> Option<Rates> {
        self.book.rates(&ModelKey::from(ask.model), &self.terms(ask)).ok()
    }

    fn terms(&self, ask: &Ask) -> Terms {
        Terms { date: self.date, prompt_tokens: total(ask), ..Terms::default() }
    }

    /// Calls `serve` with a request as it is sent.
    pub fn send<T>(&mut self, ask: &Ask, serve: impl FnOnce(&Dispatch<'_>) -> T) -> T {
        let path = self.path(ask);
        let place = Place { level: Level::Messages, item: 0, part: 0, keys: false };
        let markers: Vec<DispatchMarker> = ask
            .markers
            .iter()
            .map(|(depth, ttl)| DispatchMarker {
                marker: Marker { node: path[*depth], ttl: *ttl, place, automatic: false },
                role: MarkerRole::Other,
            })
            .collect();
        let at = Instant::from_millis(ask.at_secs * 1_000);
        let answered = at + Duration::from_secs(ask.answer_secs);
        let quote = Quote { rates: self.rates(ask), terms: self.terms(ask), ..Quote::default() };
        let end = *path.last().unwrap();
        serve(&Dispatch {
            prefixes: &self.prefixes,
            sizes: &self.sizes,
            end,
            system_end: path[ask.head],
            markers: &markers,
            total_tokens: self.sizes.tokens_at(end),
            minimum_tokens: 1_024,
            ttl: Ttl::FiveMinutes,
            agent: ask.agent,
            times: Times { at, first_byte_at: answered, ended_at: answered },
            model: ask.model,
            output_tokens: ask.output_tokens,
            hidden: ask.hidden,
            compacts: ask.compacts,
            is_last: ask.is_last,
            quote: &quote,
        })
    }
}

pub fn total(ask: &Ask) -> u64 {
    ask.blocks.iter().map(|(_, tokens)| tokens).sum()
}

/// What each request would have been under each what-if.
pub fn what_if(specs: &[&str], rules: &Rules, asks: &[Ask]) -> Vec<Vec<Hypothetical>> {
    what_if_at(None, specs, rules, asks)
}

/// The same at the prices of a day.
pub fn what_if_at(date: Option<Date>, specs: &[&str], rules: &Rules, asks: &[Ask]) -> Vec<Vec<Hypothetical>> {
    let parse = |spec: &&str| if spec.is_empty() { WhatIf::default() } else { spec.parse().unwrap() };
    let what_ifs: Vec<WhatIf> = specs.iter().map(parse).collect();
    let mut stage = Stage { date, ..Stage::default() };
    let book = PriceBook::built_in();
    let mut columns = Columns::new(&what_ifs, rules, &book);
    for (at, ask) in asks.iter().enumerate() {
        let is_last = asks[at + 1..].iter().all(|later| later.agent != ask.agent);
        stage.send(&Ask { is_last, ..ask.clone() }, |sent| columns.serve(sent));
    }
    columns.finish(&stage.prefixes)
}

/// One column alone.
pub fn column(spec: &str, asks: &[Ask]) -> Vec<Hypothetical> {
    what_if(&[spec], &Rules::default(), asks).into_iter().map(|row| row[0]).collect()
}

/// Read, written for 5m, for 1h, plain input.
pub fn parts(rows: &[Hypothetical]) -> Vec<[u64; 4]> {
    let part = |row: &Hypothetical| {
        [
            row.usage.cache_read_input_tokens,
            row.usage.ephemeral_5m_input_tokens,
            row.usage.ephemeral_1h_input_tokens,
            row.usage.input_tokens,
        ]
    };
    rows.iter().map(part).collect()
}

/// The sum in 10⁻⁶ USD, which is the cost of the tokens at a price in USD per million.
pub fn microusd(rows: &[Hypothetical]) -> i128 {
    picousd(rows) / 1_000_000
}

pub fn picousd(rows: &[Hypothetical]) -> i128 {
    rows.iter().map(|row| row.cost.unwrap().picousd()).sum()
}

/// The share of each request in the bound.
pub fn bound(pings: BoundPings, rules: &Rules, asks: &[Ask]) -> Vec<Hypothetical> {
    let mut stage = Stage::default();
    let mut bound = Bound::new(rules, pings);
    for ask in asks {
        stage.send(ask, |sent| bound.serve(sent));
    }
    bound.finish()
}
