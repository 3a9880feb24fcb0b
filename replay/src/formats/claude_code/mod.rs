//! Sessions of Claude Code: `~/.claude/projects/<project>/<session>.jsonl` and the files of their sub-agents
//! (`<session>/subagents/agent-<id>.jsonl`).
//!
//! Observed in versions 2.0.64 to 2.1.219 (public sessions, 2026-01 to 2026-08):
//!
//! * One answer takes 1 to n lines, one for each block, with equal ids and equal input counts; the largest output
//!   counts.
//! * If no line of an answer has a `stop_reason`, its output is the count at the start of the stream (all up to 2.1.50
//!   except a few hundred, all of `agent_progress`): see `estimate.rs`.
//! * Two records on one line without a line end between them are split and reported as repaired.
//! * A resumed or forked session repeats the lines of the old file under a new `sessionId`:
//!   [`transcript`](crate::transcript) recognises these, over all files.
//! * `<synthetic>` answers are the client's own text: a sign, not a request.
//! * Notifications of a background task are in the queue, in its removal and in the conversation: only a user line or
//!   an attachment reaches the model.
//! * `parentUuid` is a tree: see `tree.rs`. Only the first line and compactions have none. A file that was put together from
//!   several has sessions one after another: such a line with another `sessionId` begins the next one.
//!
//! The order of items is that of the lines. Content is measured as written, in bytes of JSON.

mod agent;
mod answered;
mod attached;
mod estimate;
mod message;
mod names;
mod record;
mod records;
mod said;
mod signs;
mod tree;
mod usage;

pub use estimate::output_residual;

use forkcast_sim::wire::Index;

use super::Reading;
use super::json::{Broken, Scanner};
use super::reader::{File, Object, Probe, Reader};
use crate::error::Fault;
use message::Blocks;
use records::Records;

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "claude-code",
    what: "sessions of Claude Code (`~/.claude/projects`), sub-agents' files too",
    detected_by: "lines with keys `sessionId` and `type`, `uuid` or `operation`",
    probe: |object| Probe::sure(object.has("type") && is_line(object)),
    read,
    ..Reader::BARE
};

/// Whether an object is a line of a session: a message, a queue operation, or other data (a title, a mode, a snapshot
/// of files).
fn is_line(object: &Object<'_>) -> bool {
    const SAID: [&str; 3] = ["uuid", "operation", "leafUuid"];
    const KEPT: [&str; 6] = ["mode", "permissionMode", "customTitle", "aiTitle", "prNumber", "frameUrl"];
    object.has("sessionId") && (object.has_any(&SAID) || object.has_any(&KEPT))
        || object.has_all(&["summary", "leafUuid"])
        || object.has_all(&["messageId", "snapshot"])
}

/// Reads one file.
fn read(file: &File<'_>) -> Reading {
    let bytes = file.bytes;
    let mut sessions = Sessions { all: vec![Records::new(bytes)], current: 0, known: Index::default() };
    let mut blocks = Blocks { measuring: file.measuring, keeps_content: file.keeps_answers, ..Blocks::default() };
    let (mut start, mut number) = (0, 0_usize);
    while let Some(rest) = bytes.get(start..).filter(|rest| !rest.is_empty()) {
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        number += 1;
        line(&mut sessions, number, &rest[..length], &mut blocks);
        start += length + 1;
    }
    sessions.finish()
}

/// The sessions of a file, nearly always one.
struct Sessions<'a> {
    all: Vec<Records<'a>>,
    /// The session of the newest line.
    current: usize,
    /// By their names as spelled.
    known: Index<&'a [u8], usize>,
}

impl<'a> Sessions<'a> {
    /// The records of the session that a line belongs to.
    fn of(&mut self, line: &record::Record<'a>) -> &mut Records<'a> {
        // A line without an id has no place in a tree. A copied line may keep the name of its session.
        let is_root = line.id.is_some() && line.parent.is_none() && line.compaction.is_none() && !line.sidechain;
        if let Some(session) = line.session {
            match self.known.get(&session) {
                Some(known) => self.current = *known,
                None if is_root || self.known.is_empty() => {
                    if !self.known.is_empty() {
                        let next = self.current().next();
                        self.current = self.all.len();
                        self.all.push(next);
                    }
                    self.known.insert(session, self.current);
                }
                None => {}
            }
        }
        self.current()
    }

    fn current(&mut self) -> &mut Records<'a> {
        &mut self.all[self.current]
    }

    fn finish(self) -> Reading {
        let mut readings = self.all.into_iter().map(Records::finish);
        let mut whole = readings.next().unwrap_or_default();
        for Reading { threads, repaired, unreadable, unreadable_beyond, notes, .. } in readings {
            whole.threads.extend(threads);
            whole.repaired.extend(repaired);
            whole.notes.extend(notes);
            unreadable.into_iter().for_each(|fault| whole.damage(fault));
            whole.unreadable_beyond += unreadable_beyond;
        }
        whole
    }
}

/// Reads all records of a line. There should be one.
fn line<'a>(sessions: &mut Sessions<'a>, number: usize, text: &'a [u8], blocks: &mut Blocks<'a>) {
    let mut cursor = Scanner::new(text);
    let (mut count, mut broken_off) = (0, 0);
    while cursor.peek().is_some() {
        let start = cursor.offset();
        match record::Record::read(&mut cursor, blocks) {
            Ok(line) => {
                count += 1;
                sessions.of(&line).take(number, &line, blocks);
            }
            Err(error) => {
                let Broken { at, what } = Broken::of(text, error);
                sessions.current().damage(Fault::at(number, at + 1, what));
                broken_off += 1;
                match resume(text, start).filter(|_| broken_off <= BROKEN_OFF_MAX) {
                    Some(at) => cursor = Scanner::at(text, at),
                    None => break,
                }
            }
        }
    }
    if count > 1 {
        sessions.current().repair(Fault::in_line(number, format!("found {count} records on one line, split them")));
    }
}

/// The maximum number of incomplete records on one line: the search for the next one reads the rest of the line each
/// time.
const BROKEN_OFF_MAX: usize = 8;

/// The beginning of a record that has a place in the tree. Objects within records have no such key, strings no bare
/// quote.
const BEGINNING: &[u8] = b"{\"parentUuid\":";

/// Where the next record after a damaged one may begin: an interrupted write is followed by another.
fn resume(text: &[u8], start: usize) -> Option<usize> {
    memchr::memmem::find(text.get(start + 1..)?, BEGINNING).map(|at| start + 1 + at)
}
