//! A conversation with changes, checked.

use forkcast_replay::input::{Inputs, Skipped, Unreadable};
use forkcast_reports::check::{Check, Graded, Lock, Origin};
use forkcast_reports::names::Names;
use forkcast_sim::guard::{Facts, Guard, Report, Rules, Sent, Violation};

/// Is in every text of the prompts, and must be nowhere else.
pub const SECRET: &str = "xyzzy-plugh";

/// What changes from turn to turn.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Today, as the system prompt says it.
    pub date: &'static str,
    /// The description of `Read`.
    pub described: &'static str,
    /// Tools in their order.
    pub tools: [&'static str; 2],
    /// The first user message.
    pub asked: &'static str,
}

pub const CALM: Turn =
    Turn { date: "2026-11-20", described: "Reads a file", tools: ["Read", "Edit"], asked: "Look at it" };

/// A body: long enough to be cached, a breakpoint at the end of the system prompt and at the end of the messages.
pub fn body(turn: &Turn, at: usize) -> String {
    let manual = format!("Everything about {SECRET} is described at length here. ").repeat(400);
    let [first, second] = turn.tools;
    let tool = |name: &str| {
        let what = if name == "Read" { turn.described } else { "Edits a file" };
        format!(
            r#"{{"name":"{name}","description":"{what}, not {SECRET}.","input_schema":{{"type":"object","properties":{{}}}}}}"#
        )
    };
    let asked = format!(r#"{{"role":"user","content":[{{"type":"text","text":"{} ({SECRET})."}}]}}"#, turn.asked);
    let mut messages = vec![asked];
    for step in 0..at {
        messages
            .push(format!(r#"{{"role":"assistant","content":[{{"type":"text","text":"Step {step}, {SECRET}."}}]}}"#));
        messages
            .push(format!(r#"{{"role":"user","content":[{{"type":"text","text":"And then {step}, {SECRET}?"}}]}}"#));
    }
    let last = messages.pop().unwrap().replace(r#""}]"#, r#"","cache_control":{"type":"ephemeral"}}]"#);
    messages.push(last);
    format!(
        r#"{{"model":"claude-opus-4-8","tools":[{},{}],"system":[{{"type":"text","text":"{manual}"}},{{"type":"text","text":"Today is {}, {SECRET}.","cache_control":{{"type":"ephemeral"}}}}],"messages":[{}]}}"#,
        tool(first),
        tool(second),
        turn.date,
        messages.join(",")
    )
}

/// A check, with everything that a [`Check`] borrows.
pub struct Checked {
    pub report: Report,
    pub rules: Rules,
    pub origins: Vec<Origin>,
    pub inputs: Inputs,
    pub card: Vec<Graded>,
}

impl Checked {
    /// Checks one conversation.
    pub fn of(turns: &[Turn], rules: Rules) -> Self {
        Self::of_bodies(turns.iter().enumerate().map(|(at, turn)| body(turn, at)), rules)
    }

    /// Checks one conversation with these bodies.
    pub fn of_bodies(bodies: impl Iterator<Item = String>, rules: Rules) -> Self {
        let mut guard = Guard::new(rules.clone());
        let mut origins = Vec::new();
        let mut bytes = 0;
        for (at, body) in bodies.enumerate() {
            bytes += body.len() as u64;
            let checked = guard
                .take(&Sent {
                    facts: Facts { chain: Some("main"), scope: "s", ..Facts::default() },
                    ..Sent::body(body.as_bytes())
                })
                .unwrap();
            origins.push(Origin {
                file: format!("bodies/{at:03}.json"),
                line: 0,
                index: None,
                chain: checked.chain_name,
            });
        }
        let inputs = Inputs { files: origins.len(), bytes, ..Inputs::default() };
        Self { report: guard.finish(), rules, origins, inputs, card: Vec::new() }
    }

    /// With everything that can be reported besides findings.
    pub fn with_everything(mut self) -> Self {
        self.report.violations.push(Violation {
            rule: forkcast_sim::guard::Rule::Budget,
            chain: Some("main".into()),
            shown_by: None,
            path: String::new(),
            what: "hit rate".into(),
            found: "12.3 %".into(),
            expected: "at least 90.0 %".into(),
        });
        self.report.warnings.push("two chains continue in the same way".into());
        let reason = "found `[`, expected an object".to_owned();
        let file = "bodies/900.json".into();
        self.inputs.unreadable.push(Unreadable { file, line: 1, reason: reason.clone(), of_answer: false });
        self.inputs.skipped.push(Skipped { file: "bodies/notes.txt".into(), reason, is_entry: false });
        let graded = |check: &str, passed| Graded {
            check: check.into(),
            claim: "A fork keeps it.".into(),
            passed,
            evidence: "It does not: 100 % <new>.".into(),
            request: Some(1),
            path: Some("tools[0]".into()),
            suggestion: Some("Keep it.".into()),
        };
        self.card =
            vec![graded("tools_order", Some(false)), graded("same_model", Some(true)), graded("launch_timing", None)];
        self
    }

    pub fn check(&self) -> Check<'_> {
        Check {
            report: &self.report,
            rules: &self.rules,
            origins: &self.origins,
            refused: &[],
            inputs: &self.inputs,
            lock: Lock::Held { file: "forkcast.lock".into(), chains: 1, requests: 4 },
            card: &self.card,
            update: None,
            prices: "list prices of 2026-11-21".into(),
            names: Names::Plain,
            content: false,
            partial: false,
        }
    }
}

/// Five turns: the date changes twice, a tool's text once, the tools swap, and the first message is edited.
pub fn restless() -> Vec<Turn> {
    let later = Turn { date: "2026-11-21", ..CALM };
    let latest = Turn { date: "2026-11-22", described: "Reads one file", ..CALM };
    let swapped = Turn { tools: ["Edit", "Read"], ..latest.clone() };
    let edited = Turn { asked: "Look at that", ..swapped.clone() };
    vec![CALM, later, latest, swapped, edited]
}
