//! Requests of the runtime's agents: scenarios of the catalog, and fan-outs in both profiles.

use std::collections::BTreeSet;
use std::rc::Rc;

use forkcast_fixtures::Dice;
use forkcast_scenarios::catalog;
use forkcast_scenarios::fanout::Cell;
use forkcast_scenarios::fanout::setup::setup;
use forkcast_scenarios::format::Scenario;
use forkcast_scenarios::run::{Options, play};
use forkcast_sim::agent::spawn::fork::Profile;
use forkcast_sim::pricing::PriceBook;
use forkcast_sim::simulation;

use super::case::Case;
use super::prompt::{Block, Prompt};
use super::twin::Sides;

/// A request of a run.
#[derive(Debug)]
pub struct Request {
    /// Its agent.
    pub chain: String,
    /// The parent agent.
    pub parent: Option<String>,
    /// The request it continues: its agent's previous one, or the parent's last one for a fork's first request.
    pub continues: Option<usize>,
    /// Whether it was answered; a refused request left nothing in the cache.
    pub answered: bool,
    pub prompt: Prompt,
}

/// All requests of a run, in sending order.
#[derive(Debug)]
pub struct Talk {
    pub name: String,
    pub requests: Vec<Request>,
}

impl Talk {
    /// The number of agents.
    pub fn agents(&self) -> usize {
        self.requests.iter().map(|request| &request.chain).collect::<BTreeSet<_>>().len()
    }

    /// Request `newer` and the request that it extends; `None` if there is none, or if the older part changed.
    pub fn pair(&self, newer: usize, seed: u64) -> Option<Case> {
        let request = &self.requests[newer];
        let older = self.requests[request.continues?].prompt.clone();
        let mut newer = request.prompt.clone();
        number_alike(&older, &mut newer);
        let sides = Sides::new(&older, &newer);
        let appends = sides.common() == sides.old.len();
        (appends && older.model() == newer.model()).then(|| Case { older, newer, dice: Dice::new(seed) })
    }
}

/// Blocks at the same position get the number of the older block, later ones get new numbers.
fn number_alike(older: &Prompt, newer: &mut Prompt) {
    let mut next_id = older.next_id.max(newer.next_id);
    let mut number = |older: Option<&Block>, newer: &mut Block| {
        next_id += 1;
        newer.id = older.map_or(next_id, |older| older.id);
    };
    for (at, tool) in newer.tools.iter_mut().enumerate() {
        number(older.tools.get(at), tool);
    }
    for (at, block) in newer.system.iter_mut().enumerate() {
        number(older.system.get(at), block);
    }
    for (at, message) in newer.messages.iter_mut().enumerate() {
        let known = older.messages.get(at);
        if let Some(own) = &mut message.own {
            number(known.and_then(|known| known.own.as_ref()), own);
        }
        for (part, block) in message.content.iter_mut().enumerate() {
            number(known.and_then(|known| known.content.get(part)), block);
        }
    }
    newer.next_id = next_id;
}

/// A body as parsed for mutations. Printing it gives the sent bytes.
fn parsed(body: &[u8]) -> Prompt {
    let text = std::str::from_utf8(body).unwrap();
    let prompt = Prompt::parse(text);
    assert_eq!(prompt.body(), text, "a mutation writes the text that it read");
    prompt
}

/// A conversation with numbers in call inputs, which the catalog lacks.
const READS: &str = include_str!("reads.yaml");

/// Every scenario of the catalog without its variants, one scenario of these tests, and three fan-outs for each
/// profile.
pub fn all() -> Vec<Talk> {
    let entries = catalog::all().iter().filter(|entry| !entry.name.contains('+'));
    let mut talks: Vec<Talk> = entries.map(|entry| scenario(&entry.name, entry.read(&[]).unwrap())).collect();
    talks.push(scenario("reads", Scenario::read("reads", "reads.yaml", READS, &[]).unwrap()));
    for profile in [Profile::Documents, Profile::Client2026] {
        for (children, turns) in [(2, 3), (5, 2), (9, 4)] {
            talks.push(fanout(children, turns, profile));
        }
    }
    talks
}

fn scenario(name: &str, scenario: Scenario) -> Talk {
    let run = play(scenario, &Options::default());
    assert!(run.requests.len() > 2, "{name}: {:?}", run.message);
    let requests = run.requests.iter().map(|request| {
        let agent = &run.agents[request.agent];
        Request {
            chain: agent.id.to_string(),
            parent: agent.parent.as_ref().map(ToString::to_string),
            continues: request.layout.continues,
            answered: request.usage().total_input_tokens() > 0,
            prompt: parsed(&request.draft().body()),
        }
    });
    Talk { name: name.to_owned(), requests: requests.collect() }
}

fn fanout(children: u32, turns: u32, profile: Profile) -> Talk {
    let cell = Cell { children, turns, profile, prefix: 30_000, ..Cell::default() };
    let mut setup = setup(&cell, &Rc::new(PriceBook::built_in()));
    setup.keeps_drafts = true;
    setup.explains = true;
    let finished = simulation::run(setup).unwrap();
    let requests = finished.entries.iter().zip(finished.drafts.iter()).map(|(entry, draft)| Request {
        chain: entry.agent.as_deref().unwrap().to_owned(),
        parent: (entry.agent.as_deref() != Some("main")).then(|| "main".to_owned()),
        continues: entry.layout.continues,
        answered: true,
        prompt: parsed(&draft.body()),
    });
    Talk { name: format!("{children} forks, {turns} turns, {profile:?}"), requests: requests.collect() }
}
