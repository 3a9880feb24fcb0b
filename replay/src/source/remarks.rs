//! What limits the confidence of a check, in sentences.

use std::collections::BTreeMap;

use forkcast_sim::outside::quoted;
use forkcast_sim::pricing::several;
use forkcast_sim::wire::Maker;

/// Requests about which less is known than about a body for Anthropic, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// To `OpenAI`: bodies are checked in a translation, transcripts as rebuilt.
    pub openai: usize,
    /// To caches without a profile, by model as spelled; empty if none is named.
    pub unprofiled: BTreeMap<String, usize>,
    /// Rebuilt from transcripts.
    pub rebuilt: usize,
    /// Rebuilt without recorded usage.
    pub unmeasured: usize,
    /// In traces.
    pub traced: usize,
    /// In traces that do not distinguish conversations.
    pub by_history: usize,
}

/// The maximum number of models in a sentence.
const MODELS_NAMED: usize = 3;

impl Remarks {
    /// Counts a request whose body was read.
    pub(crate) fn sent(&mut self, maker: Maker, model: &str) {
        match maker {
            Maker::Anthropic => {}
            Maker::OpenAi => self.openai += 1,
            Maker::Other => *self.unprofiled.entry(model.to_owned()).or_default() += 1,
        }
    }

    /// Counts a request that was rebuilt from a transcript.
    pub(crate) fn rebuilt(&mut self, maker: Maker, model: &str, is_measured: bool) {
        self.rebuilt += 1;
        self.unmeasured += usize::from(!is_measured);
        self.sent(maker, model);
    }

    /// Counts a request of a trace.
    pub(crate) fn traced(&mut self, is_named: bool) {
        self.traced += 1;
        self.by_history += usize::from(!is_named);
    }

    /// Adds other counts.
    pub(crate) fn add(&mut self, other: Self) {
        self.openai += other.openai;
        self.rebuilt += other.rebuilt;
        self.unmeasured += other.unmeasured;
        self.traced += other.traced;
        self.by_history += other.by_history;
        for (model, count) in other.unprofiled {
            *self.unprofiled.entry(model).or_default() += count;
        }
    }

    /// The sentences, most important first.
    pub fn told(&self) -> Vec<String> {
        let openai = said(self.openai, |requests| {
            format!(
                "{requests} to OpenAI: compared as its own breakpoints would, at the ends of the latest 21 messages; \
                 lifetimes and machines are not judged."
            )
        });
        let rebuilt = said(self.rebuilt, |requests| {
            format!(
                "{requests} rebuilt from transcripts: they do not contain tools and system prompt, and blocks are compared \
                 by digests, so a difference is located to its block, not to a byte."
            )
        });
        let unmeasured = said(self.unmeasured, |requests| {
            format!("{requests} without recorded usage: sizes are estimated from the lengths of the shown parts.")
        });
        let traced = said(self.traced, |requests| {
            format!(
                "{requests} of traces: blocks are compared by ids or digests, and the text after a changed block is assumed \
                 to be sent again."
            )
        });
        let by_history = said(self.by_history, |requests| {
            format!(
                "{requests} of traces without conversation ids: each continues the longest prompt that it repeats \
                 whole, so only a lock shows changes."
            )
        });
        [openai, self.unprofiled(), rebuilt, unmeasured, traced, by_history].into_iter().flatten().collect()
    }

    fn unprofiled(&self) -> Option<String> {
        let named: Vec<&str> = self.unprofiled.keys().map(String::as_str).filter(|model| !model.is_empty()).collect();
        let beyond = named.len().saturating_sub(MODELS_NAMED);
        let mut models: Vec<String> = named.iter().take(MODELS_NAMED).map(|model| quoted(model)).collect();
        models.extend((beyond > 0).then(|| format!("{beyond} more models")));
        models.extend(self.unprofiled.get("").map(|_| "a model that is not named".to_owned()));
        said(self.unprofiled.values().sum(), |requests| {
            format!(
                "{requests} to {}: the rules of its cache are not known here, so prefixes are compared as an automatic cache \
                 would, at the ends of the latest 21 messages; lifetimes are not judged.",
                models.join(", ")
            )
        })
    }
}

fn said(count: usize, sentence: impl FnOnce(&str) -> String) -> Option<String> {
    (count > 0).then(|| sentence(&several(count as u64, "request")))
}
