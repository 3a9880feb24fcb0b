//! Transcripts with the provider's own diagnosis: its name compared with ours, which was found without it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, replay};
use forkcast_replay::transcript::{Diagnosis, DiagnosisKind, What};
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::service::Entry;

type Place = (usize, usize, usize);

/// Takes the provider's words out of the sessions.
fn blindfold(inputs: &mut Inputs) -> BTreeMap<Place, Diagnosis> {
    let mut told = BTreeMap::new();
    let mut sessions = inputs.sessions.all().to_vec();
    for (at, session) in sessions.iter_mut().enumerate() {
        for (agent, found) in session.agents.iter_mut().enumerate() {
            for (item, entry) in found.thread.items.iter_mut().enumerate() {
                let What::Answer(answer) = &mut entry.what else { continue };
                told.extend(answer.diagnosis.take().map(|diagnosis| ((at, agent, item), diagnosis)));
            }
        }
    }
    inputs.sessions = sessions.into_iter().collect();
    told
}

const fn word(kind: DiagnosisKind) -> &'static str {
    match kind {
        DiagnosisKind::SystemChanged => "system_changed",
        DiagnosisKind::ToolsChanged => "tools_changed",
        DiagnosisKind::MessagesChanged => "messages_changed",
        DiagnosisKind::ModelChanged => "model_changed",
        DiagnosisKind::PreviousMessageNotFound => "previous_message_not_found",
        _ => "unavailable",
    }
}

/// The comparison of the two names.
fn verdict(kind: DiagnosisKind, ours: Option<Cause>) -> &'static str {
    let same = ours.and_then(Cause::provider_reason) == Some(word(kind));
    match (kind, ours) {
        _ if same => "the same",
        (DiagnosisKind::Unavailable, _) => "the provider says nothing",
        (DiagnosisKind::SystemChanged, _) => "the transcript holds no system prompt",
        (DiagnosisKind::ToolsChanged, _) => "the transcript holds no tool definitions",
        (DiagnosisKind::MessagesChanged, None | Some(Cause::Unexplained)) => {
            "the transcript has the messages, not the body that was sent"
        }
        (DiagnosisKind::PreviousMessageNotFound, None) => {
            "lost before its time, or on another machine: not in the transcript"
        }
        _ => "differs",
    }
}

pub fn table(data: &Path) -> String {
    let mut inputs = Inputs::read(&[data.join("cc-oh-my-posh")], InputFormat::Auto).unwrap();
    let told = blindfold(&mut inputs);
    let result = replay(&inputs, &Options::default());
    let mut rows: BTreeMap<(&str, String, &str), (u64, u64)> = BTreeMap::new();
    for Entry { line, answer, .. } in &result.entries {
        let Some(asked) = answer else { continue };
        let Some(diagnosis) = told.get(&(asked.session, asked.agent, asked.item)) else { continue };
        let ours = line.charge.causes.iter().max_by_key(|cause| cause.tokens).map(|cause| cause.cause);
        let ours_word = ours.map_or("nothing missed", Cause::word).to_owned();
        let row = rows.entry((word(diagnosis.kind), ours_word, verdict(diagnosis.kind, ours))).or_default();
        row.0 += 1;
        row.1 += diagnosis.missed_tokens.unwrap_or(0);
    }
    let mut out = format!(
        "## The provider's own diagnosis\n\nTranscripts of `cc-oh-my-posh` (2026-07 and 2026-08) name the provider's diagnosis of {} requests, {} of which can be rebuilt.\nOurs was made without it.\n\n| the provider | ours | requests | tokens missed, as it says | |\n|---|---|---:|---:|---|\n",
        told.len(),
        rows.values().map(|(requests, _)| requests).sum::<u64>()
    );
    for ((theirs, ours, verdict), (requests, tokens)) in &rows {
        writeln!(out, "| `{theirs}` | `{ours}` | {requests} | {tokens} | {verdict} |").unwrap();
    }
    let differing: u64 = rows.iter().filter(|((_, _, verdict), _)| *verdict == "differs").map(|(_, (n, _))| n).sum();
    let all: u64 = rows.values().map(|(requests, _)| requests).sum();
    writeln!(out, "\n{differing} of {all} differ where the transcript could tell.").unwrap();
    out
}
