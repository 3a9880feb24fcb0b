//! Transcripts of the main conversation and of every sub-agent, stored as files of the simulated world (contract
//! TRANSCRIPT).
//!
//! Each message is one line of JSON, written before the message is passed on (TRANSCRIPT-07), in the format of the
//! client of 2026 (`clients.md` 1) with additional fields that a run needs. A transcript is the system's own record; it
//! is neither shown to the user nor sent to a model (TRANSCRIPT-01, TRANSCRIPT-09). It can be read back to the same
//! messages, including bytes and declared sizes (TRANSCRIPT-06).

mod line;

use std::cell::RefCell;
use std::rc::Rc;

use super::entry::Entry;
use super::event::Event;
use super::ground::Ground;
use super::settings::Settings;
use super::task::output::folder;
use super::world::World;
use crate::wire::Index;

/// The transcripts of a session.
pub struct Transcripts {
    ground: Rc<Ground>,
    settings: Rc<Settings>,
    world: Rc<World>,
    /// By agent: the file, and the last message written.
    logs: RefCell<Index<Rc<str>, Log>>,
}

#[derive(Clone)]
struct Log {
    file: Rc<str>,
    last: Option<Rc<str>>,
}

/// A transcript that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The agent has no transcript.
    #[error("agent `{0}` has no transcript")]
    Absent(Rc<str>),
    /// A line is not a transcript message.
    #[error("{file}, line {line}: found {found}, expected a message of a transcript")]
    Line {
        /// The file.
        file: Rc<str>,
        /// Line number, counted from one.
        line: usize,
        /// The content, or the error in it.
        found: String,
    },
}

/// The author of a message.
pub struct Author<'a> {
    /// The agent.
    pub agent: &'a Rc<str>,
    /// Whether it is a sub-agent; its log is a side chain (TRANSCRIPT-05).
    pub is_sidechain: bool,
    /// Its working directory.
    pub cwd: Rc<str>,
}

impl Transcripts {
    /// An empty set of transcripts, stored in `world`.
    pub fn new(ground: Rc<Ground>, settings: Rc<Settings>, world: Rc<World>) -> Self {
        Self { ground, settings, world, logs: RefCell::default() }
    }

    /// Writes `entry` to its author's log: the conversation for the main agent (TRANSCRIPT-10), a side chain for a
    /// sub-agent (TRANSCRIPT-05).
    pub fn append(&self, author: &Author<'_>, entry: &Rc<Entry>) {
        if self.settings.without_transcripts {
            return self.tell(author.agent, &self.path(author.agent), &entry.uuid, entry.nature.name());
        }
        let mut log = self.log(author.agent);
        let message = line::Message {
            entry: entry.clone(),
            parent: log.last.clone(),
            is_sidechain: author.is_sidechain,
            agent: author.agent.clone(),
            session: self.settings.session.clone(),
            cwd: author.cwd.clone(),
            at: self.ground.now(),
        };
        self.world.files.append_unwritten(&log.file, message);
        self.tell(author.agent, &log.file, &entry.uuid, entry.nature.name());
        log.last = Some(entry.uuid.clone());
        self.logs.borrow_mut().insert(author.agent.clone(), log);
    }

    /// Marks the message `uuid` of `agent` as withdrawn: its stream broke after it was written.
    pub fn strike(&self, agent: &Rc<str>, uuid: &Rc<str>) {
        let log = self.log(agent);
        if !self.settings.without_transcripts {
            self.world.files.append(&log.file, &line::tombstone(uuid));
        }
        self.tell(agent, &log.file, uuid, "tombstone");
    }

    /// The messages of `agent` in its file, in order, without withdrawn ones.
    ///
    /// # Errors
    /// If there is no file or one of its lines is damaged.
    pub fn replay(&self, agent: &str) -> Result<Vec<Rc<Entry>>, Unreadable> {
        let file = self.path(agent);
        let text = self.world.files.read(&file).ok_or_else(|| Unreadable::Absent(agent.into()))?;
        let mut entries: Vec<Rc<Entry>> = Vec::new();
        for (at, text) in text.lines().enumerate() {
            let read = line::read(text);
            match read.map_err(|found| Unreadable::Line { file: file.clone(), line: at + 1, found })? {
                line::Record::Message(entry) => entries.push(entry),
                line::Record::Tombstone(uuid) => entries.retain(|entry| entry.uuid != uuid),
            }
        }
        Ok(entries)
    }

    /// Whether `agent` has a transcript.
    pub fn has(&self, agent: &str) -> bool {
        self.world.files.exists(&self.path(agent))
    }

    /// Removes the transcript of `agent`; returns whether it had one.
    pub fn remove(&self, agent: &str) -> bool {
        self.logs.borrow_mut().remove(agent);
        self.world.files.remove(&self.path(agent))
    }

    /// The file of `agent`'s log: the project's `<session>.jsonl` for the main agent, in a subfolder for the others.
    pub fn path(&self, agent: &str) -> Rc<str> {
        let settings = &self.settings;
        let project = format!("{}/.claude/projects/{}", settings.home, folder(&settings.cwd));
        match agent {
            "main" => format!("{project}/{}.jsonl", settings.session).into(),
            _ => format!("{project}/{}/subagents/{agent}.jsonl", settings.session).into(),
        }
    }

    fn log(&self, agent: &Rc<str>) -> Log {
        let known = self.logs.borrow().get(agent).cloned();
        known.unwrap_or_else(|| Log { file: self.path(agent), last: None })
    }

    fn tell(&self, agent: &Rc<str>, file: &Rc<str>, entry: &Rc<str>, kind: &'static str) {
        let agent = agent.clone();
        let file = file.clone();
        let entry = entry.clone();
        self.ground.emit(&Event::TranscriptAppend { agent, file, entry, kind });
    }
}
