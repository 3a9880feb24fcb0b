//! The bytes that are sent.
//!
//! * [`Wire`] reads bodies: [`Blocks`] are interned, [`Prefixes`] form an arena, a [`Request`] is a path in it.
//! * A [`Draft`] is a request that an agent is about to send: each [`Piece`] is read once, however often it is sent.
//! * [`normal`] holds the normal forms, [`parameters`] the parts of a level's identity besides its blocks.
//! * [`model`] is the model table.
//!
//! Identity bytes are made in this room only.

mod address;
mod adopt;
mod block;
pub mod body;
mod chain;
mod counting;
mod draft;
mod draft_parts;
mod head;
mod index;
mod intake;
pub mod json;
mod level;
mod maker;
mod marker;
mod memory;
pub mod model;
pub mod normal;
mod number;
mod order;
mod outline;
pub mod parameters;
mod part;
mod piece;
mod pieces;
mod pins;

mod prefix;
mod render;
mod request;
mod scanner;
mod sizing;
pub mod spelling;
mod stem;
mod trail;
mod usage;

pub use address::Addresses;
pub use adopt::Moved;
pub use block::{BlockId, BlockKind, Blocks, Content};
pub use body::BodyError;
pub use chain::{Candidates, ChainId, Chains, Continuation, SharedEnds};
pub use counting::{CountedBlocks, Frame, FrameTokens, TokenCounter, ToolUse};
pub use draft::{Draft, Mark, Message};
pub use head::{is_in_a_cloud, thinking_turns_kept};
pub use index::Index;
pub use intake::Wire;
pub use level::{Level, Place, Role};
pub use maker::Maker;
pub use marker::{Marker, Ttl};
pub use normal::NormalForms;
pub use number::number;
pub use outline::{Outline, PART_BYTES, part_digest};
pub use parameters::{MESSAGE_START, TRANSLATED_SETTINGS};
pub use piece::{Form, Piece, TextBeginning};
pub use pieces::Pieces;
pub use pins::Pins;
pub use prefix::{LineId, NodeId, Prefixes, shared_nodes};
pub use request::{BadMarker, BadMarkerWhy, EnvelopeField, ExcludedBlock, ExcludedWhy, Request};
pub use sizing::{NodeSizes, PathSizes, Sizes, UNKNOWN_IMAGE_TOKENS, estimated_tokens};
pub use stem::{Beginning, Stem};
pub use trail::Trail;
pub use usage::{TOKENS_MAX, Usage};
