//! Breakpoint placements by name (`design.md` 5): their positions in a first and a second request.

use forkcast_sim::agent::query::Placement;
use forkcast_sim::wire::{Level, Mark};
use serde_json::json;

use super::reply::Reply;
use super::theatre::{Played, Theatre};

/// One user message of context and prompt, then a round of two tools.
fn played(placement: Placement) -> Played {
    let calls = [("a", "Probe", json!({})), ("b", "Probe", json!({}))];
    let mut theatre = Theatre::new(vec![Reply::calls(&calls), Reply::says("done")]).types(0, "go");
    theatre.settings.placement = placement;
    theatre.play()
}

/// Marks as `s<item>` or `m<item>.<part>`, with the last system block as `s$` and the one before it as `s^`.
fn spots(played: &Played, at: usize) -> String {
    let draft = &played.asked[at].question.draft;
    let last = draft.system.len() - 1;
    let name = |mark: &Mark| match mark.level {
        Level::System if mark.item == last => "s$".to_owned(),
        Level::System if mark.item + 1 == last => "s^".to_owned(),
        Level::Messages => format!("m{}.{}", mark.item, mark.part),
        other => format!("{other:?}{}", mark.item),
    };
    draft.marks.iter().map(name).collect::<Vec<_>>().join(" ")
}

#[test]
fn each_placement_marks_its_blocks() {
    let probe = played(Placement::None);
    let prompt = probe.asked[0].question.draft.messages[0].content.len() - 1;
    let (tail, before) = (format!("m0.{prompt}"), format!("m0.{}", prompt - 1));
    assert!(probe.asked[0].question.draft.system.len() > 1, "the prompt has two blocks to mark");
    let table = [
        (Placement::None, String::new(), ""),
        (Placement::System, "s$".into(), "s$ m2.1"),
        (Placement::Shared, before.clone(), "m2.1"),
        (Placement::Tail, tail.clone(), "m2.1"),
        (Placement::Both, format!("{before} {tail}"), "m2.1"),
        (Placement::TailPrevious, tail.clone(), "PREVIOUS m2.1"),
        (Placement::BeforeResults, String::new(), "m1.1 m2.1"),
        (Placement::Client2026, format!("s^ s$ {tail}"), "s^ s$ m2.1"),
    ];
    assert_eq!(table.len(), Placement::ALL.len());
    for (placement, first, second) in table {
        let played = played(placement);
        assert_eq!(spots(&played, 0), first, "{}", placement.name());
        assert_eq!(spots(&played, 1), second.replace("PREVIOUS", &tail), "{}", placement.name());
        assert_eq!(
            played.events("request.sent")[1]["breakpoints"],
            json!(spots(&played, 1).split_whitespace().count())
        );
    }
}

#[test]
fn before_results_means_the_newest_run_of_results_at_any_position() {
    let replies = vec![Reply::calls(&[("a", "Probe", json!({}))]), Reply::says("done"), Reply::says("welcome")];
    let mut theatre = Theatre::new(replies).types(0, "go").types(60_000, "thanks");
    theatre.settings.placement = Placement::BeforeResults;
    assert_eq!(spots(&theatre.play(), 2), "m1.0 m4.0");
}

#[test]
fn placements_have_the_names_in_the_design() {
    let names = ["none", "system", "shared", "tail", "both", "tail+previous", "before-results", "client-2026"];
    assert_eq!(Placement::ALL.map(Placement::name), names);
}

#[test]
fn a_single_prompts_directive_directly_follows_the_system_prompt() {
    let mut theatre = Theatre::new(vec![Reply::says("x")]).types(0, "go");
    theatre.settings.placement = Placement::Shared;
    theatre.settings.without_user_context = true;
    assert_eq!(spots(&theatre.play(), 0), "s$");
}
