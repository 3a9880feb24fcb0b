//! Recorded sessions whose agents are built otherwise.

use clap::Args as ClapArgs;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use forkcast_scenarios::cast::otherwise::{Alteration, Started, Which};

/// Recorded sessions whose agents are built otherwise.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "What if, with --recording")]
pub struct BehaviourArgs {
    /// The main agent starts forks of itself, or named agents: forks, agents
    #[arg(long, value_name = "WHAT", value_parser = started(), hide_possible_values = true, requires = "recording")]
    pub with: Option<Started>,

    /// Named agents that run in the background: all, none
    #[arg(long, value_name = "WHICH", value_parser = which(), hide_possible_values = true, requires = "recording")]
    pub background: Option<Which>,

    /// Another model for `main`, a type of agents, or `all`; repeatable
    #[arg(long, value_name = "AGENT=MODEL", value_parser = Alteration::model, requires = "recording")]
    pub model: Vec<Alteration>,

    /// The agents of one message run one after another, as --launch serial
    #[arg(long, requires = "recording", conflicts_with = "launch")]
    pub agents_serial: bool,

    /// Tools are sent in the order of their names
    #[arg(long, requires = "recording")]
    pub tools_sorted: bool,
}

fn started() -> impl TypedValueParser<Value = Started> {
    let words = PossibleValuesParser::new(Started::ALL.map(Started::name));
    words.try_map(|word| Started::named(&word).ok_or("expected one of these words"))
}

fn which() -> impl TypedValueParser<Value = Which> {
    let words = PossibleValuesParser::new(Which::ALL.map(Which::name));
    words.try_map(|word| Which::named(&word).ok_or("expected one of these words"))
}
