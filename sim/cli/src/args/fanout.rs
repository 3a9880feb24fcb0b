//! Arguments of `fanout`.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, ValueEnum};
use forkcast_scenarios::fanout::breakeven::{Asked, Question};
use forkcast_scenarios::fanout::range;
use forkcast_scenarios::fanout::{Cell, Grid, Spawn};
use forkcast_scenarios::format::session::{PLACEMENTS, TTLS};
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::{Ablation, LaunchPolicy, Profile};
use forkcast_sim::cache::{PRESETS, Rules};
use forkcast_sim::wire::Ttl;

use super::{Format, TalkArgs};

const FANOUT_EXAMPLES: &str = "\
Examples:
  forkcast fanout                                  five forks of a warm parent, one request each
  forkcast fanout --children 1..20 --breakpoints tail,both --launch burst,primed
  forkcast fanout --parent warm,cold --prefix 20k..100k:20k --turns 1,5,11
  forkcast fanout --turns 1..20 --against spawn    forks against agents with a brief of their own
  forkcast fanout --profile client-2026 --cache docs-2026-08
  forkcast fanout --children 2,5,8 --format json   one JSON object, forkcast.fanout/1
  forkcast fanout --answer fork-or-spawn           where agents with a brief get cheaper than forks
  forkcast fanout --answer all --out answers       every question, with tables and plots

Every cell is a run of the agent runtime. Numbers are lists and ranges: `5`, `1,2,8`, `1..10`, `0..100k:25k`, `1..1000:x10`.";

/// Arguments of `fanout`.
#[derive(Debug, ClapArgs)]
#[command(after_help = FANOUT_EXAMPLES)]
pub struct FanoutArgs {
    /// Children of one message [default: 5]
    #[arg(long, value_name = "LIST", value_parser = numbers)]
    pub children: Option<Numbers>,

    /// Tokens of the parent's last request: tools, system prompt, history [default: 46k]
    #[arg(long, value_name = "LIST", value_parser = numbers)]
    pub prefix: Option<Numbers>,

    /// Tokens that children share behind it: the message that forks, and its placeholders
    #[arg(long, value_name = "LIST", default_value = "2500", value_parser = numbers)]
    pub tail: Numbers,

    /// Tokens that a child alone is told
    #[arg(long, value_name = "LIST", default_value = "200", value_parser = numbers)]
    pub directive: Numbers,

    /// Requests of each child [default: 1]
    #[arg(long, value_name = "LIST", value_parser = numbers)]
    pub turns: Option<Numbers>,

    /// Tokens that a turn adds: answer and results of tools
    #[arg(long, value_name = "LIST", default_value = "1000", value_parser = numbers)]
    pub growth: Numbers,

    /// Tokens of each answer of a child
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub output: u64,

    /// Models
    #[arg(long, value_name = "LIST", default_value = "claude-opus-5-5", value_delimiter = ',')]
    pub model: Vec<String>,

    /// How long what is marked lives
    #[arg(long, value_name = "LIST", default_value = "5m", value_delimiter = ',', value_parser = ttl())]
    pub ttl: Vec<Ttl>,

    /// Whether an entry of the parent lives when the children start
    #[arg(long, value_name = "LIST", value_enum, default_value = "warm", value_delimiter = ',')]
    pub parent: Vec<Parent>,

    /// When the children start: burst, primed, stagger=MS, waves=N
    #[arg(long, value_name = "LIST", default_value = "burst", value_delimiter = ',', value_parser = LaunchPolicy::named)]
    pub launch: Vec<LaunchPolicy>,

    /// Where breakpoints stand
    #[arg(long, value_name = "LIST", default_value = "client-2026", value_delimiter = ',', value_parser = placement())]
    pub breakpoints: Vec<Placement>,

    /// Cache rules (see `forkcast list profiles`)
    #[arg(long, value_name = "PRESET", value_parser = rules(), default_value = "docs-2026-09")]
    pub cache: Rules,

    /// How the messages of forks are made
    #[arg(long, value_name = "NAME", value_parser = profile(), default_value = "documents")]
    pub profile: Profile,

    /// Break a principle of cache sharing on purpose; repeatable
    #[arg(long, value_name = "NAME", value_parser = ablation())]
    pub ablate: Vec<Ablation>,

    /// Also run agents with a prompt of their own in the place of forks
    #[arg(long, value_enum, value_name = "WHAT")]
    pub against: Option<Against>,

    /// Tokens of their system prompt
    #[arg(long, value_name = "N", default_value_t = 3_000, requires = "against")]
    pub spawn_system: u64,

    /// Tokens of their tools
    #[arg(long, value_name = "N", default_value_t = 7_000, requires = "against")]
    pub spawn_tools: u64,

    /// Tokens of what they are told
    #[arg(long, value_name = "N", default_value_t = 1_000, requires = "against")]
    pub spawn_brief: u64,

    /// Tokens of the history that they gather again
    #[arg(long, value_name = "N", default_value_t = 0, requires = "against")]
    pub gather: u64,

    /// Requests that this takes beside the others
    #[arg(long, value_name = "N", default_value_t = 0, requires = "against")]
    pub gather_turns: u32,

    /// Input tokens a minute that the provider takes, what is read not counted; refused calls are tried again
    #[arg(long, value_name = "N", value_parser = number)]
    pub itpm: Option<u64>,

    /// Requests a minute that the provider takes
    #[arg(long, value_name = "N", value_parser = number)]
    pub rpm: Option<u64>,

    /// Children of which each waits once for longer than five minutes, in the middle of its turns
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub waiting: u32,

    /// Answer a question instead of running a grid: ranges that are not given, and policies, are the question's own
    #[arg(long, value_name = "QUESTION", value_delimiter = ',', value_parser = questions())]
    pub answer: Vec<Questions>,

    /// Run requests that are longer than the model's window
    #[arg(long)]
    pub no_window: bool,

    /// Form of the output
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub format: Format,

    /// Also write fanout.json, fanout.csv and a plot of each answer (NAME.svg, NAME.png) into this folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,

    /// Write into a folder that holds other files too; only files of the names above are replaced
    #[arg(long, requires = "out", help_heading = "Output")]
    pub overwrite: bool,

    /// What is said on standard error
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// A list of numbers as it was typed.
#[derive(Clone, Debug)]
pub struct Numbers(pub Vec<u64>);

/// What a parent's entries are when the children start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Parent {
    /// They live.
    Warm,
    /// They are gone.
    Cold,
}

/// What forks are held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Against {
    /// Named agents that get a brief.
    Spawn,
}

fn numbers(text: &str) -> Result<Numbers, String> {
    range::numbers(text).map(Numbers).map_err(|bad| bad.to_string())
}

fn number(text: &str) -> Result<u64, String> {
    match numbers(text)?.0[..] {
        [number] => Ok(number),
        _ => Err("one number is expected here, as in `30k`".to_owned()),
    }
}

/// A word of a table, and what it means.
fn words<T: Clone + Send + Sync + 'static>(table: Vec<(&'static str, T)>) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(table.iter().map(|(word, _)| *word)).try_map(move |word| {
        let found = table.iter().find(|(known, _)| *known == word).map(|(_, value)| value.clone());
        found.ok_or_else(|| format!("`{word}` is not known"))
    })
}

/// One question, or all.
pub type Questions = Vec<Question>;

fn questions() -> impl TypedValueParser<Value = Questions> {
    let one = |question: Question| PossibleValue::new(question.word()).help(question.about());
    let all = PossibleValue::new("all").help("All of these");
    PossibleValuesParser::new(Question::ALL.map(one).into_iter().chain([all])).map(|word| {
        let asked = Question::ALL.into_iter().filter(|question| word == "all" || question.word() == word);
        asked.collect()
    })
}

fn ttl() -> impl TypedValueParser<Value = Ttl> {
    words(TTLS.to_vec())
}

fn placement() -> impl TypedValueParser<Value = Placement> {
    words(PLACEMENTS.to_vec())
}

fn rules() -> impl TypedValueParser<Value = Rules> {
    words(PRESETS.iter().map(|rules| (rules.name, *rules)).collect())
}

fn profile() -> impl TypedValueParser<Value = Profile> {
    words(Profile::ALL.map(|profile| (profile.name(), profile)).to_vec())
}

fn ablation() -> impl TypedValueParser<Value = Ablation> {
    words(Ablation::ALL.map(|ablation| (ablation.name(), ablation)).to_vec())
}

impl FanoutArgs {
    /// Everything that is to be run.
    ///
    /// # Errors
    /// A number that is too large for its parameter.
    pub fn grid(&self) -> Result<Grid, String> {
        let base = Cell {
            output: self.output,
            rules: self.cache,
            profile: self.profile,
            ablations: self.ablate.iter().copied().collect(),
            waiting: self.waiting,
            without_window: self.no_window,
            itpm: self.itpm,
            rpm: self.rpm,
            ..Cell::default()
        };
        let spawn = self.against.map(|Against::Spawn| self.spawn());
        Ok(Grid {
            children: small("--children", &self.children)?.unwrap_or_else(|| vec![base.children]),
            prefix: self.prefix.as_ref().map_or_else(|| vec![base.prefix], |prefix| prefix.0.clone()),
            tail: self.tail.0.clone(),
            directive: self.directive.0.clone(),
            turns: small("--turns", &self.turns)?.unwrap_or_else(|| vec![base.turns]),
            growth: self.growth.0.clone(),
            model: self.model.iter().map(|model| Arc::from(model.trim())).collect(),
            ttl: self.ttl.clone(),
            is_cold: self.parent.iter().map(|parent| *parent == Parent::Cold).collect(),
            launch: self.launch.clone(),
            placement: self.breakpoints.clone(),
            spawn: std::iter::once(None).chain(spawn.map(Some)).collect(),
            base,
        })
    }

    const fn spawn(&self) -> Spawn {
        Spawn {
            system: self.spawn_system,
            tools: self.spawn_tools,
            brief: self.spawn_brief,
            gathered: self.gather,
            gathering_turns: self.gather_turns,
        }
    }

    /// The questions, each once, in their order.
    pub fn questions(&self) -> Vec<Question> {
        let asked: Vec<Question> = self.answer.iter().flatten().copied().collect();
        Question::ALL.into_iter().filter(|question| asked.contains(question)).collect()
    }

    /// What the questions are about, `base` being the first cell of the grid.
    ///
    /// # Errors
    /// A number that is too large for its parameter.
    pub fn asked(&self, base: &Cell) -> Result<Asked, String> {
        Ok(Asked {
            base: base.clone(),
            children: small("--children", &self.children)?,
            prefix: self.prefix.as_ref().map(|prefix| prefix.0.clone()),
            turns: small("--turns", &self.turns)?,
            spawn: self.spawn(),
        })
    }
}

fn small(flag: impl Display, numbers: &Option<Numbers>) -> Result<Option<Vec<u32>>, String> {
    let one = |number: &u64| u32::try_from(*number).map_err(|_| format!("{flag}: {number} is more than can be run"));
    numbers.as_ref().map(|numbers| numbers.0.iter().map(one).collect()).transpose()
}
