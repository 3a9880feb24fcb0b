//! What to change: `ttl=1h,breakpoints=both`, one column of the report each.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use forkcast_sim::cache::{PRESETS, Rules};
use forkcast_sim::pricing::{Date, parse_number, thousands};
use forkcast_sim::time::Duration;
use forkcast_sim::wire::Usage;
use forkcast_sim::wire::model::{ModelId, Vendor, resolve};
use forkcast_sim::words;

use super::breakpoints::Breakpoints;
use crate::error::Error;

/// One change of everything that is `Some` (or true); the rest stays as it was.
///
/// ```
/// use forkcast_replay::what_if::WhatIf;
///
/// let what_if: WhatIf = "ttl=1h,keepalive=2@270".parse()?;
/// assert_eq!(what_if.to_string(), "ttl=1h,keepalive=2@270");
/// assert!("ttl=2h".parse::<WhatIf>().is_err());
/// # Ok::<(), forkcast_replay::error::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WhatIf {
    /// Other lifetimes.
    pub ttl: Option<Lifetimes>,
    /// Prefixes are kept alive by pings.
    pub keepalive: Option<KeepAlive>,
    /// Every request goes to this model.
    pub model: Option<ModelId>,
    /// Only requests to models of its maker do, as in the columns of every replay.
    pub of_its_maker: bool,
    /// Other breakpoints.
    pub breakpoints: Option<Breakpoints>,
    /// Conversations are compacted from this many tokens on.
    pub compact_at: Option<u64>,
    /// Nothing is cached.
    pub no_cache: bool,
    /// Prices of this day.
    pub prices: Option<Date>,
    /// Other rules of the cache.
    pub cache: Option<Rules>,
}

words! {
    /// The lifetime of breakpoints.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Lifetimes {
        /// All five minutes.
        FiveMinutes = "5m",
        /// All one hour.
        OneHour = "1h",
        /// Tools and system prompt one hour, the rest five minutes: longer lifetimes must come first (Anthropic
        /// prompt-caching page, mixing TTLs, 2026-09).
        HeadOneHour = "head-1h",
        /// For each conversation the cheaper one of all five minutes and all one hour, in hindsight. Conversations that begin
        /// with the same block (sub-agents of one kind) choose together, because they read each other's entries.
        Best = "best",
    }
}

/// Requests that only keep cache entries alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeepAlive {
    /// The maximum number after a request.
    pub pings_max: u32,
    /// The time from the last use to each, while no real request is sent.
    pub every: Duration,
}

/// More pings or longer intervals than these are a mistake.
const PINGS_MAX: u32 = 1_000;
const INTERVAL_SECS_MAX: u64 = 86_400;

/// Below, hardly more than a system prompt and a summary fit; above, no window is.
const COMPACT_AT: RangeInclusive<u64> = 20_000..=10_000_000;

/// A key of the specification: the table of them drives parsing, names, help and lists.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Form of its value; empty where it has none.
    pub values: &'static str,
    /// What it does.
    pub what: &'static str,
    /// Fails with what else is expected beside the form.
    set: fn(&mut WhatIf, &str) -> Result<(), String>,
    show: fn(&WhatIf) -> Option<String>,
}

impl Key {
    /// Key and form of its value, as written: `ttl=5m|1h|head-1h|best`.
    pub fn form(&self) -> String {
        if self.values.is_empty() { self.name.to_owned() } else { format!("{}={}", self.name, self.values) }
    }
}

/// All keys in canonical order.
pub const KEYS: [Key; 8] = [
    Key {
        name: "ttl",
        values: "5m|1h|head-1h|best",
        what: "other lifetimes; head-1h: tools and system prompt 1h, the rest 5m; best: the cheaper of 5m and 1h for each conversation",
        set: |what_if, value| {
            what_if.ttl = Some(Lifetimes::named(value).ok_or_else(String::new)?);
            Ok(())
        },
        show: |what_if| what_if.ttl.map(|ttl| ttl.name().to_owned()),
    },
    Key {
        name: "keepalive",
        values: "N@SECONDS",
        what: "at most N pings after each request, one every SECONDS while no other request comes",
        set: |what_if, value| {
            what_if.keepalive = Some(keepalive(value)?);
            Ok(())
        },
        show: |what_if| {
            what_if.keepalive.map(|pings| format!("{}@{}", pings.pings_max, pings.every.as_millis() / 1_000))
        },
    },
    Key {
        name: "model",
        values: "MODEL",
        what: "every request goes to this model: from Claude to Claude with its prices, minimum and tokenizer, else with the \
               same tokens at its prices",
        set: |what_if, value| {
            what_if.model = Some(model(value)?);
            Ok(())
        },
        show: |what_if| what_if.model.map(|model| model.row().id.to_owned()),
    },
    Key {
        name: "breakpoints",
        values: "none|system|shared|tail|both|tail+previous|before-results|client-2026",
        what: "other blocks are marked",
        set: |what_if, value| {
            what_if.breakpoints = Some(Breakpoints::named(value).ok_or_else(String::new)?);
            Ok(())
        },
        show: |what_if| what_if.breakpoints.map(|placement| placement.name().to_owned()),
    },
    Key {
        name: "compact-at",
        values: "TOKENS",
        what: "the client compacts a conversation whose prompt has so many tokens, as in 100k",
        set: |what_if, value| {
            what_if.compact_at = Some(compact_at(value)?);
            Ok(())
        },
        show: |what_if| what_if.compact_at.map(short),
    },
    Key {
        name: "no-cache",
        values: "",
        what: "nothing is cached",
        set: |what_if, _| {
            what_if.no_cache = true;
            Ok(())
        },
        show: |what_if| what_if.no_cache.then(String::new),
    },
    Key {
        name: "prices",
        values: "YYYY-MM-DD",
        what: "prices of this day",
        set: |what_if, value| {
            what_if.prices = Some(date(value).ok_or_else(|| " that is a day".to_owned())?);
            Ok(())
        },
        show: |what_if| what_if.prices.map(|date| date.to_string()),
    },
    Key {
        name: "cache",
        values: "PRESET",
        what: "other rules of the cache: docs-2026-09, docs-2026-08, observed-2026-08",
        set: |what_if, value| {
            what_if.cache = Some(Rules::preset(value).ok_or_else(presets)?);
            Ok(())
        },
        show: |what_if| what_if.cache.map(|rules| rules.name.to_owned()),
    },
];

fn presets() -> String {
    format!(", one of: {}", PRESETS.map(|rules| rules.name).join(", "))
}

fn keepalive(value: &str) -> Result<KeepAlive, String> {
    let expected = || format!(", as in 2@270, with N from 1 to {PINGS_MAX} and SECONDS from 1 to {INTERVAL_SECS_MAX}");
    let (pings, seconds) = value.split_once('@').ok_or_else(expected)?;
    let pings_max = number(pings).and_then(|pings| u32::try_from(pings).ok());
    let pings_max = pings_max.filter(|pings| (1..=PINGS_MAX).contains(pings)).ok_or_else(expected)?;
    let seconds = number(seconds).filter(|seconds| (1..=INTERVAL_SECS_MAX).contains(seconds)).ok_or_else(expected)?;
    Ok(KeepAlive { pings_max, every: Duration::from_secs(seconds) })
}

fn compact_at(value: &str) -> Result<u64, String> {
    let tokens = parse_number(value).filter(|tokens| COMPACT_AT.contains(tokens));
    tokens.ok_or_else(|| {
        let [least, most] = [COMPACT_AT.start(), COMPACT_AT.end()].map(|tokens| thousands(*tokens));
        format!(", from {least} to {most}; `replay --compact-at` takes lists and ranges")
    })
}

/// Without commas, which separate keys.
fn short(tokens: u64) -> String {
    thousands(tokens).replace(',', "")
}

/// Digits alone: no sign, no space.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn model(value: &str) -> Result<ModelId, String> {
    let found = resolve(value).map(|found| found.id);
    found.ok_or_else(|| ", any spelling of a model in `forkcast list models`".to_owned())
}

/// Only Claude's models have a cache that is modelled.
fn is_claude(model: ModelId) -> bool {
    model.row().vendor == Vendor::Anthropic
}

fn date(value: &str) -> Option<Date> {
    // The parser takes instants too and drops their time.
    let date: jiff::civil::Date = value.parse().ok().filter(|_| value.len() == "2026-01-01".len())?;
    Some(Date(date.year().into(), u8::try_from(date.month()).ok()?, u8::try_from(date.day()).ok()?))
}

/// The current model of each maker that costs least of those that agents of all sizes are built on.
const CURRENT: [&str; 3] = ["claude-sonnet-5-5", "gpt-6.2-sol", "gemini-3.8-flash"];

impl WhatIf {
    /// The columns of every replay, from which actions are derived: the lifetimes, the one policy of pings that costs least
    /// on recorded agents (`economics.md` 1.2: 1h −10.7 %, the better one for each conversation −15.5 %, two pings −9.9 %),
    /// and for each maker the model that costs least of those that agents of all sizes are built on, for requests to its own.
    pub fn defaults() -> Vec<Self> {
        let ttl = |ttl| Self { ttl: Some(ttl), ..Self::default() };
        let keepalive = Some(KeepAlive { pings_max: 2, every: Duration::from_secs(270) });
        let pinged = Self { keepalive, ..ttl(Lifetimes::FiveMinutes) };
        let lifetimes = [ttl(Lifetimes::FiveMinutes), ttl(Lifetimes::OneHour), ttl(Lifetimes::Best), pinged];
        let models = CURRENT.iter().filter_map(|name| resolve(name));
        let models = models.map(|found| Self { model: Some(found.id), of_its_maker: true, ..Self::default() });
        lifetimes.into_iter().chain(models).collect()
    }

    /// The columns of every replay, then the requested ones; each name once. A request for a model concerns every maker.
    pub fn with_defaults(asked: &[Self]) -> Vec<Self> {
        let mut all = Self::defaults();
        for what_if in asked {
            match all.iter_mut().find(|known| known.is_named_like(what_if)) {
                Some(known) => known.of_its_maker &= what_if.of_its_maker,
                None => all.push(what_if.clone()),
            }
        }
        all
    }

    /// Whether both have one name.
    pub fn is_named_like(&self, other: &Self) -> bool {
        *self == Self { of_its_maker: self.of_its_maker, ..other.clone() }
    }

    /// Whether it can only be tried in a cache.
    pub fn needs_cache(&self) -> bool {
        let Self { model, of_its_maker, prices, .. } = *self;
        *self != Self { model, of_its_maker, prices, ..Self::default() }
    }

    /// Whether requests whose cache is modelled are tried in a cache: those that stay with Claude.
    pub(crate) fn is_cached(&self) -> bool {
        self.model.is_none_or(is_claude)
    }

    /// Whether it changes the price of requests to the model of this name.
    pub(super) fn concerns(&self, model: &str) -> bool {
        let maker = |to: ModelId| resolve(model).is_some_and(|found| found.id.row().vendor == to.row().vendor);
        match self.model {
            Some(to) => !self.of_its_maker || maker(to),
            None => self.prices.is_some(),
        }
    }

    /// Whether it says something only of requests with instants.
    pub fn needs_instants(&self) -> bool {
        *self != Self { breakpoints: self.breakpoints, ..Self::default() }
    }

    /// Whether nothing changes.
    pub fn is_unchanged(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it changes requests that were billed so: writes keep a lifetime that they have.
    pub fn changes(&self, billed: &Usage) -> bool {
        let others = match self.ttl {
            Some(Lifetimes::FiveMinutes) => billed.ephemeral_1h_input_tokens,
            Some(Lifetimes::OneHour) => billed.ephemeral_5m_input_tokens,
            _ => return true,
        };
        let alone = Self { ttl: self.ttl, ..Self::default() };
        others > 0 || *self != alone
    }

    fn refused(found: &str, expected: String) -> Error {
        Error::WhatIf { found: found.to_owned(), expected }
    }

    fn set(&mut self, part: &str, whole: &str) -> Result<(), Error> {
        let (name, value) = part.split_once('=').map_or((part, None), |(name, value)| (name, Some(value)));
        let key = KEYS.iter().find(|key| key.name == name).ok_or_else(|| {
            let forms: Vec<String> = KEYS.iter().map(Key::form).collect();
            Self::refused(part, format!("one of: {}", forms.join(", ")))
        })?;
        if (key.show)(self).is_some() {
            return Err(Self::refused(whole, format!("`{name}` once at most; give --what-if twice for two columns")));
        }
        match value {
            None if !key.values.is_empty() => Err(Self::refused(part, key.form())),
            Some(_) if key.values.is_empty() => Err(Self::refused(part, format!("`{name}` without a value"))),
            value => {
                (key.set)(self, value.unwrap_or_default()).map_err(|further| Self::refused(part, key.form() + &further))
            }
        }
    }

    /// What cannot be asked for together.
    fn contradiction(&self) -> Option<&'static str> {
        if !self.is_cached() && self.needs_cache() {
            return Some("a model of another maker than Claude's alone or with prices: its cache is not modelled");
        }
        let cached = self.ttl.is_some() || self.keepalive.is_some() || self.breakpoints.is_some();
        (self.no_cache && (cached || self.cache.is_some()))
            .then_some("`no-cache` alone or with model and prices: it leaves nothing to mark, to time or to keep alive")
    }
}

impl FromStr for WhatIf {
    type Err = Error;

    /// Reads what [`Display`](fmt::Display) writes, the keys in any order.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut what_if = Self::default();
        for part in text.split(',') {
            what_if.set(part.trim(), text)?;
        }
        match what_if.contradiction() {
            Some(expected) => Err(Self::refused(text, expected.to_owned())),
            None => Ok(what_if),
        }
    }
}

impl fmt::Display for WhatIf {
    /// The canonical name: keys in the order of the table; `unchanged` where nothing changes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unchanged() {
            return f.write_str("unchanged");
        }
        let parts = KEYS.iter().filter_map(|key| {
            let value = (key.show)(self)?;
            Some(if value.is_empty() { key.name.to_owned() } else { format!("{}={value}", key.name) })
        });
        f.write_str(&parts.collect::<Vec<_>>().join(","))
    }
}
