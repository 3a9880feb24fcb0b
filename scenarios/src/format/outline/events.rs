//! Raw events of a reply.

use forkcast_sim::model::StopReason;

use super::{Field, Object, Shape, words};
use crate::format::script::OPENED;

/// An item of a reply's `events`.
pub static RAW_EVENT: Object = Object::new(
    "raw_event",
    "One event of a stream that says more than its name.",
    &[
        Field::of("message_start", Shape::Never, "Written as text, without fields: `- message_start`."),
        Field::object("content_block_start", &BLOCK_START),
        Field::object("content_block_delta", &BLOCK_DELTA),
        Field::object("content_block_stop", &BLOCK_STOP),
        Field::object("message_delta", &MESSAGE_DELTA),
        Field::of("message_stop", Shape::Never, "Written as text, without fields: `- message_stop`."),
        Field::of("ping", Shape::Never, "Written as text, without fields: `- ping`."),
        Field::object("error", &STREAM_ERROR),
    ],
)
.given(1, Some(1));

/// `content_block_start`.
pub static BLOCK_START: Object = Object::new(
    "content_block_start",
    "A block begins.",
    &[
        Field::ordinal("index", "Position in the message.").required(),
        Field::words("type", || words(&OPENED), "What begins.").required(),
        Field::name("id", "Id of a call."),
        Field::name("name", "The tool of a call."),
    ],
);

/// `content_block_delta`.
pub static BLOCK_DELTA: Object = Object::new(
    "content_block_delta",
    "A block grows, by one of `text`, `thinking`, `signature` and `input_json`.",
    &[
        Field::ordinal("index", "Position in the message.").required(),
        Field::text("text", "More of a text."),
        Field::text("thinking", "More of thinking."),
        Field::text("signature", "The signature of thinking."),
        Field::text("input_json", "A piece of a call's input."),
    ],
)
.given(2, Some(2));

/// `content_block_stop`.
pub static BLOCK_STOP: Object = Object::new(
    "content_block_stop",
    "A block is whole.",
    &[Field::ordinal("index", "Position in the message.").required()],
);

/// `message_delta`.
pub static MESSAGE_DELTA: Object = Object::new(
    "message_delta",
    "Facts about the whole message.",
    &[Field::words("stop_reason", || words(&StopReason::WORDS), "Why the model stopped.")],
);

/// `error`.
pub static STREAM_ERROR: Object = Object::new(
    "stream_error",
    "The provider gives up.",
    &[Field::name("type", "Its word.").required(), Field::text("message", "Its sentence.")],
);
