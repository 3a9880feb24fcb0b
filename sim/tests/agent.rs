//! Tests of the agent runtime, by groups of the behaviour contract; names of tests begin with the ids that they cover.

mod background;
mod built_in;
#[allow(dead_code)] // Each group uses its own part of it.
mod clocked;
mod context;
mod definitions;
mod delegation;
mod hook;
mod input;
mod matrix;
mod messages;
mod notification;
mod permission;
mod placement;
mod player;
mod probe;
mod prompt;
mod query;
mod queue;
#[allow(dead_code)] // Each group uses its own part of it.
mod reply;
mod result;
mod retry;
mod routing;
mod shell;
mod stage;
mod stop;
mod stream;
mod sync;
mod takeover;
mod task_tools;
#[allow(dead_code)] // Each group uses its own part of it.
mod theatre;
mod tools;
mod transcript;
mod world;
