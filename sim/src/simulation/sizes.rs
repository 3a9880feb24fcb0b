//! How many tokens a prompt has: as a scenario declares, as a tokenizer counts, or by estimate.

use std::fmt;
use std::sync::Arc;

use crate::wire::model::Tokenizer;
use crate::wire::{CountedBlocks, Draft, Frame, FrameTokens, Place, Request, TokenCounter, Wire, estimated_tokens};

/// Where sizes come from. A piece that declares its tokens has these, whatever the rest says.
#[derive(Clone, Default)]
pub enum Sizing {
    /// By length, at 3.1 bytes a token ([`estimated_tokens`]).
    #[default]
    Estimated,
    /// By a tokenizer.
    Counted(Arc<dyn TokenCounter>),
    /// As declared; what is not declared counts by estimate, and providers add nothing.
    Declared,
}

impl fmt::Debug for Sizing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Estimated => "Estimated",
            Self::Counted(_) => "Counted",
            Self::Declared => "Declared",
        })
    }
}

/// Sizes of the requests of one run: each block is counted once.
#[derive(Debug, Default)]
pub(super) struct Sizer {
    sizing: Sizing,
    counted: CountedBlocks,
}

impl Sizer {
    pub fn new(sizing: Sizing) -> Self {
        Self { sizing, counted: CountedBlocks::default() }
    }

    /// Tokens of each prefix of `request`, shortest first.
    pub fn cumulative(&mut self, draft: &Draft, request: &Request, wire: &Wire) -> Vec<u64> {
        let tokenizer = tokenizer(request);
        let frame = match (&self.sizing, tokenizer) {
            (Sizing::Counted(counter), Some(tokenizer)) => counter.frame_tokens(&Frame::of(request, wire, tokenizer)),
            _ => FrameTokens::default(),
        };
        let (mut sum, mut message) = (frame.head, None);
        let mut cumulative = Vec::with_capacity(request.nodes.len());
        for (node, place) in request.nodes.iter().zip(&request.places) {
            if begins_message(*place, message) {
                message = Some(place.item);
                sum += frame.message;
            }
            let declared = draft.piece(*place).and_then(|piece| piece.declared_tokens());
            sum += declared.unwrap_or_else(|| self.block(wire.prefixes.block(*node), *place, tokenizer, wire));
            cumulative.push(sum);
        }
        if let Some(last) = cumulative.last_mut() {
            *last += frame.tail;
        }
        cumulative
    }

    fn block(
        &mut self,
        block: Option<crate::wire::BlockId>,
        place: Place,
        tokenizer: Option<Tokenizer>,
        wire: &Wire,
    ) -> u64 {
        let Some(block) = block else { return 0 };
        match (&self.sizing, tokenizer) {
            (Sizing::Declared, _) if place.keys => 0,
            (Sizing::Counted(counter), Some(tokenizer)) => {
                self.counted.tokens(&**counter, tokenizer, &wire.blocks, block)
            }
            _ => estimated_tokens(&wire.blocks, block),
        }
    }
}

fn begins_message(place: Place, message: Option<u32>) -> bool {
    place.level == crate::wire::Level::Messages && place.item != Place::LEVEL_HEAD && message != Some(place.item)
}

fn tokenizer(request: &Request) -> Option<Tokenizer> {
    request.resolved.map(|resolved| resolved.id.row().tokenizer)
}
