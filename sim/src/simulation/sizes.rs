//! How many tokens a prompt has: declared by a scenario, counted by a tokenizer, or estimated.

use std::fmt;
use std::sync::Arc;

use crate::wire::model::Tokenizer;
use crate::wire::{
    BlockId, CountedBlocks, Draft, Frame, FrameTokens, Level, NodeId, NormalForms, Place, Request, TokenCounter, Wire,
    estimated_tokens, shared_nodes,
};

/// Source of sizes. A piece with declared tokens has these in any case.
#[derive(Clone, Default)]
pub enum Sizing {
    /// By length, at 3.1 bytes a token ([`estimated_tokens`]).
    #[default]
    Estimated,
    /// Counted by a tokenizer, with the provider's additions: its instructions for tools, the frame around messages
    /// (`providers.md` 7; pricing page, tool use, 2026-08).
    Counted(Arc<dyn TokenCounter>),
    /// Declared; the rest is estimated. A provider adds nothing, because a declared part is meant to be complete.
    Declared,
    /// Declared; the rest is counted by a tokenizer, block by block. A provider adds nothing here either.
    DeclaredOrCounted(Arc<dyn TokenCounter>),
}

impl fmt::Debug for Sizing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Estimated => "Estimated",
            Self::Counted(_) => "Counted",
            Self::Declared => "Declared",
            Self::DeclaredOrCounted(_) => "DeclaredOrCounted",
        })
    }
}

/// Sizes of the requests of one run: blocks are counted once, and each request only beyond its agent's last one.
#[derive(Debug, Default)]
pub(super) struct Sizer {
    sizing: Sizing,
    counted: CountedBlocks,
}

/// The sizes of an agent's last request.
#[derive(Clone, Debug, Default)]
pub(super) struct Last {
    frame: FrameTokens,
    nodes: Vec<NodeId>,
    /// Tokens of each prefix, without the frame after the whole prompt.
    sums: Vec<u64>,
}

impl Last {
    /// Drops everything that `request` does not share; returns how many prefixes are left.
    fn keep_shared(&mut self, frame: FrameTokens, request: &Request) -> usize {
        let same = self.frame == frame;
        let shared = if same { shared_nodes(&self.nodes, &request.nodes) } else { 0 };
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

    /// Tokens of each prefix of a request, shortest first; `last` is its agent's previous request, or anything else.
    pub fn cumulative(&mut self, last: &mut Last, draft: &Draft, request: &Request, wire: &Wire) -> Vec<u64> {
        let tokenizer = Tokenizer::of(request.resolved, &request.model);
        let frame = match &self.sizing {
            Sizing::Counted(counter) => counter.frame_tokens(&Frame::of(request, wire, tokenizer)),
            Sizing::Estimated | Sizing::Declared | Sizing::DeclaredOrCounted(_) => FrameTokens::default(),
        };
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
        if let Some(last) = cumulative.last_mut() {
            *last += frame.tail;
        }
        cumulative
    }

    /// Whether a prompt has only the tokens of its blocks.
    pub const fn adds_nothing(&self) -> bool {
        !matches!(self.sizing, Sizing::Counted(_))
    }

    /// Tokens of each prefix of a request if only the part after a beginning of `before` tokens is given, provided
    /// [`Self::adds_nothing`].
    pub fn behind(&mut self, before: u64, draft: &Draft, request: &Request, wire: &Wire) -> Vec<u64> {
        let tokenizer = Tokenizer::of(request.resolved, &request.model);
        let pairs = request.nodes.iter().zip(&request.places);
        let sums = pairs.scan(before, |sum, (node, place)| {
            let declared = draft.piece(*place).and_then(|piece| piece.declared_tokens());
            *sum += declared.unwrap_or_else(|| self.block(wire.prefixes.block(*node), *place, tokenizer, wire));
            Some(*sum)
        });
        sums.collect()
    }

    fn block(&mut self, block: Option<BlockId>, place: Place, tokenizer: Tokenizer, wire: &Wire) -> u64 {
        let Some(block) = block else { return 0 };
        match &self.sizing {
            Sizing::Declared | Sizing::DeclaredOrCounted(_) if place.keys => 0,
            Sizing::Estimated | Sizing::Declared => estimated_tokens(&wire.blocks, block),
            Sizing::DeclaredOrCounted(counter) | Sizing::Counted(counter) => {
                self.counted.tokens(&**counter, tokenizer, &wire.blocks, block)
            }
        }
    }
}

/// Recomputes the sizes of a run's requests from the drafts that were sent. Storing them would cost the square of a
/// wide fork's children: each has a block for each of its siblings.
#[derive(Debug)]
pub struct Recount {
    sizer: Sizer,
    wire: Wire,
}

impl Recount {
    /// Sizes as in a run with rules that have `forms`.
    pub fn new(sizing: Sizing, forms: NormalForms) -> Self {
        Self { sizer: Sizer::new(sizing), wire: Wire::new(forms) }
    }

    /// Tokens of each prefix of a request, shortest first.
    pub fn cumulative(&mut self, draft: &Draft) -> Vec<u64> {
        let request = self.wire.take(draft, "");
        self.sizer.cumulative(&mut Last::default(), draft, &request, &self.wire)
    }
}

fn is_of_message(place: Place) -> bool {
    place.level == Level::Messages && place.item != Place::LEVEL_HEAD
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{Last, Sizer, Sizing};
    use crate::wire::model::Tokenizer;
    use crate::wire::{Content, Draft, Frame, FrameTokens, Message, NormalForms, Piece, Role, TokenCounter, Wire};

    /// Blocks have as many tokens as bytes; the provider adds 1,000 at the beginning, 100 a message and 10 at the end.
    #[derive(Debug, Default)]
    struct Bytes(AtomicUsize);

    impl TokenCounter for Bytes {
        fn block_tokens(&self, _: Tokenizer, content: Content<'_>) -> u64 {
            self.0.fetch_add(1, Ordering::Relaxed);
            content.bytes.len() as u64
        }

        fn frame_tokens(&self, _: &Frame) -> FrameTokens {
            FrameTokens { head: 1_000, message: 100, tail: 10 }
        }
    }

    fn draft(model: &str, system: &str, texts: &[&str]) -> Draft {
        let message = |text: &&str| Rc::new(Message { role: Role::User, content: [Piece::text(text)].into() });
        Draft {
            model: model.into(),
            tools: Rc::from([]),
            system: [Piece::text(system).sized(7)].into(),
            messages: texts.iter().map(message).collect(),
            parameters: Rc::from([]),
            marks: Vec::new(),
        }
    }

    const GROWING: [(&str, &[&str]); 5] = [
        ("be brief", &["one", "two"]),
        ("be brief", &["one", "two", "three and more", "four"]),
        ("be brief", &["one", "another", "three and more", "four"]),
        ("be brief", &["one"]),
        ("be long", &["one", "another"]),
    ];

    fn sizings() -> [Sizing; 4] {
        [
            Sizing::Estimated,
            Sizing::Declared,
            Sizing::Counted(Arc::<Bytes>::default()),
            Sizing::DeclaredOrCounted(Arc::<Bytes>::default()),
        ]
    }

    #[test]
    fn blocks_of_the_last_request_keep_their_sizes() {
        for sizing in sizings() {
            let mut wire = Wire::new(NormalForms::default());
            let (mut kept, mut last) = (Sizer::new(sizing.clone()), Last::default());
            for (system, texts) in GROWING {
                let draft = draft("claude-opus-5-5", system, texts);
                let request = wire.take(&draft, "scope");
                let anew = Sizer::new(sizing.clone()).cumulative(&mut Last::default(), &draft, &request, &wire);
                assert_eq!(kept.cumulative(&mut last, &draft, &request, &wire), anew, "{sizing:?} {texts:?}");
            }
        }
    }

    #[test]
    fn providers_add_only_to_counted_sizes_and_declared_blocks_are_never_counted() {
        let mut wire = Wire::new(NormalForms::default());
        let draft = draft("claude-opus-5-5", "be brief", &["one", "three"]);
        let request = wire.take(&draft, "scope");
        let bytes = |text: &str| Piece::text(text).json().len() as u64;
        let (one, three) = (bytes("one"), bytes("three"));
        let sizes = |sizing| Sizer::new(sizing).cumulative(&mut Last::default(), &draft, &request, &wire);
        let counted = sizes(Sizing::Counted(Arc::<Bytes>::default()));
        assert_eq!(counted, [1_007, 1_107 + one, 1_217 + one + three]);
        let declared = sizes(Sizing::DeclaredOrCounted(Arc::<Bytes>::default()));
        assert_eq!(declared, [7, 7 + one, 7 + one + three]);
    }

    #[test]
    fn a_model_outside_the_table_is_counted_too() {
        let mut wire = Wire::new(NormalForms::default());
        let draft = draft("somebody-elses-model", "be brief", &["one"]);
        let request = wire.take(&draft, "scope");
        let mut sizer = Sizer::new(Sizing::DeclaredOrCounted(Arc::<Bytes>::default()));
        let one = Piece::text("one").json().len() as u64;
        assert_eq!(sizer.cumulative(&mut Last::default(), &draft, &request, &wire), [7, 7 + one]);
    }

    #[test]
    fn each_block_is_counted_once() {
        let counter = Arc::<Bytes>::default();
        let mut wire = Wire::new(NormalForms::default());
        let mut sizer = Sizer::new(Sizing::Counted(counter.clone()));
        for mut last in [Last::default(), Last::default()] {
            for (system, texts) in GROWING {
                let draft = draft("claude-opus-5-5", system, texts);
                let request = wire.take(&draft, "scope");
                sizer.cumulative(&mut last, &draft, &request, &wire);
            }
        }
        assert_eq!(counter.0.load(Ordering::Relaxed), 5, "one, two, three and more, four, another");
    }
}
