//! The passes of an answer: `usage.iterations` of the Messages API, each `{type, model?, input_tokens, …}`.

use forkcast_sim::service::OTHER_MODELS_MAX;
use forkcast_sim::wire::Usage;
use forkcast_sim::wire::model::{ModelId, resolve};
use serde_json::Value;

use super::messages::one;
use super::tokens::{Fields, word};
use crate::exchange::{OtherPasses, PassKind, Passes, RecordedUsage};

/// The usage to bill of an answer of `model` with these passes, if `top` is what its top level says.
pub(super) fn billed(top: RecordedUsage, iterations: &[Value], model: Option<&str>) -> Result<RecordedUsage, String> {
    let mut own: Vec<RecordedUsage> = Vec::new();
    let mut others = Others::default();
    for (number, pass) in iterations.iter().enumerate() {
        let fault = |why: &str| format!("`iterations[{number}]`: {why}");
        let fields = pass.as_object().ok_or_else(|| fault("no object"))?;
        let counts = one(fields).map_err(|why| fault(&why))?;
        match by_other(fields, model) {
            None => own.push(counts),
            Some((kind, model)) => others.add(kind, model, counts.usage).map_err(|why| fault(&why))?,
        }
    }
    let (Some(first), Some(last)) = (own.first(), own.last()) else {
        return Ok(RecordedUsage { others: others.by_model, ..top });
    };
    let passes = (own.len() > 1).then_some(Passes { first: first.usage, last: last.usage });
    let mut usage = Usage::default();
    own.iter().for_each(|pass| usage += pass.usage);
    let split_by_ttl = own.iter().all(|pass| pass.split_by_ttl);
    if iterations.len() == 1 && !same_but_lifetimes(&usage, &top.usage) {
        // One pass that differs from the top level is none that the top level leaves out.
        return Ok(top);
    }
    Ok(RecordedUsage { usage, split_by_ttl: split_by_ttl || top.split_by_ttl, passes, others: others.by_model, ..top })
}

/// The kind and model of a pass that another model than `model` made; `None` if this one did.
fn by_other(pass: &Fields, model: Option<&str>) -> Option<(PassKind, Option<ModelId>)> {
    let kind = word(pass, "type").map_or(PassKind::Message, |kind| PassKind::named(kind).unwrap_or(PassKind::Other));
    let known = |model: &str| resolve(model).map(|resolved| resolved.id);
    let named = word(pass, "model");
    let is_own = match (named, model) {
        (Some(named), Some(model)) => named == model || known(named).is_some() && known(named) == known(model),
        (Some(_), None) | (None, _) => matches!(kind, PassKind::Message | PassKind::Compaction),
    };
    (!is_own).then(|| (kind, named.and_then(known)))
}

/// Whether two counts differ at most in the lifetimes of what was written, or one has the count at the start of a stream.
fn same_but_lifetimes(pass: &Usage, top: &Usage) -> bool {
    let counts = |usage: &Usage| {
        (usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens(), usage.output_tokens)
    };
    counts(pass) == counts(top)
}

/// Passes of other models, a model each.
#[derive(Default)]
struct Others {
    by_model: [Option<OtherPasses>; OTHER_MODELS_MAX],
}

impl Others {
    fn add(&mut self, kind: PassKind, model: Option<ModelId>, usage: Usage) -> Result<(), String> {
        let is_free_or_same =
            |known: &&mut Option<OtherPasses>| known.is_none_or(|known| known.model == model && known.kind == kind);
        let Some(place) = self.by_model.iter_mut().find(is_free_or_same) else {
            return Err(format!("a pass of one more model, expected at most {OTHER_MODELS_MAX} besides its own"));
        };
        let none = OtherPasses { kind, model, passes: 0, usage: Usage::default(), longest_prompt_tokens: 0 };
        let sum = place.get_or_insert(none);
        sum.passes += 1;
        sum.usage += usage;
        sum.longest_prompt_tokens = sum.longest_prompt_tokens.max(usage.total_input_tokens());
        Ok(())
    }
}
