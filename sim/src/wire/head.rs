//! The fields of a request besides its prompt: the model and all other top-level keys.

use super::json;
use super::maker::Maker;
use super::model::{self, Resolved};
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

    /// Whether earlier thinking is excluded from the prompt.
    pub fn strips_thinking(&self, forms: &NormalForms) -> bool {
        let keeps = self.resolved.and_then(|resolved| resolved.id.row().keeps_thinking).unwrap_or(true);
        forms.thinking_stripped && !keeps
    }
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
