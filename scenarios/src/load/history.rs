//! Converts the conversation before the session to entries of the runtime.

use std::rc::Rc;

use forkcast_sim::agent::Entry;
use forkcast_sim::agent::entry::{NamedCall, Nature, ToolUse};
use forkcast_sim::wire::{Piece, Role};

use crate::format::history::{Past, PastCall};

/// A signature for thinking; any constant value works.
const SIGNATURE: &str = "c2lnbmF0dXJl";

/// The entries of the conversation: each answer, then the results of its calls.
pub(super) fn entries(past: &[Past]) -> Vec<Rc<Entry>> {
    past.iter().enumerate().flat_map(|(turn, past)| turns(turn, past)).collect()
}

fn turns(turn: usize, past: &Past) -> Vec<Rc<Entry>> {
    let uuid = |what: &str| Rc::from(format!("past-{turn}-{what}"));
    match past {
        Past::User(text) => vec![Entry::user(uuid("user"), text, Nature::Typed)],
        Past::Said { think, say, tools } => {
            let calls: Vec<ToolUse> = tools.iter().enumerate().map(|(at, answered)| call(turn, at, answered)).collect();
            let thinking = think.iter().map(|text| Piece::thinking(text, SIGNATURE));
            let text = say.iter().map(|text| Piece::text(text));
            let uses = calls.iter().map(|call| Piece::tool_use(&call.id, &call.name, &call.input));
            let content = thinking.chain(text).chain(uses).collect();
            let said = say.as_deref().unwrap_or_default();
            let entry = Entry::of(uuid("said"), Role::Assistant, content, said, Nature::Said);
            let results = calls.iter().zip(tools).map(|(call, answered)| {
                (call.id.clone(), Piece::tool_result(&call.id, &answered.result, answered.failed))
            });
            let results: Vec<_> = results.collect();
            let answers = (!results.is_empty()).then(|| Entry::results(uuid("results"), results));
            let said =
                Rc::new(Entry { tool_uses: calls.iter().map(NamedCall::from).collect(), ..Entry::clone(&entry) });
            std::iter::once(said).chain(answers).collect()
        }
    }
}

fn call(turn: usize, at: usize, answered: &PastCall) -> ToolUse {
    let made = || format!("toolu_past_{turn}_{at}").into();
    ToolUse {
        id: answered.call.id.clone().unwrap_or_else(made),
        name: answered.call.tool.clone(),
        input: Rc::new(answered.call.input.clone()),
    }
}
