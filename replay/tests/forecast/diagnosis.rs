//! Our causes compared with the provider's diagnosis, if the transcript has it.

use std::collections::BTreeMap;

use forkcast_replay::replay::{Options, replay};
use forkcast_replay::transcript::{DiagnosisKind, What};
use forkcast_sim::service::Entry;

use super::{SOURCES, data, inputs};

/// The forecast's rule is compared, because the explanation would repeat the provider.
#[test]
fn causes_agree_with_the_providers_diagnosis() {
    let Some(data) = data() else { return };
    let mut table: BTreeMap<(DiagnosisKind, String), u64> = BTreeMap::new();
    for source in SOURCES {
        let mut blind = inputs(source, &data);
        let mut told = BTreeMap::new();
        let mut sessions = blind.sessions.all().to_vec();
        for (at, session) in sessions.iter_mut().enumerate() {
            for (agent, found) in session.agents.iter_mut().enumerate() {
                for (item, entry) in found.thread.items.iter_mut().enumerate() {
                    let What::Answer(answer) = &mut entry.what else { continue };
                    if let Some(diagnosis) = answer.diagnosis.take() {
                        told.insert((at, agent, item), diagnosis.kind);
                    }
                }
            }
        }
        blind.sessions = sessions.into_iter().collect();
        let result = replay(&blind, &Options::default());
        for Entry { line, answer, .. } in &result.entries {
            let Some(kind) = answer.and_then(|answer| told.get(&(answer.session, answer.agent, answer.item))) else {
                continue;
            };
            let cause = line.charge.causes.iter().max_by_key(|cause| cause.tokens);
            let word = cause.map_or("nothing missed", |cause| cause.cause.word());
            *table.entry((*kind, word.to_owned())).or_default() += 1;
        }
    }
    for ((kind, word), count) in &table {
        println!("{:<28} {word:<20} {count:>4}", format!("{kind:?}"));
    }
    let count = |kind, word: &str| table.get(&(kind, word.to_owned())).copied().unwrap_or(0);
    assert_eq!(count(DiagnosisKind::PreviousMessageNotFound, "expired"), 58);
    assert_eq!(count(DiagnosisKind::ToolsChanged, "tools_added"), 21);
    assert_eq!(count(DiagnosisKind::SystemChanged, "system_changed"), 18);
}
