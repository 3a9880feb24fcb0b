//! Arguments of `fanout`.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args as ClapArgs;
use forkcast_scenarios::fanout::breakeven::Inquiry;
use forkcast_scenarios::fanout::breakeven::Question;
use forkcast_scenarios::fanout::{Cell, Grid, Spawn};
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::{Ablation, LaunchPolicy, Profile};
use forkcast_sim::cache::Rules;
use forkcast_sim::wire::Ttl;

use super::{OutputArgs, OwnPriceArgs, TalkArgs};

pub(super) mod words;

use words::{
    Against, Numbers, Parent, Questions, ablation, head_ttl, last_turn, launches, number, numbers, profile, questions,
    rules, small,
};
pub(super) use words::{placement, ttl};

const FANOUT_EXAMPLES: &str = "\
Examples:
  forkcast fanout                     five forks of a warm parent
  forkcast fanout --from session.jsonl
                                      the cost of five forks of this session
  forkcast fanout --children 1..20 --breakpoints tail,both \\
      --launch burst,primed
  forkcast fanout --breakpoints shared --launch burst,stagger=150,primed \\
      --children 8 --out plots
  forkcast fanout --parent warm,cold --prefix 20k..100k:20k --turns 1,5,11
  forkcast fanout --turns 1..20 --against spawn
                                      forks against agents with a brief
  forkcast fanout --profile client-2026 --cache docs-2026-08
  forkcast fanout --itpm 200k --rpm 50 --children 5,50,200
  forkcast fanout --model mine --price-book mine.toml
  forkcast fanout --children 2,5,8 --format json
                                      one JSON object, forkcast.fanout/1
  forkcast fanout --answer fork-or-spawn
                                      when agents with a brief become cheaper
  forkcast fanout --answer all --out answers
                                      every question, with tables and plots

Every cell is a run of the agent runtime. Numbers are lists and ranges: `5`, `1,2,8`, `1..10`, `0..100k:25k`, `1..1000:x10`. \
Sizes are tokens, times are milliseconds, lifetimes 5m or 1h. Lists in several options are combined.

--out also draws the grid, if up to three parameters vary: cost by each number, or cost against makespan.";

/// What `--out` of this verb writes.
const OUT: &str = "Also write fanout.json, fanout.csv and plots (NAME.svg, NAME.png) into this folder; an older result \
                   is replaced";

/// Arguments of `fanout`.
#[derive(Debug, ClapArgs)]
#[command(after_help = FANOUT_EXAMPLES, mut_arg("format", |format| format.value_parser(super::whole())),
    mut_arg("out", |out| out.help("Also write tables and plots into this folder").long_help(OUT)))]
pub struct FanoutArgs {
    /// Take the parent's prefix, growth, model and lifetime from a recorded session
    ///
    /// They are taken from the last request of its main agent, or from the request in this line of its transcript. An
    /// option such as --prefix replaces the recorded value.
    #[arg(long, value_name = "SESSION[:LINE]")]
    pub from: Option<PathBuf>,

    /// Children of one message [default: 5]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true, value_parser = numbers)]
    pub children: Option<Numbers>,

    /// Tokens of the parent's last request: tools, system prompt, history [default: 46k]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true, value_parser = numbers)]
    pub prefix: Option<Numbers>,

    /// Tokens shared by the children after it: the message that forks, and placeholders
    #[arg(long, value_name = "LIST", default_value = "2500", allow_negative_numbers = true, value_parser = numbers)]
    pub tail: Numbers,

    /// Tokens of each child's own directive
    #[arg(long, value_name = "LIST", default_value = "200", allow_negative_numbers = true, value_parser = numbers)]
    pub directive: Numbers,

    /// Requests of each child [default: 1]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true, value_parser = numbers)]
    pub turns: Option<Numbers>,

    /// Tokens that a turn adds: answer and tool results [default: 1000; 5500 for --answer ttl]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true, value_parser = numbers)]
    pub growth: Option<Numbers>,

    /// Tokens of each answer of a child
    #[arg(long, value_name = "N", default_value = "100", allow_negative_numbers = true, value_parser = number)]
    pub output: u64,

    /// Models [default: claude-opus-5-5]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub model: Vec<String>,

    /// Lifetime of cache entries [default: 5m]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = ttl())]
    pub ttl: Vec<Ttl>,

    /// Lifetime of the breakpoints in the system prompt: that of the others, or an hour before five minutes
    #[arg(long, value_name = "LIST", value_parser = head_ttl(), default_value = "same", value_delimiter = ',')]
    pub head_ttl: Vec<bool>,

    /// Whether the last request of a child writes its end into the cache, where it is never read
    #[arg(long, value_name = "LIST", value_parser = last_turn(), default_value = "marked", value_delimiter = ',')]
    pub last_turn: Vec<bool>,

    /// Whether the parent's cache entry is alive when the children start
    #[arg(long, value_name = "LIST", value_enum, default_value = "warm", value_delimiter = ',')]
    pub parent: Vec<Parent>,

    // The table of policies writes this help.
    #[allow(missing_docs)]
    #[arg(long, value_name = "LIST", long_help = launches(), help = "When the children start: burst, primed, serial, stagger=MS, waves=N", default_value = "burst", value_delimiter = ',', value_parser = LaunchPolicy::named)]
    pub launch: Vec<LaunchPolicy>,

    /// Breakpoints of a request
    #[arg(long, value_name = "LIST", default_value = "client-2026", value_delimiter = ',', value_parser = placement())]
    pub breakpoints: Vec<Placement>,

    /// Cache rules (see `forkcast list profiles`)
    #[arg(long, value_name = "PRESET", value_parser = rules(), default_value = "docs-2026-09")]
    pub cache: Rules,

    /// How the messages of forks are built
    #[arg(long, value_name = "NAME", value_parser = profile(), default_value = "documents")]
    pub profile: Profile,

    /// Break a principle of cache sharing on purpose; repeatable
    #[arg(long, value_name = "NAME", value_parser = ablation())]
    pub ablate: Vec<Ablation>,

    /// Also run named agents with their own prompts instead of forks
    #[arg(long, value_enum, value_name = "WHAT")]
    pub against: Option<Against>,

    /// Tokens of their system prompt
    #[arg(long, value_name = "N", default_value = "3000", allow_negative_numbers = true, value_parser = number, requires = "against")]
    pub spawn_system: u64,

    /// Tokens of their tools
    #[arg(long, value_name = "N", default_value = "7000", allow_negative_numbers = true, value_parser = number, requires = "against")]
    pub spawn_tools: u64,

    /// Tokens of their brief
    #[arg(long, value_name = "N", default_value = "1000", allow_negative_numbers = true, value_parser = number, requires = "against")]
    pub spawn_brief: u64,

    /// Tokens of the history that they gather again
    #[arg(long, value_name = "N", default_value = "0", allow_negative_numbers = true, value_parser = number, requires = "against")]
    pub gather: u64,

    /// Additional requests for gathering it
    #[arg(long, value_name = "N", default_value = "0", allow_negative_numbers = true, value_parser = small, requires = "against")]
    pub gather_turns: u32,

    /// Input tokens per minute that the provider accepts, not counting read ones; refused calls are retried
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
    pub itpm: Option<u64>,

    /// Requests per minute that the provider accepts; refused calls are retried
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
    pub rpm: Option<u64>,

    /// Number of children that pause once for more than five minutes between two turns
    #[arg(long, value_name = "LIST", default_value = "0", allow_negative_numbers = true, value_parser = numbers)]
    pub waiting: Numbers,

    /// Answer a question instead of running a grid
    ///
    /// Each question has default ranges, and policies of its own.
    #[arg(long, value_name = "QUESTION", value_delimiter = ',', value_parser = questions(), conflicts_with_all = ["launch", "breakpoints"])]
    pub answer: Vec<Questions>,

    /// Also run requests that exceed the model's context window
    #[arg(long)]
    pub no_window: bool,

    /// Prices other than list prices
    #[command(flatten)]
    pub prices: OwnPriceArgs,

    /// Output
    #[command(flatten)]
    pub result: OutputArgs,

    /// Messages on standard error
    #[command(flatten)]
    pub talk: TalkArgs,
}

impl FanoutArgs {
    /// The grid to run; parameters that are not given are those of `start`.
    ///
    /// # Errors
    /// A number that is too large for its parameter.
    pub fn grid(&self, start: Cell) -> Result<Grid, String> {
        let base = Cell {
            output: self.output,
            rules: self.cache,
            profile: self.profile,
            ablations: self.ablate.iter().copied().collect(),
            without_window: self.no_window,
            itpm: self.itpm,
            rpm: self.rpm,
            ..start
        };
        let spawn = self.against.map(|Against::Spawn| self.spawn());
        self.once_each()?;
        Ok(Grid {
            children: whole("--children", &self.children)?.unwrap_or_else(|| vec![base.children]),
            prefix: self.prefix.as_ref().map_or_else(|| vec![base.prefix], |prefix| prefix.0.clone()),
            tail: self.tail.0.clone(),
            directive: self.directive.0.clone(),
            turns: whole("--turns", &self.turns)?.unwrap_or_else(|| vec![base.turns]),
            growth: self.growth.as_ref().map_or_else(|| vec![base.growth], |growth| growth.0.clone()),
            model: match &self.model[..] {
                [] => vec![Arc::clone(&base.model)],
                given => given.iter().map(|model| Arc::from(model.trim())).collect(),
            },
            ttl: if self.ttl.is_empty() { vec![base.ttl] } else { self.ttl.clone() },
            has_hour_head: self.head_ttl.clone(),
            leaves_last: self.last_turn.clone(),
            waiting: small_numbers("--waiting", &self.waiting)?,
            is_cold: self.parent.iter().map(|parent| *parent == Parent::Cold).collect(),
            launch: self.launch.clone(),
            placement: self.breakpoints.clone(),
            spawn: std::iter::once(None).chain(spawn.map(Some)).collect(),
            base,
        })
    }

    /// No word may be in its list twice, because two rows would be the same.
    fn once_each(&self) -> Result<(), String> {
        let parent = |parent: &Parent| if *parent == Parent::Cold { "cold" } else { "warm" }.to_owned();
        let lists = [
            ("--model", self.model.iter().map(|model| model.trim().to_owned()).collect::<Vec<_>>()),
            ("--ttl", self.ttl.iter().map(|ttl| ttl.name().to_owned()).collect()),
            ("--head-ttl", self.head_ttl.iter().map(|is| if *is { "1h" } else { "same" }.to_owned()).collect()),
            (
                "--last-turn",
                self.last_turn.iter().map(|is| if *is { "unmarked" } else { "marked" }.to_owned()).collect(),
            ),
            ("--parent", self.parent.iter().map(parent).collect()),
            ("--launch", self.launch.iter().map(|launch| launch.name()).collect()),
            ("--breakpoints", self.breakpoints.iter().map(|placement| placement.name().to_owned()).collect()),
        ];
        for (flag, words) in lists {
            let mut seen = BTreeSet::new();
            if let Some(word) = words.iter().find(|word| !seen.insert(*word)) {
                return Err(format!("{flag}: `{word}` is listed twice: two rows would be equal"));
            }
        }
        Ok(())
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

    /// Checks that a question uses every option that was given.
    ///
    /// # Errors
    /// An option that a question sets itself.
    pub fn check_answers(&self) -> Result<(), String> {
        if !self.questions().contains(&Question::Ttl) {
            return Ok(());
        }
        let given = [("--ttl", !self.ttl.is_empty()), ("--waiting", self.waiting.0 != [0])];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => Err(format!(
                "--answer ttl cannot be used with {flag}: it compares both lifetimes with every number of waiting children; leave \
                 out {flag}, or ask the other questions alone"
            )),
            None => Ok(()),
        }
    }

    /// The parameters of the questions; `base` is the first cell of the grid.
    ///
    /// # Errors
    /// A number that is too large for its parameter.
    pub fn asked(&self, base: &Cell) -> Result<Inquiry, String> {
        Ok(Inquiry {
            base: base.clone(),
            children: whole("--children", &self.children)?,
            // A recorded session has one prefix, and is asked about that.
            prefix: match &self.prefix {
                Some(prefix) => Some(prefix.0.clone()),
                None => self.from.is_some().then(|| vec![base.prefix]),
            },
            turns: whole("--turns", &self.turns)?,
            growth: self.growth.as_ref().and_then(|growth| growth.0.first().copied()),
            spawn: self.spawn(),
        })
    }
}

/// Numbers of things that can be run.
fn whole(flag: impl Display, numbers: &Option<Numbers>) -> Result<Option<Vec<u32>>, String> {
    numbers.as_ref().map(|numbers| small_numbers(flag, numbers)).transpose()
}

fn small_numbers(flag: impl Display, numbers: &Numbers) -> Result<Vec<u32>, String> {
    let one = |number: &u64| u32::try_from(*number).map_err(|_| format!("{flag}: {number} is too large to run"));
    numbers.0.iter().map(one).collect()
}
