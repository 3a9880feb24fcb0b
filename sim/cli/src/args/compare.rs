//! Arguments of `compare`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use forkcast_reports::movement::Limits;
use forkcast_reports::report::{self, Share, Window, Zone};
use forkcast_sim::cache::Rules;
use forkcast_sim::time::{Duration, Instant};

use super::view::{since, until};
use super::{Format, PriceArgs, StrictArgs, TalkArgs, preset, whole};
use crate::clock;

const COMPARE_EXAMPLES: &str = "\
Examples:
  forkcast run --out before
  forkcast run --breakpoints both --launch primed --out after
  forkcast compare before after       what moved, by cause
  forkcast compare before after --max-rise 5%
                                      exit code 1 if the bill rose by more
  forkcast compare recordings/ --last 7d
                                      the last week with the one before
  forkcast compare --since 2026-11-01 the logs of your clients: November so
                                      far with as many days before
  forkcast compare session.jsonl after
                                      a recording with a run";

/// Arguments of `compare`.
#[derive(Debug, ClapArgs)]
#[command(after_help = COMPARE_EXAMPLES)]
pub struct CompareArgs {
    /// A folder that `replay --out` or `run --out` wrote, or recordings [default: logs of known clients]
    #[arg(value_name = "A")]
    pub before: Option<PathBuf>,

    /// What it is compared with; without it, two periods of A
    #[arg(value_name = "B", conflicts_with_all = ["since", "until", "last"])]
    pub after: Option<PathBuf>,

    /// The second period begins on this day or at this instant; the first is as long and before it
    #[arg(long, value_name = "WHEN", value_parser = since, help_heading = "Periods")]
    since: Option<String>,

    /// It ends with this day, or before this instant [default: now]
    #[arg(long, value_name = "WHEN", value_parser = until, requires = "since", help_heading = "Periods")]
    until: Option<String>,

    /// The second period is the last days, hours or weeks before now: 7d, 24h, 2w
    #[arg(long, value_name = "SPAN", value_parser = report::span, conflicts_with = "since", help_heading = "Periods")]
    last: Option<Duration>,

    /// Time zone of days: an IANA name, `local` or `UTC`
    #[arg(long, value_name = "ZONE", default_value = "local", help_heading = "Periods")]
    timezone: Zone,

    /// Cache rules for recordings [default: by the date of each]
    #[arg(long, value_name = "PRESET", value_parser = preset())]
    pub cache: Option<Rules>,

    /// Which prices hold for recordings
    #[command(flatten)]
    pub prices: PriceArgs,

    /// Exit with 1 if the bill rose by more than this share (5% or 0.05)
    #[arg(long, value_name = "SHARE", help_heading = "Limits")]
    max_rise: Option<Share>,

    /// Exit with 1 if the bill of one request rose by more on average
    #[arg(long, value_name = "SHARE", help_heading = "Limits")]
    max_rise_per_request: Option<Share>,

    /// Form of the output
    #[arg(long, default_value = "human", value_parser = whole(), help_heading = "Output")]
    pub format: Format,

    /// Also write a page for a browser: one file, without prompts
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Whether both results must be complete and certain
    #[command(flatten)]
    pub strict: StrictArgs,

    /// Messages on standard error
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// A stretch of time with its name.
pub struct Period {
    /// The stretch.
    pub window: Window,
    /// `2026-11-01 to 2026-11-08`.
    pub name: String,
}

impl CompareArgs {
    /// The limits.
    pub const fn limits(&self) -> Limits {
        Limits { rise_max: self.max_rise, request_rise_max: self.max_rise_per_request }
    }

    /// The two periods, the earlier one first; `None` if none is requested.
    pub fn periods(&self) -> Result<Option<[Period; 2]>, String> {
        let now = clock::now();
        let zone = &self.timezone;
        let until = self.until.as_deref().map(|text| report::until(text, zone)).transpose()?.unwrap_or(now);
        let since = match (self.last, &self.since) {
            (Some(span), _) => Instant(until.0.saturating_sub(span.0)),
            (None, Some(text)) => report::since(text, zone)?,
            (None, None) => return Ok(None),
        };
        if since >= until {
            return Err("the second period ends before it begins".to_owned());
        }
        let before = Instant(since.0.saturating_sub(until.since(since).0));
        Ok(Some([[before, since], [since, until]].map(|[from, to]| self.period(from, to))))
    }

    fn period(&self, from: Instant, to: Instant) -> Period {
        const FORM: &str = "%Y-%m-%d %H:%M";
        let [first, last] = [from, to].map(|at| self.timezone.text(at, FORM).unwrap_or_else(|| "the start".to_owned()));
        let name = format!("{first} to {last} {}", self.timezone.name());
        Period { window: Window { since: Some(from), until: Some(to) }, name }
    }
}
