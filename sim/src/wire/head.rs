//! What a request says beside its prompt: the model and all other top-level keys.

use super::json;
use super::maker::Maker;
use super::model::{self, Resolved};
use super::normal::NormalForms;
use super::request::EnvelopeField;

/// The top-level keys of a request that are not prompt, and the model among them.
#[derive(Clone, Debug)]
pub struct Head {
    /// Keys with their values in the normal spelling, in the order sent.
    pub envelope: Vec<EnvelopeField>,
    /// The model as it was spelled.
    pub model: String,
    /// The model that the spelling means, where the table knows it.
    pub resolved: Option<Resolved>,
    /// Whose rules it follows.
    pub maker: Maker,
}

impl Head {
    /// The head of these keys and raw values, each key once. `model_outside` stands in where they name no model.
    pub fn new<'a>(fields: impl Iterator<Item = (&'a str, &'a [u8])>, model_outside: &str) -> Self {
        let envelope: Vec<EnvelopeField> = fields.map(|(key, value)| field(key, value)).collect();
        let named = envelope.iter().find(|field| field.key == "model").and_then(|field| json::string(&field.value));
        let model = named.unwrap_or_else(|| model_outside.to_owned());
        let resolved = model::resolve(&model);
        Self { envelope, model, resolved, maker: Maker::default() }
    }

    /// The model as far as prompts of two spellings may be one prompt.
    pub fn model_key(&self) -> &str {
        model_key(&self.model, self.resolved)
    }

    /// Whether earlier thinking is no part of the prompt.
    pub fn strips_thinking(&self, forms: &NormalForms) -> bool {
        let keeps = self.resolved.and_then(|resolved| resolved.id.row().keeps_thinking).unwrap_or(true);
        forms.thinking_stripped && !keeps
    }
}

/// The model's id where the table knows it, else its spelling.
pub fn model_key(spelling: &str, resolved: Option<Resolved>) -> &str {
    resolved.map_or(spelling, |resolved| resolved.id.row().id)
}

fn field(key: &str, value: &[u8]) -> EnvelopeField {
    let mut bytes = Vec::with_capacity(value.len());
    json::normalise(value, &mut bytes);
    EnvelopeField { key: key.to_owned(), value: bytes }
}
