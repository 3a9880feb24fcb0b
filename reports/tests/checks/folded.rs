//! Changes of one kind are reported once.

use forkcast_reports::check::Verdict;
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::guard::{Allowed, Rules, Severity};

use super::captures::{CALM, Checked, Turn, body, restless};

/// The date changes with every request.
fn dated() -> Vec<Turn> {
    let dates = ["2026-11-20", "2026-11-21", "2026-11-22", "2026-11-23"];
    dates.map(|date| Turn { date, ..CALM }).into()
}

#[test]
fn one_change_in_many_requests_is_one_kind_with_its_sum() {
    let checked = Checked::of(&dated(), Rules::default());
    let check = checked.check();
    let kinds = check.kinds();
    assert_eq!(kinds.len(), 1, "{kinds:#?}");
    assert_eq!(kinds[0].first().cause, Cause::SystemChanged);
    assert_eq!((kinds[0].first().request, kinds[0].further()), (1, vec![2, 3]));
    let each: Vec<_> = checked.report.findings.iter().map(|finding| finding.cost().unwrap()).collect();
    assert_eq!(kinds[0].cost(), Some(each.iter().copied().sum()));
    assert_eq!(check.requests_with(Verdict::Fails), 3);
}

/// A program that offers other tools now and then, and gets one more block of system prompt each time.
fn offering(tools: &[&str], blocks: usize, at: usize) -> String {
    let system: String = (0..blocks).map(|block| format!(r#"{{"type":"text","text":"Rule {block}."}},"#)).collect();
    let tools: Vec<String> = tools
        .iter()
        .map(|name| {
            let purpose = format!("{} ", name.to_lowercase()).repeat(100);
            format!(
                r#"{{"name":"{name}","description":"{purpose}","input_schema":{{"type":"object","properties":{{"{name}":{{}}}}}}}}"#
            )
        })
        .collect();
    let quiet = body(&CALM, at);
    let (_, from_system) = quiet.split_once(r#""system":["#).unwrap();
    let (manual, rest) = from_system.split_once("},").unwrap();
    format!(r#"{{"model":"claude-opus-4-8","tools":[{}],"system":[{manual}}},{system}{rest}"#, tools.join(","))
}

#[test]
fn tools_that_come_and_go_are_one_change_whatever_their_names() {
    let offers: [&[&str]; 4] = [&["Read", "Plan"], &["Act", "Build", "Read"], &["Read", "Plan"], &["Read", "Wait"]];
    let bodies = offers.iter().enumerate().map(|(at, tools)| offering(tools, 0, at));
    let checked = Checked::of_bodies(bodies, Rules::default());
    let check = checked.check();
    let kinds = check.kinds();
    let [kind] = kinds.as_slice() else { panic!("{kinds:#?}") };
    let mut causes = kind.causes();
    causes.sort_unstable();
    assert_eq!((causes, kind.further()), (vec![Cause::ToolsAdded, Cause::ToolsRemoved], vec![2, 3]));
    let mut names = kind.names();
    names.sort_unstable();
    assert_eq!(names, ["tool `Act`", "tool `Build`", "tool `Plan`", "tool `Wait`"]);
}

/// theexperiencecompany/gaia#1025: todo list, status, recall and agenda are renewed every turn.
#[test]
fn sections_of_a_system_prompt_that_are_renewed_together_are_one_change() {
    const WORDS: [&str; 4] = ["keeps", "never leaves", "wants", "has no"];
    let kinds = |sections: usize| {
        let bodies = (0..4).map(|at| offering(&["Read"], sections, at).replace("Rule ", &format!("It {} ", WORDS[at])));
        Checked::of_bodies(bodies, Rules::default()).check().kinds().len()
    };
    assert_eq!([1, 2, 3, 4].map(kinds), [1, 2, 1, 1]);
}

#[test]
fn blocks_that_a_system_prompt_gets_one_by_one_are_one_change() {
    let bodies = (0..4).map(|at| offering(&["Read"], at, at));
    let checked = Checked::of_bodies(bodies, Rules::default());
    let check = checked.check();
    let kinds = check.kinds();
    assert_eq!(kinds.len(), 1, "{kinds:#?}");
    assert_eq!((kinds[0].first().cause, kinds[0].further()), (Cause::SystemChanged, vec![2, 3]));
}

#[test]
fn failures_come_before_allowed_changes_and_the_dearest_first() {
    let allow = vec![Allowed { cause: Cause::SystemChanged, path: None }];
    let checked = Checked::of(&restless(), Rules { allow, ..Rules::default() });
    let check = checked.check();
    let kinds = check.kinds();
    let verdicts: Vec<Verdict> = kinds.iter().map(|kind| kind.verdict).collect();
    assert!(verdicts.is_sorted() && verdicts.contains(&Verdict::Allowed), "{verdicts:?}");
    let failing: Vec<_> = kinds.iter().filter(|kind| kind.verdict == Verdict::Fails).map(|kind| kind.cost()).collect();
    assert!(failing.windows(2).all(|pair| pair[0] >= pair[1]), "{failing:?}");
    assert!(!check.passes());
}

#[test]
fn tokens_lost_by_two_changes_of_a_request_are_paid_once() {
    let moved = Turn { described: "Reads one file", date: "2026-11-21", ..CALM };
    let checked = Checked::of(&[CALM, moved], Rules::default());
    let check = checked.check();
    let costs: Vec<_> = checked.report.findings.iter().map(|finding| finding.cost().unwrap()).collect();
    assert_eq!(costs.len(), 2);
    assert_eq!(check.cost(Verdict::Fails), costs.iter().copied().max());
}

#[test]
fn noted_findings_let_the_check_pass() {
    let rules = Rules { stability: Severity::Note, ..Rules::default() };
    let checked = Checked::of(&restless(), rules);
    let check = checked.check();
    assert!(check.passes());
    assert!(check.kinds().iter().all(|kind| kind.verdict == Verdict::Noted));
    assert_eq!(check.requests_with(Verdict::Fails), 0);
}

#[test]
fn a_request_has_the_place_in_which_it_was_read() {
    let mut checked = Checked::of(&dated(), Rules::default());
    checked.origins[1].line = 7;
    checked.origins[2].index = Some(4);
    let check = checked.check();
    let places: Vec<_> = (0..5).map(|number| check.place(number)).collect();
    let expected =
        [Some("bodies/000.json"), Some("bodies/001.json:7"), Some("bodies/002.json#4"), Some("bodies/003.json"), None];
    assert_eq!(places, expected.map(|place| place.map(str::to_owned)));
    assert_eq!(check.chains(), [("main", 0)]);
}
