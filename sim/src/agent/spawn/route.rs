//! Which agent a call means and how it starts (contract AGENT-16..29), or why it is refused.
//!
//! Everything is decided here, before the agent runs (AGENT-29): route, model, permission mode, tools, foreground or
//! background.

use std::rc::Rc;

use super::fork::{self, Origin, closed, gate};
use super::input::{Input, ShortModel};
use super::servers;
use super::teammate;
use super::worktree::Worktree;
use crate::agent::definition::{AgentDefinition, Isolation};
use crate::agent::event::Event;
use crate::agent::permission::Mode;
use crate::agent::session::Session;
use crate::agent::session::pool::Worker;
use crate::agent::session::{Call, Pool};
use crate::agent::session::{Context, SubAgent};
use crate::agent::settings::Place;

/// A resolved call.
pub struct Resolved {
    /// The id of the agent (contract CTX-05).
    pub agent: Rc<str>,
    /// The input of the call.
    pub input: Input,
    /// The agent's definition.
    pub definition: Rc<AgentDefinition>,
    /// Its model, as spelled.
    pub model: Rc<str>,
    /// How its permission requests are handled.
    pub mode: Mode,
    /// Its tools.
    pub pool: Rc<Pool>,
    /// Whether it runs in the background.
    pub background: bool,
    /// What a fork shares with its siblings; `None` for a named agent.
    pub fork: Option<Rc<Origin>>,
    /// Its worktree, if it works in one.
    pub worktree: Option<Rc<Worktree>>,
    /// The team that it joins, if it is a teammate.
    pub team: Option<Rc<str>>,
}

/// The agent type that is meant if none is named (AGENT-23).
pub(super) const GENERAL: &str = "general-purpose";

/// A message for the calling model.
pub type Refusal = Rc<str>;

/// Resolves `call`.
///
/// # Errors
/// A message for the model: which field or rule prevents it, and what it could request instead. A refused agent is
/// never replaced by another one (contract PERM-04, G15).
pub async fn resolve(call: &Call) -> Result<Resolved, Refusal> {
    let parent = &call.context;
    let session = &*call.context.session;
    let input = Input::read(&call.tool_use.input, session.settings.internal_build)?;
    if let Some(team) = teammate::team_of(call, &input)? {
        return teammate::resolve(call, input, team);
    }
    refuse_background(parent, &input)?;
    closed::tell(call, input.subagent_type.as_deref());
    let Some((agent_type, why)) = agent_type(parent, &input)? else { return fork::resolve(call, input) };
    let definition = find(session, &agent_type)?;
    refuse_absent(session, &definition, &input)?;
    refuse_depth(parent)?;
    servers::required(call, &definition).await?;
    let is_remote = input.isolation.or(definition.isolation) == Some(Isolation::Remote);
    let background = is_remote || runs_in_background(parent, &input, &definition);
    // A coordinator does not choose models (AGENT-15, COORD-21).
    let of_call = input.model.filter(|_| !session.settings.is_coordinator());
    let model = model(parent, of_call, &definition);
    let mode = Worker::of(&session.permissions, &definition, background).mode;
    let agent = session.ids.next("agent");
    let pool = Pool::named(session, &agent, &definition, background);
    tell_mode(parent, &agent, (&definition, input.mode), mode);
    parent.emit(&Event::Routed {
        agent: parent.agent.clone(),
        tool_use: call.tool_use.id.clone(),
        route: "named",
        agent_type: definition.agent_type.clone(),
        model: model.clone(),
        background,
        why,
    });
    Ok(Resolved { agent, input, definition, model, mode, pool, background, fork: None, worktree: None, team: None })
}

impl Resolved {
    /// Where it works: the call decides, then the definition (AGENT-18). A teammate's place is the team's matter.
    pub fn isolation(&self) -> Option<Isolation> {
        self.input.isolation.or(self.definition.isolation).filter(|_| self.team.is_none())
    }

    /// The inputs of the agent's context. If the run moves to the background, its pool is built again, because
    /// background agents get other tools (contract TOOLS-08).
    pub fn sub_agent(&self, session: &Session, is_async: bool) -> SubAgent {
        let as_resolved = is_async == self.background;
        let again = || Pool::named(session, &self.agent, &self.definition, is_async);
        SubAgent {
            agent: self.agent.clone(),
            definition: self.definition.clone(),
            model: self.model.clone(),
            pool: if as_resolved { self.pool.clone() } else { again() },
            mode: self.mode,
            is_async,
            // With both, the given directory is the one it works in (AGENT-28).
            cwd: self.input.cwd.clone().or_else(|| self.worktree.as_ref().map(|worktree| worktree.path.clone())),
            ..SubAgent::default()
        }
    }
}

/// Reports a mode that differs from the call or the definition, or that only forks have (DIAG-04).
pub fn tell_mode(parent: &Context, agent: &Rc<str>, wanted: (&AgentDefinition, Option<Mode>), mode: Mode) {
    let definition = wanted.0.permission_mode;
    let call = wanted.1;
    let why = match definition {
        _ if call.is_some_and(|call| call != mode) => "teammates_only",
        Some(Mode::BypassPermissions) if mode != Mode::BypassPermissions => "bypass_not_allowed",
        Some(Mode::Bubble) if &*wanted.0.agent_type == fork::TYPE => "forks_bubble",
        _ => return,
    };
    let agent = agent.clone();
    let definition = definition.map(Mode::name);
    let call = call.map(Mode::name);
    parent.emit(&Event::ModeTold { agent, definition, call, mode: mode.name(), why });
}

/// A teammate in the leader's process starts no background agents (contract PERM-06, SWARM-19); what would be forced to
/// the background waits instead (G04).
fn refuse_background(parent: &Context, input: &Input) -> Result<(), Refusal> {
    match input.run_in_background {
        Some(true) if is_in_process(parent) => {
            Err("a teammate starts no background agents: leave `run_in_background` out".into())
        }
        _ => Ok(()),
    }
}

fn is_in_process(parent: &Context) -> bool {
    parent.member().is_some_and(|member| member.place == Place::InProcess)
}

/// Routes 1 to 3 (AGENT-21..23): an explicit type selects that agent; without one the fork gate decides. `None` if the
/// call means a fork.
fn agent_type(parent: &Context, input: &Input) -> Result<Option<(Rc<str>, &'static str)>, Refusal> {
    let session = &parent.session;
    match gate::meant(&session.settings, input.subagent_type.as_deref()) {
        // A fork always runs in the background, and its questions need a terminal.
        gate::Meant::Fork if parent.member().is_some() => Ok(Some((GENERAL.into(), gate::Closed::Teammate.name()))),
        gate::Meant::Fork => Ok(None),
        gate::Meant::Unavailable(why) => Err(format!("there is no fork here: {}", why.explanation()).into()),
        gate::Meant::Named(why) => {
            let given = input.subagent_type.as_ref().filter(|given| &***given != fork::TYPE || why != "ablation");
            Ok(Some((given.cloned().unwrap_or_else(|| GENERAL.into()), why)))
        }
    }
}

/// The definition called `agent_type`, if rules let it start (contract PERM-03, PERM-04, G15).
pub(super) fn find(session: &Session, agent_type: &str) -> Result<Rc<AgentDefinition>, Refusal> {
    match session.definitions.get(agent_type) {
        Some(definition) if session.permissions.denies_agent(&definition.agent_type) => {
            Err(format!("agent type `{agent_type}` is denied by a permission rule").into())
        }
        Some(definition) => Ok(definition),
        None => Err(format!("there is no agent type `{agent_type}`; available: {}", available(session)).into()),
    }
}

/// The agent types that a model sees (contract PROMPT-18).
fn available(session: &Session) -> String {
    let names: Vec<String> =
        session.visible_definitions().iter().map(|definition| format!("`{}`", definition.agent_type)).collect();
    names.join(", ")
}

/// Refuses what this session does not have. The call's isolation overrides the definition's (AGENT-18).
fn refuse_absent(session: &Session, definition: &AgentDefinition, input: &Input) -> Result<(), Refusal> {
    let missing = definition.missing(&session.servers.present());
    let why = match input.isolation.or(definition.isolation) {
        Some(Isolation::Remote) if !session.settings.internal_build => {
            "this build has no remote agents: leave `isolation` out".to_owned()
        }
        _ if !missing.is_empty() => format!("it needs MCP servers that are not there: {}", missing.join(", ")),
        _ if input.cwd.as_deref().is_some_and(|cwd| !cwd.starts_with('/')) => "`cwd` must be absolute".to_owned(),
        _ => return Ok(()),
    };
    Err(format!("agent type `{}`: {why}", definition.agent_type).into())
}

/// Applies the optional nesting limit; none by default (contract G19).
fn refuse_depth(parent: &Context) -> Result<(), Refusal> {
    match parent.session.settings.max_depth {
        Some(max) if parent.depth >= max => {
            Err(format!("agents may nest {max} deep, and this one stands at depth {}", parent.depth).into())
        }
        _ => Ok(()),
    }
}

/// Whether the call or the definition requests it; the call's `false` does not cancel the definition's `true`
/// (AGENT-17, contract ASYNC-01). An open fork gate forces it (AGENT-22, ASYNC-02), and so do assistant and
/// coordinator mode (ASYNC-13, ASYNC-14).
fn runs_in_background(parent: &Context, input: &Input, definition: &AgentDefinition) -> bool {
    let session = &parent.session;
    if is_in_process(parent) {
        return false;
    }
    let is_forced = gate::forces_background(&session.settings) || session.settings.forces_background();
    let is_forced = is_forced && parent.member().is_none();
    let asked = input.run_in_background == Some(true) || definition.background || is_forced;
    asked && !session.settings.backgrounds_are_off()
}

/// The call's model, then the definition's, then the parent's (AGENT-16).
pub(super) fn model(parent: &Context, of_call: Option<ShortModel>, definition: &AgentDefinition) -> Rc<str> {
    let names = &parent.session.settings.model_names;
    let spelled = |short| match short {
        ShortModel::Sonnet => names.sonnet.clone(),
        ShortModel::Opus => names.opus.clone(),
        ShortModel::Haiku => names.haiku.clone(),
    };
    let of_definition = definition.model.as_ref().filter(|model| &***model != "inherit");
    match (of_call, of_definition) {
        (Some(short), _) => spelled(short),
        (None, Some(word)) => ShortModel::named(word).map_or_else(|| word.clone(), spelled),
        (None, None) => parent.model.clone(),
    }
}
