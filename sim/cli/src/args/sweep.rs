//! Arguments of `sweep`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use forkcast_scenarios::sweep::Axis;

use super::{Format, OwnPriceArgs, StrictArgs, TalkArgs, number, whole};

const SWEEP_EXAMPLES: &str = "\
Examples:
  forkcast sweep plan fanout --set launch=burst,primed \\
      --set breakpoints=both -o plan.json
  forkcast sweep run plan.json --out parts
                                      on all cores; run again for missing parts
  forkcast sweep status plan.json --out parts
                                      existing and missing parts
  forkcast sweep merge plan.json --out parts
                                      the same bytes on every machine
  forkcast man sweep-run              how to run it on a cluster";

const PLAN_EXAMPLES: &str = "\
Examples:
  forkcast sweep plan fanout --set launch=burst,primed \\
      --set parent=cold -o plan.json
  forkcast sweep plan E15 --set session.ttl=5m,1h \\
      --set seed=1..50 -o plan.json
  forkcast sweep plan fanout --set model=mine \\
      --price-book mine.toml -o plan.json
  forkcast sweep plan E15+cold \\
      --set session.breakpoints=tail,both > plan.json

Fields of a scenario are those of `run --set`; those of a fan-out are the options of `fanout` \
without their dashes (against=fork,spawn; ablate=none,NAME+NAME). Values are separated by commas; \
1..20, 0..100k:25k and 1..1000:x10 are ranges. A plan contains its prices. \
Everything that can be checked before the first run is checked here.";

const RUN_EXAMPLES: &str = "\
Examples:
  forkcast sweep run plan.json --out parts
                                      on all cores
  forkcast sweep run plan.json --out parts --shard 0/7
  forkcast sweep run plan.json --out parts --shard auto/7 --jobs 1
  forkcast sweep run plan.json --out parts --engine slurm --shards 7
                                      submit, wait and merge

Shards are counted from zero. auto takes the index of the scheduler: SLURM_ARRAY_TASK_ID (sbatch \
--array=0-6), JOB_COMPLETION_INDEX (a Kubernetes Indexed Job with 7 completions), HQ_TASK_ID \
(hq submit --array 0-6). \
Existing parts are not run again, so a killed shard can simply be restarted.

--engine submits by the command line of the scheduler: hq submit, or sbatch (which takes \
partition and account from SBATCH_PARTITION and SBATCH_ACCOUNT), or a script of twenty lines for \
Ray, whose cluster RAY_ADDRESS names. The folder must be one that all machines see.";

const MERGE_EXAMPLES: &str = "\
Examples:
  forkcast sweep merge plan.json --out parts
                                      also sweep.json and sweep.csv there
  forkcast sweep merge plan.json --out parts --format csv > sweep.csv";

const STATUS_EXAMPLES: &str = "\
Examples:
  forkcast sweep status plan.json --out parts
                                      exit code 1 until all parts exist";

/// Arguments of `sweep`.
#[derive(Debug, ClapArgs)]
#[command(after_help = SWEEP_EXAMPLES, arg_required_else_help = true)]
pub struct SweepArgs {
    /// What to do.
    #[command(subcommand)]
    pub step: SweepStep,
}

/// Steps of a sweep.
#[derive(Debug, Subcommand)]
pub enum SweepStep {
    /// Make a plan: every combination of the values of some fields
    Plan(SweepPlanArgs),
    /// Run the missing parts of a plan, or of one shard
    Run(SweepRunArgs),
    /// Merge all parts
    Merge(SweepMergeArgs),
    /// List existing and missing parts
    Status(SweepStatusArgs),
}

/// Arguments of `sweep plan`.
#[derive(Debug, ClapArgs)]
#[command(after_help = PLAN_EXAMPLES)]
pub struct SweepPlanArgs {
    /// What to run: a scenario (a file, or a name from `forkcast list scenarios`), or `fanout`
    #[arg(value_name = "SCENARIO|fanout")]
    pub subject: PathBuf,

    /// A field and its values; repeatable, and every combination is a cell
    #[arg(long, value_name = "FIELD=VALUES", value_parser = axis)]
    pub set: Vec<Axis>,

    /// Most files that the results are split into, for any number of shards [default: 256, or one for 4,096 cells]
    #[arg(long, value_name = "N", value_parser = number::<usize, 1>)]
    pub parts: Option<usize>,

    /// Prices other than list prices, in all cells
    #[command(flatten)]
    pub prices: OwnPriceArgs,

    /// Write the plan into this file; a file that is no plan is not replaced
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub out: Option<PathBuf>,

    /// Messages on standard error
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// A plan and the folder of its parts.
#[derive(Debug, ClapArgs)]
pub struct PartsArgs {
    /// The plan, written by `sweep plan`
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,

    /// The folder of its parts
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: PathBuf,

    /// Messages on standard error
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// Arguments of `sweep run`.
#[derive(Debug, ClapArgs)]
#[command(after_help = RUN_EXAMPLES)]
pub struct SweepRunArgs {
    /// Plan and folder
    #[command(flatten)]
    pub parts: PartsArgs,

    /// Run only the parts of this shard, counted from zero; `auto/N` takes the scheduler's index
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,

    /// Cells that run in parallel [default: one per core]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub jobs: Option<NonZeroUsize>,

    /// Run all shards as tasks of this scheduler, wait for them, and merge
    #[arg(long, value_name = "ENGINE", value_enum, conflicts_with_all = ["shard", "jobs"], help_heading = "Cluster")]
    pub engine: Option<Engine>,

    /// Number of tasks for it [default: one per part, up to 64]
    #[arg(long, value_name = "N", requires = "engine", help_heading = "Cluster")]
    pub shards: Option<NonZeroUsize>,
}

/// A scheduler that runs the shards of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// HyperQueue: `hq submit`
    Hyperqueue,
    /// Slurm: `sbatch`
    Slurm,
    /// Ray: a Python script of twenty lines
    Ray,
}

impl Engine {
    /// The word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Hyperqueue => "hyperqueue",
            Self::Slurm => "slurm",
            Self::Ray => "ray",
        }
    }

    /// Its name.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Hyperqueue => "HyperQueue",
            Self::Slurm => "Slurm",
            Self::Ray => "Ray",
        }
    }
}

/// Arguments of `sweep merge`.
#[derive(Debug, ClapArgs)]
#[command(after_help = MERGE_EXAMPLES)]
pub struct SweepMergeArgs {
    /// Plan and folder
    #[command(flatten)]
    pub parts: PartsArgs,

    /// Form of the output
    #[arg(long, default_value = "human", value_parser = whole(), help_heading = "Output")]
    pub format: Format,

    /// Also write a page for a browser: one file, without prompts
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Whether the result must be sure
    #[command(flatten)]
    pub strict: StrictArgs,
}

/// Arguments of `sweep status`.
#[derive(Debug, ClapArgs)]
#[command(after_help = STATUS_EXAMPLES)]
pub struct SweepStatusArgs {
    /// Plan and folder
    #[command(flatten)]
    pub parts: PartsArgs,
}

fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a whole number from 1, such as 7".to_owned())
}

fn axis(text: &str) -> Result<Axis, String> {
    Axis::read(text).map_err(|bad| bad.to_string())
}
