//! How many tokens a prompt has: as a scenario declares, as a tokenizer counts, or by estimate.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use crate::wire::model::Tokenizer;
use crate::wire::{
    BlockId, CountedBlocks, Draft, Frame, FrameTokens, Level, NodeId, Place, Request, TokenCounter, Wire,
    estimated_tokens,
};

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

/// Sizes of the requests of one run: each block is counted once, and of a request what its agent's last one had not.
#[derive(Debug, Default)]
pub(super) struct Sizer {
    sizing: Sizing,
    counted: CountedBlocks,
    last: BTreeMap<Rc<str>, Last>,
}

/// The sizes of an agent's last request.
#[derive(Debug, Default)]
struct Last {
    frame: FrameTokens,
    nodes: Vec<NodeId>,
    /// Tokens of each prefix, without what stands behind the whole prompt.
    sums: Vec<u64>,
}

impl Last {
    /// Forgets all that `request` does not share; says how many prefixes are left.
    fn keep_shared(&mut self, frame: FrameTokens, request: &Request) -> usize {
        let same = self.frame == frame;
        let pairs = self.nodes.iter().zip(&request.nodes);
        let shared = if same { pairs.take_while(|(old, new)| old == new).count() } else { 0 };
        self.frame = frame;
        self.nodes.truncate(shared);
        self.nodes.extend_from_slice(&request.nodes[shared..]);
        self.sums.truncate(shared);
        shared
    }
}

impl Sizer {
    pub fn new(sizing: Sizing) -> Self {
        Self { sizing, ..Self::default() }
    }

    /// Tokens of each prefix of a request of `agent`, shortest first.
    pub fn cumulative(&mut self, agent: &Rc<str>, draft: &Draft, request: &Request, wire: &Wire) -> Vec<u64> {
        let tokenizer = tokenizer(request);
        let frame = match (&self.sizing, tokenizer) {
            (Sizing::Counted(counter), Some(tokenizer)) => counter.frame_tokens(&Frame::of(request, wire, tokenizer)),
            _ => FrameTokens::default(),
        };
        let mut last = self.last.remove(agent).unwrap_or_default();
        let shared = last.keep_shared(frame, request);
        let mut sum = last.sums.last().copied().unwrap_or(frame.head);
        let behind = shared.checked_sub(1).map(|at| request.places[at]);
        let mut message = behind.filter(|place| is_of_message(*place)).map(|place| place.item);
        for (node, place) in request.nodes.iter().zip(&request.places).skip(shared) {
            if is_of_message(*place) && message != Some(place.item) {
                message = Some(place.item);
                sum += frame.message;
            }
            let declared = draft.piece(*place).and_then(|piece| piece.declared_tokens());
            sum += declared.unwrap_or_else(|| self.block(wire.prefixes.block(*node), *place, tokenizer, wire));
            last.sums.push(sum);
        }
        let mut cumulative = last.sums.clone();
        self.last.insert(agent.clone(), last);
        if let Some(last) = cumulative.last_mut() {
            *last += frame.tail;
        }
        cumulative
    }

    fn block(&mut self, block: Option<BlockId>, place: Place, tokenizer: Option<Tokenizer>, wire: &Wire) -> u64 {
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

fn is_of_message(place: Place) -> bool {
    place.level == Level::Messages && place.item != Place::LEVEL_HEAD
}

fn tokenizer(request: &Request) -> Option<Tokenizer> {
    request.resolved.map(|resolved| resolved.id.row().tokenizer)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{Sizer, Sizing};
    use crate::wire::{Draft, Message, NormalForms, Piece, Role, Wire};

    fn draft(system: &str, texts: &[&str]) -> Draft {
        let message = |text: &&str| Rc::new(Message { role: Role::User, content: vec![Piece::text(text)] });
        Draft {
            model: "claude-opus-5-5".into(),
            tools: Rc::from([]),
            system: [Piece::text(system).sized(7)].into(),
            messages: texts.iter().map(message).collect(),
            parameters: Rc::from([]),
            marks: Vec::new(),
        }
    }

    #[test]
    fn what_the_last_request_had_keeps_its_size() {
        let mut wire = Wire::new(NormalForms::default());
        let (mut kept, agent) = (Sizer::new(Sizing::Declared), Rc::from("main"));
        for (system, texts) in [
            ("be brief", &["one", "two"][..]),
            ("be brief", &["one", "two", "three and more", "four"]),
            ("be brief", &["one", "another", "three and more", "four"]),
            ("be brief", &["one"]),
            ("be long", &["one", "another"]),
        ] {
            let draft = draft(system, texts);
            let request = wire.take(&draft, "scope");
            let anew = Sizer::new(Sizing::Declared).cumulative(&agent, &draft, &request, &wire);
            assert_eq!(kept.cumulative(&agent, &draft, &request, &wire), anew, "{texts:?}");
            assert_eq!(anew[0], 7, "declared");
        }
    }
}
