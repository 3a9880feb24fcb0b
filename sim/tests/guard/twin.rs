//! The twin law (`design.md` 6): the cost that the guard reports for a change is the bill of the changed conversation
//! minus the bill of its unchanged twin, except for the tokens that differ.

use forkcast_sim::guard::Rule;
use forkcast_sim::pricing::{Category, Money, PriceBook, Terms};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use serde_json::{Value, json};

use super::conversation::{guard, mark_end, take, text, unmark};

/// A conversation: sizes in tokens.
#[derive(Clone, Copy, Debug)]
struct Plan {
    system_tokens: usize,
    tool_tokens: usize,
    result_tokens: usize,
    turns: usize,
    /// The turn of the first request with the change.
    from: usize,
}

/// The planted change, with the bytes that differ from the twin in a request that carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Planted {
    /// The system prompt ends with another time in every request.
    ClockAtTheEnd,
    /// The system prompt begins with another date, from one request on.
    DateAtTheHead,
    /// The first tool result has a counter in its middle, different in every request.
    CounterInAResult,
    /// All calls have other ids in every request.
    NewIds,
    /// A tool's description has another word, from one request on.
    ToolChanged,
    /// Two tools swap places, from one request on.
    ToolsSwapped,
    /// The first message has another word, from one request on.
    MessageEdited,
    /// The system prompt begins with another date and ends with another time in every request.
    DateAndClock,
    /// No message has a breakpoint.
    Unmarked,
}

const PLANTED: [Planted; 9] = [
    Planted::DateAndClock,
    Planted::Unmarked,
    Planted::ClockAtTheEnd,
    Planted::DateAtTheHead,
    Planted::CounterInAResult,
    Planted::NewIds,
    Planted::ToolChanged,
    Planted::ToolsSwapped,
    Planted::MessageEdited,
];

impl Planted {
    fn plant(self, body: &mut Value, turn: usize, from: usize) {
        let since = turn >= from;
        match self {
            Self::ClockAtTheEnd => edit(body, "/system/0/text", "10:00", &format!("10:{turn:02}")),
            Self::DateAndClock => {
                edit(body, "/system/0/text", "10:00", &format!("10:{turn:02}"));
                edit(body, "/system/0/text", "11-20", &format!("12-{:02}", turn + 10));
            }
            Self::Unmarked => unmark(body),
            Self::DateAtTheHead if since => edit(body, "/system/0/text", "2026-11-20", "2026-11-21"),
            Self::CounterInAResult if turn > 0 => {
                edit(body, "/messages/2/content/0/content", "count 0000", &format!("count {turn:04}"));
            }
            Self::NewIds => {
                *body = serde_json::from_str(&body.to_string().replace("call_00", &format!("call_{turn:02}"))).unwrap();
            }
            Self::ToolChanged if since => edit(body, "/tools/1/description", "word", "term"),
            Self::ToolsSwapped if since => body["tools"].as_array_mut().unwrap().swap(0, 1),
            Self::MessageEdited if since => edit(body, "/messages/0/content/0/text", "one", "two"),
            _ => {}
        }
    }

    /// Most bytes of a request that its twin does not have.
    fn differing_bytes(self, turn: usize) -> u64 {
        match self {
            Self::ToolsSwapped | Self::Unmarked => 0,
            // Words around both.
            Self::DateAndClock => 60,
            // Both the call and its result contain the id.
            Self::NewIds => 2 * 2 * turn as u64,
            _ => 10,
        }
    }
}

fn edit(body: &mut Value, pointer: &str, old: &str, new: &str) {
    let place = body.pointer_mut(pointer).unwrap();
    *place = place.as_str().unwrap().replacen(old, new, 1).into();
}

/// The body of turn `turn`: tools, one system text with the breakpoint, a task, and a call with its result for each turn.
fn body(plan: &Plan, turn: usize) -> Value {
    let tool = |name: &str| json!({"name": name, "description": text(&format!("{name} word"), plan.tool_tokens), "input_schema": {"type": "object"}});
    let system = format!("Today is 2026-11-20. {} It is 10:00.", text("policy", plan.system_tokens));
    let mut messages = vec![json!({"role": "user", "content": [
        {"type": "text", "text": format!("{} Fix one bug. {}", text("task", 60), text("detail", 60))},
    ]})];
    for step in 0..turn {
        let id = format!("call_00_{step:06}");
        let result = text(&format!("result {step}"), plan.result_tokens);
        let (head, tail) = result.split_at(result.len() / 2);
        messages.push(json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": format!("run {step}")}},
        ]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": format!("{head} count 0000 {tail}")},
        ]}));
    }
    let mut body = json!({
        "model": "claude-sonnet-4-5",
        "max_tokens": 1000,
        "tools": [tool("Bash"), tool("Edit"), tool("Read")],
        "system": [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}],
        "messages": messages,
    });
    mark_end(&mut body);
    body
}

/// The bill of a conversation, and the cost that the guard reports for its changes.
struct Bill {
    total: Money,
    damage: Money,
    breaks: usize,
}

fn bill(bodies: &[Value]) -> Bill {
    let mut guard = guard();
    let mut bill = Bill { total: Money::ZERO, damage: Money::ZERO, breaks: 0 };
    for body in bodies {
        let checked = take(&mut guard, body);
        bill.total += checked.cost.unwrap();
        bill.damage =
            checked.findings.iter().filter_map(|found| found.cost()).fold(bill.damage, |sum, cost| sum + cost);
        bill.breaks += checked.findings.iter().filter(|found| found.breaks_prefix).count();
    }
    // What no request shows alone.
    for found in guard.finish().findings.iter().filter(|found| found.rule == Rule::Breakpoints) {
        bill.damage += found.cost().unwrap();
        bill.breaks += 1;
    }
    bill
}

fn price(category: Category, tokens: u64) -> i128 {
    let rates = PriceBook::built_in().rates(&"claude-sonnet-4-5".into(), &Terms::default()).unwrap();
    let zero = rates.difference(category, Category::Read, tokens).picousd();
    zero.abs()
}

fn plans() -> impl Strategy<Value = Plan> {
    (1_100..20_000usize, 60..800usize, 60..3_000usize, 2..8usize, 1..8usize).prop_map(
        |(system_tokens, tool_tokens, result_tokens, turns, from)| Plan {
            system_tokens,
            tool_tokens,
            result_tokens,
            turns,
            from: from.min(turns),
        },
    )
}

proptest! {
    #![proptest_config(Config {
        cases: 64,
        rng_seed: RngSeed::Fixed(19),
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn the_cost_of_a_change_is_its_bill_minus_its_twins_bill(plan in plans()) {
        let twin: Vec<Value> = (0..=plan.turns).map(|turn| body(&plan, turn)).collect();
        let unchanged = bill(&twin);
        prop_assert_eq!((unchanged.breaks, unchanged.damage.picousd()), (0, 0));
        for planted in PLANTED {
            let mut bodies = twin.clone();
            bodies.iter_mut().enumerate().for_each(|(turn, body)| planted.plant(body, turn, plan.from));
            let changed = bill(&bodies);
            // A twentieth of what repeats is no finding.
            if planted == Planted::Unmarked && changed.breaks == 0 {
                continue;
            }
            let more = (changed.total - unchanged.total).picousd();
            let damage = changed.damage.picousd();
            // A changed block's tokens are shared by bytes, to within one token each; the difference is paid at the
            // price of a write.
            let differing: u64 = (0..=plan.turns).map(|turn| planted.differing_bytes(turn) * 10 / 31 + 2 * turn as u64 + 2).sum();
            let slack = if planted == Planted::ToolsSwapped { 0 } else { price(Category::Write5m, differing) };
            prop_assert!(changed.breaks > 0, "{planted:?} breaks nothing");
            prop_assert!((more - damage).abs() <= slack, "{planted:?}: {more} more than the twin, {damage} reported, {slack} allowed");
            prop_assert!((more - damage).abs() * 50 <= more, "{planted:?}: {more} more than the twin, {damage} reported");
        }
    }
}
