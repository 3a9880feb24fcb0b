//! The data of every format: the ledger of a replay, divided into sessions and agents, with its sums.

mod account;
mod action;
mod damage;
mod entry;
mod findings;
mod gate;
mod gather;
mod group;
mod prices;
mod project;
mod senders;
mod session;
mod size;
mod spending;
mod tally;
mod tried;
mod unseen;
mod view;
mod window;
mod zone;

use std::collections::BTreeMap;

use forkcast_replay::formats::Format;
use forkcast_replay::input::{Inputs, Unreadable};
use forkcast_replay::replay::{InParts, Options};
use forkcast_sim::time::Instant;

use crate::names::Names;
use gather::Gathering;
pub use gather::Watch;

pub use account::{Account, Agreement, Counted, Estimated, Residual, Side};
pub use action::{Action, actions, in_clients, lives_an_hour, suggestion};
pub use damage::{Damage, Fate};
pub use entry::{Answered, EstimatedOutput, Recorded, entries};
pub use findings::{CAUSES_HINT, Exception, Miss, Place, Unpriced, not_modelled, remarks, unpriced};
pub use gate::{Gate, Limits, Measure, Share, gates};
pub(crate) use group::rank;
pub use group::{BLOCK, BLOCK_FORM, By, Group, UNKNOWN};
pub use prices::{discount_percent, not_billed, stated, statement, statement_of_one, statement_of_run};
pub use senders::Senders;
pub use session::{Agent, Session, Spawned};
pub use size::{SizeRow, Sizes};
pub use spending::Spending;
pub use tally::Tally;
pub use tried::{Tried, Untried};
pub use unseen::Unseen;
pub use view::View;
pub use window::{LeftOut, Window, since, span, until};
pub use zone::Zone;

/// A replay, ready to be written in any format.
///
/// It is summed up part by part, and no part is kept: only a row for each session and each group, and the listed items
/// one by one. Who writes a line for each request goes through them again ([`Self::each`]).
///
/// ```
/// use forkcast_replay::input::Inputs;
/// use forkcast_replay::replay::{Options, replay};
/// use forkcast_reports::document::terminal::{self, Look};
/// use forkcast_reports::human;
/// use forkcast_reports::names::Names;
/// use forkcast_reports::report::Report;
///
/// let inputs = Inputs::sample();
/// let options = Options::default();
/// let replay = replay(&inputs, &options);
/// let report = Report::new(&inputs, &replay, &options, Names::Plain);
/// assert_eq!(report.tally.requests, 14);
///
/// let mut text = Vec::new();
/// terminal::write(&human::replay::document(&report), Look { width: 80, colour: false }, &mut text)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Report<'a> {
    /// The part of the input that was read, and the part that was not.
    pub inputs: &'a Inputs,
    /// The requests, part by part.
    requests: &'a dyn InParts,
    /// The options of the replay.
    pub options: &'a Options,
    /// The view.
    pub view: View,
    /// How names are shown.
    pub names: Names,
    /// Requests that were replayed but do not count.
    pub left_out: LeftOut,
    /// One for each recording and each session of a transcript with requests that count.
    pub sessions: Vec<Session>,
    /// Every request is in one of them; empty without groups.
    pub groups: Vec<Group>,
    /// Every request is in the group of its model.
    pub models: Vec<Group>,
    /// Over everything.
    pub totals: Account,
    /// Counts besides the sums.
    pub tally: Tally,
    /// Every miss of the requests that the sums count, the dearest first.
    pub misses: Vec<Miss>,
    /// Comparable requests with another verdict or read than recorded, in the order of the ledger.
    pub exceptions: Vec<Exception>,
    /// Counted sizes compared with the bill.
    pub sizes: Sizes,
    /// The limits of the report.
    pub unseen: Unseen,
    /// The what-ifs in the order of every [`Account::what_if`], with those that say nothing of these requests.
    pub what_ifs: Vec<Tried>,
    /// Which requests the sums count.
    pub counted: Counted,
    /// Names of the cache rules used, in order of first use.
    pub rules: Vec<&'static str>,
    /// Bodies that are no requests, and sessions that could not be read back.
    pub unreplayed: Vec<Unreadable>,
    /// The replay was stopped before its end.
    pub stopped: bool,
    /// The common folder of all files, with a slash at its end; empty if there is none.
    pub folder: String,
    /// The first instant of each block of five hours, if groups are blocks.
    pub blocks: Vec<Instant>,
    /// Ids of the chains, by their number.
    chains: BTreeMap<usize, session::Chain>,
    missed: action::Missed,
    placed: Option<action::Placed>,
}

impl<'a> Report<'a> {
    /// Sums up a replay.
    pub fn new(inputs: &'a Inputs, requests: &'a dyn InParts, options: &'a Options, view: impl Into<View>) -> Self {
        Self::watched(inputs, requests, options, view, &mut |_, _| {})
    }

    /// The same; each part's requests that count are also passed to `watch`, in the order of the ledger.
    pub fn watched(
        inputs: &'a Inputs,
        requests: &'a dyn InParts,
        options: &'a Options,
        view: impl Into<View>,
        watch: Watch<'_>,
    ) -> Self {
        let view: View = view.into();
        let report = Self::empty(inputs, requests, options, view);
        let mut report = Gathering::of(report, watch);
        if report.tally.recorded == 0 {
            let counted = Counted::Predicted;
            if report.tally.requests > 0 {
                let empty = Self::empty(inputs, requests, options, report.view);
                report = Gathering::of(Self { counted, ..empty }, &mut |_, _| {});
            }
            report.counted = counted;
        }
        if report.totals.predicted.is_some() {
            let of_groups = report.groups.iter_mut().chain(&mut report.models).map(|group| &mut group.account);
            let parts = report.sessions.iter_mut().map(|session| &mut session.account).chain(of_groups);
            parts.for_each(Account::predict_as_recorded);
        }
        report.placed = action::placed(&report);
        report
    }

    /// Before any request.
    fn empty(inputs: &'a Inputs, requests: &'a dyn InParts, options: &'a Options, view: View) -> Self {
        Self {
            inputs,
            requests,
            options,
            names: view.names,
            view,
            left_out: LeftOut::default(),
            sessions: Vec::new(),
            groups: Vec::new(),
            models: Vec::new(),
            totals: Account::default(),
            tally: Tally::default(),
            misses: Vec::new(),
            exceptions: Vec::new(),
            sizes: Sizes::new(options.sizing.source),
            unseen: Unseen::default(),
            what_ifs: options
                .what_if
                .iter()
                .map(|what_if| Tried { name: what_if.to_string(), ..Tried::default() })
                .collect(),
            counted: Counted::Recorded,
            rules: Vec::new(),
            unreplayed: Vec::new(),
            stopped: false,
            folder: common_folder(inputs),
            blocks: Vec::new(),
            chains: BTreeMap::new(),
            missed: action::Missed::default(),
            placed: None,
        }
    }

    /// Goes through every request that counts, in the order of the ledger. Transcripts are replayed again for this.
    pub fn each(&self, take: &mut dyn FnMut(&Recorded<'_>)) {
        self.requests.each(&mut |part, session| {
            let mut entries = entry::of_part(self.inputs, part, session, self.options);
            self.view.narrow(self.inputs, &mut entries);
            entries.iter().for_each(&mut *take);
        });
    }

    /// The name of a file for people: without the folder that contains all files.
    pub fn short(&self, file: &str) -> String {
        match self.names {
            Names::Plain => file.strip_prefix(&self.folder).unwrap_or(file).to_owned(),
            Names::Anonymous => self.names.file(file),
        }
    }

    /// The place of a request, for people: `file.json#3`, in a transcript the line of its answer, `session.jsonl:812`, and
    /// the file alone if it is one body.
    pub fn spot(&self, place: &Place) -> String {
        let file = self.short(&place.file);
        let recordings = || self.inputs.scopes.iter().flat_map(|scope| &scope.files);
        // Bodies on the lines of one file are called by their numbers.
        let is_body = || {
            let recording = recordings().nth(place.session);
            place.line == 0 && recording.is_some_and(|recording| recording.format == Format::Bodies)
        };
        // Several requests of a trace may be on one line, which then identifies none of them.
        match place.in_transcript && place.line > place.file_index {
            true => format!("{file}:{}", place.line),
            false if is_body() => file,
            false => format!("{file}#{}", place.file_index),
        }
    }

    /// Whether reading or replaying was interrupted, so that the result is partial.
    pub const fn is_partial(&self) -> bool {
        self.stopped || self.inputs.unread_files > 0
    }

    /// Whether some requests come from transcripts.
    pub const fn has_transcripts(&self) -> bool {
        self.tally.from_transcripts > 0
    }

    /// The name of a session for people; its full id if another one has the same name.
    pub fn brief(&self, session: &Session) -> String {
        let same = self.sessions.iter().filter(|other| other.label == session.label).count();
        if same > 1 { session.id.clone() } else { session.label.clone() }
    }

    /// The session with an index of ledger lines.
    pub fn session(&self, index: usize) -> Option<&Session> {
        session::of(&self.sessions, index)
    }

    /// The session that a request belongs to.
    pub fn session_of(&self, entry: &Recorded<'_>) -> Option<&Session> {
        Senders::from(self).session_of(entry)
    }

    /// The id of the agent that sent a request; `None` if no profile could read it.
    pub fn agent_of(&self, entry: &Recorded<'_>) -> Option<&str> {
        Senders::from(self).agent_of(entry)
    }

    /// First and last instant of the requests that have one.
    pub const fn span(&self) -> Option<(Instant, Instant)> {
        self.tally.span
    }

    /// Everything that could not be read: damage in files, and bodies that are no requests.
    pub fn unreadable(&self) -> impl Iterator<Item = &Unreadable> {
        self.inputs.unreadable.iter().chain(&self.unreplayed)
    }
}

/// The longest folder with which the names of all files begin.
fn common_folder(inputs: &Inputs) -> String {
    let files = inputs.scopes.iter().flat_map(|scope| &scope.files);
    let (bodies, others): (Vec<_>, Vec<_>) = files.partition(|file| file.format == Format::Bodies);
    let bodies = bodies.into_iter().flat_map(|file| &file.exchanges).map(|body| body.origin.file.as_str());
    let recorded = others.into_iter().map(|file| file.file.as_str()).chain(bodies);
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
