//! Which requests count, how they are grouped, and limits on their sums.

use clap::Args as ClapArgs;
use forkcast_reports::names::Names;
use forkcast_reports::report::{self, By, Limits, Share, View, Window, Zone};
use forkcast_sim::pricing::Money;
use forkcast_sim::time::{Duration, Instant};

use super::number;
use crate::clock;

/// Groups, window and limits.
#[derive(Debug, ClapArgs)]
pub struct ViewArgs {
    /// Groups of requests, and limits on their sums
    #[command(flatten)]
    sums: SumArgs,

    /// Count requests sent from this day or instant on; earlier ones only fill the cache
    #[arg(long, value_name = "WHEN", value_parser = since, conflicts_with = "bodies", help_heading = "What counts")]
    since: Option<String>,

    /// Count requests sent until the end of this day, or before this instant
    #[arg(long, value_name = "WHEN", value_parser = until, conflicts_with = "bodies", help_heading = "What counts")]
    until: Option<String>,

    /// Count requests of the last days, hours or weeks before now: 7d, 24h, 2w
    #[arg(long, value_name = "SPAN", value_parser = report::span, conflicts_with_all = ["since", "bodies"],
        help_heading = "What counts")]
    last: Option<Duration>,

    /// Count requests of projects whose path contains this text
    #[arg(long, value_name = "TEXT", conflicts_with = "bodies", help_heading = "What counts")]
    project: Option<String>,

    /// Count requests of sessions whose id begins with this
    #[arg(long, value_name = "ID", conflicts_with = "bodies", help_heading = "What counts")]
    session: Option<String>,

    /// Time zone of days and times: an IANA name, `local` or `UTC` [default: local for people, UTC for machines]
    #[arg(long, value_name = "ZONE", help_heading = "What counts")]
    timezone: Option<Zone>,

    /// Show this many rows of each list; of days, weeks, months and blocks the newest
    #[arg(long, value_name = "N", value_parser = rows, help_heading = "What counts")]
    top: Option<u16>,
}

/// A number of rows.
fn rows(text: &str) -> Result<u16, String> {
    let number = text.parse().ok().filter(|rows| *rows > 0);
    number.ok_or_else(|| format!("expected a number of rows from 1 to {}, such as 10", u16::MAX))
}

/// A day or an instant: which one depends on the time zone.
pub(super) fn since(text: &str) -> Result<String, String> {
    report::since(text, &Zone::default()).map(|_| text.to_owned())
}

/// The same for an end.
pub(super) fn until(text: &str) -> Result<String, String> {
    report::until(text, &Zone::default()).map(|_| text.to_owned())
}

/// Groups of requests, and limits on their sums.
#[derive(Debug, ClapArgs)]
pub struct SumArgs {
    /// Also show sums by day, model, project …; two keys: day,model
    ///
    /// Keys: day, week, month, block (of five hours), project, model, agent, kind (of agent), version (of the client).
    #[arg(long, value_name = "KEY[,KEY]", value_parser = keys, help_heading = "What counts")]
    by: Option<Keys>,

    /// Exit with 1 if the bill is larger
    #[arg(long, value_name = "USD", value_parser = usd, allow_negative_numbers = true, help_heading = "Limits")]
    max_cost: Option<Money>,

    /// Exit with 1 if a smaller share of the input was read from the cache (0.8 or 80%)
    #[arg(long, value_name = "SHARE", help_heading = "Limits")]
    min_hit_rate: Option<Share>,

    /// Exit with 1 if more tokens were missed without a known cause
    #[arg(long, value_name = "TOKENS", value_parser = number::<u64, 0>, help_heading = "Limits")]
    max_unexplained: Option<u64>,
}

/// The keys by which requests are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Keys {
    by: By,
    then_by: Option<By>,
}

fn keys(text: &str) -> Result<Keys, String> {
    let key =
        |word: &str| By::named(word.trim()).ok_or_else(|| format!("expected {}", By::ALL.map(By::word).join(", ")));
    let Some((first, second)) = text.split_once(',') else { return Ok(Keys { by: key(text)?, then_by: None }) };
    if second.contains(',') {
        return Err("expected at most two keys".to_owned());
    }
    let keys = Keys { by: key(first)?, then_by: Some(key(second)?) };
    if keys.then_by == Some(keys.by) { Err("expected two different keys".to_owned()) } else { Ok(keys) }
}

impl ViewArgs {
    /// The requested view; its window must not be empty. `is_for_people`: days and times are local by default.
    pub fn view(&self, names: Names, is_for_people: bool) -> Result<View, String> {
        let zone = self.timezone.clone().unwrap_or_else(|| Zone::default_for(is_for_people));
        let now = clock::now();
        let since = match self.last {
            Some(span) => Some(Instant(now.0.saturating_sub(span.0))),
            None => self.since.as_deref().map(|text| report::since(text, &zone)).transpose()?,
        };
        let until = self.until.as_deref().map(|text| report::until(text, &zone)).transpose()?;
        if since.zip(until).is_some_and(|(since, until)| since >= until) {
            return Err("--until is before --since: no request can be between them".to_owned());
        }
        Ok(View {
            names,
            window: Window { since, until },
            zone,
            project: self.project.clone(),
            session: self.session.clone(),
            top: self.top.map(usize::from),
            now: Some(now),
            ..self.sums.view()
        })
    }
}

impl SumArgs {
    /// The requested view.
    pub fn view(&self) -> View {
        View {
            by: self.by.map(|keys| keys.by),
            then_by: self.by.and_then(|keys| keys.then_by),
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
