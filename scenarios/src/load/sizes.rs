//! Sizes that a scenario declares for single blocks. They are looked up by what a block is about: results and calls by
//! the call's id, notifications by the call that started the task, texts by themselves. So a block that the runtime
//! writes has its declared size too.

use std::collections::BTreeMap;
use std::sync::Arc;

use forkcast_sim::agent::settings::shared_out;
use forkcast_sim::agent::spawn::fork::text::{PLACEHOLDER, STARTED_AS_YOU};
use forkcast_sim::simulation::{Does, Sizing};
use forkcast_sim::wire::model::Tokenizer;
use forkcast_sim::wire::{Content, Frame, FrameTokens, TokenCounter};
use forkcast_tokens::Counter;
use serde_json::Value;

use crate::format::Scenario;
use crate::format::script::{self, Reply, ToolCall};

/// Sizes are declared if the scenario declares them; otherwise they are counted by the model's rule, as in `replay`.
pub(super) fn sizing(scenario: &Scenario) -> Sizing {
    let table = Table::of(scenario);
    if !table.sizes.is_empty() {
        return Sizing::DeclaredOrCounted(Arc::new(table));
    }
    let counter = Arc::new(Counter::default());
    if scenario.prompt.sizes.is_some() { Sizing::DeclaredOrCounted(counter) } else { Sizing::Counted(counter) }
}

/// What a block is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    /// The call with this id.
    Call(String),
    /// The result of the call with this id.
    Result(String),
    /// The directive of the fork that this call started: the call's result, as the fork has it.
    Directive(String),
    /// A notification about the task that this call started.
    Notice(String),
    /// A text.
    Text(String),
}

/// Declared sizes. If equal texts have different sizes, each has their mean, so that the sum stays the declared one.
#[derive(Debug, Default)]
struct Table {
    sizes: BTreeMap<Subject, (u64, u64)>,
    otherwise: Counter,
}

impl Table {
    fn of(scenario: &Scenario) -> Self {
        let mut table = Self::default();
        for act in &scenario.user {
            let text = match &act.does {
                Does::Types(text) | Does::Rewrites { text, .. } => text,
                Does::Arrives(item) => &item.text,
                _ => continue,
            };
            table.put(of_text(text), act.tokens);
        }
        for reply in scenario.script.iter().flat_map(|script| &script.replies) {
            table.reply(reply);
        }
        table
    }

    fn put(&mut self, subject: Subject, tokens: Option<u64>) {
        if let Some(tokens) = tokens {
            let (sum, count) = self.sizes.entry(subject).or_default();
            (*sum, *count) = (sum.saturating_add(tokens), *count + 1);
        }
    }

    fn reply(&mut self, reply: &Reply) {
        let script::Content::Message { say, tools, .. } = &reply.content else { return };
        for call in tools {
            self.call(call);
        }
        let Some(kept) = reply.kept_tokens else { return };
        let text = say.iter().map(|text| (Subject::Text(text.to_string()), text.len() as u64));
        let calls = tools.iter().filter_map(|call| {
            let weight = call.input.to_string().len() as u64;
            Some((Subject::Call(call.id.as_deref()?.to_owned()), weight))
        });
        let (subjects, weights): (Vec<Subject>, Vec<u64>) = text.chain(calls).unzip();
        for (subject, tokens) in subjects.into_iter().zip(shared_out(kept, &weights)) {
            self.put(subject, Some(tokens));
        }
    }

    fn call(&mut self, call: &ToolCall) {
        let Some(id) = call.id.as_deref() else { return };
        self.put(Subject::Result(id.to_owned()), call.result_tokens);
        self.put(Subject::Notice(id.to_owned()), call.notice_tokens);
        if let Some(prompt) = call.input.get("prompt").and_then(Value::as_str) {
            self.put(Subject::Text(prompt.to_owned()), call.brief_tokens);
            self.put(Subject::Directive(id.to_owned()), call.brief_tokens);
        }
    }
}

impl TokenCounter for Table {
    fn block_tokens(&self, tokenizer: Tokenizer, content: Content<'_>) -> u64 {
        let declared = subject(content.bytes).and_then(|subject| self.sizes.get(&subject));
        match declared {
            // An entry counts at least one block.
            Some((sum, count)) => sum / count.max(&1),
            None => self.otherwise.block_tokens(tokenizer, content),
        }
    }

    fn frame_tokens(&self, frame: &Frame) -> FrameTokens {
        self.otherwise.frame_tokens(frame)
    }
}

fn subject(json: &[u8]) -> Option<Subject> {
    let block: Value = serde_json::from_slice(json).ok()?;
    let text = |name: &str| block.get(name).and_then(Value::as_str);
    // Canonical results are lists.
    let result = || text("content").or_else(|| block["content"][0]["text"].as_str()).unwrap_or_default();
    match text("type")? {
        "tool_result" if result().starts_with(STARTED_AS_YOU) => {
            Some(Subject::Directive(text("tool_use_id")?.to_owned()))
        }
        // A fork has this instead of the result that its parent received.
        "tool_result" if result().starts_with(PLACEHOLDER) => None,
        "tool_result" => Some(Subject::Result(text("tool_use_id")?.to_owned())),
        "tool_use" => Some(Subject::Call(text("id")?.to_owned())),
        "text" => text("text").map(of_text),
        _ => None,
    }
}

fn of_text(text: &str) -> Subject {
    notified(text).unwrap_or_else(|| Subject::Text(text.to_owned()))
}

/// The call that a notification names.
fn notified(text: &str) -> Option<Subject> {
    let inner = text.strip_prefix("<task-notification>")?;
    let (_, rest) = inner.split_once("<tool-use-id>")?;
    let (call, _) = rest.split_once("</tool-use-id>")?;
    Some(Subject::Notice(call.to_owned()))
}
