//! Puts the tree of a scenario together.

use std::collections::{BTreeMap, BTreeSet};

use forkcast_replay::replay::Foreseen;
use forkcast_replay::source::Shares;
use forkcast_replay::transcript::{Agent, AgentKind, Answer, Session};
use forkcast_replay::what_if::Ratio;
use forkcast_sim::cache::Rules;
use forkcast_sim::pricing::Date;
use forkcast_sim::time::Instant;
use forkcast_sim::wire::Ttl;
use forkcast_sim::wire::model::resolve;
use serde_json::Value;

use super::acts::Acts;
use super::node::{self, Fields, list, number, text, yes};
use super::otherwise::Otherwise;
use super::replies;
use super::results::{Called, Results};
use super::spawns::{DEFAULT_KIND, FORK, Spawn, Spawns, starts_agents};
use super::switched::{Switched, models};
use super::thread::{Steps, Unplayed, Walk};
use super::unseen::{Forecasts, session_ttl};
use super::user;
use super::wording::Veil;
use super::{Cast, Content, Gap, Take};
use crate::format::tree::Node;

/// The tool of calls that started no agent.
const REFUSED: &str = "AgentRefused";

/// How long a run may take after the recorded end.
const A_YEAR_MS: u64 = 366 * 24 * 3_600_000;

/// A conversation with its steps.
pub(super) struct Part<'a> {
    /// `main`, or the call that started it.
    pub name: String,
    pub agent: &'a Agent,
    /// Its index in the session.
    pub number: usize,
    pub steps: Steps,
    pub shares: Shares,
    /// Its model, if it is another one, and the size of its tokens.
    pub model: Option<(String, Ratio)>,
    /// The recorded model with which it starts.
    pub begins_with: Option<&'a str>,
}

impl Part<'_> {
    /// Tokens of the recorded model as those of the model that it has here.
    pub fn scaled(&self, tokens: u64) -> u64 {
        self.model.as_ref().map_or(tokens, |(_, ratio)| ratio.of(tokens))
    }
}

/// A cast in the making.
pub(super) struct Scene<'a> {
    pub session: &'a Session,
    pub otherwise: &'a Otherwise,
    pub switched: Switched,
    pub veil: Veil,
    pub spawns: Spawns,
    pub results: Results,
    pub acts: Acts,
    pub forecasts: Forecasts,
    pub parts: Vec<Part<'a>>,
    /// Tokens of the first message of each agent, by the call that started it.
    pub briefs: BTreeMap<String, u64>,
    pub takes: Vec<Take>,
    gaps: Vec<Gap>,
    pub began: Instant,
    pub ended: Instant,
}

impl<'a> Scene<'a> {
    pub fn new(session: &'a Session, content: Content, otherwise: &'a Otherwise, foreseen: Vec<Foreseen>) -> Self {
        let instants = || session.agents.iter().flat_map(|agent| &agent.thread.items).filter_map(|item| item.at);
        // A session without instants begins and ends at once.
        let (began, ended) = instants().min().zip(instants().max()).unwrap_or((Instant(0), Instant(0)));
        let mut scene = Self {
            session,
            otherwise,
            switched: Switched::default(),
            veil: Veil::new(content),
            spawns: Spawns::of(session, otherwise),
            results: Results::default(),
            acts: Acts::default(),
            forecasts: Forecasts::of(session, otherwise, foreseen),
            parts: Vec::new(),
            briefs: BTreeMap::new(),
            takes: Vec::new(),
            gaps: Vec::new(),
            began,
            ended,
        };
        scene.walk();
        scene.briefs = scene.brief_tokens();
        scene
    }

    fn walk(&mut self) {
        let mains = self.session.agents.iter().enumerate().filter(|(_, agent)| agent.kind == AgentKind::Main);
        let mains: Vec<(usize, &Agent)> = mains.collect();
        for (_, further) in mains.iter().skip(1) {
            self.gap(further, 0, "a second main conversation of this session is not played");
        }
        let models = models(self.otherwise, &self.spawns);
        if let Some((number, main)) = mains.first().copied() {
            self.follow("main", number, main, self.otherwise.model_of("main"));
        }
        let played: Vec<(String, usize)> =
            self.spawns.of_call.iter().filter_map(|(call, spawn)| Some((call.clone(), spawn.thread?))).collect();
        for (at, agent) in self.session.agents.iter().enumerate() {
            match played.iter().find(|(_, thread)| *thread == at) {
                Some((call, _)) => self.follow(call, at, agent, models.get(call).map(String::as_str)),
                None if agent.kind == AgentKind::Main => {}
                None => {
                    let says =
                        format!("agent `{}` was started by no recorded call and is not played", agent.kind.word());
                    self.gap(agent, 0, &says);
                }
            }
        }
        self.switched = Switched::apply(self.otherwise, &mut self.spawns, &mut self.results);
        for part in &mut self.parts {
            self.switched.steps(&mut part.steps, part.agent, &self.spawns);
        }
        let models: Vec<Option<&str>> = self.parts.iter().map(|part| self.begins_with(part)).collect();
        for (part, model) in self.parts.iter_mut().zip(models) {
            part.begins_with = model;
        }
        self.tell_gaps();
    }

    /// Follows a conversation, which has another model if one is given.
    fn follow(&mut self, name: &str, number: usize, agent: &'a Agent, model: Option<&str>) {
        let other = model.zip(first_model(agent)).map(|(model, recorded)| {
            let ratio = resolve(model).map_or_else(Ratio::default, |known| Ratio::between(recorded, known.id));
            (model.to_owned(), ratio)
        });
        let scale = |tokens| other.as_ref().map_or(tokens, |(_, ratio)| ratio.of(tokens));
        let shares = Shares::of(agent).scaled(scale);
        let acts = (name == "main").then_some(&mut self.acts);
        let steps = Walk::new(agent, self.otherwise, &self.spawns, &shares, &mut self.results, acts).steps();
        self.parts.push(Part { name: name.to_owned(), agent, number, steps, shares, model: other, begins_with: None });
    }

    fn tell_gaps(&mut self) {
        for part in &self.parts {
            let of = |unplayed: &Unplayed| Gap {
                file: part.agent.file.to_string(),
                line: unplayed.line,
                says: unplayed.says.to_owned(),
            };
            self.gaps.extend(part.steps.unplayed.iter().map(of));
        }
        let missing = self.spawns.of_call.values().filter(|spawn| spawn.thread.is_none()).count();
        if missing > 0 {
            let says = match missing {
                1 => "1 agent has no conversation here; its report is played".to_owned(),
                _ => format!("{missing} agents have no conversation here; their reports are played"),
            };
            self.gaps.push(Gap { file: self.session.source.clone(), line: 0, says });
        }
    }

    fn gap(&mut self, agent: &Agent, line: u32, says: &str) {
        self.gaps.push(Gap { file: agent.file.to_string(), line, says: says.to_owned() });
    }

    pub(super) fn ms(&self, at: Instant) -> u64 {
        at.since(self.began).as_millis()
    }

    /// The cast.
    pub fn done(mut self) -> Cast {
        let script = replies::script(&mut self);
        let user = user::acts(&mut self);
        let tools = self.tools();
        let about = format!("The recorded session {}.", self.session.id);
        let count = self.takes.len() as u64;
        let limits = Fields::default().with("steps", number(100_000_000)).with("turns", number(2 * count + 1_000));
        // A clock that jumped may have made the session longer than the executor's own limit.
        let limits = limits.with("until_ms", number(self.ms(self.ended) + A_YEAR_MS));
        let is_dated = self.began.has_day();
        let day = Date::of(self.began);
        let prices = is_dated.then(|| text(format!("{:04}-{:02}-{:02}", day.0, day.1, day.2)));
        let tree = Fields::default()
            .with("about", text(about))
            .with("session", self.options())
            .with("cache", text(Rules::for_recording(is_dated.then(|| days(self.began))).name))
            .with("prices", prices)
            .with("limits", limits.node())
            .with("prompt", Fields::default().with("user_context", no()).node())
            .with("sizes", self.sizes())
            .with("definitions", self.definitions())
            .with("tools", tools)
            .with("script", script)
            .with("user", user)
            .node();
        let name = self.session.id.to_string();
        let kinds: BTreeSet<String> = self.spawns.of_call.values().map(kind_of).collect();
        let agents = std::iter::once("main".to_owned()).chain(kinds).collect();
        Cast { name, file: self.session.source.clone(), tree, agents, takes: self.takes, gaps: self.gaps }
    }

    fn main_answers(&self) -> impl Iterator<Item = &'a Answer> {
        let main = self.parts.iter().find(|part| part.name == "main").map(|part| part.agent);
        main.into_iter().flat_map(|agent| agent.thread.items.iter().filter_map(|item| item.answer()))
    }

    fn options(&self) -> Node {
        let first = self.main_answers().next();
        let other = self.otherwise.model_of("main").map(text);
        let ttl = session_ttl(self.session).unwrap_or(Ttl::FiveMinutes);
        let model =
            first.map(|answer| text(answer.model.to_string())).filter(|_| first.is_some_and(|a| !a.model.is_empty()));
        Fields::default()
            .with("id", text(self.session.id.to_string()))
            .with("model", other.or(model))
            .with("permission_mode", text("acceptEdits"))
            .with("ttl", text(ttl.name()))
            .with("forks", Fields::default().with("profile", text("client-2026")).node())
            .node()
    }

    fn sizes(&self) -> Option<Node> {
        let main = self.parts.iter().find(|part| part.name == "main")?;
        let types = self.prefixes();
        let types = types.iter().fold(Fields::default(), |types, (kind, tokens)| {
            types.with(kind, Fields::default().with("system", number(*tokens)).with("tools", number(0)).node())
        });
        let sizes = Fields::default().with("system", number(main.shares.hidden_tokens)).with("tools", number(0));
        Some(sizes.with("types", types.some()).node())
    }

    /// Tokens that agents of each type have in common, as the smallest first read of one shows them.
    fn prefixes(&self) -> BTreeMap<String, u64> {
        let mut types: BTreeMap<String, u64> = BTreeMap::new();
        for (kind, part) in self.started().filter(|(_, part)| !self.switched.rebuilt.contains(&part.name)) {
            let known = types.entry(kind).or_insert(part.shares.hidden_tokens);
            *known = (*known).min(part.shares.hidden_tokens);
        }
        types.remove(FORK);
        // Agents that were forks have a prompt as large as the smallest one here.
        let main = self.parts.iter().find(|part| part.name == "main").map(|part| part.shares.hidden_tokens);
        let smallest = types.values().copied().min().or(main);
        let others: Vec<String> = self.started().map(|(kind, _)| kind).filter(|kind| kind != FORK).collect();
        for kind in others {
            if let Some(tokens) = smallest {
                types.entry(kind).or_insert(tokens);
            }
        }
        types
    }

    fn brief_tokens(&self) -> BTreeMap<String, u64> {
        let prefixes = self.prefixes();
        let briefs = self.started().map(|(kind, part)| {
            let is_rebuilt = self.switched.rebuilt.contains(&part.name);
            let common = prefixes.get(&kind).filter(|_| !is_rebuilt);
            let own = common.map_or(0, |common| part.shares.hidden_tokens.saturating_sub(*common));
            (part.name.clone(), own + part.steps.brief_tokens)
        });
        briefs.collect()
    }

    /// Agents with conversations, by type.
    fn started(&self) -> impl Iterator<Item = (String, &Part<'a>)> {
        self.parts.iter().filter_map(|part| {
            let spawn = self.spawns.of_call.get(&part.name)?;
            Some((kind_of(spawn), part))
        })
    }

    /// The first recorded model of each type of agents that a call names.
    fn kinds(&self) -> BTreeMap<String, Option<&'a str>> {
        let kinds = self.spawns.of_call.values().map(kind_of).filter(|kind| kind != FORK);
        let mut models: BTreeMap<String, Option<&str>> = kinds.map(|kind| (kind, None)).collect();
        for part in &self.parts {
            let kind = self.spawns.of_call.get(&part.name).map(kind_of);
            if let Some(known) = kind.and_then(|kind| models.get_mut(&kind)) {
                *known = known.or(first_model(part.agent));
            }
        }
        models
    }

    /// The model with which an agent starts, if it is a recorded one.
    fn begins_with(&self, part: &Part<'a>) -> Option<&'a str> {
        let kind = self.spawns.of_call.get(&part.name).map(kind_of).filter(|kind| kind != FORK);
        let of_kind = kind.map(|kind| self.kinds().get(&kind).copied().flatten());
        let main = || first_model(self.parts.iter().find(|part| part.name == "main")?.agent);
        of_kind.unwrap_or_else(main).filter(|_| part.model.is_none())
    }

    /// A definition for each type that a call names, with its model.
    fn definitions(&self) -> Option<Node> {
        let defined = self.kinds().into_iter().map(|(kind, model)| {
            let model = self.otherwise.model_of(&kind).or(model);
            let fields = Fields::default()
                .with("description", text(format!("The recorded agent {kind}.")))
                .with("prompt", text("(The system prompt is not recorded.)"))
                .with("model", model.map(text));
            let json = Fields::default().with(&kind, fields.node()).node();
            Fields::default().with("source", text("project")).with("json", json).node()
        });
        node::some(defined.collect())
    }

    /// All tools but the one that starts agents.
    fn tools(&mut self) -> Option<Node> {
        let mut of_tool: BTreeMap<String, Vec<Node>> = BTreeMap::new();
        for (id, call) in &self.results.calls {
            let tool = self.tool_name(id, &call.tool);
            // A result without a call belongs to no tool.
            if tool != "Agent" && !tool.is_empty() {
                of_tool.entry(tool).or_default().push(result(&mut self.veil, id, call));
            }
        }
        let tools = of_tool
            .into_iter()
            .map(|(tool, results)| Fields::default().with("name", text(tool)).with("results", list(results)).node());
        node::some(tools.collect())
    }

    pub(super) fn tool_name(&self, id: &str, tool: &str) -> String {
        match (starts_agents(tool), self.spawns.of_call.contains_key(id)) {
            (false, _) => tool.to_owned(),
            (true, true) => "Agent".to_owned(),
            (true, false) => REFUSED.to_owned(),
        }
    }
}

/// The model of an agent's first answer.
fn first_model(agent: &Agent) -> Option<&str> {
    agent.thread.items.iter().find_map(|item| item.answer()).map(|answer| &*answer.model)
}

/// The type of an agent.
fn kind_of(spawn: &Spawn) -> String {
    spawn.kind.clone().unwrap_or_else(|| DEFAULT_KIND.to_owned())
}

fn no() -> Node {
    node::json(&Value::Bool(false))
}

/// Days since the Unix epoch.
fn days(at: Instant) -> i64 {
    const DAY_NANOS: u64 = 86_400_000_000_000;
    (at.0 / DAY_NANOS).cast_signed()
}

fn result(veil: &mut Veil, id: &str, call: &Called) -> Node {
    let takes = call.takes().filter(|_| !call.interrupted);
    Fields::default()
        .with("call", text(id))
        .with("content", text(veil.text("result", &call.text)))
        .with("failed", yes(call.failed))
        .with("takes_ms", takes.map(|takes| number(takes.as_millis())))
        .with("never_ends", yes(takes.is_none()))
        .node()
}
