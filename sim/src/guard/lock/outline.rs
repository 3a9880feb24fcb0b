//! Reads requests of locks into a wire, so that the judge compares them as it compares bodies.
//!
//! If the lock shows a block's content, the block has that content. Others have digests: blocks with equal digests are
//! equal, and the part of an edited block that was sent before is known to within 256 bytes (`design.md` 6).

use super::{Block, Digest, Lock, Locked, Placed};
use crate::cache::{minimum_tokens, refusal};
use crate::diagnosis::Subject;
use crate::guard::Rules;
use crate::wire::model::resolve;
use crate::wire::{
    BlockId, BlockKind, Content, ExcludedBlock, Index, Level, Marker, Outline, Request, Role, Wire, is_in_a_cloud,
};

/// A wire with requests of locks.
#[derive(Debug, Default)]
pub(super) struct Outlines {
    pub wire: Wire,
    by_digest: Index<Digest, BlockId>,
}

impl Outlines {
    /// A request of a lock in the form that the judge takes, with the paths of the body in which `newer` was sent.
    pub fn read(&mut self, lock: &Lock, locked: &Locked, newer: &Locked, rules: &Rules) -> Subject {
        let prompt = lock.prompt(locked);
        let excluded = locked.excluded.iter().map(|found| ExcludedBlock {
            block: self.block(&lock.blocks[found.block as usize]),
            place: found.place,
            why: found.why,
        });
        let excluded = excluded.collect();
        let request = Request { excluded, ..self.request(locked, &prompt, newer) };
        let ends = prompt.iter().scan(0_u64, |sum, placed| {
            *sum = sum.saturating_add(placed.tokens);
            Some(*sum)
        });
        let minimum_tokens = match rules.in_tests {
            true => 0,
            false => minimum_tokens(request.resolved.map(|resolved| resolved.id)),
        };
        let refusal = refusal::check(&request, &rules.preset).err();
        let cumulative = ends.collect();
        Subject { number: locked.request, request, cumulative, minimum_tokens, refusal }
    }

    fn request(&mut self, locked: &Locked, prompt: &[Placed<'_>], newer: &Locked) -> Request {
        let resolved = resolve(&locked.model);
        let root = self.wire.prefixes.root("", resolved.map_or(&locked.model, |resolved| resolved.id.row().id));
        // A lock has the spelling of the model only, not the version of the API.
        if is_in_a_cloud(&[], resolved) {
            self.wire.prefixes.count_each_block(root);
        }
        let (mut end, mut known, mut nodes) = (root, 0, Vec::with_capacity(prompt.len()));
        for placed in prompt {
            let block = self.block(placed.block);
            let (node, is_new) = self.wire.prefixes.extend(end, block, placed.block.kind);
            known += usize::from(!is_new);
            nodes.push(node);
            end = node;
        }
        let places: Vec<_> = prompt.iter().map(|placed| placed.place).collect();
        let marked = locked.breakpoints.iter().filter_map(|breakpoint| {
            let at = places.iter().position(|place| place.to_string() == breakpoint.path)?;
            Some(Marker { node: nodes[at], ttl: breakpoint.ttl, place: places[at], automatic: false })
        });
        let markers: Vec<Marker> = marked.collect();
        Request {
            model: locked.model.clone(),
            resolved,
            maker: newer.maker,
            root,
            known,
            // Those of an automatic cache are assumed.
            markers_sent: if newer.has_modelled_cache() { markers.len() } else { 0 },
            markers,
            nodes,
            places,
            bad_markers: Vec::new(),
            missing_tool: None,
            automatic_conflict: None,
            excluded: Vec::new(),
            envelope: Vec::new(),
            addresses: newer.addresses.clone(),
        }
    }

    fn block(&mut self, block: &Block) -> BlockId {
        let blocks = &mut self.wire.blocks;
        *self.by_digest.get_or_insert_with(block.digest, || {
            let (level, role, kind) = (block.level, role(block), block.kind);
            if let Some(content) = &block.content {
                return blocks.intern(Content { level, role, kind, bytes: content.as_bytes() });
            }
            if kind == BlockKind::Parameters {
                return blocks.intern(Content { level, role, kind, bytes: parameters(block).as_bytes() });
            }
            let name = match kind {
                BlockKind::Text | BlockKind::Opaque if level == Level::Messages => {
                    block.name.split_once(' ').map_or("", |(_, signs)| signs)
                }
                _ => &block.name,
            };
            let outline = Outline { level, role, kind, digest: block.digest.number(), len_bytes: block.bytes };
            blocks.outlined_in_parts(outline, name, &block.chunks)
        })
    }
}

/// The role: the lock records it for texts and, since November 2026, for blocks of unknown type; other kinds have one
/// role each.
fn role(block: &Block) -> Role {
    let named = || block.name.split_once(' ').map_or(block.name.as_str(), |(role, _)| role);
    match block.kind {
        _ if block.level != Level::Messages => Role::None,
        BlockKind::Text => Role::named(named()),
        BlockKind::Opaque if !block.name.is_empty() => Role::named(named()),
        BlockKind::Thinking | BlockKind::ToolUse | BlockKind::ServerTool | BlockKind::Opaque => Role::Assistant,
        BlockKind::ToolResult | BlockKind::Media => Role::User,
        BlockKind::Tool | BlockKind::Parameters => Role::None,
    }
}

/// Keys and digests of their values as an object: two such objects differ in the members that differed in the bodies, in
/// the same order, and a key is as often in it.
fn parameters(block: &Block) -> String {
    let members = block.parameters().into_iter();
    let members = members.map(|(key, digest)| format!("{}:\"{digest}\"", serde_json::Value::from(key)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}
