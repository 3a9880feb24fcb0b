//! Forks: children that begin with their parent's whole conversation, byte for byte (contract FORK, CACHE-07..28).
//!
//! A call that means a fork passes through these in order:
//!
//! * [`gate`]: whether forks are possible, and which condition fails (FORK-01..07).
//! * [`guard`]: a fork does not fork again (FORK-43..48).
//! * [`origin`]: what the children of one message share, taken once: history, prompt, tools (FORK-15..19, FORK-53).
//! * [`documents`], [`client`]: the two messages after the history, in the contract's form and in that of the client of
//!   2026; [`text`] holds their wording. [`ablation`]: breaks one principle to measure its value (CACHE-33).
//! * `agent/session/launch.rs`: when the children send their first requests (`design.md` 5).
//! * [`report`]: a child's final report (FORK-41, FORK-42).
//!
//! A child runs like every background agent, with its own task, transcript, lifecycle and notification (FORK-50..52).

pub mod ablation;
pub mod client;
pub mod closed;
pub mod documents;
pub mod guard;
pub mod origin;
pub mod report;
pub mod text;

use std::rc::Rc;

pub use crate::agent::session::fork::{Origin, Origins};
pub use crate::agent::settings::forks::{Ablation, Forks, LaunchPolicy, Profile, QUERY_SOURCE, TYPE};
pub use crate::agent::settings::gate::{self, Closed};

use super::input::Input;
use super::route::{self, Refusal, Resolved};
use super::worktree;
use crate::agent::definition::{AgentDefinition, Isolation, Source};
use crate::agent::entry::{Entry, Nature};
use crate::agent::event::Event;
use crate::agent::permission::Mode;
use crate::agent::session::Call;

/// Turn limit of a fork (FORK-10).
const MAX_TURNS: u32 = 200;

/// The definition of a fork (FORK-08..14). It is never registered or listed, and its prompt is never rendered.
pub fn definition() -> AgentDefinition {
    AgentDefinition {
        tools: Some(vec!["*".into()]),
        model: Some("inherit".into()),
        permission_mode: Some(Mode::Bubble),
        background: true,
        max_turns: Some(MAX_TURNS),
        ..AgentDefinition::new(Source::BuiltIn, TYPE, "", "")
    }
}

/// Resolves a call that means a fork.
///
/// # Errors
/// If a guard trips (FORK-48: no other agent replaces the fork), or the call asks for another machine.
pub fn resolve(call: &Call, input: Input) -> Result<Resolved, Refusal> {
    let parent = &call.context;
    if let Some(guard) = guard::trips(parent) {
        parent.emit(&Event::ForkRefused {
            agent: parent.agent.clone(),
            tool_use: call.tool_use.id.clone(),
            by: guard.name(),
        });
        return Err(text::REFUSAL.into());
    }
    match input.isolation {
        Some(Isolation::Remote) => return Err("a fork works on this machine: leave `isolation` out".into()),
        Some(Isolation::Worktree) | None => {}
    }
    let message = call.message.clone().ok_or("a fork is built from the message of its call, which is not there")?;
    let origin = parent.session.origins.of(&message, || origin::take(parent, &message));
    let agent = parent.session.ids.next("agent");
    parent.emit(&Event::Routed {
        agent: parent.agent.clone(),
        tool_use: call.tool_use.id.clone(),
        route: TYPE,
        agent_type: TYPE.into(),
        model: parent.model.clone(),
        background: true,
        why: "gate_open",
    });
    let ablations = &parent.session.settings.forks.ablations;
    let definition = origin.definition.clone();
    let mode = parent.session.permissions.admitted(Mode::Bubble);
    route::tell_mode(parent, &agent, (&definition, input.mode), mode);
    Ok(Resolved {
        pool: ablation::pool(ablations, parent, &agent, &origin.pool),
        model: ablation::model(ablations, parent, &origin.model),
        mode,
        definition,
        background: true,
        fork: Some(origin),
        worktree: None,
        team: None,
        agent,
        input,
    })
}

/// Builds the messages after the history of a call's child now, so that siblings of one message begin alike whenever
/// they start (FORK-53). `place` is the child's position among them.
pub fn begin(call: &Call, resolved: &Resolved, origin: &Rc<Origin>, place: u32) -> Vec<Rc<Entry>> {
    let parent = &call.context;
    let settings = &parent.session.settings.forks;
    let request = Request { call, agent: &resolved.agent, input: &resolved.input, origin };
    let built = match settings.profile {
        Profile::Documents => documents::build(&request),
        Profile::Client2026 => client::build(&request),
    };
    parent.emit(&Event::ForkBuilt {
        agent: resolved.agent.clone(),
        parent: parent.agent.clone(),
        tool_use: call.tool_use.id.clone(),
        profile: settings.profile.name(),
        place,
        history: origin.history.len(),
        built: built.len(),
        ablations: settings.ablations.iter().map(|ablation| ablation.name()).collect(),
    });
    built.into_iter().chain(notice(&request, resolved)).collect()
}

/// The notice of a worktree is a message of its own after those that siblings share (FORK-54, WORKTREE-17, G31).
fn notice(request: &Request<'_>, resolved: &Resolved) -> Option<Rc<Entry>> {
    let worktree = resolved.worktree.as_ref()?;
    let words = worktree::notice(&request.call.context.cwd.borrow(), &worktree.path);
    Some(Entry::user(request.uuid(), &words, Nature::Inserted))
}

/// The inputs for building a child.
pub struct Request<'a> {
    /// The call that requests it.
    pub call: &'a Call,
    /// The child's id.
    pub agent: &'a Rc<str>,
    /// The parsed input of the call.
    pub input: &'a Input,
    /// What siblings share.
    pub origin: &'a Rc<Origin>,
}

impl Request<'_> {
    /// Whether this principle is broken.
    pub fn without(&self, ablation: Ablation) -> bool {
        self.call.context.session.settings.forks.ablations.contains(&ablation)
    }

    /// An id for a message that no loop yielded.
    pub fn uuid(&self) -> Rc<str> {
        self.call.context.session.ids.next("entry")
    }
}
