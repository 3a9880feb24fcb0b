//! Which requests count, how they are grouped, and what their sums may be.

use clap::{Args as ClapArgs, ValueEnum};
use forkcast_reports::names::Names;
use forkcast_reports::report::{self, Limits, Share, View, Window};
use forkcast_sim::pricing::Money;
use forkcast_sim::time::Instant;

/// Groups, window and limits.
#[derive(Debug, ClapArgs)]
pub struct ViewArgs {
    /// How requests are grouped, and what their sums may be
    #[command(flatten)]
    sums: SumArgs,

    /// Count requests sent from this day or instant on; earlier ones only fill the cache
    #[arg(long, value_name = "WHEN", value_parser = report::since, conflicts_with = "bodies", help_heading = "What counts")]
    since: Option<Instant>,

    /// Count requests sent until the end of this day (UTC), or before this instant
    #[arg(long, value_name = "WHEN", value_parser = report::until, conflicts_with = "bodies", help_heading = "What counts")]
    until: Option<Instant>,
}

/// How requests are grouped, and what their sums may be.
#[derive(Debug, ClapArgs)]
pub struct SumArgs {
    /// Also show sums by day, week, month (all UTC), project (working directory, else path as named), model, agent or client version
    #[arg(long, value_name = "KEY", value_enum, hide_possible_values = true, help_heading = "What counts")]
    by: Option<By>,

    /// Exit with 1 if the bill is larger
    #[arg(long, value_name = "USD", value_parser = usd, allow_negative_numbers = true, help_heading = "Limits")]
    max_cost: Option<Money>,

    /// Exit with 1 if a smaller share of the input was read from the cache (0.8 or 80%)
    #[arg(long, value_name = "SHARE", help_heading = "Limits")]
    min_hit_rate: Option<Share>,

    /// Exit with 1 where more tokens were missed for no known cause
    #[arg(long, value_name = "TOKENS", help_heading = "Limits")]
    max_unexplained: Option<u64>,
}

/// What requests are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    Day,
    Week,
    Month,
    Project,
    Model,
    Agent,
    Version,
}

impl From<By> for report::By {
    fn from(by: By) -> Self {
        match by {
            By::Day => Self::Day,
            By::Week => Self::Week,
            By::Month => Self::Month,
            By::Project => Self::Project,
            By::Model => Self::Model,
            By::Agent => Self::Agent,
            By::Version => Self::Version,
        }
    }
}

impl ViewArgs {
    /// The requested view; the window must not be empty.
    pub fn view(&self, names: Names) -> Result<View, String> {
        if let Some((since, until)) = self.since.zip(self.until)
            && since >= until
        {
            return Err("--until lies before --since: no request can be between them".to_owned());
        }
        Ok(View { names, window: Window { since: self.since, until: self.until }, ..self.sums.view() })
    }
}

impl SumArgs {
    /// The requested view.
    pub fn view(&self) -> View {
        View {
            by: self.by.map(Into::into),
            limits: Limits {
                cost_max: self.max_cost,
                hit_rate_min: self.min_hit_rate,
                unexplained_tokens_max: self.max_unexplained,
            },
            ..View::default()
        }
    }

    /// Whether something was requested.
    pub const fn is_asked(&self) -> bool {
        self.by.is_some() || self.max_cost.is_some() || self.min_hit_rate.is_some() || self.max_unexplained.is_some()
    }
}

fn usd(text: &str) -> Result<Money, String> {
    let amount: Money = text.strip_prefix('$').unwrap_or(text).parse().map_err(|_| "expected USD such as 2.50")?;
    if amount < Money::ZERO { Err("expected an amount that is not negative".to_owned()) } else { Ok(amount) }
}
