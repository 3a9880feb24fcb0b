//! What becomes of a request: by model, day, account, batch and setting, and by the recorded answer.

use forkcast_sim::diagnosis::{AnsweredThinking, DropReason, PROFILE, Unset};
use forkcast_sim::guard::{Facts, Guard, NoteKind, Report, Rules, Sent, Severity};
use forkcast_sim::pricing::{Date, ServiceTier};
use forkcast_sim::service::{PriceFacts, RecordedUsage};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::Usage;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{checked, content, rejected, until, whole};

/// Midnight of a day of 2026.
fn day(month: u64, day: u64) -> Instant {
    const DAYS_BEFORE: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let days = 20_454 + DAYS_BEFORE[usize::try_from(month).unwrap() - 1] + day - 1;
    Instant::from_millis(days * 24 * 3_600 * 1_000)
}

/// A conversation whose last request has another first message.
fn edited(model: &str, setting: Option<&Value>) -> [Value; 3] {
    let mut whole = whole();
    whole["model"] = json!(model);
    if let Some(setting) = setting {
        whole["thinking"] = json!({"type": "adaptive", "block_binding": setting});
    }
    let mut last = whole.clone();
    content(&mut last, 0)[0]["text"] = json!("It is Tuesday.");
    [until(&whole, 1), until(&whole, 5), last]
}

/// A request about whose answer more is known than its usage.
struct Known {
    at: Option<Instant>,
    tier: ServiceTier,
    answer: Option<RecordedUsage>,
}

fn told(bodies: &[Value], rules: Rules, known: &Known) -> Report {
    let mut guard = Guard::new(rules);
    let answer = known.answer.unwrap_or_default();
    for (at, body) in bodies.iter().enumerate() {
        let is_last = at + 1 == bodies.len();
        let usage = known.answer.filter(|_| is_last).map(|answer| answer.usage);
        let price = PriceFacts { tier: known.tier, ..PriceFacts::answered("", &answer, None) };
        let facts = Facts {
            chain: Some("main"),
            recorded_at: known.at,
            usage,
            price: is_last.then_some(price),
            ..Facts::default()
        };
        guard.take(&Sent { facts, ..Sent::body(body.to_string().as_bytes()) }).unwrap();
    }
    guard.finish()
}

/// What the report says of thinking, in a word and the words of the finding or note.
fn said(report: &Report) -> (&'static str, String) {
    let noted = report.notes.iter().find(|noted| noted.note == NoteKind::ThinkingUnbound);
    let words = noted.and_then(|noted| noted.answer.clone()).unwrap_or_default();
    match (rejected(report).first(), noted) {
        (Some(found), _) => ("fails", found.clone()),
        (None, Some(_)) => ("noted", words),
        (None, None) => ("nothing", String::new()),
    }
}

/// A row of `outcomes.yaml`.
#[derive(Debug, Deserialize)]
struct Case {
    model: String,
    binding: Option<Value>,
    day: Option<[u64; 2]>,
    account: Option<String>,
    #[serde(default)]
    batch: bool,
    found: String,
    says: String,
    source: String,
}

#[test]
fn the_outcome_depends_on_model_day_account_batch_and_setting() {
    let cases: Vec<Case> = serde_saphyr::from_str(include_str!("outcomes.yaml")).unwrap();
    let mut faults = Vec::new();
    for case in &cases {
        let tier = if case.batch { ServiceTier::Batch } else { ServiceTier::Standard };
        let known = Known { at: case.day.map(|[month, of]| day(month, of)), tier, answer: None };
        let account_created = case.account.as_ref().map(|age| Date(2026, 8, if age == "old" { 30 } else { 31 }));
        let rules = Rules { account_created, ..Rules::default() };
        let (found, said) = said(&told(&edited(&case.model, case.binding.as_ref()), rules, &known));
        if found != case.found || !said.contains(&case.says) {
            faults.push(format!("{case:?}: {found} {said:?}"));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(cases.len() >= 30 && cases.iter().all(|case| !case.source.is_empty()), "{}", cases.len());
}

#[test]
fn each_row_of_the_profile_holds_from_its_day_on() {
    for row in PROFILE {
        let Date(_, month, of) = row.since;
        let known = Known { at: Some(day(month.into(), of.into())), tier: ServiceTier::Standard, answer: None };
        let (found, said) = said(&told(&edited(row.model.row().id, None), Rules::default(), &known));
        let expected = match row.unset {
            Unset::Unchecked => ("nothing", ""),
            Unset::Unknown | Unset::Drops => ("noted", ""),
            Unset::Refuses => ("fails", "HTTP 400"),
            Unset::RefusesNewAccounts => ("fails", "accounts created since 2026-08-31"),
            Unset::Disputed => ("fails", "may be dropped"),
        };
        assert!(found == expected.0 && said.contains(expected.1), "{row:?}: {found} {said}");
    }
}

#[test]
fn what_an_unknown_model_does_is_said_once() {
    let report = checked(&edited("claude-opus-6", None), Rules::default(), None);
    let warned = report.warnings.iter().filter(|warning| warning.contains("What `claude-opus-6` does with thinking"));
    assert_eq!(warned.count(), 1, "{:?}", report.warnings);
    let known = checked(&edited("claude-fable-5-2", None), Rules::default(), None);
    assert!(!known.warnings.iter().any(|warning| warning.contains("does with thinking")), "{:?}", known.warnings);
    let kept = checked(&[until(&whole(), 1), whole()], Rules::default(), None);
    assert!(kept.warnings.iter().all(|warning| !warning.contains("thinking")), "{:?}", kept.warnings);
}

#[test]
fn an_answer_or_the_rules_make_it_a_note() {
    let whole = whole();
    let mut last = whole.clone();
    last["system"][0]["text"] = json!("You mend all.");
    let bodies = [until(&whole, 5), last];
    let answered = Usage { input_tokens: 400, ..Usage::default() };
    let noted = Rules { thinking: Severity::Note, ..Rules::default() };
    for (rules, usage) in [(Rules::default(), Some(answered)), (noted, None)] {
        let report = checked(&bodies, rules, usage);
        assert_eq!(rejected(&report), Vec::<String>::new());
        let notes = report.notes.iter().filter(|noted| noted.note == NoteKind::ThinkingUnbound);
        assert_eq!(notes.map(|noted| noted.path.as_str()).collect::<Vec<_>>(), ["messages[1].content[0]"]);
    }
    let off = checked(&bodies, Rules { thinking: Severity::Off, ..Rules::default() }, None);
    assert!(!off.score.contains_key("thinking"));
}

#[test]
fn a_recorded_answer_decides_what_happened() {
    let answered = |thinking| {
        let usage = Usage { input_tokens: 400, ..Usage::default() };
        Known {
            at: None,
            tier: ServiceTier::Standard,
            answer: Some(RecordedUsage { usage, thinking, ..RecordedUsage::default() }),
        }
    };
    let dropped = AnsweredThinking { dropped: 2, reason: Some(DropReason::Prefix), allowed: 0 };
    let allowed = AnsweredThinking { allowed: 2, ..AnsweredThinking::default() };
    let cases = [
        (
            Some(dropped),
            "2 thinking blocks were dropped, as the recorded answer says (`prefix_binding_mismatch`): content",
        ),
        (Some(allowed), "the model saw this thinking, and it was billed, as the recorded answer says: content"),
        (Some(AnsweredThinking::default()), "nothing was dropped, as the recorded answer says: content"),
        (None, "the provider took it, as the recorded answer shows; by the documents: HTTP 400"),
    ];
    for (thinking, expected) in cases {
        let report = told(&edited(super::MODEL, None), Rules::default(), &answered(thinking));
        let (found, words) = said(&report);
        assert_eq!(found, "noted");
        assert!(words.starts_with(expected), "{words}");
    }
    let kept = told(&[until(&whole(), 1), whole()], Rules::default(), &answered(Some(dropped)));
    let notes: Vec<_> = kept.notes.iter().filter(|noted| noted.note == NoteKind::ThinkingDropped).collect();
    assert_eq!(notes.len(), 1, "it is dropped, though nothing is seen that explains it");
    assert!(kept.passes(&Rules::default()));
}
