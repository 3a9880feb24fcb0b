//! Puts the tree of a scenario together.

use std::collections::BTreeMap;

use forkcast_replay::source::Shares;
use forkcast_replay::transcript::{Agent, AgentKind, Answer, OutputCount, Session};
use forkcast_sim::cache::Rules;
use forkcast_sim::pricing::Date;
use forkcast_sim::service::FIRST_BYTE_AFTER;
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::Ttl;
use serde_json::Value;

use super::acts::{self, Acts};
use super::node::{self, Fields, list, number, text, yes};
use super::results::{Called, Results};
use super::spawns::{NEVER_MS, Spawn, Spawns, UNKNOWN, agent_input, report, starts_agents};
use super::thread::{Asking, Does, Step, Steps, Unplayed, Walk};
use super::unseen::Forecasts;
use super::wording::{Block, Said, Veil};
use super::{Cast, Content, Gap, Take};
use crate::format::tree::Node;

/// The tool of calls that started no agent.
const REFUSED: &str = "AgentRefused";

/// After the last recorded instant everything that still runs is stopped: repeatedly, because a simulation may be late.
const AFTER_THE_END: [Duration; 4] =
    [Duration::from_secs(60), Duration::from_secs(900), Duration::from_secs(14_400), Duration::from_secs(172_800)];

/// A conversation with its steps.
struct Part<'a> {
    /// `main`, or the call that started it.
    name: String,
    agent: &'a Agent,
    /// Its index in the session.
    number: usize,
    steps: Steps,
    shares: Shares,
}

/// A cast in the making.
pub(super) struct Scene<'a> {
    session: &'a Session,
    veil: Veil,
    spawns: Spawns,
    results: Results,
    acts: Acts,
    forecasts: Forecasts,
    parts: Vec<Part<'a>>,
    /// Tokens of the first message of each agent, by the call that started it.
    briefs: BTreeMap<String, u64>,
    takes: Vec<Take>,
    gaps: Vec<Gap>,
    began: Instant,
    ended: Instant,
}

impl<'a> Scene<'a> {
    pub fn new(session: &'a Session, content: Content) -> Self {
        let instants = || session.agents.iter().flat_map(|agent| &agent.thread.items).filter_map(|item| item.at);
        // A session without instants begins and ends at once.
        let (began, ended) = instants().min().zip(instants().max()).unwrap_or((Instant(0), Instant(0)));
        let mut scene = Self {
            session,
            veil: Veil::new(content),
            spawns: Spawns::of(session),
            results: Results::default(),
            acts: Acts::default(),
            forecasts: Forecasts::of(session),
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
        if let Some((number, main)) = mains.first().copied() {
            let (spawns, shares) = (&self.spawns, Shares::of(main));
            let steps = Walk::new(main, spawns, &shares, &mut self.results, Some(&mut self.acts)).steps();
            self.parts.push(Part { name: "main".to_owned(), agent: main, number, steps, shares });
        }
        let played: Vec<(String, usize)> =
            self.spawns.of_call.iter().filter_map(|(call, spawn)| Some((call.clone(), spawn.thread?))).collect();
        for (at, agent) in self.session.agents.iter().enumerate() {
            let Some((call, _)) = played.iter().find(|(_, thread)| *thread == at) else {
                if agent.kind != AgentKind::Main {
                    let says =
                        format!("agent `{}` was started by no recorded call and is not played", agent.kind.word());
                    self.gap(agent, 0, &says);
                }
                continue;
            };
            let (spawns, shares) = (&self.spawns, Shares::of(agent));
            let steps = Walk::new(agent, spawns, &shares, &mut self.results, None).steps();
            self.parts.push(Part { name: call.clone(), agent, number: at, steps, shares });
        }
        let missing: Vec<String> = self
            .spawns
            .of_call
            .iter()
            .filter(|(_, spawn)| spawn.thread.is_none())
            .map(|(call, _)| call.clone())
            .collect();
        for part in &self.parts {
            let of = |unplayed: &Unplayed| Gap {
                file: part.agent.file.to_string(),
                line: unplayed.line,
                says: unplayed.says.to_owned(),
            };
            self.gaps.extend(part.steps.unplayed.iter().map(of));
        }
        if !missing.is_empty() {
            let says = format!("{} agents have no conversation here; their reports are played", missing.len());
            self.gaps.push(Gap { file: self.session.source.clone(), line: 0, says });
        }
    }

    fn gap(&mut self, agent: &Agent, line: u32, says: &str) {
        self.gaps.push(Gap { file: agent.file.to_string(), line, says: says.to_owned() });
    }

    fn ms(&self, at: Instant) -> u64 {
        at.since(self.began).as_millis()
    }

    /// The cast.
    pub fn done(mut self) -> Cast {
        let script = self.script();
        let user = self.user();
        let tools = self.tools();
        let about = format!("The recorded session {}.", self.session.id);
        let count = self.takes.len() as u64;
        let limits = Fields::default().with("steps", number(100_000_000)).with("turns", number(2 * count + 1_000));
        let day = Date::of(self.began);
        let tree = Fields::default()
            .with("about", text(about))
            .with("session", self.options())
            .with("cache", text(Rules::for_recording(Some(days(self.began))).name))
            .with("prices", text(format!("{:04}-{:02}-{:02}", day.0, day.1, day.2)))
            .with("limits", limits.node())
            .with("prompt", Fields::default().with("user_context", no()).node())
            .with("sizes", self.sizes())
            .with("definitions", self.definitions())
            .with("tools", tools)
            .with("script", script)
            .with("user", user)
            .node();
        let name = self.session.id.to_string();
        Cast { name, file: self.session.source.clone(), tree, takes: self.takes, gaps: self.gaps }
    }

    fn main_answers(&self) -> impl Iterator<Item = &'a Answer> {
        let main = self.parts.iter().find(|part| part.name == "main").map(|part| part.agent);
        main.into_iter().flat_map(|agent| agent.thread.items.iter().filter_map(|item| item.answer()))
    }

    fn options(&self) -> Node {
        let first = self.main_answers().next();
        let ttl = self.main_answers().find_map(|answer| answer.usage?.usage.longest_ttl()).unwrap_or(Ttl::FiveMinutes);
        let model =
            first.map(|answer| text(answer.model.to_string())).filter(|_| first.is_some_and(|a| !a.model.is_empty()));
        Fields::default()
            .with("id", text(self.session.id.to_string()))
            .with("model", model)
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
        for (kind, part) in self.started() {
            let known = types.entry(kind).or_insert(part.shares.hidden_tokens);
            *known = (*known).min(part.shares.hidden_tokens);
        }
        types
    }

    fn brief_tokens(&self) -> BTreeMap<String, u64> {
        let prefixes = self.prefixes();
        let briefs = self.started().map(|(kind, part)| {
            let own = prefixes.get(&kind).map_or(0, |common| part.shares.hidden_tokens.saturating_sub(*common));
            (part.name.clone(), own + part.steps.brief_tokens)
        });
        briefs.collect()
    }

    /// Agents with conversations, by type.
    fn started(&self) -> impl Iterator<Item = (String, &Part<'a>)> {
        self.parts.iter().filter_map(|part| {
            let spawn = self.spawns.of_call.get(&part.name)?;
            Some((spawn.kind.clone().unwrap_or_else(|| "general-purpose".to_owned()), part))
        })
    }

    /// A definition for each type that a call names, with the recorded model.
    fn definitions(&self) -> Option<Node> {
        let kinds = self.spawns.of_call.values().map(|spawn| spawn.kind.as_deref().unwrap_or("general-purpose"));
        let mut models: BTreeMap<&str, Option<&str>> =
            kinds.filter(|kind| *kind != "fork").map(|kind| (kind, None)).collect();
        for part in &self.parts {
            let kind =
                self.spawns.of_call.get(&part.name).map(|spawn| spawn.kind.as_deref().unwrap_or("general-purpose"));
            let model = part.agent.thread.items.iter().find_map(|item| item.answer()).map(|answer| &*answer.model);
            if let Some(known) = kind.and_then(|kind| models.get_mut(kind)) {
                *known = known.or(model);
            }
        }
        let defined = models.into_iter().map(|(kind, model)| {
            let fields = Fields::default()
                .with("description", text(format!("The recorded agent {kind}.")))
                .with("prompt", text("(The system prompt is not recorded.)"))
                .with("model", model.map(text));
            let json = Fields::default().with(kind, fields.node()).node();
            Fields::default().with("source", text("project")).with("json", json).node()
        });
        node::some(defined.collect())
    }

    fn user(&mut self) -> Option<Node> {
        let mut acts: Vec<(u64, Node)> = Vec::new();
        for act in std::mem::take(&mut self.acts.acts) {
            let at_ms = self.ms(act.at);
            let at = Fields::default().with("at_ms", number(at_ms));
            let node = match act.does {
                acts::Does::Types { text: typed, tokens } => {
                    at.with("tokens", number(tokens)).with("types", text(self.veil.text("line", &typed)))
                }
                acts::Does::Arrives { text: notice, tokens } => {
                    let item = Fields::default()
                        .with("text", text(self.veil.text("notification", &notice)))
                        .with("mode", text("task-notification"))
                        .with("priority", text("later"))
                        .with("source", text("shell"));
                    at.with("tokens", number(tokens)).with("arrives", item.node())
                }
                acts::Does::Compacts { text: summary, tokens, takes } => {
                    let rewrites = Fields::default()
                        .with("agent", text("main"))
                        .with("as", text(self.veil.text("summary", &summary)))
                        .with("takes_ms", takes.map(|takes| number(takes.as_millis())));
                    at.with("tokens", number(tokens)).with("rewrites", rewrites.node())
                }
                acts::Does::Rewinds { text: line } => at.with("rewinds", text(self.veil.text("line", &line))),
                acts::Does::Escape => at.with("escape", yes(true)),
            };
            acts.push((at_ms, node.node()));
        }
        acts.extend(self.ends());
        acts.sort_by_key(|(at_ms, _)| *at_ms);
        node::some(acts.into_iter().map(|(_, node)| node).collect())
    }

    /// What stops everything that still runs after the end.
    fn ends(&self) -> Vec<(u64, Node)> {
        let waits = |part: &Part<'_>| part.steps.steps.iter().any(|step| step.does == Does::Waits);
        let is_open = self.parts.iter().any(|part| part.steps.ends_open || waits(part));
        let runs_on = self.spawns.of_call.values().any(|spawn| spawn.background && !spawn.notified);
        let mut acts = Vec::new();
        for after in AFTER_THE_END {
            let at_ms = self.ms(self.ended + after);
            let at = || Fields::default().with("at_ms", number(at_ms));
            acts.extend(is_open.then(|| (at_ms, at().with("escape", yes(true)).node())));
        }
        let at_ms = self.ms(self.ended + AFTER_THE_END[0]);
        let kills = || Fields::default().with("at_ms", number(at_ms)).with("kill_all", yes(true)).node();
        acts.extend(runs_on.then(|| (at_ms, kills())));
        acts
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

    fn tool_name(&self, id: &str, tool: &str) -> String {
        match (starts_agents(tool), self.spawns.of_call.contains_key(id)) {
            (false, _) => tool.to_owned(),
            (true, true) => "Agent".to_owned(),
            (true, false) => REFUSED.to_owned(),
        }
    }

    fn script(&mut self) -> Node {
        let mut script = Fields::default();
        let parts = std::mem::take(&mut self.parts);
        for part in &parts {
            let replies: Vec<Node> = part.steps.steps.iter().filter_map(|step| self.reply(part, step)).collect();
            script = script.with(&part.name, list(replies));
        }
        let missing = self.spawns.of_call.iter().filter(|(_, spawn)| spawn.thread.is_none());
        let reports: Vec<(String, Node)> = missing
            .map(|(call, spawn)| (call.clone(), report(&mut self.veil, spawn, spawn.called_at).node()))
            .collect();
        for (call, reply) in reports {
            script = script.with(&call, list([reply]));
        }
        self.parts = parts;
        let unknown = Fields::default().with("say", text(UNKNOWN)).with("output_tokens", number(1));
        script.with("*", list([unknown.with("times", number(1_000_000)).node()])).node()
    }

    fn reply(&mut self, part: &Part<'_>, step: &Step) -> Option<Node> {
        let when = step.asked_by.as_ref().map(|asking| self.when(asking));
        let reply = Fields::default();
        if let Some(spawn) = self.reported(part, step).filter(|_| step.does == Does::Waits) {
            return Some(report(&mut self.veil, &spawn, part.steps.input_at).with("when", when).node());
        }
        match step.does {
            Does::Waits => {
                let reply = reply.with("when", when).with("say", text(UNKNOWN)).with("first_byte_ms", number(NEVER_MS));
                Some(reply.node())
            }
            Does::Fails => {
                let fault = Fields::default().with("status", number(400)).with("message", text("not recorded"));
                Some(reply.with("when", when).with("fault", fault.node()).node())
            }
            Does::Answers(at) => {
                let item = part.agent.thread.items.get(at)?;
                Some(self.answer(part, at, item.answer()?, item.line, when))
            }
        }
    }

    /// The agent of this part, if its recorded conversation lacks the last answer, which `step` asks for, and its report is
    /// known. Transcripts that hold sub-agents as progress of their calls end with the last round of tools.
    fn reported(&self, part: &Part<'_>, step: &Step) -> Option<Spawn> {
        let is_last = part.steps.steps.last().is_some_and(|last| std::ptr::eq(last, step));
        let was_interrupted = self.results.calls.get(&part.name).is_some_and(|call| call.interrupted);
        let spawn = self.spawns.of_call.get(&part.name)?;
        (is_last && !was_interrupted && spawn.report.is_some()).then(|| spawn.clone())
    }

    fn when(&mut self, asking: &Asking) -> Node {
        let when = Fields::default();
        match asking {
            Asking::Result(call) => when.with("after", text(call.as_str())),
            Asking::Text(line) => {
                let what = if line.starts_with("<task-notification") { "notification" } else { "line" };
                when.with("user_has", text(self.veil.text(what, line)))
            }
            Asking::Notice(call) => when.with("user_has", text(format!("<tool-use-id>{call}</tool-use-id>"))),
        }
        .node()
    }

    fn answer(&mut self, part: &Part<'_>, at: usize, answer: &Answer, line: u32, when: Option<Node>) -> Node {
        let id = format!("{}/{}", part.name, self.takes.len());
        let sent_at = answer.sent_at.or(answer.first_at).unwrap_or(self.began);
        let first_at = answer.first_at.unwrap_or(sent_at).max(sent_at);
        let ended_at = answer.ended_at.unwrap_or(first_at).max(first_at);
        let first_byte = first_at.min(sent_at + FIRST_BYTE_AFTER);
        let since = |at: Option<Instant>| number(at.unwrap_or(ended_at).since(first_byte).as_millis());
        let mut says = Vec::new();
        let (mut calls, mut ends, mut text_ends) = (Vec::new(), Vec::new(), None);
        for block in answer.wording.iter().map(Block::of) {
            match block.said {
                Said::Text(said) if !said.is_empty() => {
                    says.push(said);
                    text_ends = text_ends.max(block.at);
                }
                Said::Call { id, tool, input } => {
                    ends.push(since(block.at));
                    calls.push(self.call(&id, &tool, &input));
                }
                _ => {}
            }
        }
        let says = (!says.is_empty()).then(|| self.veil.text("answer", &says.join("\n")));
        let is_silent = says.is_none() && calls.is_empty();
        if says.is_some() {
            ends.insert(0, since(text_ends));
        }
        let kept = (0..answer.parts.len()).map(|block| part.shares.of_block(at, block));
        let usage = answer.usage.map(|recorded| recorded.usage);
        let output = match answer.output {
            OutputCount::Final => usage.map_or(0, |usage| usage.output_tokens),
            OutputCount::StreamStart { estimated_tokens } => u64::from(estimated_tokens),
        };
        self.takes.push(Take {
            reply: id.clone(),
            agent: part.name.clone(),
            model: answer.model.to_string(),
            sent_at: Instant(sent_at.since(self.began).0),
            ended_at: Instant(ended_at.since(self.began).0),
            usage,
            rule: self.forecasts.rule(part.number, at),
            copied: answer.copied,
            line,
        });
        let unseen = self.forecasts.unseen(part.number, at, answer);
        let unseen = Fields::default()
            .with("changed_after_tokens", unseen.changed_after_tokens.map(number))
            .with("tail_tokens", unseen.tail_tokens.map(number))
            .with("kept_tokens", unseen.kept_tokens.map(number));
        Fields::default()
            .with("id", text(id))
            .with("when", when)
            .with("unseen", unseen.some())
            .with("think", is_silent.then(|| text("(Only thinking is recorded.)")))
            .with("say", says.map(text))
            .with("tools", node::some(calls))
            .with("output_tokens", number(output))
            .with("kept_tokens", number(kept.sum()))
            .with("first_byte_ms", number(first_byte.since(sent_at).as_millis()))
            .with("streaming_ms", since(None))
            .with("block_ends_ms", node::some(ends))
            .node()
    }

    fn call(&mut self, id: &str, tool: &str, input: &Value) -> Node {
        let name = self.tool_name(id, tool);
        let call = self.results.calls.get(id);
        let input = match self.spawns.of_call.get(id) {
            Some(spawn) if name == "Agent" => agent_input(&mut self.veil, input, spawn),
            _ => node::json(&self.veil.input(input)),
        };
        let brief = self.briefs.get(id).copied();
        Fields::default()
            .with("tool", text(name))
            .with("id", text(id))
            .with("input", input)
            .with("result_tokens", call.and_then(|call| call.result_tokens).map(number))
            .with("notice_tokens", call.and_then(|call| call.notice_tokens).map(number))
            .with("brief_tokens", brief.map(number))
            .node()
    }
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
