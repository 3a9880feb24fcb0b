//! Parses rules.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;

use super::{Allowed, BadRules, Budget, REQUESTS_PER_DAY_MAX, Rules, Severity};
use crate::cache;
use crate::diagnosis::{CAUSES, Cause};
use crate::outside::{complaint, found};
use crate::pricing::{Date, Money};
use crate::wire::Level;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entries {
    cache: Option<Spanned<String>>,
    stability: Option<Spanned<String>>,
    sharing: Option<Spanned<String>>,
    breakpoints: Option<Spanned<String>>,
    siblings_differ: Option<Spanned<String>>,
    equality: Option<Spanned<String>>,
    missing: Option<Spanned<String>>,
    thinking: Option<Spanned<String>>,
    account_created: Option<Spanned<String>>,
    #[serde(default)]
    pinned: Vec<Spanned<String>>,
    #[serde(default)]
    budget: BudgetEntry,
    #[serde(default)]
    allow: Vec<AllowEntry>,
    requests_per_day: Option<Spanned<u64>>,
    #[serde(default)]
    in_tests: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct BudgetEntry {
    min_hit_rate: Option<Spanned<f64>>,
    max_cost_per_turn: Option<Spanned<f64>>,
    max_breakpoints: Option<usize>,
    max_cost_rise: Option<Spanned<f64>>,
    max_hit_rate_fall: Option<Spanned<f64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowEntry {
    cause: Spanned<String>,
    path: Option<String>,
}

/// Parses a text; what it leaves out stays as in `rules`.
pub(super) fn read(mut rules: Rules, text: &str) -> Result<Rules, BadRules> {
    let entries: Entries = parse(text)?;
    let text = Text(text);
    if let Some(name) = &entries.cache {
        let names: Vec<&str> = cache::PRESETS.iter().map(|preset| preset.name).collect();
        rules.preset = cache::Rules::preset(name.get_ref()).ok_or_else(|| text.bad(name, &names))?;
    }
    for (entry, slot) in [
        (&entries.stability, &mut rules.stability),
        (&entries.sharing, &mut rules.sharing),
        (&entries.breakpoints, &mut rules.breakpoints),
        (&entries.siblings_differ, &mut rules.siblings),
        (&entries.equality, &mut rules.equality),
        (&entries.missing, &mut rules.missing),
        (&entries.thinking, &mut rules.thinking),
    ] {
        if let Some(word) = entry {
            *slot = severity(word.get_ref()).ok_or_else(|| text.bad(word, &["off", "note", "fail"]))?;
        }
    }
    if let Some(day) = &entries.account_created {
        rules.account_created = Some(text.day(day)?);
    }
    for word in &entries.pinned {
        let names = Level::ALL.map(Level::name);
        let level = Level::ALL.into_iter().find(|level| level.name() == word.get_ref());
        rules.pinned.push(level.ok_or_else(|| text.bad(word, &names))?);
    }
    rules.budget = text.budget(&entries.budget)?;
    for entry in entries.allow {
        let words: Vec<&str> = CAUSES.iter().map(|cause| cause.word()).collect();
        let cause = Cause::of_word(entry.cause.get_ref()).ok_or_else(|| text.bad(&entry.cause, &words))?;
        rules.allow.push(Allowed { cause, path: entry.path });
    }
    rules.requests_per_day = entries.requests_per_day.map(|number| text.requests_per_day(&number)).transpose()?;
    rules.in_tests = entries.in_tests;
    Ok(rules)
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, BadRules> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        BadRules {
            line: Text(text).line(at),
            found: complaint::toml(&error, text),
            expected: "the keys cache, stability, sharing, breakpoints, siblings_differ, equality, missing, thinking, \
                       account_created, pinned, requests_per_day, in_tests, [budget] and [[allow]]"
                .to_owned(),
        }
    })
}

fn severity(word: &str) -> Option<Severity> {
    match word {
        "off" => Some(Severity::Off),
        "note" => Some(Severity::Note),
        "fail" => Some(Severity::Fail),
        _ => None,
    }
}

struct Text<'a>(&'a str);

impl Text<'_> {
    fn line(&self, offset: usize) -> usize {
        let before = self.0.as_bytes().iter().take(offset);
        before.filter(|byte| **byte == b'\n').count() + 1
    }

    fn bad(&self, word: &Spanned<String>, names: &[&str]) -> BadRules {
        BadRules {
            line: self.line(word.span().start),
            found: found(word.get_ref()),
            expected: format!("one of {}", names.join(", ")),
        }
    }

    fn day(&self, day: &Spanned<String>) -> Result<Date, BadRules> {
        Date::parse(day.get_ref()).ok_or_else(|| BadRules {
            line: self.line(day.span().start),
            found: found(day.get_ref()),
            expected: "a day such as 2026-10-07".to_owned(),
        })
    }

    fn requests_per_day(&self, number: &Spanned<u64>) -> Result<u64, BadRules> {
        match *number.get_ref() {
            requests if requests <= REQUESTS_PER_DAY_MAX => Ok(requests),
            requests => Err(BadRules {
                line: self.line(number.span().start),
                found: requests.to_string(),
                expected: format!("a whole number from 0 to {REQUESTS_PER_DAY_MAX}"),
            }),
        }
    }

    fn budget(&self, entry: &BudgetEntry) -> Result<Budget, BadRules> {
        let max_cost_per_turn = match &entry.max_cost_per_turn {
            // Read from the text itself: money has no floating point.
            Some(cost) => match self.0.get(cost.span()).unwrap_or_default().parse::<Money>() {
                Ok(money) if money >= Money::ZERO => Some(money),
                _ => return Err(self.out_of_range(cost, "an amount in USD, at most 12 decimals after a point")),
            },
            None => None,
        };
        Ok(Budget {
            min_hit_rate_per_mille: self.per_mille(entry.min_hit_rate.as_ref(), 1.0, "a share between 0 and 1")?,
            max_cost_per_turn,
            max_breakpoints: entry.max_breakpoints,
            max_cost_rise_per_mille: self.per_mille(entry.max_cost_rise.as_ref(), 1_000.0, "a share from 0 to 1000")?,
            max_hit_rate_fall_per_mille: self.per_mille(
                entry.max_hit_rate_fall.as_ref(),
                1.0,
                "a share between 0 and 1",
            )?,
        })
    }

    fn per_mille(&self, share: Option<&Spanned<f64>>, most: f64, expected: &str) -> Result<Option<u32>, BadRules> {
        match share {
            Some(share) if (0.0..=most).contains(share.get_ref()) => {
                Ok(Some((share.get_ref() * 1_000.0).round() as u32))
            }
            Some(share) => Err(self.out_of_range(share, expected)),
            None => Ok(None),
        }
    }

    fn out_of_range(&self, number: &Spanned<f64>, expected: &str) -> BadRules {
        BadRules {
            line: self.line(number.span().start),
            found: found(self.0.get(number.span()).unwrap_or_default()),
            expected: expected.to_owned(),
        }
    }
}
