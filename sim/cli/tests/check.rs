//! `forkcast lock` and `forkcast check` from the command line.

mod bodies;
mod captures;

mod found;
mod inputs;
mod locked;
mod packaged;
mod packages;
mod reported;
mod reviewed;
mod stopped;
mod thinking;
mod twins;
mod unsaid;
mod words;
