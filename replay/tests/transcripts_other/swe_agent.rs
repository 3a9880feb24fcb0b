//! Trajectories of SWE-agent.

use forkcast_replay::formats::Format;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::transcript::InputOrigin;
use serde_json::Value;

use super::{clean, counted, counts, inputs_of, raw, read, sums, text};

const FIXTURE: &str = "swe-agent.traj";

#[test]
fn one_answer_replaces_the_run_with_a_note() {
    let inputs = clean(FIXTURE, Format::SweAgent);
    let [session] = inputs.sessions.all() else { panic!("one session") };
    assert_eq!((&*session.id, session.format), ("swe-agent", Format::SweAgent));
    let [answer] = counted(inputs.sessions.all())[..] else { panic!("one answer") };
    assert_eq!(counts(answer.usage.as_ref().unwrap()), [5200, 0, 0, 64, 0]);
    assert_eq!(answer.usage.unwrap().reported_cost.unwrap().to_string(), "0.0125");
    assert_eq!((&*answer.model, answer.parts.len(), answer.calls.len()), ("gpt-4.1", 3, 1));
    let note = "2 requests are merged into one: only their sum is recorded, without the cache";
    assert_eq!(inputs.scopes[0].files[0].notes, [note]);
    assert_eq!(inputs_of(session, InputOrigin::Prompt).len(), 1);
    assert_eq!(inputs_of(session, InputOrigin::Injected).len(), 1, "the demonstration");
}

#[test]
fn a_demonstration_has_requests_without_usage() {
    let told = text(FIXTURE).replace("5200", "0").replace("\"tokens_received\": 64", "\"tokens_received\": 0");
    let inputs = read(&told);
    assert_eq!((counted(inputs.sessions.all()).len(), sums(inputs.sessions.all()).0), (2, 0));
    let bare = told.replacen("\"trajectory\"", "\"steps\"", 1);
    assert_eq!(counted(read(&bare).sessions.all()).len(), 2, "a file with only a history is recognised by its agents");
}

#[test]
fn a_path_may_name_the_model() {
    let told = text(FIXTURE).replace("replay_config", "config");
    let named = Inputs::from_bytes("gpt-4.1__swe-bench__t-0/a.traj", told.as_bytes(), InputFormat::Auto);
    assert_eq!(&*counted(named.sessions.all())[0].model, "gpt-4.1");
    assert_eq!(&*counted(read(&told).sessions.all())[0].model, "");
}

#[test]
fn damage_is_located() {
    let broken = text(FIXTURE).replace("5200", "\"many\"");
    let faults: Vec<_> = read(&broken).unreadable.into_iter().map(|fault| fault.reason).collect();
    assert_eq!(faults, ["`info`: found a text of 4 characters, expected a whole number, not negative"]);
    let whole = text(FIXTURE);
    let inputs = read(&whole[..whole.find("tool_call_ids").unwrap()]);
    assert_eq!((counted(inputs.sessions.all()).len(), inputs.unreadable.len()), (1, 1));
}

#[test]
fn recorded_trajectories_have_the_sums_of_a_plain_walk() {
    let Some(inputs) = raw::inputs("swe-agent-traj") else { return };
    let (mut steps, mut sent, mut received, mut with_usage, mut said) = (0, 0, 0, 0, 0);
    let files = raw::files("swe-agent-traj", &[".traj"]);
    for (_, text) in &files {
        let run: Value = serde_json::from_str(text).unwrap();
        steps += run["trajectory"].as_array().map_or(0, Vec::len);
        let (own_sent, own) = (
            raw::number(&run, "/info/model_stats/tokens_sent"),
            raw::number(&run, "/info/model_stats/tokens_received"),
        );
        (sent, received) = (sent + own_sent, received + own);
        with_usage += usize::from(own_sent > 0);
        if own_sent == 0 {
            let history = run["history"].as_array().unwrap();
            said += history.iter().filter(|message| message["role"] == "assistant").count();
        }
    }
    assert_eq!((files.len(), steps), (22, 227), "as noted with the recordings");
    assert_eq!(sums(inputs.sessions.all()), (with_usage, [sent, 0, 0, received, 0]));
    assert_eq!(counted(inputs.sessions.all()).len(), with_usage + said);
    assert_eq!((inputs.unreadable.len(), inputs.skipped.len()), (0, 2));
}
