//! The prompt: our own texts by default, a text of the scenario, or declared sizes.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::agent::definition::meant_type;
use forkcast_sim::agent::settings::{AgentSizes, Fragment, PartSizes, PrefixSizes};

use super::history::Past;
use super::outline;
use super::reading::{At, Fields};
use super::tree::Value;

/// The parts of the prompt.
#[derive(Clone, Debug, Default)]
pub struct PromptText {
    /// A main system prompt instead of the runtime's own.
    pub system: Option<Rc<str>>,
    /// Whether memory files, date and the like precede the conversation.
    pub user_context: Option<bool>,
    /// Texts of the system prompt while a flag is warm.
    pub fragments: Vec<Fragment>,
    /// The main conversation at the start of the session.
    pub history: Vec<Past>,
    /// Declared tokens of parts of the prompt. Each is the total of its part, shared over its blocks by largest
    /// remainder.
    pub sizes: Option<PartSizes>,
    /// Declared tokens of the hidden prefixes of named agents, by type.
    pub prefixes: BTreeMap<Rc<str>, PrefixSizes>,
}

impl PromptText {
    /// Reads `prompt` and `sizes`.
    pub fn of(fields: &Fields<'_>) -> Self {
        let texts = fields.may("prompt", |at| at.fields(&outline::PROMPT));
        Self {
            system: texts.as_ref().and_then(|texts| texts.may("system", At::shared)),
            user_context: texts.as_ref().and_then(|texts| texts.may("user_context", At::truth)),
            fragments: texts.as_ref().map(|texts| texts.list("fragments", fragment)).unwrap_or_default(),
            history: texts.as_ref().map(|texts| texts.list("history", Past::of)).unwrap_or_default(),
            sizes: fields.may("sizes", sizes),
            prefixes: fields.or_default("sizes", prefixes),
        }
    }
}

fn fragment(at: &At<'_>) -> Option<Fragment> {
    let fields = at.fields(&outline::FRAGMENT)?;
    let flag = fields.must("flag", At::name);
    let text = fields.must("text", At::shared);
    let before_divider = fields.or_default("before_divider", At::truth);
    Some(Fragment { flag: flag?, before_divider, text: text? })
}

fn sizes(at: &At<'_>) -> Option<PartSizes> {
    let fields = at.fields(&outline::SIZES)?;
    let tokens = |name: &str| fields.may(name, At::tokens);
    Some(PartSizes {
        system: tokens("system"),
        tools: tokens("tools"),
        history: tokens("history"),
        assistant: tokens("assistant"),
        placeholder: tokens("placeholder"),
        directive_block: tokens("directive_block"),
        growth: tokens("growth"),
        agents: fields.may("agents", agent_sizes),
    })
}

/// The field `types` of `sizes`; `sizes` itself was read before.
fn prefixes(at: &At<'_>) -> Option<BTreeMap<Rc<str>, PrefixSizes>> {
    let Value::Map(fields) = &at.node().value else { return None };
    fields.iter().any(|(key, _)| key.name == "types").then_some(())?;
    let types = at.fields(&outline::SIZES)?.may("types", |at| at.named(|_, size| prefix(size)))?;
    Some(types.into_iter().map(|(name, size)| (meant_type(&name).into(), size)).collect())
}

fn prefix(at: &At<'_>) -> Option<PrefixSizes> {
    let fields = at.fields(&outline::PREFIX_SIZES)?;
    let tokens = |name: &str| fields.or_default(name, At::tokens);
    Some(PrefixSizes { system: tokens("system"), tools: tokens("tools") })
}

fn agent_sizes(at: &At<'_>) -> Option<AgentSizes> {
    let fields = at.fields(&outline::AGENT_SIZES)?;
    let tokens = |name: &str| fields.or_default(name, At::tokens);
    Some(AgentSizes {
        system: tokens("system"),
        tools: tokens("tools"),
        brief: tokens("brief"),
        gathered: tokens("gathered"),
        gathering_turns: fields.or_default("gathering_turns", |at| at.small(0)),
    })
}
