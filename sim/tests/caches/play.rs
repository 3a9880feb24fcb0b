//! Plays a random plan on the pair and reports the events to an observer.

use forkcast_sim::cache::Outcome;
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::{BlockId, BlockKind, Blocks, Content, Level, Marker, NodeId, Place, Prefixes, Role, Ttl};
use proptest::sample::Index;

use super::pair::{Asked, Pair};
use super::plan::{ALPHABET, Ask, BLOCKS_MAX, Gap, Plan, Step};

/// An event, for laws that are independent of both caches.
pub enum Event<'a> {
    /// A request was looked up; requests are numbered from zero in this order.
    Asked {
        /// The request.
        asked: &'a Asked,
        /// Its result.
        outcome: &'a Outcome,
        /// When.
        at: Instant,
    },
    /// An answer began (or ended without having begun).
    Began(usize),
    /// A request was cancelled.
    GivenUp(usize),
}

/// A run of a plan.
pub struct Stage {
    blocks: Vec<BlockId>,
    prefixes: Prefixes,
    pair: Pair,
    asked: Vec<Vec<usize>>,
    now: Instant,
}

impl Stage {
    fn new(plan: &Plan) -> Self {
        let mut blocks = Blocks::default();
        let letters = ALPHABET.iter().enumerate().map(|(letter, (kind, _))| {
            let name = format!("block {letter}");
            blocks.intern(Content { level: Level::Messages, role: Role::User, kind: *kind, bytes: name.as_bytes() })
        });
        Self {
            blocks: letters.collect(),
            prefixes: Prefixes::default(),
            pair: Pair::new(plan.rules),
            asked: Vec::new(),
            now: Instant(0),
        }
    }

    fn letters(&self, ask: &Ask) -> Vec<usize> {
        let mut letters = match &ask.base {
            Some(index) if !self.asked.is_empty() => index.get(&self.asked).clone(),
            _ => Vec::new(),
        };
        if let Some(keep) = ask.rewind_to {
            letters.truncate(keep.index(letters.len() + 1));
        }
        letters.extend(ask.tail.iter().flat_map(|(letter, times)| std::iter::repeat_n(*letter, *times)));
        letters.truncate(BLOCKS_MAX);
        letters
    }

    fn request(&mut self, plan: &Plan, ask: &Ask) -> Asked {
        let letters = self.letters(ask);
        let scope = if ask.elsewhere { "other" } else { "one" };
        let mut end = self.prefixes.root(scope, "model");
        let (mut nodes, mut cumulative, mut sum) = (Vec::new(), Vec::new(), 0);
        for letter in &letters {
            let (kind, tokens) = ALPHABET[*letter];
            end = self.prefixes.extend(end, self.blocks[*letter], kind).0;
            sum += tokens;
            nodes.push(end);
            cumulative.push(sum);
        }
        let asked = Asked {
            scope: scope.to_owned(),
            markers: markers(ask, &letters, &nodes),
            blocks: letters.iter().map(|letter| (self.blocks[*letter], ALPHABET[*letter].0)).collect(),
            nodes,
            cumulative,
            total_tokens: sum.saturating_add_signed(ask.surplus),
            minimum_tokens: plan.minimum_tokens,
        };
        self.asked.push(letters);
        asked
    }

    /// A request for an event: usually one in flight, sometimes a finished one.
    fn pick(&self, index: &Index) -> Option<usize> {
        let open = self.pair.twin.under_way();
        let pool: Vec<usize> =
            [&open[..], &open[..], &open[..]].concat().into_iter().chain(0..self.asked.len()).collect();
        (!pool.is_empty()).then(|| *index.get(&pool))
    }

    fn wait(&mut self, gap: &Gap) {
        let target = match gap {
            Gap::Span(span) => self.now + Duration(*span),
            Gap::Lifetime { of, long, slack, nudge } if !self.asked.is_empty() => {
                let ttl = if *long { Ttl::OneHour } else { Ttl::FiveMinutes };
                let end = self.pair.twin.started(of.index(self.asked.len())) + ttl.duration() + *slack;
                Instant(end.0.saturating_add_signed(*nudge))
            }
            Gap::Lifetime { .. } => self.now,
        };
        self.now = self.now.max(target);
    }

    fn step(&mut self, plan: &Plan, step: &Step, observe: &mut dyn FnMut(Event<'_>)) -> Result<(), String> {
        match step {
            Step::Ask(ask) => {
                let (asked, at) = (self.request(plan, ask), self.now);
                let (_, outcome) = self.pair.ask(&self.prefixes, &asked, at)?;
                observe(Event::Asked { asked: &asked, outcome: &outcome, at });
            }
            Step::Wait(gap) => self.wait(gap),
            Step::FirstByte(index) | Step::End(index) | Step::GiveUp(index) => {
                let Some(number) = self.pick(index) else { return Ok(()) };
                let was_open = self.pair.twin.under_way().contains(&number);
                self.go_on(step, number);
                match step {
                    _ if !was_open => {}
                    Step::GiveUp(_) => observe(Event::GivenUp(number)),
                    _ => observe(Event::Began(number)),
                }
            }
        }
        self.pair.compare_states(&self.prefixes, self.now)
    }

    fn go_on(&mut self, step: &Step, number: usize) {
        match step {
            Step::FirstByte(_) => self.pair.first_byte(&self.prefixes, number, self.now),
            Step::End(_) => self.pair.ended(&self.prefixes, number, self.now),
            _ => self.pair.given_up(&self.prefixes, number),
        }
    }
}

/// Breakpoints in prompt order, each moved to the nearest block before it that can carry one.
fn markers(ask: &Ask, letters: &[usize], nodes: &[NodeId]) -> Vec<Marker> {
    let can_carry = |at: &usize| !matches!(ALPHABET[letters[*at]].0, BlockKind::Thinking | BlockKind::Parameters);
    let wanted = ask.marks.iter().map(|mark| mark.map_or(letters.len(), |index| index.index(letters.len() + 1)));
    let mut ends: Vec<usize> = wanted.filter_map(|end| (0..end).rev().find(can_carry)).collect();
    ends.sort_unstable();
    let place = Place { level: Level::Messages, item: 0, part: 0, keys: false };
    let ttl = |at: usize| if at < ask.long { Ttl::OneHour } else { Ttl::FiveMinutes };
    let mark = |(at, end): (usize, usize)| Marker { node: nodes[end], ttl: ttl(at), place, automatic: false };
    ends.into_iter().enumerate().map(mark).collect()
}

/// Plays a plan to its end.
///
/// # Errors
/// The first difference between emulator and twin.
pub fn play(plan: &Plan, observe: &mut dyn FnMut(Event<'_>)) -> Result<(), String> {
    let mut stage = Stage::new(plan);
    for (at, step) in plan.steps.iter().enumerate() {
        stage.step(plan, step, observe).map_err(|difference| format!("step {at} ({step:?}): {difference}"))?;
    }
    Ok(())
}
