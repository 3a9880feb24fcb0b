//! The growth of prompts in recorded sessions: two consecutive prompts have the same hidden prefix, so the difference of their
//! bills is the answer and the input after it.
//!
//! Only steps whose input is results of tools are used, after answers without thinking (its text may be hidden).

use forkcast_sim::wire::model::resolve;
use forkcast_sim::wire::{BlockKind, Frame, ToolUse};
use forkcast_tokens::{BUILT_IN, Generation, Makeup, factors};

use super::LeftOut;
use super::sample::{Sample, Samples, doubt, is_plausible};
use crate::input::Inputs;
use crate::transcript::{Agent, Answer, InputOrigin, Item, Part, Session, Sign, What};

/// Growth by less is a frame's noise.
const TOKENS_MIN: u64 = 20;

/// Two messages: the answer, and the results.
const MESSAGES: u64 = 2;

/// Adds what the sessions of `inputs` show. Blocks are counted while they are read, or not at all.
pub(super) fn add(inputs: &Inputs, found: &mut Samples) {
    let sessions = (0..inputs.sessions.len()).filter_map(|at| inputs.sessions.load(at)?.ok());
    for session in sessions.filter(Session::is_counted) {
        for agent in &session.agents {
            of_agent(&session, agent, found);
        }
    }
}

fn of_agent(session: &Session, agent: &Agent, found: &mut Samples) {
    let items = &agent.thread.items;
    let answers = items.iter().enumerate().filter_map(|(at, item)| Some((at, item.answer()?)));
    let mut last: Option<(usize, &Answer)> = None;
    for (at, answer) in answers {
        if let Some((from, before)) = last.replace((at, answer)).filter(|(_, before)| !before.copied) {
            match growth(before, &items[from + 1..at], answer) {
                Ok((generation, makeup, recorded_tokens)) => {
                    let frame = Frame {
                        model: resolve(&answer.model).map(|resolved| resolved.id),
                        tokenizer: generation.tokenizer(),
                        tools: ToolUse::Free,
                        thinking: false,
                    };
                    let frame_tokens = MESSAGES * factors::frame(&frame).message;
                    let file = session.source.clone();
                    found.samples.push(Sample {
                        file,
                        generation,
                        makeup,
                        frame_tokens,
                        recorded_tokens,
                        is_step: true,
                    });
                }
                Err(why) => *found.left_out.entry(why).or_default() += 1,
            }
        }
    }
}

fn growth(before: &Answer, between: &[Item], answer: &Answer) -> Result<(Generation, Makeup, u64), LeftOut> {
    let generation = resolve(&answer.model).and_then(|resolved| Generation::of(resolved.id.row().tokenizer));
    let generation = generation.ok_or(LeftOut::OtherModel)?;
    let [old, new] = [before.usage, answer.usage];
    if let Some(why) = doubt(old).into_iter().chain(doubt(new)).min() {
        return Err(why);
    }
    let results = results(between).filter(|results| !results.is_empty() && before.model == answer.model);
    let parts = before.parts.iter().chain(results.ok_or(LeftOut::OtherGrowth)?);
    let mut whole = Makeup::default();
    for part in parts {
        if part.kind == BlockKind::Thinking || part.fixed_tokens > 0 {
            return Err(LeftOut::OutsideContent);
        }
        whole += part.makeup();
    }
    let [old, new] = [old, new].map(|usage| usage.map_or(0, |recorded| recorded.usage.total_input_tokens()));
    let grown = new.checked_sub(old);
    let recorded = grown.filter(|tokens| *tokens > TOKENS_MIN).ok_or(LeftOut::OtherGrowth)?;
    let plausible = is_plausible(recorded, BUILT_IN.tokens(generation, &whole));
    if plausible { Ok((generation, whole, recorded)) } else { Err(LeftOut::NotWhatWasBilled) }
}

/// The results of tools between two answers; `None` where anything else came in or went.
fn results(between: &[Item]) -> Option<Vec<&Part>> {
    let mut found = Vec::new();
    for item in between {
        match &item.what {
            What::Input(input) if input.origin == InputOrigin::ToolResults => found.extend(&input.parts),
            What::Sign(
                Sign::Compacted { .. }
                | Sign::MicroCompacted { .. }
                | Sign::Rewound { .. }
                | Sign::Cleared
                | Sign::Synthetic
                | Sign::Interrupted
                | Sign::ToolsAnnounced(_),
            )
            | What::Input(_)
            | What::Answer(_) => return None,
            What::Sign(_) => {}
        }
    }
    Some(found)
}
