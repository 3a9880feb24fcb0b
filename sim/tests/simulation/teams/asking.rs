//! Questions of teammates (SWARM-05..09, PERM-17).

use forkcast_sim::agent::Event;
use forkcast_sim::agent::definition::{Definitions, Ranking, Source, Text};
use forkcast_sim::agent::permission::{Mode, Permissions, Rule as PermissionRule, Rules};
use forkcast_sim::agent::settings::Place;
use forkcast_sim::model::scripted::Rule;
use forkcast_sim::simulation::{Act, Does, Finished, Setup};
use serde_json::json;

use super::super::stage::{at, calls, finished, rule, says, types};
use super::{events, field, first, id, idle, joins, team};

pub fn rules_of(allow: &[&str], deny: &[&str]) -> Rules {
    let of = |texts: &[&str]| texts.iter().map(|text| PermissionRule::parse(text).unwrap()).collect();
    Rules { allow: of(allow), deny: of(deny), ask: Vec::new() }
}

/// A teammate runs three commands: one that is allowed, one that is denied, one that must be asked for.
fn commands(name: &str) -> Vec<Rule> {
    let run = |command: &str| calls(name, "Bash", json!({ "command": command }));
    vec![run("cargo check"), run("rm -r /"), run("cargo publish"), says(name, "Done.")]
}

fn asking(mode: Mode, acts: Vec<Act>) -> Setup {
    let mut rules = vec![rule("main", vec![joins("ina")]), idle()];
    rules.extend(commands("ina"));
    let mut setup = team(rules, acts);
    setup.permissions = Permissions::new(mode, true, rules_of(&["Bash(cargo check)"], &["Bash(rm:*)"]));
    setup
}

fn begin_and(does: Does) -> Vec<Act> {
    vec![types(0, "Begin."), at(1_000, does)]
}

/// Names and colours that the dialogs show.
fn badges(finished: &Finished) -> Vec<[String; 2]> {
    let (names, colors) = (field(finished, "permission.badge", "name"), field(finished, "permission.badge", "color"));
    names.into_iter().zip(colors).map(|(name, color)| [name, color]).collect()
}

#[test]
fn swarm_05_swarm_06_swarm_07_swarm_09_perm_17_only_an_open_question_goes_to_the_leaders_terminal() {
    let answer = |allow| finished(asking(Mode::Default, begin_and(Does::Answers { allow, tool: None })));
    for (allow, outcome) in [(true, "ok"), (false, "denied")] {
        let finished = answer(allow);
        let requests = events(&finished, "permission.request");
        assert_eq!(requests.len(), 1, "the rules decide the others");
        assert_eq!(requests[0]["route"], "bridge");
        assert_eq!(badges(&finished), [["ina", "red"]]);
        assert_eq!(requests[0]["agent"], *id(&finished, "ina"));
        assert_eq!(field(&finished, "permission.reply", "by")[1..], ["rule", "rule", "user"]);
        let ends: Vec<_> = events(&finished, "tool.end").into_iter().filter(|end| end["agent"] != "main").collect();
        // There is no rule for `cargo publish` in the shell, so it fails once it is allowed.
        let outcome = if outcome == "ok" { "error" } else { outcome };
        assert_eq!(
            ends.iter().map(|end| end["outcome"].as_str().unwrap()).collect::<Vec<_>>(),
            ["ok", "denied", outcome]
        );
        assert_eq!(field(&finished, "mailbox.put", "kind"), ["idle"], "a question at the terminal is no letter");
    }
}

#[test]
fn adef_10_a_teammates_badge_has_the_colour_of_its_definition() {
    let mut setup = asking(Mode::Default, begin_and(Does::Answers { allow: true, tool: None }));
    let text = "---\nname: worker\ndescription: Works.\ncolor: cyan\n---\nYou work.";
    let worker = Text { source: Source::Project, path: "/repo/.claude/agents/worker.md".into(), text: text.into() };
    setup.definitions = Definitions::gather(&[worker], Ranking::default());
    assert_eq!(badges(&finished(setup)), [["ina", "cyan"]]);
}

#[test]
fn swarm_08_without_a_bridge_the_leader_decides_by_mailbox() {
    let unbridged = |mode, acts| {
        let mut setup = asking(mode, acts);
        setup.settings.teams.as_mut().unwrap().bridge = false;
        finished(setup)
    };
    for allow in [true, false] {
        let finished = unbridged(Mode::Default, begin_and(Does::Answers { allow, tool: None }));
        assert_eq!(field(&finished, "permission.request", "route"), ["mailbox"]);
        assert_eq!(badges(&finished), [["ina", "red"]]);
        assert_eq!(field(&finished, "mailbox.put", "kind"), ["permission_request", "permission_reply", "idle"]);
        assert_eq!(field(&finished, "permission.reply", "by").last().unwrap(), "leader");
        assert_eq!(field(&finished, "permission.reply", "allowed").last().unwrap(), &allow.to_string());
        let asked = first(&finished, |event| matches!(event, Event::MailboxPut { .. }));
        let read = first(&finished, |event| matches!(event, Event::PermissionRequest { .. }));
        assert!(read > asked, "the leader reads the question at a poll");
    }
    let finished = unbridged(Mode::BypassPermissions, vec![types(0, "Begin.")]);
    assert!(events(&finished, "permission.request").is_empty(), "the leader's own mode decides");
    assert_eq!(field(&finished, "permission.reply", "allowed").last().unwrap(), "true");
}

#[test]
fn swarm_08_a_teammate_in_another_process_has_no_bridge_and_nobody_is_asked_without_a_terminal() {
    let mut setup = asking(Mode::Default, begin_and(Does::Answers { allow: true, tool: None }));
    setup.settings.teams.as_mut().unwrap().places = [("ina".into(), Place::Local)].into();
    assert_eq!(field(&finished(setup), "permission.request", "route"), ["mailbox"]);
    let mut setup = asking(Mode::Default, vec![types(0, "Begin.")]);
    setup.settings.interactive = false;
    let finished = finished(setup);
    assert!(events(&finished, "permission.request").is_empty());
    assert_eq!(field(&finished, "permission.reply", "allowed").last().unwrap(), "false");
}
