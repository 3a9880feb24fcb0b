//! Runs a case of the corpus on the emulator and its twin, and reports results that differ from the expected ones.

use std::collections::BTreeMap;

use forkcast_sim::cache::{
    EntryState, LifetimeClock, LookBack, Outcome, PromptCache, Refresh, Rules, VisibleFrom, minimum_tokens, refusal,
};
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::{BlockKind, Level, Marker, NodeId, Place, Request, Ttl, Wire, model};

use super::corpus::{
    Ask, Body, Case, Clock, Expect, LevelName, Refreshed, StateName, StateOf, Step, Switches, Times, Visible,
};
use super::notation::{self, Line};
use super::pair::{Asked, Pair};

/// Runs a case under each of its presets and models; returns the failures.
pub fn run(case: &Case, bodies: &BTreeMap<String, String>) -> Vec<String> {
    let mut failures = Vec::new();
    let models = case.models.iter().map(|model| Some(model.as_str()));
    let models: Vec<Option<&str>> = if case.models.is_empty() { vec![None] } else { models.collect() };
    for preset in &case.presets {
        let Some(rules) = Rules::preset(preset) else {
            failures.push(format!("{}: there is no preset {preset}", case.name));
            continue;
        };
        for model in &models {
            let mut script = Script::new(case, with_switches(rules, &case.switches), *model);
            if let Err(failure) = script.run(case, bodies) {
                let model = model.map(|model| format!(", {model}")).unwrap_or_default();
                failures.push(format!("case \"{}\" under {preset}{model}: {failure}", case.name));
            }
        }
    }
    failures
}

fn with_switches(mut rules: Rules, switches: &Switches) -> Rules {
    let Rules { look_back: LookBack { count, reach }, forms, .. } = rules;
    rules.look_back = LookBack { count, reach: switches.reach.unwrap_or(reach) };
    rules.reads_any_ttl = switches.reads_any_ttl.unwrap_or(rules.reads_any_ttl);
    rules.read_lifts_ttl = switches.read_lifts_ttl.unwrap_or(rules.read_lifts_ttl);
    rules.failed_write_stands = switches.failed_write_stands.unwrap_or(rules.failed_write_stands);
    rules.loss_per_million = switches.loss_per_million.unwrap_or(rules.loss_per_million);
    rules.refresh = switches.refresh.map_or(rules.refresh, |refresh| match refresh {
        Refreshed::Chain => Refresh::Chain,
        Refreshed::HitOnly => Refresh::HitOnly,
    });
    rules.visible_from = switches.visible_from.map_or(rules.visible_from, |visible| match visible {
        Visible::FirstByte => VisibleFrom::FirstByte,
        Visible::RequestStart => VisibleFrom::RequestStart,
        Visible::ResponseEnd => VisibleFrom::ResponseEnd,
    });
    rules.lifetime_clock = switches.lifetime_clock.map_or(rules.lifetime_clock, |clock| match clock {
        Clock::RequestStart => LifetimeClock::RequestStart,
        Clock::ResponseEnd => LifetimeClock::ResponseEnd,
    });
    rules.forms.string_is_block = switches.string_is_block.unwrap_or(forms.string_is_block);
    rules.forms.results_sorted = switches.results_sorted.unwrap_or(forms.results_sorted);
    rules.forms.thinking_stripped = switches.thinking_stripped.unwrap_or(forms.thinking_stripped);
    rules.forms.images_in_level = switches.images_in_level.unwrap_or(forms.images_in_level);
    rules.forms.thinking_level = switches.thinking_level.map_or(forms.thinking_level, level);
    rules
}

/// The level that a case means.
pub fn level(name: LevelName) -> Level {
    match name {
        LevelName::Tools => Level::Tools,
        LevelName::System => Level::System,
        LevelName::Messages => Level::Messages,
    }
}

/// Pending events of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    FirstByte,
    End,
    GivenUp,
}

struct Script {
    preset: &'static str,
    has_twin: bool,
    wire: Wire,
    pair: Pair,
    model: String,
    minimum: Option<u64>,
    due: Vec<(Instant, usize, Due)>,
    sent: BTreeMap<String, (Vec<Line>, Vec<NodeId>)>,
}

impl Script {
    fn new(case: &Case, rules: Rules, model: Option<&str>) -> Self {
        Self {
            preset: rules.name,
            has_twin: rules.loss_per_million == 0,
            wire: Wire::new(rules.forms),
            pair: Pair::new(rules),
            model: model.unwrap_or("any").to_owned(),
            minimum: case.minimum_tokens.or(model.is_none().then_some(0)),
            due: Vec::new(),
            sent: BTreeMap::new(),
        }
    }

    fn run(&mut self, case: &Case, bodies: &BTreeMap<String, String>) -> Result<(), String> {
        let mut failures = Vec::new();
        for (index, step) in case.steps.iter().enumerate() {
            let (name, result) = match step {
                Step::Ask(ask) => (ask.name.as_str(), self.ask(ask)),
                Step::Body(body) => (body.name.as_str(), self.body(body, bodies)),
                Step::State(state) => ("state", self.state(state)),
            };
            failures.extend(result.err().map(|failure| format!("step {} ({name}): {failure}", index + 1)));
        }
        if failures.is_empty() { Ok(()) } else { Err(failures.join("; ")) }
    }

    /// Performs all events that are due.
    fn reach(&mut self, at: Instant) {
        self.due.sort_unstable();
        let later = self.due.split_off(self.due.partition_point(|(due, ..)| *due <= at));
        for (due, number, what) in std::mem::replace(&mut self.due, later) {
            let prefixes = &self.wire.prefixes;
            match what {
                Due::FirstByte => self.pair.first_byte(prefixes, number, due),
                Due::End => self.pair.ended(prefixes, number, due),
                Due::GivenUp => self.pair.given_up(prefixes, number),
            }
        }
    }

    fn plan(&mut self, number: usize, times: &Times, start: Instant) {
        let at = |ms: Option<u64>| ms.map(Instant::from_millis);
        let first_byte = at(times.first_byte_ms).or(times.given_up_ms.is_none().then_some(start));
        let end = at(times.ended_ms).or(first_byte).filter(|_| times.given_up_ms.is_none());
        let due = [(first_byte, Due::FirstByte), (end, Due::End), (at(times.given_up_ms), Due::GivenUp)];
        self.due.extend(due.into_iter().filter_map(|(at, what)| Some((at?, number, what))));
    }

    fn ask(&mut self, ask: &Ask) -> Result<(), String> {
        let start = start(&ask.at);
        self.reach(start);
        let lines = self.lines(ask)?;
        let asked = self.lay(ask, &lines);
        self.sent.insert(ask.name.clone(), (lines.clone(), asked.nodes.clone()));
        let outcome = if ask.passes.is_empty() {
            let (number, outcome) = self.look_up(&asked, start)?;
            self.plan(number, &ask.at, start);
            outcome
        } else {
            self.serve(ask, lines, asked, start)?
        };
        self.compare(start)?;
        expect(ask.differs.get(self.preset).unwrap_or(&ask.expect), &spent(&outcome))
    }

    /// Twin and emulator differ if writes are lost by chance.
    fn look_up(&mut self, asked: &Asked, at: Instant) -> Result<(usize, Outcome), String> {
        if self.has_twin {
            return self.pair.ask(&self.wire.prefixes, asked, at);
        }
        Ok(self.pair.ask_emulator(&self.wire.prefixes, asked, at))
    }

    fn compare(&self, at: Instant) -> Result<(), String> {
        if self.has_twin { self.pair.compare_states(&self.wire.prefixes, at) } else { Ok(()) }
    }

    /// The blocks of a request in the short notation.
    fn lines(&self, ask: &Ask) -> Result<Vec<Line>, String> {
        let mut lines = match &ask.after {
            Some(earlier) => self.sent.get(earlier).ok_or(format!("no request {earlier}"))?.0.clone(),
            None => Vec::new(),
        };
        lines.truncate(ask.keep.unwrap_or(usize::MAX));
        lines.iter_mut().for_each(|line| line.marker = None);
        for mark in &ask.marks {
            notation::mark(&mut lines, mark)?;
        }
        lines.extend(notation::lines(&ask.blocks)?);
        if lines.is_sorted_by_key(|line| line.level) { Ok(lines) } else { Err("levels out of order".to_owned()) }
    }

    fn lay(&mut self, ask: &Ask, lines: &[Line]) -> Asked {
        let name = ask.model.as_deref().unwrap_or(&self.model);
        let mut end = self.wire.prefixes.root(&ask.scope, name);
        let (mut nodes, mut blocks, mut cumulative, mut sum) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for line in lines {
            let block = self.wire.blocks.intern(line.content());
            end = self.wire.prefixes.extend(end, block, line.kind).0;
            sum += line.tokens;
            nodes.push(end);
            blocks.push((block, line.kind));
            cumulative.push(sum);
        }
        let marked = lines.iter().zip(&nodes).filter_map(|(line, node)| Some((*node, line.marker?)));
        Asked {
            markers: marked.map(|(node, ttl)| Marker { node, ttl, place: PLACE, automatic: false }).collect(),
            minimum_tokens: self.minimum.unwrap_or_else(|| minimum_tokens(model::resolve(name).map(|found| found.id))),
            scope: format!("{name} in {}", ask.scope),
            nodes,
            blocks,
            cumulative,
            total_tokens: sum + ask.tail_tokens,
        }
    }

    fn serve(&mut self, ask: &Ask, mut lines: Vec<Line>, first: Asked, at: Instant) -> Result<Outcome, String> {
        let mut calls = vec![(first, at)];
        for pass in &ask.passes {
            lines.extend(notation::lines(&pass.blocks)?);
            calls.push((self.lay(ask, &lines), Instant::from_millis(pass.at_ms)));
        }
        let nodes = calls[calls.len() - 1].0.nodes.clone();
        self.sent.insert(ask.name.clone(), (lines, nodes));
        Ok(self.pair.serve(&self.wire.prefixes, &calls, PLACE)?.1)
    }

    fn body(&mut self, body: &Body, bodies: &BTreeMap<String, String>) -> Result<(), String> {
        let start = start(&body.at);
        self.reach(start);
        let text = replaced(bodies.get(&body.body).ok_or(format!("no body {}", body.body))?, &body.replace)?;
        let request = self.wire.read(text.as_bytes(), &body.scope, "").map_err(|error| error.to_string())?;
        if let Err(refusal) = refusal::check(&request, self.pair.marked.rules()) {
            let refused = Expect { refused: Some(refusal.to_string()), ..Expect::default() };
            return expect(&body.expect, &refused);
        }
        let asked = self.spell(&request, body)?;
        let (number, outcome) = self.look_up(&asked, start)?;
        self.plan(number, &body.at, start);
        self.compare(start)?;
        expect(&body.expect, &spent(&outcome))
    }

    fn spell(&self, request: &Request, body: &Body) -> Result<Asked, String> {
        let prefixes = &self.wire.prefixes;
        let kinds: Vec<BlockKind> = request.nodes.iter().map(|node| prefixes.kind(*node)).collect();
        let counted = kinds.iter().filter(|kind| **kind != BlockKind::Parameters).count();
        let tokens = if body.tokens.is_empty() { vec![1_000; counted] } else { body.tokens.clone() };
        if tokens.len() != counted {
            return Err(format!("{counted} blocks, tokens for {}", tokens.len()));
        }
        let (mut tokens, mut sum) = (tokens.into_iter(), 0);
        let cumulative: Vec<u64> = kinds
            .iter()
            .map(|kind| {
                sum += if *kind == BlockKind::Parameters { 0 } else { tokens.next().unwrap() };
                sum
            })
            .collect();
        Ok(Asked {
            scope: format!("{:?}", request.root),
            blocks: request.nodes.iter().map(|node| prefixes.block(*node).unwrap()).zip(kinds).collect(),
            nodes: request.nodes.clone(),
            cumulative,
            markers: request.markers.clone(),
            total_tokens: sum,
            minimum_tokens: minimum_tokens(request.resolved.map(|resolved| resolved.id)),
        })
    }

    fn state(&mut self, asked: &StateOf) -> Result<(), String> {
        let at = Instant::from_millis(asked.at_ms);
        self.reach(at);
        let (lines, nodes) = self.sent.get(&asked.of).ok_or(format!("no request {}", asked.of))?;
        let last = match &asked.upto {
            Some(name) => lines.iter().rposition(|line| line.name == *name).ok_or(format!("no block {name}"))?,
            None => lines.len() - 1,
        };
        let state = self.pair.marked.state(&self.wire.prefixes, nodes[last], at);
        let is = match state {
            EntryState::Absent => StateName::Absent,
            EntryState::Live => StateName::Live,
            EntryState::Expired => StateName::Expired,
            EntryState::Evicted => StateName::Evicted,
            EntryState::InFlight => StateName::InFlight,
        };
        if is == asked.is { Ok(()) } else { Err(format!("expected {:?}, got {is:?}", asked.is)) }
    }
}

const PLACE: Place = Place { level: Level::Messages, item: 0, part: 0, keys: false };

fn start(times: &Times) -> Instant {
    Instant::from_millis(times.ms) + Duration(times.plus_ns)
}

fn replaced(text: &str, replacements: &[(String, String)]) -> Result<String, String> {
    let mut text = text.to_owned();
    for (old, new) in replacements {
        if text.matches(old.as_str()).count() != 1 {
            return Err(format!("{old} should occur once in the body"));
        }
        text = text.replace(old.as_str(), new);
    }
    Ok(text)
}

fn spent(outcome: &Outcome) -> Expect {
    Expect {
        read: outcome.read_tokens,
        write_5m: outcome.write_5m_tokens,
        write_1h: outcome.write_1h_tokens,
        input: outcome.input_tokens,
        refused: None,
    }
}

fn expect(expected: &Expect, got: &Expect) -> Result<(), String> {
    if expected == got {
        return Ok(());
    }
    let words = |expect: &Expect| match &expect.refused {
        Some(refusal) => format!("a refusal: {refusal}"),
        None => format!(
            "read {}, write_5m {}, write_1h {}, input {}",
            expect.read, expect.write_5m, expect.write_1h, expect.input
        ),
    };
    Err(format!("expected {}; got {}", words(expected), words(got)))
}

/// The lifetime that a word means.
pub fn ttl(word: &str) -> Option<Ttl> {
    [Ttl::FiveMinutes, Ttl::OneHour].into_iter().find(|ttl| ttl.name() == word)
}
