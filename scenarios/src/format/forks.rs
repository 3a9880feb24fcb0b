//! `session.forks`: how forks are built, when they start, and which principle is deliberately broken.

use std::collections::BTreeSet;

use forkcast_sim::agent::spawn::fork::{Ablation, Forks, LaunchPolicy, Profile};

use super::outline;
use super::reading::At;

/// Reads `session.forks`. Omitted fields have the runtime's defaults.
pub fn of(at: &At<'_>) -> Option<Forks> {
    let fields = at.fields(&outline::FORKS)?;
    let broken: BTreeSet<Ablation> = fields.list("ablations", |at| at.word(&Ablation::WORDS)).into_iter().collect();
    Some(Forks {
        profile: fields.or_default("profile", |at| at.word(&Profile::WORDS)),
        launch: fields.or_default("launch", launch),
        ablations: broken,
    })
}

fn launch(at: &At<'_>) -> Option<LaunchPolicy> {
    LaunchPolicy::named(&at.text()?).map_err(|expected| at.wrong(expected)).ok()
}
