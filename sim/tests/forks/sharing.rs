//! What forks read from entries of others, and the cost of each broken principle (CACHE-01..33). Declared sizes: system
//! 4,000, tools 12,000, history 30,000, message 2,000, placeholders 500, directive 200.

use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::{Ablation, LaunchPolicy, Profile};
use forkcast_sim::ledger::Line;
use forkcast_sim::simulation::{Finished, run};

use super::fan::{Fan, equivalents, first_requests};

fn broken(fan: Fan, ablation: Option<Ablation>) -> Finished {
    let mut setup = fan.setup();
    setup.settings.forks.ablations = ablation.into_iter().collect();
    run(setup).unwrap_or_else(|failed| panic!("{ablation:?}: {failed}"))
}

fn warm() -> Fan {
    Fan { placement: Placement::Both, ..Fan::five() }
}

fn primed() -> Fan {
    Fan { launch: LaunchPolicy::Primed, ..warm() }
}

fn read(line: &Line) -> u64 {
    line.predicted.unwrap().cache_read_input_tokens
}

/// Tokens read by the first requests of all children.
fn reads(finished: &Finished) -> Vec<u64> {
    first_requests(finished).into_iter().map(read).collect()
}

/// The first difference between the first child and its parent's request: cause, level, path, and the offsets of the
/// first different byte in block and prompt.
fn first_difference(finished: &Finished) -> (&'static str, &'static str, String, Option<u64>, Option<u64>) {
    let line = first_requests(finished)[0];
    let found = &line.explanation.as_ref().unwrap().differences[0];
    (found.cause.word(), found.level.name(), found.path.clone(), found.offset_in_block, found.offset_in_prefix)
}

#[test]
fn cache_07_cache_08_cache_09_cache_10_cache_14_cache_28_all_children_read_up_to_the_directive() {
    for children in [2, 5, 17] {
        let finished = broken(Fan { children, ..primed() }, None);
        let read = reads(&finished);
        assert_eq!(read[0], 46_000, "the first reads its parent's request");
        assert!(read[1..].iter().all(|read| *read == 48_500), "{read:?}");
    }
}

/// Each principle with level and cause of the first difference from the parent's request.
const BROKEN: [(Ablation, &str, &str); 8] = [
    (Ablation::AddedSpace, "system", "system_changed"),
    (Ablation::FilterTools, "tools", "tools_removed"),
    (Ablation::DropAgent, "tools", "tools_removed"),
    (Ablation::ReorderTools, "tools", "tools_reordered"),
    (Ablation::ModeInTools, "tools", "tool_changed"),
    (Ablation::StripHistory, "messages", "message_removed"),
    (Ablation::OtherModel, "tools", "model_changed"),
    (Ablation::OtherThinking, "messages", "level_parameter"),
];

#[test]
fn cache_01_cache_02_cache_04_cache_05_cache_11_cache_12_cache_17_cache_18_cache_21_cache_33_differing_parts_are_not_read()
 {
    let whole = reads(&broken(warm(), None));
    let mut off = Vec::new();
    for (ablation, level, cause) in BROKEN {
        let finished = broken(warm(), Some(ablation));
        let (found, at, path, ..) = first_difference(&finished);
        let read = reads(&finished);
        let less = read.iter().zip(&whole).all(|(read, whole)| read < whole);
        if (found, at) != (cause, level) || !less {
            off.push(format!("{}: {found} at {at} ({path}), read {read:?}", ablation.name()));
        }
    }
    assert!(off.is_empty(), "{}", off.join("\n"));
}

#[test]
fn cache_03_cache_11_before_the_first_difference_only_whole_levels_that_are_marked_are_read() {
    for (ablation, most) in [
        (Ablation::AddedSpace, 15_999),
        (Ablation::DropAgent, 0),
        (Ablation::ReorderTools, 0),
        (Ablation::ModeInTools, 0),
        (Ablation::OtherModel, 0),
        (Ablation::OtherThinking, 16_000),
    ] {
        let read = reads(&broken(Fan { placement: Placement::Client2026, ..warm() }, Some(ablation)));
        assert!(read.iter().all(|read| *read <= most), "{}: {read:?}", ablation.name());
    }
}

#[test]
fn cache_13_a_named_agent_reads_nothing_of_its_parent() {
    let finished = broken(warm(), Some(Ablation::NamedSpawn));
    assert!(reads(&finished).iter().all(|read| *read < 46_000), "{:?}", reads(&finished));
    assert_eq!(reads(&finished)[0], 0);
}

#[test]
fn cache_16_cache_20_cache_24_cache_33_real_results_and_interleaved_directives_split_the_shared_part_of_siblings() {
    let whole = reads(&broken(primed(), None));
    for ablation in [Ablation::RealResults, Ablation::Interleave] {
        let read = reads(&broken(primed(), Some(ablation)));
        assert!(read[1..].iter().zip(&whole[1..]).all(|(read, whole)| read < whole), "{}: {read:?}", ablation.name());
        assert_eq!(read[0], whole[0], "{}: the parent's messages are before it", ablation.name());
    }
}

#[test]
fn cache_22_cache_29_a_shorter_history_is_fewer_tokens_and_costs_more_while_the_parent_is_warm() {
    let tokens =
        |lines: &[&Line]| -> u64 { lines.iter().map(|line| line.predicted.unwrap().total_input_tokens()).sum() };
    let (whole, stripped) = (broken(primed(), None), broken(primed(), Some(Ablation::StripHistory)));
    let (whole, stripped) = (first_requests(&whole), first_requests(&stripped));
    assert!(tokens(&stripped) < tokens(&whole));
    assert!(equivalents(&stripped[..1], 125) > equivalents(&whole[..1], 125));
}

#[test]
fn cache_29_one_cold_fork_costs_more_than_a_named_agent_and_five_warm_ones_less() {
    let cost = |fan: Fan, ablation| equivalents(&first_requests(&broken(fan, ablation)), 125);
    let one_cold = Fan { children: 1, is_cold: true, ..warm() };
    assert!(cost(one_cold, None) > cost(one_cold, Some(Ablation::NamedSpawn)));
    assert!(cost(primed(), None) < cost(primed(), Some(Ablation::FilterTools)));
}

#[test]
fn cache_23_the_agent_tool_remains_and_costs_nothing() {
    let finished = broken(warm(), Some(Ablation::DropAgent));
    assert!(reads(&finished).iter().all(|read| *read == 0), "without it nothing is read: {:?}", reads(&finished));
}

#[test]
fn cache_30_a_miss_is_reported_with_level_block_and_byte() {
    let finished = broken(warm(), Some(Ablation::AddedSpace));
    let (_, level, path, in_block, in_prefix) = first_difference(&finished);
    assert_eq!(level, "system");
    assert!(path.starts_with("system["), "{path}");
    let parents = finished.drafts.draft(0);
    let parents = parents.system.last().unwrap().json();
    let (in_block, in_prefix) = (in_block.unwrap(), in_prefix.unwrap());
    // Canonical bytes of a text begin with its only key; the space is where the text ended.
    let text = parents.len() - "{'type':'text','text':''}".len();
    assert_eq!(in_block as usize, text + "{'text':'".len());
    assert!(in_prefix > in_block, "tools precede it");
    let found = &first_requests(&finished)[0].explanation.as_ref().unwrap().differences[0];
    assert_eq!(found.new_index, found.old_index);
}

#[test]
fn cache_32_equal_requests_have_equal_bytes_in_every_run() {
    for profile in Profile::ALL {
        let bodies = || -> Vec<Vec<u8>> {
            let finished = Fan { profile, ..warm() }.finished();
            finished.drafts.iter().map(|draft| draft.body()).collect()
        };
        assert_eq!(bodies(), bodies());
    }
}

#[test]
fn cache_33_a_fork_with_other_tools_has_the_sizes_that_are_declared_for_these() {
    for line in first_requests(&broken(warm(), Some(Ablation::FilterTools))) {
        assert_eq!(line.predicted.unwrap().total_input_tokens(), 48_700);
    }
}
