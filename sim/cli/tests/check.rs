//! `forkcast lock` and `forkcast check` as their users meet them.

mod bodies;
mod examples;
mod found;
mod inputs;
mod locked;
mod packaged;
mod stopped;
mod twins;
mod unsaid;
mod words;
