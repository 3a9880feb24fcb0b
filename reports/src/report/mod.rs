//! What every format is derived from: the ledger of a replay, cut into sessions and agents, with its sums.

mod account;
mod action;
mod entry;
mod findings;
mod gate;
mod group;
mod prices;
mod session;
mod size;
mod unseen;
mod view;
mod what_if;
mod window;

use std::collections::BTreeMap;

use forkcast_replay::agreement::Compared;
use forkcast_replay::input::{Inputs, Unreadable};
use forkcast_replay::replay::{Options, Replay};
use forkcast_sim::time::Instant;

use crate::names::Names;
use group::Keys;

pub use account::{Account, Agreement, Counted, Estimated, Residual, Side};
pub use action::{Action, actions};
pub use entry::{Answered, Entry, EstimatedOutput, Shown};
pub use findings::{Miss, Unpriced, misses, not_modelled, remarks, unpriced};
pub use gate::{Gate, Limits, Measure, Share, gates};
pub(crate) use group::rank;
pub use group::{By, Group, UNKNOWN};
pub use prices::{discount_percent, not_billed, stated, statement, statement_of_one};
pub use session::{Agent, Session, Spawned};
pub use size::{SizeRow, Sizes, sizes};
pub use unseen::{Unseen, unseen};
pub use view::View;
pub use window::{LeftOut, Window, since, until};

/// A replay, ready to be written in any format.
#[derive(Debug)]
pub struct Report<'a> {
    /// What was read and what was not.
    pub inputs: &'a Inputs,
    /// The ledger.
    pub replay: &'a Replay,
    /// How it was replayed.
    pub options: &'a Options,
    /// How it is looked at.
    pub view: View,
    /// How names are shown.
    pub names: Names,
    /// Every request that counts, in the order of the ledger.
    pub entries: Vec<Entry<'a>>,
    /// Requests that were replayed and do not count.
    pub left_out: LeftOut,
    /// One for each recording and each session of a transcript with requests that count.
    pub sessions: Vec<Session>,
    /// Every request in one of them; empty where nothing is grouped.
    pub groups: Vec<Group>,
    /// Every request in the group of its model.
    pub models: Vec<Group>,
    /// Over everything.
    pub totals: Account,
    /// Names of the what-ifs that were asked for, in the order of every [`Account::what_if`].
    pub what_ifs: Vec<String>,
    /// Which requests the sums count.
    pub counted: Counted,
    /// The folder that all files lie in, with a slash at its end; empty where there is none.
    pub folder: String,
    /// Ids of the chains, by their number.
    chain_ids: BTreeMap<usize, String>,
}

impl<'a> Report<'a> {
    /// Sums up a replay.
    pub fn new(inputs: &'a Inputs, replay: &'a Replay, options: &'a Options, view: impl Into<View>) -> Self {
        let view: View = view.into();
        let names = view.names;
        let mut entries = entry::entries(inputs, replay, options);
        // Before anything is left out, so that a chain keeps its number.
        let chain_ids = session::chain_ids(&entries, &replay.chain_ids, names);
        let left_out = view.window.narrow(&mut entries);
        let counted = Counted::of(&entries);
        let sessions = session::sessions(inputs, &entries, &chain_ids, names, counted);
        let keys =
            |by| Keys { by, names, projects: group::projects(inputs), chain_ids: &chain_ids, sessions: &sessions };
        let grouped = |by| group::groups(&entries, &keys(by), counted);
        let (groups, models) = (view.by.map(grouped).unwrap_or_default(), grouped(By::Model));
        let totals = Account::of(&entries, counted);
        let folder = common_folder(inputs);
        Self {
            inputs,
            replay,
            options,
            view,
            names,
            entries,
            left_out,
            sessions,
            groups,
            models,
            totals,
            what_ifs: what_if::names(options, replay),
            counted,
            folder,
            chain_ids,
        }
    }

    /// The name of a file for people: without the folder that all files lie in.
    pub fn short(&self, file: &str) -> String {
        match self.names {
            Names::Plain => file.strip_prefix(&self.folder).unwrap_or(file).to_owned(),
            Names::Anonymous => self.names.file(file),
        }
    }

    /// Reading or replaying was interrupted: this is a part.
    pub const fn is_partial(&self) -> bool {
        self.replay.partial || self.inputs.unread_files > 0
    }

    /// What people call a session; its whole id where another is called the same.
    pub fn brief(&self, session: &Session) -> String {
        let same = self.sessions.iter().filter(|other| other.label == session.label).count();
        if same > 1 { session.id.clone() } else { session.label.clone() }
    }

    /// The session that a request belongs to.
    pub fn session_of(&self, entry: &Entry<'_>) -> Option<&Session> {
        session::of(&self.sessions, entry)
    }

    /// The id of the agent that sent a request; `None` where no profile could read it.
    pub fn agent_of(&self, entry: &Entry<'_>) -> Option<&str> {
        match entry.answered {
            Some(answered) => Some(&self.session_of(entry)?.agent(answered.place.agent)?.id),
            None => entry.chain.and_then(|chain| self.chain_ids.get(&chain)).map(String::as_str),
        }
    }

    /// First and last instant of the requests that have one.
    pub fn span(&self) -> Option<(Instant, Instant)> {
        let instants = || self.entries.iter().filter_map(|entry| entry.line.at);
        instants().min().zip(instants().max())
    }

    /// What was seen in each file and changes no number, such as a cassette that ends early.
    pub fn notes(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let files = self.inputs.scopes.iter().flat_map(|scope| &scope.files);
        files.flat_map(|file| file.notes.iter().map(|note| (file.file.as_str(), note.as_str())))
    }

    /// Everything that could not be read: damage in files, and bodies that are no requests.
    pub fn unreadable(&self) -> impl Iterator<Item = &'a Unreadable> {
        self.inputs.unreadable.iter().chain(&self.replay.unreadable)
    }

    /// Comparable requests whose verdict or read is not as recorded.
    pub fn exceptions(&self) -> impl Iterator<Item = (&Entry<'a>, &'a Compared)> {
        self.entries.iter().filter_map(|entry| {
            let compared = entry.comparison.as_ref().ok()?;
            let agrees = compared.recorded == compared.predicted && compared.read_agrees();
            (!agrees).then_some((entry, compared))
        })
    }
}

/// The longest folder that the names of all files begin with.
fn common_folder(inputs: &Inputs) -> String {
    let recorded = inputs.scopes.iter().flat_map(|scope| &scope.files).map(|file| file.file.as_str());
    let skipped = inputs.skipped.iter().map(|skipped| skipped.file.as_str());
    let damaged = inputs.unreadable.iter().map(|damage| damage.file.as_str());
    let folders =
        recorded.chain(skipped).chain(damaged).map(|file| file.rfind('/').map_or("", |slash| &file[..=slash]));
    let common = folders.reduce(|one, other| {
        let alike = one.split_inclusive('/').zip(other.split_inclusive('/')).take_while(|(one, other)| one == other);
        &one[..alike.map(|(part, _)| part.len()).sum()]
    });
    common.unwrap_or_default().to_owned()
}
