//! Requests as a proxy would capture them: bodies, agents, times.

use forkcast_scenarios::catalog;
use forkcast_scenarios::run::{Options, play};
use forkcast_sim::cache::Rules;
use forkcast_sim::guard::conformance::{Card, Suite};
use forkcast_sim::guard::{Facts, Sent};
use forkcast_sim::time::Instant;

/// One captured request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    pub chain: Option<String>,
    pub parent: Option<String>,
    pub scope: String,
    pub body: String,
    pub at: Option<Instant>,
    pub first_byte_at: Option<Instant>,
}

impl Capture {
    /// The request as input of a guard.
    pub fn sent(&self) -> Sent<'_> {
        Sent {
            body: self.body.as_bytes(),
            facts: Facts {
                chain: self.chain.as_deref(),
                parent: self.parent.as_deref(),
                scope: &self.scope,
                at: self.at,
                first_byte_at: self.first_byte_at,
                ..Facts::default()
            },
            ..Sent::default()
        }
    }
}

/// The requests of a catalog scenario, as sent.
pub fn of_run(name: &str) -> Vec<Capture> {
    let entry = catalog::all().iter().find(|entry| entry.name == name).unwrap_or_else(|| panic!("no scenario {name}"));
    let run = play(entry.read(&[]).unwrap(), &Options::default());
    let capture = |request: &forkcast_scenarios::run::Request| {
        let agent = &run.agents[request.agent];
        Capture {
            chain: Some(agent.id.to_string()),
            parent: agent.parent.as_ref().map(ToString::to_string),
            scope: "workspace".to_owned(),
            body: String::from_utf8(request.draft().body()).unwrap(),
            at: request.line.at,
            first_byte_at: request.line.first_byte_at,
        }
    };
    run.requests.iter().map(capture).collect()
}

/// The report card for these requests.
pub fn card(captures: &[Capture]) -> Card {
    let mut suite = Suite::new(Rules::default());
    for capture in captures {
        suite.take(&capture.sent()).unwrap();
    }
    suite.card()
}

/// The same requests as files in a folder: only the bytes are known.
pub fn without_ids(captures: &[Capture]) -> Vec<Capture> {
    let bare =
        |capture: &Capture| Capture { chain: None, parent: None, at: None, first_byte_at: None, ..capture.clone() };
    captures.iter().map(bare).collect()
}

/// The names of the failed checks.
pub fn failed(card: &Card) -> Vec<&'static str> {
    card.rows.iter().filter(|row| row.passed == Some(false)).map(|row| row.check.word()).collect()
}
