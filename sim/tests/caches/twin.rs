//! The slow, obvious twin of the marked cache.
//!
//! Everything is a list that is walked for every question: entries with their whole path of blocks, look-backs as lists
//! of positions, refreshes that visit each entry. It is written from the rules (`providers.md` 1.3 and 1.6, the texts
//! of the switches), not from the emulator, and shares only types with it. It does not support lost writes.

use forkcast_sim::cache::{EntryState, LifetimeClock, PositionCount, Refresh, Rules, VisibleFrom};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{BlockId, BlockKind, Ttl};

/// A prefix: scope and model, and its blocks from the first to the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Scope and model.
    pub scope: String,
    /// All blocks.
    pub blocks: Vec<BlockId>,
}

impl Path {
    fn begins(&self, longer: &Self) -> bool {
        self.scope == longer.scope && longer.blocks.starts_with(&self.blocks)
    }
}

/// A prompt, spelled out.
#[derive(Clone, Debug)]
pub struct Spelled {
    /// Scope and model.
    pub scope: String,
    /// Each block with its kind.
    pub blocks: Vec<(BlockId, BlockKind)>,
    /// Tokens of the first block, the first two, and so on.
    pub cumulative: Vec<u64>,
    /// Breakpoints in prompt order: the number of blocks before each, and its lifetime.
    pub markers: Vec<(usize, Ttl)>,
    /// Tokens of the whole prompt.
    pub total_tokens: u64,
    /// Shortest prefix that is cached.
    pub minimum_tokens: u64,
}

impl Spelled {
    fn path(&self, blocks: usize) -> Path {
        Path { scope: self.scope.clone(), blocks: self.blocks[..blocks].iter().map(|(block, _)| *block).collect() }
    }

    fn tokens(&self, blocks: usize) -> u64 {
        blocks.checked_sub(1).map_or(0, |last| self.cumulative[last]).min(self.total_tokens)
    }

    /// Markers at the end of a prefix that is long enough.
    fn counting(&self) -> Vec<(usize, Ttl)> {
        let long_enough = |(end, _): &(usize, Ttl)| self.cumulative[*end - 1] >= self.minimum_tokens;
        self.markers.iter().copied().filter(long_enough).collect()
    }
}

/// Result of a look-up; prefixes are given by their number of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Blocks of the longest prefix found.
    pub hit: Option<usize>,
    /// Blocks before the last breakpoint that counts.
    pub last_counting: Option<usize>,
    /// Tokens read, written for five minutes, written for an hour, and neither.
    pub tokens: [u64; 4],
}

/// A write, from the moment of the request.
#[derive(Clone, Debug)]
struct Entry {
    path: Path,
    ttl: Ttl,
    last_use: Instant,
    /// `None` until the entry is readable.
    visible_from: Option<Instant>,
    writer: usize,
    /// After the hit of its writer, and therefore billed.
    paid: bool,
}

#[derive(Clone, Debug)]
struct Running {
    started: Instant,
    hit: Option<Path>,
    answering: bool,
    /// The writes that it asks for.
    wrote: Vec<(Path, Ttl, bool)>,
    over: bool,
}

/// The cache as lists.
#[derive(Clone, Debug)]
pub struct Twin {
    rules: Rules,
    entries: Vec<Entry>,
    requests: Vec<Running>,
    latest: Instant,
}

impl Twin {
    /// An empty cache.
    pub fn new(rules: Rules) -> Self {
        Self { rules, entries: Vec::new(), requests: Vec::new(), latest: Instant::default() }
    }

    fn alive(&self, entry: &Entry, at: Instant) -> bool {
        entry.visible_from.is_some() && at.since(entry.last_use).0 <= entry.ttl.duration().0 + self.rules.slack.0
    }

    /// Looks a prompt up; returns the request's number.
    pub fn look_up(&mut self, prompt: &Spelled, at: Instant) -> (usize, Answer) {
        self.latest = at;
        let hit = self.longest_hit(prompt, at);
        let answer = bill(prompt, hit);
        let hit_path = hit.map(|blocks| prompt.path(blocks));
        if let Some(path) = &hit_path {
            self.refresh(path, at);
        }
        let number = self.requests.len();
        let wrote: Vec<(Path, Ttl, bool)> =
            prompt.counting().into_iter().map(|(end, ttl)| (prompt.path(end), ttl, end > hit.unwrap_or(0))).collect();
        for (path, ttl, paid) in wrote.iter().cloned() {
            self.entries.push(Entry { path, ttl, last_use: at, visible_from: None, writer: number, paid });
        }
        self.requests.push(Running { started: at, hit: hit_path, answering: false, wrote, over: false });
        if self.rules.visible_from == VisibleFrom::RequestStart {
            self.publish(number, at);
        }
        (number, answer)
    }

    /// The longest hit of all breakpoints.
    fn longest_hit(&self, prompt: &Spelled, at: Instant) -> Option<usize> {
        let mut longest = None;
        for (end, ttl) in prompt.counting() {
            let found = self.positions(prompt, end).into_iter().flatten().find(|blocks| {
                let path = prompt.path(*blocks);
                self.entries.iter().any(|entry| {
                    entry.path == path && self.alive(entry, at) && (self.rules.reads_any_ttl || entry.ttl == ttl)
                })
            });
            longest = longest.max(found);
        }
        longest
    }

    /// The positions that a breakpoint after `end` blocks checks, nearest first, each with the prefixes to probe.
    fn positions(&self, prompt: &Spelled, end: usize) -> Vec<Vec<usize>> {
        let counted: Vec<(usize, BlockKind)> = prompt.blocks[..end]
            .iter()
            .enumerate()
            .map(|(index, (_, kind))| (index + 1, *kind))
            .filter(|(_, kind)| self.counts(*kind))
            .collect();
        let mut groups: Vec<(BlockKind, Vec<usize>)> = Vec::new();
        for (blocks, kind) in counted.into_iter().rev() {
            match groups.last_mut() {
                Some((last, group)) if *last == kind && self.is_run(kind) => group.push(blocks),
                _ => groups.push((kind, vec![blocks])),
            }
        }
        groups.into_iter().map(|(_, group)| group).take(self.rules.look_back.reach as usize).collect()
    }

    fn counts(&self, kind: BlockKind) -> bool {
        match kind {
            BlockKind::Parameters => false,
            BlockKind::Thinking => self.rules.look_back.count != PositionCount::BlocksWithoutThinking,
            _ => true,
        }
    }

    fn is_run(&self, kind: BlockKind) -> bool {
        self.rules.look_back.count == PositionCount::Runs && matches!(kind, BlockKind::ToolUse | BlockKind::ToolResult)
    }

    fn refresh(&mut self, hit: &Path, at: Instant) {
        for index in 0..self.entries.len() {
            let entry = &self.entries[index];
            let meant = match self.rules.refresh {
                Refresh::Chain => entry.path.begins(hit),
                Refresh::HitOnly => entry.path == *hit,
            };
            if meant && self.alive(entry, at) {
                self.entries[index].last_use = entry.last_use.max(at);
            }
        }
    }

    /// Makes a request's writes readable. A write that meets a live entry of the same prefix is merged with it.
    fn publish(&mut self, number: usize, at: Instant) {
        let (mine, others): (Vec<Entry>, Vec<Entry>) = std::mem::take(&mut self.entries)
            .into_iter()
            .partition(|entry| entry.writer == number && entry.visible_from.is_none());
        self.entries = others;
        for mut write in mine {
            write.visible_from = Some(at);
            let known = self.entries.iter().position(|entry| entry.path == write.path && entry.visible_from.is_some());
            match known {
                Some(index) if self.alive(&self.entries[index], at) => {
                    let lifts = write.paid || self.rules.read_lifts_ttl;
                    let entry = &mut self.entries[index];
                    entry.last_use = entry.last_use.max(write.last_use);
                    entry.ttl = if lifts { entry.ttl.max(write.ttl) } else { entry.ttl };
                }
                Some(index) => self.entries[index] = write,
                None => self.entries.push(write),
            }
        }
    }

    /// The first byte of an answer.
    pub fn first_byte(&mut self, number: usize, at: Instant) {
        self.latest = at;
        if self.requests[number].over {
            return;
        }
        self.requests[number].answering = true;
        if self.rules.visible_from == VisibleFrom::FirstByte {
            self.publish(number, at);
        }
    }

    /// The end of an answer; without a first byte before, it is both.
    pub fn ended(&mut self, number: usize, at: Instant) {
        self.latest = at;
        if std::mem::replace(&mut self.requests[number].over, true) {
            return;
        }
        self.publish(number, at);
        if self.rules.lifetime_clock == LifetimeClock::ResponseEnd {
            self.restart_clocks(number, at);
        }
    }

    /// Starts the lifetimes of a request's writes and reads at `at`. Its writes count from here even if the answer took
    /// longer than the lifetime.
    fn restart_clocks(&mut self, number: usize, at: Instant) {
        let Running { hit, wrote, .. } = self.requests[number].clone();
        for (path, ttl, _) in wrote {
            let known = self.entries.iter().position(|entry| entry.path == path && entry.visible_from.is_some());
            let Some(index) = known else { continue };
            if !self.alive(&self.entries[index], at) {
                self.entries[index].ttl = ttl;
            }
            self.entries[index].last_use = at;
        }
        if let Some(hit) = hit {
            self.refresh(&hit, at);
        }
    }

    /// The request failed or was cancelled.
    pub fn given_up(&mut self, number: usize) {
        if std::mem::replace(&mut self.requests[number].over, true) {
            return;
        }
        if self.requests[number].answering && self.rules.failed_write_stands {
            self.publish(number, self.latest);
        } else {
            self.take_back(number);
        }
    }

    /// Undoes a request's writes. Prefixes that it was billed for are removed, even if another request wrote them too.
    fn take_back(&mut self, number: usize) {
        let was_visible = !self.entries.iter().any(|entry| entry.writer == number && entry.visible_from.is_none());
        self.entries.retain(|entry| entry.writer != number || entry.visible_from.is_some());
        if was_visible {
            let wrote = self.requests[number].wrote.clone();
            let gone = |path: &Path| wrote.iter().any(|(written, _, paid)| *paid && written == path);
            self.entries.retain(|entry| entry.visible_from.is_none() || !gone(&entry.path));
        }
    }

    /// The state of a prefix.
    pub fn state(&self, path: &Path, at: Instant) -> EntryState {
        let of_path: Vec<&Entry> = self.entries.iter().filter(|entry| entry.path == *path).collect();
        if of_path.iter().any(|entry| self.alive(entry, at)) {
            EntryState::Live
        } else if of_path.iter().any(|entry| entry.visible_from.is_none()) {
            EntryState::InFlight
        } else if of_path.is_empty() {
            EntryState::Absent
        } else {
            EntryState::Expired
        }
    }

    /// Requests whose answer has not ended.
    pub fn under_way(&self) -> Vec<usize> {
        (0..self.requests.len()).filter(|number| !self.requests[*number].over).collect()
    }

    /// When a request began.
    pub fn started(&self, number: usize) -> Instant {
        self.requests[number].started
    }
}

/// Bills by the positions A, B and C of `providers.md` 1.6.
fn bill(prompt: &Spelled, hit: Option<usize>) -> Answer {
    let counting = prompt.counting();
    let a = hit.map_or(0, |blocks| prompt.tokens(blocks));
    let long = counting.iter().filter(|(_, ttl)| *ttl == Ttl::OneHour).map(|(end, _)| prompt.tokens(*end));
    let b = long.filter(|tokens| *tokens > a).max().unwrap_or(a);
    let c = counting.iter().map(|(end, _)| prompt.tokens(*end)).max().unwrap_or(0).max(b);
    Answer {
        hit,
        last_counting: counting.iter().map(|(end, _)| *end).max(),
        tokens: [a, c - b, b - a, prompt.total_tokens - c],
    }
}
