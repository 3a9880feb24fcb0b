//! The records of one file, sorted by agent.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use forkcast_sim::time::Instant;
use forkcast_sim::wire::Index;
use xxhash_rust::xxh3::xxh3_128;

use super::super::Reading;
use super::agent::AgentDraft;
use super::message::Blocks;
use super::names::Names;
use super::record::Record;
use super::tree::{Node, Tree};
use crate::error::Fault;
use crate::exchange::RecordedUsage;
use crate::formats::json::unescaped;
use crate::transcript::{Item, Sign, Thread, Version, answer_id, place_id, user_of, version};

/// The state of a file so far.
#[derive(Default)]
pub(super) struct Records<'a> {
    bytes: &'a [u8],
    /// The digest of all of `bytes`, once computed.
    digest: Rc<OnceCell<u128>>,
    pub names: Names<'a>,
    pub agents: Vec<AgentDraft>,
    pub tree: Tree,
    reading: Reading,
    by_id: Index<&'a [u8], usize>,
    session: Option<&'a [u8]>,
    cwd: Option<Arc<str>>,
    version: Option<(&'a [u8], Version)>,
    teammate: bool,
    repeated: usize,
    /// When its first line was written.
    begun: Option<Instant>,
    /// The usage read last: lines of one answer repeat it.
    pub usage: Option<UsageRead<'a>>,
}

/// A usage, and what it was read from.
pub(super) struct UsageRead<'a> {
    pub raw: &'a [u8],
    pub model: Option<&'a [u8]>,
    pub usage: RecordedUsage,
}

/// Index of the main agent.
pub(super) const MAIN: usize = 0;

/// The position of a line.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Its number.
    pub line: u32,
    /// When it was written.
    pub at: Option<Instant>,
    /// Its agent.
    pub agent: usize,
}

impl<'a> Records<'a> {
    /// The initial state.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, agents: vec![AgentDraft::default()], ..Self::default() }
    }

    /// The initial state of another session in the same file.
    pub fn next(&self) -> Self {
        Self { digest: Rc::clone(&self.digest), ..Self::new(self.bytes) }
    }

    /// Reports a damaged place.
    pub fn damage(&mut self, fault: Fault) {
        self.reading.damage(fault);
    }

    /// Reports a repair.
    pub fn repair(&mut self, fault: Fault) {
        self.reading.repaired.push(fault);
    }

    /// Adds one record.
    pub fn take(&mut self, number: usize, line: &Record<'a>, blocks: &Blocks<'a>) {
        self.head(line);
        let parent = self.tree.get(line.parent);
        if self.tree.get(line.id).is_some() {
            self.repeated += 1;
            return;
        }
        let agent = self.agent_of(line, parent);
        let place = Place { line: u32::try_from(number).unwrap_or(u32::MAX), at: line.at, agent };
        if line.teammate && !std::mem::replace(&mut self.teammate, true) {
            self.sign(place, Sign::Teammate);
        }
        let item = self.sorted(place, line, parent, blocks);
        let before = parent.and_then(|parent| parent.item);
        let unknown = || line.parent.and(self.agents[agent].newest());
        // A later block of an answer may have a parent that was inserted after its first block.
        let item = item.max(before).or_else(unknown);
        self.tree.put(line.id, Node { thread: agent, item, at: line.at });
    }

    /// Facts about the whole file, from the first line that has them.
    fn head(&mut self, line: &Record<'a>) {
        self.session = self.session.or(line.session);
        self.begun = self.begun.or(line.at);
        if let (None, Some(cwd)) = (&self.cwd, line.cwd) {
            self.cwd = Some(Arc::from(&*unescaped(cwd)));
        }
        if let Some(raw) = line.version
            && self.version.is_none_or(|(known, _)| known != raw)
        {
            self.version = Some((raw, version(&unescaped(raw))));
        }
    }

    /// The hash of an answer's id, or of its place if it has none.
    pub fn identity(&self, id: Option<&[u8]>, line: u32) -> u128 {
        let digest = || *self.digest.get_or_init(|| xxh3_128(self.bytes));
        id.map_or_else(|| place_id(digest(), line), answer_id)
    }

    /// The client version of the lines here.
    pub fn version(&self) -> Version {
        self.version.map_or((0, 0, 0), |(_, version)| version)
    }

    /// The version as spelled.
    pub fn version_name(&mut self) -> Option<Arc<str>> {
        let (raw, _) = self.version?;
        Some(self.names.get(raw))
    }

    fn agent_of(&mut self, line: &Record<'a>, parent: Option<Node>) -> usize {
        match (line.sidechain, line.agent) {
            (true, Some(id)) => self.agent_named(id),
            // Without an id (before the observed versions): one chain for each root.
            (true, None) => match parent {
                Some(parent) if parent.thread != MAIN => parent.thread,
                _ => self.unnamed(),
            },
            (false, _) => MAIN,
        }
    }

    /// The agent with this id.
    pub fn agent_named(&mut self, id: &'a [u8]) -> usize {
        if let Some(known) = self.by_id.get(&id) {
            return *known;
        }
        let name = Arc::from(&*unescaped(id));
        self.agents.push(AgentDraft::named(name));
        self.by_id.insert(id, self.agents.len() - 1);
        self.agents.len() - 1
    }

    fn unnamed(&mut self) -> usize {
        let name = Arc::from(format!("sidechain-{}", self.agents.len()));
        self.agents.push(AgentDraft::named(name));
        self.agents.len() - 1
    }

    /// Adds a sign to the agent of `place`.
    pub fn sign(&mut self, place: Place, sign: Sign) -> u32 {
        self.agents[place.agent].sign(place.line, place.at, sign)
    }

    /// Adds a rewind sign if the parent of a line comes before lines written in the meantime.
    pub fn check_rewind(&mut self, place: Place, line: &Record<'_>, parent: Option<Node>) {
        let kept = match (parent, line.parent) {
            (Some(parent), _) => parent.item,
            // The parent is in another file, or missing.
            (None, Some(_)) => return,
            (None, None) => None,
        };
        // A line whose parent comes before a compaction was written after it: the command that asked for it.
        let agent = &self.agents[place.agent];
        if agent.goes_back(kept) && kept >= agent.compacted {
            self.sign(place, Sign::Rewound { to: kept });
        }
    }

    fn sorted(&mut self, place: Place, line: &Record<'a>, parent: Option<Node>, blocks: &Blocks<'a>) -> Option<u32> {
        match line.kind {
            b"assistant" => self.answer_line(place, line, parent, blocks),
            b"user" => self.user_line(place, line, parent, blocks),
            b"progress" => self.progress_line(place, line, blocks),
            b"system" => self.system_line(place, line),
            b"attachment" => self.attachment_line(place, line, blocks),
            b"queue-operation" => self.queue_line(place, line, blocks.keeps_content),
            b"permission-mode" => {
                self.agents[place.agent].since.modes += 1;
                self.mode_line(place, line.mode)
            }
            b"last-prompt" => {
                self.agents[place.agent].since.last_prompts += 1;
                None
            }
            b"mode" => self.mode_line(place, line.mode),
            _ => None,
        }
    }

    /// The result of reading.
    pub fn finish(self) -> Reading {
        let mut reading = self.reading;
        if self.repeated > 0 {
            reading.notes.push(match self.repeated {
                1 => "one line is in the file twice and counts once".to_owned(),
                lines => format!("{lines} lines are in the file twice and count once"),
            });
        }
        let begun = self.begun;
        let is_older =
            |item: &&Item| item.answer().is_some() && item.at.zip(begun).is_some_and(|(at, begun)| at < begun);
        let copied = self.agents[MAIN].items.iter().filter(is_older).count();
        if copied > 0 {
            let answers = if copied == 1 { "1 answer is" } else { &format!("{copied} answers are") };
            reading.notes.push(format!(
                "{answers} older than the file: copied from the session that this one resumes; read together with its file \
                 they count once, alone they count here"
            ));
        }
        let session: Option<Arc<str>> = self.session.map(|raw| Arc::from(&*unescaped(raw)));
        let user = self.cwd.as_deref().map(|cwd| Arc::from(user_of(cwd)));
        for growing in self.agents.into_iter().filter(|growing| !growing.items.is_empty()) {
            reading.threads.push(Thread {
                session: session.clone(),
                agent: growing.agent.clone(),
                user: user.clone(),
                project: self.cwd.clone(),
                items: growing.finish(),
            });
        }
        reading
    }
}
