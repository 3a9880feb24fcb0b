//! The sessions of agents in a recording of exchanges, as their transcripts would have them: who asked for each answer, which
//! results, lines and notifications came before it, and which call started which agent.
//!
//! What a request has in addition to the one before it in its chain, without the answer, is what the client added. Sessions are
//! told apart by the id in `metadata.user_id`; without one, each conversation that no call started is a session.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::Recording;
use super::answers::called;
use super::calls::{LAUNCHED, TOOLS, messages, texts, texts_of_last};
use super::following::Following;
use super::verbatim::{MAIN, Shapes, Verbatim, contents};
use crate::formats::Format;
use crate::formats::json::{member, member_text};
use crate::source::Shares;
use crate::source::order::{Arrival, Stream};
use crate::transcript::{Agent, AgentKind, Session, Thread, file_stem};

/// A session of a recording.
#[derive(Debug)]
pub struct RecordedSession {
    /// Its agents. The line of each answer is the number of its take, counted from one.
    pub session: Session,
    /// Its bytes.
    pub verbatim: Verbatim,
    /// What is missing, or not played: the place and a sentence.
    pub gaps: Vec<(String, String)>,
    /// Calls without a type start forks.
    pub forks_without_type: bool,
}

/// A conversation: the takes of one chain.
pub(super) struct Chain<'a> {
    /// The recording's name for it; several conversations may share one.
    pub chain: Rc<str>,
    pub name: Rc<str>,
    pub takes: Vec<usize>,
    pub first: &'a [u8],
    pub session: Option<String>,
    pub started_by: Option<Start>,
}

/// A call that starts an agent.
#[derive(Clone)]
pub(super) struct Start {
    pub call: String,
    pub prompt: String,
    /// The chain and the answer with the call.
    pub chain: usize,
    pub take: usize,
    pub is_unnamed: bool,
}

/// The sessions of a stream, whose recording is `recording`.
pub fn sessions(stream: &Stream<'_>, recording: &Recording) -> Vec<RecordedSession> {
    let mut chains = chains(stream, recording);
    start(&mut chains, recording);
    let roots: Vec<usize> = (0..chains.len()).map(|at| root(&chains, at)).collect();
    let files: Vec<&str> = chains.iter().map(|chain| file_of(stream, recording, chain)).collect();
    let hosts = hosts(&chains, &files);
    let mut groups: BTreeMap<(Option<&str>, usize), Vec<usize>> = BTreeMap::new();
    for (at, root) in roots.iter().enumerate() {
        let session = chains[*root].session.as_deref();
        groups.entry((session, if session.is_some() { 0 } else { hosts[*root] })).or_default().push(at);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.sort_by_key(|group| group.iter().filter_map(|at| chains[*at].takes.first()).min().copied());
    let made = groups.iter().map(|group| Staging { stream, recording, chains: &chains }.session(group));
    made.collect()
}

fn chains<'a>(stream: &Stream<'a>, recording: &Recording) -> Vec<Chain<'a>> {
    let mut chains: Vec<Chain<'a>> = Vec::new();
    for (at, take) in recording.takes.iter().enumerate() {
        let exchange = stream.requests[recording.arrivals[at]].exchange;
        let body: &'a [u8] = &exchange.body;
        // Two requests that do not continue each other are two conversations, however much they have in common.
        let session = session_id(body);
        let goes_on = |chain: &Chain<'_>| {
            let is_single = chain.takes.len() == 1 && exchange.chain.is_none();
            let grows = !is_single || messages(chain.first).len() < messages(body).len();
            let begins_again = exchange.chain.is_none() && texts_of_first(chain.first) == texts_of_first(body);
            let is_new = begins_again && messages(chain.first).len() == messages(body).len();
            grows && !is_new && chain.session == session
        };
        match chains.iter_mut().rev().find(|chain| chain.chain == take.chain && goes_on(chain)) {
            Some(chain) => chain.takes.push(at),
            None => {
                let chain = Rc::clone(&take.chain);
                let again = chains.iter().filter(|known| known.chain == take.chain).count();
                let name = if again == 0 { chain.clone() } else { format!("{chain}.{}", again + 1).into() };
                chains.push(Chain { chain, name, takes: vec![at], first: body, session, started_by: None });
            }
        }
    }
    chains
}

/// The texts of the first message of a body that has no answers yet.
fn texts_of_first(body: &[u8]) -> Option<Vec<String>> {
    let all = messages(body);
    let is_answer = |message: &&[u8]| member_text(message, "role").as_deref() == Some("assistant");
    if all.iter().any(is_answer) {
        return None;
    }
    Some(all.into_iter().flat_map(texts).map(|text| text.into_owned()).collect())
}

/// The session in `metadata.user_id`: JSON since 2.1.141, `user_…_session_ID` before (recordings of braintrust-sdk-javascript
/// and dd-trace-js).
fn session_id(body: &[u8]) -> Option<String> {
    let user = member_text(member(body, "metadata")?, "user_id")?;
    let named = member_text(user.as_bytes(), "session_id").map(|id| id.into_owned());
    named.or_else(|| Some(user.rsplit_once("_session_")?.1.to_owned()))
}

/// Finds the call that started each chain: its first request ends with the call's prompt.
fn start(chains: &mut [Chain<'_>], recording: &Recording) {
    let mut starts: Vec<Start> = Vec::new();
    for (chain, at) in chains.iter().enumerate().flat_map(|(at, chain)| chain.takes.iter().map(move |take| (at, *take)))
    {
        starts.extend(called(&recording.takes[at].answer).into_iter().filter_map(|call| {
            let prompt = member_text(call.input.as_bytes(), "prompt").filter(|prompt| !prompt.is_empty());
            let starts = TOOLS.contains(&&*call.name);
            let is_unnamed = member(call.input.as_bytes(), "subagent_type").is_none();
            let prompt = prompt.filter(|_| starts)?.into_owned();
            Some(Start { call: call.id.to_string(), prompt, chain, take: at, is_unnamed })
        }));
    }
    let mut used: BTreeSet<String> = BTreeSet::new();
    for (at, chain) in chains.iter_mut().enumerate() {
        let asked = texts_of_last(chain.first);
        let fits = |start: &&Start| {
            start.chain != at && !used.contains(&start.call) && asked.iter().any(|text| text.contains(&*start.prompt))
        };
        let longest = starts.iter().filter(fits).map(|start| start.prompt.len()).max();
        let found = starts.iter().filter(fits).find(|start| Some(start.prompt.len()) == longest);
        if let Some(start) = found {
            used.insert(start.call.clone());
            chain.started_by = Some(start.clone());
        }
    }
}

/// Whether its first request has answers: those of the parent.
fn is_fork(chain: &Chain<'_>) -> bool {
    texts_of_first(chain.first).is_none()
}

/// The chain that a chain's agents go back to.
fn root(chains: &[Chain<'_>], at: usize) -> usize {
    let mut root = at;
    for _ in 0..chains.len() {
        let Some(start) = &chains[root].started_by else { break };
        root = start.chain;
    }
    root
}

/// The conversation whose session each one belongs to if no ids say so. Requests for titles and summaries have no tools: they
/// belong to the last conversation with tools of their file that had begun, else to its first one.
fn hosts(chains: &[Chain<'_>], files: &[&str]) -> Vec<usize> {
    let is_host = |chain: &Chain<'_>| chain.started_by.is_none() && has_tools(chain);
    let host = |(at, chain): (usize, &Chain<'_>)| {
        let is_near = |other: &usize| files[*other] == files[at] && is_host(&chains[*other]);
        let before = (0..at).rev().find(is_near);
        if is_host(chain) { at } else { before.or_else(|| (at..chains.len()).find(is_near)).unwrap_or(at) }
    };
    chains.iter().enumerate().map(host).collect()
}

fn file_of<'a>(stream: &Stream<'a>, recording: &Recording, chain: &Chain<'_>) -> &'a str {
    let first = chain.takes.first().and_then(|take| recording.arrivals.get(*take));
    first.map_or("", |at| &stream.requests[*at].exchange.origin.file)
}

fn has_tools(chain: &Chain<'_>) -> bool {
    member(chain.first, "tools").is_some_and(|tools| tools != b"[]")
}

/// A session in the making.
#[derive(Default)]
struct Making {
    /// The calls whose agents run in the background.
    launched: BTreeSet<String>,
    agents: Vec<Agent>,
    verbatim: Verbatim,
    gaps: Vec<(String, String)>,
    shapes: Shapes,
    /// Tokens of tools and system prompt of the newest agent that is no fork.
    head_tokens: u64,
}

/// Makes the sessions of a recording.
pub(super) struct Staging<'a> {
    pub stream: &'a Stream<'a>,
    pub recording: &'a Recording,
    pub chains: &'a [Chain<'a>],
}

impl<'a> Staging<'a> {
    pub fn arrival(&self, take: usize) -> &'a Arrival<'a> {
        &self.stream.requests[self.recording.arrivals[take]]
    }

    fn session(&self, group: &[usize]) -> RecordedSession {
        let is_free = |at: &&usize| self.chains[**at].started_by.is_none();
        // Requests for titles and summaries are conversations of one request, mostly without tools.
        let weight = |at: &&usize| {
            let chain = &self.chains[**at];
            (has_tools(chain), chain.takes.len(), usize::MAX - **at)
        };
        let main = group.iter().filter(is_free).max_by_key(weight).copied();
        let mut ordered: Vec<usize> = main.into_iter().collect();
        ordered.extend(group.iter().copied().filter(|at| Some(*at) != main));
        let mut making = Making { launched: self.launched(group), ..Making::default() };
        for at in ordered {
            self.agent(at, Some(at) == main, &mut making);
        }
        let first = group.iter().filter_map(|at| self.chains[*at].takes.first()).min();
        let exchange = first.map(|take| self.arrival(*take).exchange);
        let named = exchange.and_then(|exchange| session_id(&exchange.body));
        let of_file = || exchange.map_or("", |exchange| file_stem(&exchange.origin.file)).replace('-', "_");
        let session = Session {
            id: named.unwrap_or_else(of_file).into(),
            source: exchange.map_or_else(String::new, |exchange| exchange.origin.file.clone()),
            scope: 0,
            format: Format::ExchangeLog,
            user: None,
            project: None,
            agents: making.agents,
        };
        let forks = group.iter().map(|at| &self.chains[*at]).filter(|chain| is_fork(chain));
        let mut starts = forks.filter_map(|chain| chain.started_by.as_ref());
        let forks_without_type = starts.any(|start| start.is_unnamed);
        RecordedSession { session, verbatim: making.verbatim, gaps: making.gaps, forks_without_type }
    }

    /// Adds the agent of a chain.
    fn agent(&self, at: usize, is_main: bool, making: &mut Making) {
        let chain = &self.chains[at];
        let mut made = Following::new(self, chain, at, &making.launched, is_main);
        made.items();
        making.gaps.append(&mut made.gaps);
        let kind = match &chain.started_by {
            _ if is_main => AgentKind::Main,
            Some(_) if is_fork(chain) => AgentKind::Fork,
            Some(_) => AgentKind::SUB_AGENT,
            None => AgentKind::Internal,
        };
        let first = self.arrival(chain.takes[0]).exchange;
        let agent = Agent {
            id: Arc::from(&*chain.name),
            parent: None,
            kind,
            file: Arc::from(&*first.origin.file),
            thread: Thread { session: None, agent: None, user: None, project: None, items: made.items },
        };
        if agent.kind != AgentKind::Internal {
            // A fork's first request has its parent's newest answer before its own message.
            let before = chain.started_by.as_ref().filter(|_| is_fork(chain));
            let before = before.and_then(|start| making.verbatim.answers.get(&start.take)).copied();
            made.bytes.write(&agent, before, &mut making.verbatim);
            // A fork has its parent's tools and system prompt.
            if agent.kind != AgentKind::Fork {
                making.head_tokens = Shares::of(&agent).hidden_tokens;
            }
            let own = made.played.iter().map(|take| {
                let exchange = self.arrival(*take).exchange;
                making.shapes.of(&exchange.body, &exchange.model, making.head_tokens)
            });
            let name = chain.started_by.as_ref().map_or(MAIN, |start| &start.call);
            making.verbatim.shapes.insert(name.to_owned(), own.collect());
        }
        making.agents.push(agent);
    }

    /// The calls whose agents run in the background, as their results say.
    fn launched(&self, group: &[usize]) -> BTreeSet<String> {
        let lasts = group.iter().filter_map(|at| self.chains[*at].takes.last());
        let bodies = lasts.map(|take| self.arrival(*take).exchange.body.as_slice());
        let blocks = bodies.flat_map(messages).flat_map(contents);
        let results = blocks.filter(|block| member_text(block, "type").as_deref() == Some("tool_result"));
        let launched = results.filter(|block| String::from_utf8_lossy(block).contains(LAUNCHED));
        launched.filter_map(|block| Some(member_text(block, "tool_use_id")?.into_owned())).collect()
    }
}
