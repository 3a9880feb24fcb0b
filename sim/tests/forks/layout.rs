//! What a run keeps of each prompt for pictures and reports: ends of levels, and the shared part.

use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::{Ablation, LaunchPolicy, Profile};
use forkcast_sim::service::Entry;
use forkcast_sim::simulation::run;

use super::fan::Fan;

/// System 4,000, tools 12,000, history 30,000, message 2,000, placeholders 500, directive 200.
#[test]
fn levels_end_at_their_declared_sizes_and_add_up_to_the_bill() {
    let finished = Fan::five().finished();
    for Entry { line, layout, agent, .. } in &finished.entries {
        assert_eq!(layout.level_ends[..2], [12_000, 16_000], "{agent:?}");
        assert_eq!(layout.level_ends[2], line.predicted.unwrap().total_input_tokens(), "{agent:?}");
    }
    let first = finished.entries.iter().find(|entry| entry.agent.as_deref() != Some("main")).unwrap();
    assert_eq!(first.layout.level_ends[2], 48_700);
}

#[test]
fn a_forks_first_request_continues_its_parents_last_one_and_shares_all_of_it() {
    for profile in Profile::ALL {
        let finished = Fan { turns: 2, profile, placement: Placement::Tail, ..Fan::five() }.finished();
        assert_eq!(finished.entries[0].layout.continues, None);
        let mut last = std::collections::BTreeMap::new();
        for (index, entry) in finished.entries.iter().enumerate() {
            let layout = &entry.layout;
            let own = last.insert(entry.agent.clone(), index);
            let expected = own.or((index > 0).then_some(0));
            assert_eq!(layout.continues, expected, "{index} of {:?}", entry.agent);
            if let Some(before) = expected {
                assert_eq!(layout.shared_tokens, finished.entries[before].layout.level_ends[2], "{index}");
            }
        }
    }
}

/// CACHE-33: prompts are shared up to the deliberately broken part.
#[test]
fn a_fork_with_other_tools_shares_not_even_these() {
    let fan = Fan { launch: LaunchPolicy::Primed, ..Fan::five() };
    let mut setup = fan.setup();
    setup.settings.forks.ablations = [Ablation::FilterTools].into();
    let finished = run(setup).unwrap_or_else(|failed| panic!("{failed}"));
    let first = finished.entries.iter().find(|entry| entry.agent.as_deref() != Some("main")).unwrap();
    assert!(first.layout.shared_tokens < first.layout.level_ends[0], "{:?}", first.layout);
}
