//! Requests as they are sent, compared with the documents' rules on their identity: normal forms, broken bodies,
//! respellings, chains, recorded sizes.

mod arena;
mod bodies;
mod broken;
mod chains;
mod drafts;
mod fuzzed;
mod harmless;
mod identity;
mod json_text;
mod outgoing;
mod prompts;
mod respelling;
mod sizes;
mod stems;
