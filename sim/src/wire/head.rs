//! The fields of a request besides its prompt: the model and all other top-level keys.

use super::json;
use super::maker::Maker;
use super::model::{self, Platform, Resolved};
use super::normal::NormalForms;
use super::request::EnvelopeField;

/// The top-level keys of a request that are not prompt, including the model.
#[derive(Clone, Debug)]
pub struct Head {
    /// Keys with their values in the normal spelling, in the order sent.
    pub envelope: Vec<EnvelopeField>,
    /// The model as spelled.
    pub model: String,
    /// The model that the spelling means, if it is in the table.
    pub resolved: Option<Resolved>,
    /// The provider with the rules that it follows.
    pub maker: Maker,
}

impl Head {
    /// The head with these keys and raw values, each key once. `model_outside` is used if they name no model.
    pub fn new<'a>(fields: impl Iterator<Item = (&'a str, &'a [u8])>, model_outside: &str) -> Self {
        let envelope: Vec<EnvelopeField> = fields.map(|(key, value)| field(key, value)).collect();
        let named = envelope.iter().find(|field| field.key == "model").and_then(|field| json::string(&field.value));
        let model = named.unwrap_or_else(|| model_outside.to_owned());
        let resolved = model::resolve(&model);
        Self { envelope, model, resolved, maker: Maker::default() }
    }

    /// The model, normalised so that two spellings of one model share prompts.
    pub fn model_key(&self) -> &str {
        model_key(&self.model, self.resolved)
    }

    /// Whether the provider takes parallel results as if they were in the order of their calls. Recordings show it of the Claude
    /// API (`observed.md` 1, 2026-01 to 2026-08); for Bedrock the opposite is reported, a prefix of 47,000 tokens written again
    /// (vercel/ai 16567, 2026-07-02), and of Vertex nothing is known.
    pub fn sorts_results(&self, forms: &NormalForms) -> bool {
        forms.results_sorted && !is_in_a_cloud(&self.envelope, self.resolved)
    }

    /// How many turns of the model before the newest one keep their thinking in the prompt; `None` for all.
    pub fn thinking_turns_kept(&self, forms: &NormalForms) -> Option<usize> {
        let edits = self.envelope.iter().find(|field| field.key == "context_management");
        let kept = thinking_turns_kept(edits.map(|field| &*field.value), self.resolved);
        kept.filter(|_| forms.thinking_stripped)
    }
}

/// How many turns before the newest one keep their thinking in the prompt; `None` for all. The request's own context
/// editing decides, else the model (`providers.md` 1.12, context editing, 2026-09).
pub fn thinking_turns_kept(context_management: Option<&[u8]>, model: Option<Resolved>) -> Option<usize> {
    let keeps = model.and_then(|resolved| resolved.id.row().keeps_thinking).unwrap_or(true);
    let of_model = (!keeps).then_some(0);
    context_management.and_then(edits_of_thinking).unwrap_or(of_model)
}

/// What the edit `clear_thinking_20251015` of a request keeps; `None` without such an edit.
fn edits_of_thinking(context_management: &[u8]) -> Option<Option<usize>> {
    let clears = |edit: &&[u8]| json::member(edit, b"\"type\"") == Some(b"\"clear_thinking_20251015\"");
    let edit = json::elements(json::member(context_management, b"\"edits\"")?).flatten().find(clears)?;
    let keep = json::member(edit, b"\"keep\"");
    if keep == Some(b"\"all\"") {
        return Some(None);
    }
    let turns = keep.and_then(|keep| std::str::from_utf8(json::member(keep, b"\"value\"")?).ok()?.parse().ok());
    Some(turns.or(Some(1)))
}

/// Whether Bedrock or Vertex runs the model, and not its maker: its spelling shows it, or the version of the API, because bodies
/// for these have their model in the address (`providers.md` 2.1, 2026-09).
pub fn is_in_a_cloud(envelope: &[EnvelopeField], resolved: Option<Resolved>) -> bool {
    let version = envelope.iter().find(|field| field.key == "anthropic_version").map(|field| &*field.value);
    let starts = |with: &[u8]| version.is_some_and(|version| version.starts_with(with));
    let is_spelled = resolved.is_some_and(|resolved| matches!(resolved.platform, Platform::Bedrock | Platform::Vertex));
    is_spelled || starts(b"\"bedrock-") || starts(b"\"vertex-")
}

/// The model's id if it is in the table, else its spelling.
pub fn model_key(spelling: &str, resolved: Option<Resolved>) -> &str {
    resolved.map_or(spelling, |resolved| resolved.id.row().id)
}

fn field(key: &str, value: &[u8]) -> EnvelopeField {
    let mut bytes = Vec::with_capacity(value.len());
    json::normalise(value, &mut bytes);
    EnvelopeField { key: key.to_owned(), value: bytes }
}
