//! One pass over all requests, part by part, that collects everything in a report.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use forkcast_replay::replay::{InParts, Replay};
use forkcast_replay::transcript;
use forkcast_sim::time::Instant;

use super::findings::Findings;
use super::group::{self, Groups, Keys};
use super::unseen::Sightings;
use super::{By, Recorded, Report, Senders, Session, entry, session, tried};

/// Takes the requests of each part that count, once their senders are known.
pub type Watch<'w> = &'w mut dyn FnMut(&Senders<'_>, &[Recorded<'_>]);

/// See the module.
pub(super) struct Gathering<'a> {
    report: Report<'a>,
    /// Ids of sessions that are taken.
    taken: BTreeMap<String, usize>,
    /// Names of projects.
    projects: BTreeSet<Arc<str>>,
    groups: Option<Groups>,
    models: Groups,
    findings: Findings,
    sightings: Sightings,
}

impl<'a> Gathering<'a> {
    /// Fills an empty report.
    pub fn of(mut report: Report<'a>, watch: Watch<'_>) -> Report<'a> {
        let requests = report.requests;
        if report.view.has_blocks() {
            report.blocks = blocks(requests);
        }
        let mut gathering = Self {
            groups: report.view.by.map(|by| Groups::new(by, report.view.then_by)),
            report,
            taken: BTreeMap::new(),
            projects: BTreeSet::new(),
            models: Groups::new(By::Model, None),
            findings: Findings::default(),
            sightings: Sightings::default(),
        };
        requests.each(&mut |part, session| gathering.part(part, session, watch));
        gathering.finish()
    }

    fn finish(self) -> Report<'a> {
        let Self { mut report, groups, models, mut findings, sightings, .. } = self;
        findings.sort();
        report.unseen.settle(&sightings);
        report.sizes.sort();
        report.misses = findings.misses;
        report.exceptions = findings.exceptions;
        report.groups = groups.map(Groups::sorted).unwrap_or_default();
        report.models = models.sorted();
        report.totals = report.totals.finished();
        report
    }

    fn part(&mut self, part: &Replay, session: Option<&transcript::Session>, watch: Watch<'_>) {
        let report = &mut self.report;
        report.stopped |= part.partial;
        report.unreplayed.extend(part.unreadable.iter().cloned());
        let new = part.rules.iter().filter(|rules| !report.rules.contains(rules)).copied().collect::<Vec<_>>();
        report.rules.extend(new);
        let (inputs, names) = (report.inputs, report.names);
        let mut entries = entry::of_part(inputs, part, session, report.options);
        // Before any request is left out, so that a chain keeps its number and kind.
        session::add_chains(&entries, &part.named_chains, names, &mut report.chains);
        report.left_out += report.view.narrow(inputs, &mut entries);
        let mut sessions = session::sessions(inputs, &entries, &report.chains, names, report.counted, &mut self.taken);
        if let Some(scope) = inputs.scopes.first().filter(|_| report.view.is_of_run) {
            sessions.iter_mut().for_each(|session| session.name_after(&scope.name));
        }
        sessions.iter_mut().for_each(|session| self.share_project(session));
        self.report.sessions.append(&mut sessions);
        self.sightings.take(&entries);
        entries.iter().for_each(|entry| self.entry(entry));
        self.report.tally.end_part();
        watch(&Senders::from(&self.report), &entries);
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
        let report = &mut self.report;
        let counted = report.counted;
        let keys = Keys {
            names: report.names,
            zone: &report.view.zone,
            blocks: &report.blocks,
            chains: &report.chains,
            sessions: &report.sessions,
        };
        if let Some(groups) = &mut self.groups {
            groups.take(entry, &keys, counted);
        }
        self.models.take(entry, &keys, counted);
        report.totals.take(entry, counted);
        let pause = report.tally.take(entry, counted);
        self.findings.take(entry, counted, pause);
        report.sizes.take(entry, report.options);
        report.unseen.take(entry, counted);
        if counted.counts(entry) {
            report.missed.take(entry, pause);
            tried::take(&mut report.what_ifs, entry);
        }
    }
}

/// The beginnings of blocks of five hours: known only once all instants are.
fn blocks(requests: &dyn InParts) -> Vec<Instant> {
    let mut instants = Vec::new();
    requests.each(&mut |part, _| instants.extend(part.entries.iter().filter_map(|entry| entry.line.at)));
    group::blocks(instants)
}
