//! A recorded session as a scenario: who said what, bound to what asked; results of tools with their durations; what the
//! user typed and interrupted. The runtime's loop, agents, queue and notifications are ours; only answers and results
//! are recorded.
//!
//! * [`cast()`] makes the cast of a session that was read with its content.
//! * `scene`: the tree of the scenario. `replies`: its script.
//! * `spawns`: the agents that calls started. `thread`: one conversation as replies and results. `acts`: what the user did.
//! * [`recorded`]: casts of recordings that have the requests themselves, with their bytes.
//! * `user`: the acts of the user in the scenario.
//! * `unseen`: what the client is believed to have done to its prompts.
//! * [`otherwise`]: the session as it would have been, had its agents been built otherwise; `switched`: agents that are
//!   started otherwise.
//! * [`rules`]: what is assumed where recordings say nothing.
//! * `wording`: how much of the recorded text it contains.

mod acts;
pub mod comparison;
mod node;
pub mod otherwise;
pub mod recorded;
mod replies;
mod results;
pub mod rules;
mod scene;
mod spawns;
mod switched;
mod thread;
mod unseen;
mod user;
mod wording;

use std::fmt;

use forkcast_replay::rebuild::profile::RuleName;
use forkcast_replay::replay::{Foreseen, Options, foresee};
use forkcast_replay::transcript::Session;
use forkcast_sim::service::RecordedUsage;
use forkcast_sim::time::Instant;
use forkcast_sim::wire::Usage;

use crate::format::Scenario;
use crate::format::problem::Problems;
use crate::format::set::Change;
use crate::format::tree::Node;
use otherwise::Otherwise;
pub use wording::Content;

/// The cast of a session.
#[derive(Clone, Debug)]
pub struct Cast {
    /// Its name: the session's id.
    pub name: String,
    /// The file of the main agent.
    pub file: String,
    /// The scenario as a tree.
    pub tree: Node,
    /// Who takes part: `main`, and the types of agents.
    pub agents: Vec<String>,
    /// The recorded answers that it plays.
    pub takes: Vec<Take>,
    /// What the recording does not show, and what of it is not played.
    pub gaps: Vec<Gap>,
}

/// A recorded answer.
#[derive(Clone, Debug, Default)]
pub struct Take {
    /// The id of the reply that plays it.
    pub reply: String,
    /// The agent: `main`, or the id of the call that started it.
    pub agent: String,
    /// The model.
    pub model: String,
    /// When the request was sent, from the start of the session.
    pub sent_at: Instant,
    /// When its answer ended.
    pub ended_at: Instant,
    /// The recorded usage.
    pub usage: Option<Usage>,
    /// What the provider reported besides: tier, speed, place.
    pub answer: Option<RecordedUsage>,
    /// Tokens of the answer: estimated if the client recorded only the beginning of its stream.
    pub output_tokens: u64,
    /// What the client is believed to have done before the request; `None` for the first one of its conversation.
    pub rule: Option<RuleName>,
    /// What `replay` foresees that the request reads; `None` for the first one of its
    /// conversation.
    pub foreseen_read: Option<u64>,
    /// It was billed in another session, which this one continues.
    pub copied: bool,
    /// Its place in the session: index of the agent, and of the answer among the agent's items.
    pub place: [usize; 2],
    /// Its line in the recording.
    pub line: u32,
}

/// What a recording does not show, or what of it is not played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The file.
    pub file: String,
    /// The line; zero if it concerns the whole file.
    pub line: u32,
    /// What is missing, and what is played instead.
    pub says: String,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.says),
            line => write!(f, "{}:{line}: {}", self.file, self.says),
        }
    }
}

impl Cast {
    /// How many answers nothing that was read asks for.
    pub fn unasked(&self) -> usize {
        self.gaps.iter().filter(|gap| gap.says == thread::UNASKED).count()
    }

    /// The scenario with `changes`.
    ///
    /// # Errors
    /// The mistakes in it, which the recording or the changes have caused.
    pub fn scenario(&self, changes: &[Change]) -> Result<Scenario, Problems> {
        let mut tree = self.tree.clone();
        // The first part of an id is enough for `--session`, and short enough for titles.
        let short = self.name.split('-').next().unwrap_or(&self.name);
        Scenario::of_changed(short, &self.file, &mut tree, changes)
    }

    /// The scenario as a text that a person can read and edit.
    pub fn yaml(&self) -> String {
        let gaps = self.gaps.iter().map(|gap| format!("# {gap}\n"));
        let text = serde_saphyr::to_string(&self.tree);
        debug_assert!(text.is_ok(), "a tree is YAML");
        gaps.chain(text).collect()
    }
}

/// The cast of a session whose content was kept when it was read.
pub fn cast(session: &Session, content: Content) -> Cast {
    cast_otherwise(session, content, &Otherwise::default())
}

/// The same with agents that are built otherwise.
pub fn cast_otherwise(session: &Session, content: Content, otherwise: &Otherwise) -> Cast {
    cast_foreseen(session, content, otherwise, foresee(session, &Options::default()))
}

/// The same with what is foreseen of its requests: other sessions that were read with it may show more than it does alone.
pub fn cast_foreseen(session: &Session, content: Content, otherwise: &Otherwise, foreseen: Vec<Foreseen>) -> Cast {
    scene::Scene::new(session, content, otherwise, foreseen).done()
}
