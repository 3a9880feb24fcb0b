//! One pass over all requests, part by part, that collects everything in a report.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use forkcast_replay::input::{Inputs, Unreadable};
use forkcast_replay::replay::{InParts, Options, Replay};
use forkcast_replay::transcript;
use forkcast_sim::time::Instant;

use super::findings::Findings;
use super::group::{self, Groups, Keys};
use super::unseen::Sightings;
use super::{
    Account, By, Counted, LeftOut, Recorded, Senders, Session, Sizes, Tally, Unseen, View, action, entry, session,
};

/// Takes the requests of each part that count, once their senders are known.
pub type Watch<'w> = &'w mut dyn FnMut(&Senders<'_>, &[Recorded<'_>]);

/// See the module.
pub(super) struct Gathering<'a> {
    inputs: &'a Inputs,
    options: &'a Options,
    view: View,
    counted: Counted,
    pub blocks: Vec<Instant>,
    /// Ids of sessions that are taken.
    taken: BTreeMap<String, usize>,
    /// Names of projects.
    projects: BTreeSet<Arc<str>>,
    pub left_out: LeftOut,
    pub sessions: Vec<Session>,
    pub groups: Option<Groups>,
    pub models: Groups,
    pub totals: Account,
    pub tally: Tally,
    pub findings: Findings,
    pub missed: action::Missed,
    pub sizes: Sizes,
    pub unseen: Unseen,
    sightings: Sightings,
    pub(super) chains: BTreeMap<usize, session::Chain>,
    /// Number of what-ifs with results.
    pub what_ifs: usize,
    pub rules: Vec<&'static str>,
    pub unreplayed: Vec<Unreadable>,
    pub stopped: bool,
}

impl<'a> Gathering<'a> {
    /// Processes `requests`.
    pub fn of(
        requests: &dyn InParts,
        about: (&'a Inputs, &'a Options, &View),
        counted: Counted,
        watch: Watch<'_>,
    ) -> Self {
        let (inputs, options, view) = about;
        let mut gathering = Self {
            inputs,
            options,
            blocks: if view.has_blocks() { blocks(requests) } else { Vec::new() },
            groups: view.by.map(|by| Groups::new(by, view.then_by)),
            view: view.clone(),
            counted,
            taken: BTreeMap::new(),
            projects: BTreeSet::new(),
            left_out: LeftOut::default(),
            sessions: Vec::new(),
            models: Groups::new(By::Model, None),
            totals: Account::default(),
            tally: Tally::default(),
            findings: Findings::default(),
            missed: action::Missed::default(),
            sizes: Sizes::new(options.sizing.source),
            unseen: Unseen::default(),
            sightings: Sightings::default(),
            chains: BTreeMap::new(),
            what_ifs: 0,
            rules: Vec::new(),
            unreplayed: Vec::new(),
            stopped: false,
        };
        requests.each(&mut |part, session| gathering.part(part, session, watch));
        gathering.unseen.settle(&gathering.sightings);
        gathering.findings.sort();
        gathering.sizes.sort();
        gathering
    }

    fn part(&mut self, part: &Replay, session: Option<&transcript::Session>, watch: Watch<'_>) {
        self.stopped |= part.partial;
        self.unreplayed.extend(part.unreadable.iter().cloned());
        let new = part.rules.iter().filter(|rules| !self.rules.contains(rules)).copied().collect::<Vec<_>>();
        self.rules.extend(new);
        self.what_ifs = part.entries.iter().map(|entry| entry.hypotheticals.len()).fold(self.what_ifs, usize::max);
        let mut entries = entry::of_part(self.inputs, part, session, self.options);
        let names = self.view.names;
        // Before any request is left out, so that a chain keeps its number and kind.
        session::add_chains(&entries, &part.named_chains, names, &mut self.chains);
        self.left_out += self.view.narrow(self.inputs, &mut entries);
        let mut sessions = session::sessions(self.inputs, &entries, &self.chains, names, self.counted, &mut self.taken);
        if let Some(scope) = self.inputs.scopes.first().filter(|_| self.view.is_of_run) {
            sessions.iter_mut().for_each(|session| session.name_after(&scope.name));
        }
        sessions.iter_mut().for_each(|session| self.share_project(session));
        self.sessions.append(&mut sessions);
        self.sightings.take(&entries);
        entries.iter().for_each(|entry| self.entry(entry));
        self.tally.end_part();
        watch(&Senders { inputs: self.inputs, names, sessions: &self.sessions, chains: &self.chains }, &entries);
    }

    /// Sessions of one project share its name.
    fn share_project(&mut self, session: &mut Session) {
        let Some(project) = session.project.take() else { return };
        session.project = Some(self.projects.get(&project).cloned().unwrap_or_else(|| {
            self.projects.insert(project.clone());
            project
        }));
    }

    fn entry(&mut self, entry: &Recorded<'_>) {
        let counted = self.counted;
        let keys = Keys {
            names: self.view.names,
            zone: &self.view.zone,
            blocks: &self.blocks,
            chains: &self.chains,
            sessions: &self.sessions,
        };
        if let Some(groups) = &mut self.groups {
            groups.take(entry, &keys, counted);
        }
        self.models.take(entry, &keys, counted);
        self.totals.take(entry, counted);
        let pause = self.tally.take(entry, counted);
        self.findings.take(entry, counted, pause);
        self.sizes.take(entry, self.options);
        self.unseen.take(entry, counted);
        if counted.counts(entry) {
            self.missed.take(entry, pause);
        }
    }
}

/// The beginnings of blocks of five hours: known only once all instants are.
fn blocks(requests: &dyn InParts) -> Vec<Instant> {
    let mut instants = Vec::new();
    requests.each(&mut |part, _| instants.extend(part.entries.iter().filter_map(|entry| entry.line.at)));
    group::blocks(instants)
}
