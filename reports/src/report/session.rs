//! Sessions and the agents within them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use forkcast_replay::exchange::Exchange;
use forkcast_replay::input::Inputs;
use forkcast_replay::replay::NamedChain;
use forkcast_replay::transcript::AgentKind;

use super::project::repository;
use super::{Account, Counted, Recorded, Side};
use crate::names::Names;

mod tree;

pub use tree::Spawned;

/// The requests of one recording, or of one session from transcripts.
#[derive(Clone, Debug)]
pub struct Session {
    /// Index of the file among all files of the input, as in ledger lines; sessions of transcripts follow the files.
    pub index: usize,
    /// Unique: the session's own id, or the file's name without folder and extension.
    pub id: String,
    /// The file; for a session, that of its main agent.
    pub source: String,
    /// Its name for people: the project's folder and the beginning of the id; the id if there is no project.
    pub label: String,
    /// The working directory if the input has one, else the user's path; worktrees count as their repository.
    pub project: Option<Arc<str>>,
    /// How it was read.
    pub format: &'static str,
    /// Chains with a request in this file; agents with a request in this session.
    pub chains: usize,
    /// The senders of the requests. For transcripts also those without requests that started others.
    pub agents: Vec<Agent>,
    /// Index of each agent of the transcript among `agents`.
    places: Vec<Option<usize>>,
    /// Sums.
    pub account: Account,
}

impl Session {
    /// The agent at an index of the transcript's session.
    pub fn agent(&self, place: usize) -> Option<&Agent> {
        self.agents.get((*self.places.get(place)?)?)
    }
}

/// An agent of a transcript, or a chain of recorded requests.
#[derive(Clone, Debug, Default)]
pub struct Agent {
    /// The input's own id, or a number. Unique within its session.
    pub id: String,
    /// Its parent: index among the session's agents.
    pub parent: Option<usize>,
    /// Its kind.
    pub kind: AgentKind,
    /// Place of the call that started it.
    pub spawned: Option<Spawned>,
    /// How often its caller was notified that it is done.
    pub notifications: u64,
    /// How often its conversation was resumed: by a new process of the client, from another file, by a call.
    pub resumptions: u64,
    /// Its requests.
    pub requests: u64,
    /// The bill.
    pub billed: Side,
    /// The same including everything that it started.
    pub with_children: Side,
}

/// The sender of requests that no profile could read: their chains are unknown.
const NO_PROFILE: &str = "no_profile";

/// The sender of requests that were refused: nothing continues them.
const REFUSED: &str = "refused";

/// A chain of recorded requests.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// The input's own id, else a number in order of first request.
    pub id: String,
    /// The kind of its agent.
    pub kind: AgentKind,
}

impl Chain {
    /// What a request shows of the kind: the recorded one, else that it continues another agent's request, else that it
    /// has a parent.
    fn learn(&mut self, exchange: &Exchange, names: Names) {
        match &exchange.agent_kind {
            Some(recorded) => self.kind = named(&AgentKind::recorded(recorded), names),
            None if self.kind != AgentKind::Main => {}
            None if exchange.continues.is_some() => self.kind = AgentKind::Fork,
            None if exchange.parent.is_some() => self.kind = AgentKind::SUB_AGENT,
            None => {}
        }
    }
}

/// A kind with the name that reports use for a requested type.
fn named(kind: &AgentKind, names: Names) -> AgentKind {
    match kind {
        AgentKind::Named { name, mode } => {
            AgentKind::Named { name: name.as_deref().map(|name| names.agent(name).into()), mode: *mode }
        }
        kind => kind.clone(),
    }
}

/// Adds a part's chains.
pub(super) fn add_chains(
    entries: &[Recorded<'_>],
    given: &BTreeMap<usize, NamedChain>,
    names: Names,
    chains: &mut BTreeMap<usize, Chain>,
) {
    for entry in entries.iter().filter(|entry| entry.answered.is_none()) {
        let Some(number) = entry.chain else { continue };
        let given = given.get(&number);
        let chain = chains.entry(number).or_insert_with(|| {
            let own = entry.exchange.and_then(|exchange| exchange.chain.as_deref());
            let own = own.or_else(|| given.map(|given| given.id.as_str()));
            let id = own.map_or_else(|| format!("chain-{number}"), |own| names.agent(own));
            let is_sub_agent = given.is_some_and(|given| given.is_sub_agent);
            Chain { id, kind: if is_sub_agent { AgentKind::SUB_AGENT } else { AgentKind::Main } }
        });
        if let Some(exchange) = entry.exchange {
            chain.learn(exchange, names);
        }
    }
}

impl Session {
    /// Names the session of a run after its scenario, as in its ledger; it has no project.
    pub(super) fn name_after(&mut self, scenario: &str) {
        (self.id, self.label, self.project) = (scenario.to_owned(), scenario.to_owned(), None);
    }
}

/// The session with an index among sessions in the order of their indices.
pub(super) fn of(sessions: &[Session], index: usize) -> Option<&Session> {
    let at = sessions.binary_search_by_key(&index, |session| session.index).ok()?;
    sessions.get(at)
}

/// One session for each input file with exchanges, and after these one for each of the transcripts, if it has requests
/// in a part. `taken` are the ids of earlier ones.
pub(super) fn sessions(
    inputs: &Inputs,
    entries: &[Recorded<'_>],
    of_number: &BTreeMap<usize, Chain>,
    names: Names,
    counted: Counted,
    taken: &mut BTreeMap<String, usize>,
) -> Vec<Session> {
    let is_of_transcripts = entries.iter().all(|entry| entry.answered.is_some());
    let scopes = inputs.scopes.iter().filter(|_| !is_of_transcripts);
    let files: Vec<_> = scopes.flat_map(|scope| &scope.files).collect();
    let mut of_session: BTreeMap<usize, Vec<&Recorded<'_>>> = BTreeMap::new();
    for entry in entries {
        of_session.entry(entry.line.session).or_default().push(entry);
    }
    let found = of_session.into_iter().filter_map(|(index, entries)| {
        let account = Account::of(entries.iter().copied(), counted);
        let answered = entries.first().and_then(|entry| entry.answered);
        let project = entries.first().and_then(|entry| entry.project(inputs));
        let project = project.map(|project| Arc::from(names.file(&repository(project))));
        if let Some(answered) = answered {
            let (agents, places) = tree::agents(answered.session, &entries, names, counted);
            let id = unique(&names.session(&answered.session.id), taken);
            let is_named = names == Names::Plain && answered.session.project.is_some();
            return Some(Session {
                index,
                label: label(&id, project.as_deref().filter(|_| is_named)),
                id,
                source: names.file(&answered.session.source),
                project,
                format: answered.session.format.name(),
                chains: agents.iter().filter(|agent| agent.requests > 0).count(),
                agents,
                places,
                account,
            });
        }
        let file = files.get(index)?;
        let agents = chains(&entries, of_number, counted);
        let id = unique(&stem(&file.file, names), taken);
        Some(Session {
            index,
            label: id.clone(),
            id,
            source: names.file(&file.file),
            project,
            format: file.format.name(),
            chains: entries.iter().filter_map(|entry| entry.chain).collect::<BTreeSet<usize>>().len(),
            agents,
            places: Vec::new(),
            account,
        })
    });
    found.collect()
}

/// Chains in the order of their first request; the sum over them is the session.
fn chains(entries: &[&Recorded<'_>], of_number: &BTreeMap<usize, Chain>, counted: Counted) -> Vec<Agent> {
    let mut of_chain: BTreeMap<(bool, bool, Option<usize>), Agent> = BTreeMap::new();
    for entry in entries {
        let is_refused = entry.chain.is_none() && entry.failed();
        let agent = of_chain.entry((entry.chain.is_none(), is_refused, entry.chain)).or_insert_with(|| {
            let chain = entry.chain.and_then(|chain| of_number.get(&chain));
            let id = chain.map_or(if is_refused { REFUSED } else { NO_PROFILE }, |chain| &chain.id).to_owned();
            Agent { id, kind: chain.map(|chain| chain.kind.clone()).unwrap_or_default(), ..Agent::default() }
        });
        agent.requests += 1;
        agent.billed.count(entry, counted);
        agent.with_children = agent.billed;
    }
    let mut agents: Vec<(Option<usize>, Agent)> =
        of_chain.into_iter().map(|((.., chain), agent)| (chain, agent)).collect();
    started(entries, &mut agents);
    agents.into_iter().map(|(_, agent)| agent).collect()
}

/// The parent of each agent, by the requests: the cost of a chain is part of its parent's cost with children.
fn started(entries: &[&Recorded<'_>], agents: &mut [(Option<usize>, Agent)]) {
    let place = |chain: Option<usize>| agents.iter().position(|(known, _)| chain.is_some() && *known == chain);
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in entries {
        let name = entry.exchange.and_then(|exchange| exchange.chain.as_deref());
        names.extend(name.zip(place(entry.chain)));
    }
    let mut parents: Vec<Option<usize>> = vec![None; agents.len()];
    for entry in entries {
        let parent = entry.exchange.and_then(|exchange| names.get(exchange.parent.as_deref()?)).copied();
        if let Some((own, parent)) = place(entry.chain).zip(parent).filter(|(own, parent)| own != parent) {
            parents[own] = Some(parent);
        }
    }
    for own in 0..agents.len() {
        let billed = agents[own].1.billed;
        if let Some(parent) = parents[own] {
            agents[own].1.parent = Some(parent);
        }
        // A cycle, which only damage can make, is followed once.
        let mut seen = vec![own];
        while let Some(above) = seen.last().and_then(|last| parents[*last]).filter(|above| !seen.contains(above)) {
            agents[above].1.with_children.add(&billed);
            seen.push(above);
        }
    }
}

/// `my-project 258c7280`: long ids are distinguished by their beginnings.
fn label(id: &str, project: Option<&str>) -> String {
    const BEGINNING: usize = 8;
    let folder = project.and_then(|project| project.rsplit(['/', '\\']).find(|part| !part.is_empty()));
    let Some(folder) = folder else { return id.to_owned() };
    let beginning: String = id.chars().take(BEGINNING).collect();
    format!("{folder} {beginning}")
}

fn stem(file: &str, names: Names) -> String {
    if names == Names::Anonymous {
        return names.file(file);
    }
    let name = Path::new(file).file_name().map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into_owned());
    let stem = name.split_once('.').map_or(name.as_str(), |(stem, _)| stem);
    if stem.is_empty() { name } else { stem.to_owned() }
}

/// The stem, with a number after it from its second use on.
fn unique(stem: &str, taken: &mut BTreeMap<String, usize>) -> String {
    let mut id = stem.to_owned();
    while let Some(uses) = taken.get_mut(&id) {
        *uses += 1;
        id = format!("{stem}-{uses}");
    }
    taken.insert(id.clone(), 1);
    id
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{stem, unique};
    use crate::names::Names;

    #[test]
    fn ids_are_stems_and_unique() {
        let mut taken = BTreeMap::new();
        let ids: Vec<String> = ["a/x.json", "b/x.yaml", "x.jsonl.gz", ".env"]
            .iter()
            .map(|file| unique(&stem(file, Names::Plain), &mut taken))
            .collect();
        assert_eq!(ids, ["x", "x-2", "x-3", ".env"]);
    }
}
