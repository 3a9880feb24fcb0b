//! `forkcast lock` and `forkcast check` from the command line.

mod bodies;
mod examples;
mod found;
mod inputs;
mod locked;
mod packaged;
mod reported;
mod stopped;
mod twins;
mod unsaid;
mod words;
