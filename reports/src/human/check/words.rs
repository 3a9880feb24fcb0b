//! Sentences for a change that was found, for people and for the outputs that take text: no text of a prompt is in them.

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::guard::{Finding, NoteKind, Noted, Rule};
use forkcast_sim::outside::quoted;

use crate::check::{Check, Kind, Verdict};
use crate::comparison::sentence;
use crate::document::{count, money};
use crate::human::change;
use crate::names::Names;

/// What moved, as a title: `tool_changed: tool `Read`, field `description``.
pub fn headline(check: &Check<'_>, kind: &Kind<'_>) -> String {
    let finding = kind.first();
    let how = match kind.verdict {
        Verdict::Fails => "",
        Verdict::Allowed => " (allowed)",
        Verdict::Noted | Verdict::Harmless => " (only noted)",
    };
    format!("{}: {}{how}", finding.cause.word(), called(check, kind).unwrap_or_else(|| finding.path.clone()))
}

/// Names that are said of what came or went at once.
const CALLED: usize = 3;

/// What changed, by its names.
fn called(check: &Check<'_>, kind: &Kind<'_>) -> Option<String> {
    let names = kind.names();
    let more = names.len().saturating_sub(CALLED);
    let said: Vec<String> = names.iter().take(CALLED).map(|name| check.names.thing(name)).collect();
    let more = if more > 0 { format!(" and {} more", count(more as u64)) } else { String::new() };
    (!said.is_empty()).then(|| format!("{}{more}", said.join(", ")))
}

/// Which requests, and where in them.
pub fn where_it_is(check: &Check<'_>, kind: &Kind<'_>) -> Vec<String> {
    let finding = kind.first();
    let at = |number: usize| match check.place(number) {
        Some(place) => format!("request {} ({place})", count(number as u64)),
        None => format!("request {}", count(number as u64)),
    };
    let older = finding.older.map_or_else(|| "the lock".to_owned(), at);
    let chain = quoted(&check.names.agent(&finding.chain));
    let newer = at(finding.request);
    let newer = newer.strip_prefix('r').map_or(newer.clone(), |rest| format!("R{rest}"));
    let first = format!("{newer} of chain {chain}, against {older}; rule {}.", finding.rule.word());
    let place = range(finding).filter(|_| finding.offset_in_block.is_none());
    let place = place.or_else(|| change::place(&finding.path, finding.offset_in_block, finding.offset_in_prefix));
    let times = match kind.times() {
        1 => None,
        times => Some(format!("{} such changes in this request; the first is shown.", count(times as u64))),
    };
    [Some(first), place, times, further(kind)].into_iter().flatten().collect()
}

/// Where only a stretch is known, as against a lock.
fn range(finding: &Finding) -> Option<String> {
    let [from, to] = finding.offset_range?;
    Some(format!("At {}, first differing byte between {} and {} of the block.", finding.path, count(from), count(to)))
}

/// Numbers of further requests that are named.
const NAMED: usize = 8;

/// The same in other requests.
pub fn further(kind: &Kind<'_>) -> Option<String> {
    let further = kind.further();
    let number = further.len();
    if number == 0 {
        return None;
    }
    let named: Vec<String> = further.iter().take(NAMED).map(|request| count(*request as u64)).collect();
    let more = if number > NAMED { ", …" } else { "" };
    let plural = if number == 1 { "" } else { "s" };
    Some(format!("The same in {} more request{plural}: {}{more}.", count(number as u64), named.join(", ")))
}

/// The cause, the cost, the provider's name for it, and what would save it.
pub fn what_it_means(check: &Check<'_>, kind: &Kind<'_>) -> Vec<String> {
    let finding = kind.first();
    let together = !kind.further().is_empty() && kind.tokens_lost() > finding.tokens_lost();
    [
        change::varying(finding.volatile),
        Some(cost(check, finding)),
        together.then(|| all(kind)),
        Some(provider(finding)),
        Some(format!("What would save it: {}", suggestion(check, finding))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The cost of a finding, in its request and per day.
pub fn cost(check: &Check<'_>, finding: &Finding) -> String {
    if !finding.breaks_prefix {
        return "Nothing that was cached is lost by it.".to_owned();
    }
    let Some(loss) = finding.loss else {
        return change::NOT_MODELLED.to_owned();
    };
    if loss.tokens == 0 {
        return "No further tokens that were cached are lost by it.".to_owned();
    }
    let tokens = format!("{} {}", if loss.is_upper_bound { "At most" } else { "About" }, count(loss.tokens));
    if finding.rule == Rule::Equality {
        let cost = loss.cost.map_or_else(String::new, |cost| format!(": {} more", money(cost)));
        return format!("{tokens} tokens that the lock's prompt has in the cache are paid again, once{cost}.");
    }
    let instead = change::instead(loss.billed_as);
    let Some(cost) = loss.cost else {
        return format!("{tokens} tokens that were cached are {instead}; the model has no price in the book.");
    };
    let day = check.rules.requests_per_day.and_then(|requests| {
        let cost = finding.cost_per_day(requests)?;
        Some(format!(", {} a day if each of {} requests pays it", money(cost), count(requests)))
    });
    format!(
        "{tokens} tokens that were cached are {instead}: {} more a request{}.",
        money(cost),
        day.unwrap_or_default()
    )
}

fn all(kind: &Kind<'_>) -> String {
    let tokens = count(kind.tokens_lost().unwrap_or(0));
    match kind.cost() {
        Some(cost) => format!("Together in these requests: {tokens} tokens, {}.", money(cost)),
        None => format!("Together in these requests: {tokens} tokens."),
    }
}

/// The word of the provider's own diagnosis, whose it is, or that there is none.
pub fn provider(finding: &Finding) -> String {
    match (finding.provider, finding.provider_reason()) {
        (Some(provider), Some(word)) => format!("{} calls it `{word}`.", provider.title()),
        (Some(provider), None) => format!("{} has no word for it.", provider.title()),
        (None, _) => "Its provider has no cache diagnosis.".to_owned(),
    }
}

/// What to change.
pub fn suggestion(check: &Check<'_>, finding: &Finding) -> String {
    check.names.thing(&finding.suggestion())
}

/// Everything about a change as lines of plain text, with its bytes where files may hold them.
pub fn lines(check: &Check<'_>, kind: &Kind<'_>) -> Vec<String> {
    let windows = kind.first().windows.as_ref().filter(|_| check.content && check.names == Names::Plain);
    let windows = windows.into_iter().flat_map(|[older, newer]| {
        [("older", older), ("newer", newer)]
            .map(|(side, window)| format!("{side}: {}[{}]{}", window.before, window.mark, window.after))
    });
    where_it_is(check, kind).into_iter().chain(windows).chain(what_it_means(check, kind)).collect()
}

/// A note in a sentence, with the provider's answer if there is one.
pub fn note(noted: &Noted) -> String {
    let answer = noted.answer.as_ref().map_or_else(String::new, |answer| format!(": \"{answer}\""));
    format!("{}{answer}", meaning(noted.note))
}

/// The meaning of a note.
const fn meaning(note: NoteKind) -> &'static str {
    match note {
        NoteKind::Harmless(note) => sentence(note),
        NoteKind::Time(Cause::Expired) => {
            "came so late that what it repeats had outlived its lifetime; no byte is to blame"
        }
        NoteKind::Time(Cause::InFlight) => "came before the request that writes what it repeats had begun its answer",
        NoteKind::Time(cause) => cause.suggestion(),
        NoteKind::Refused => {
            "is refused by the provider's rules as they are known here; a recorded answer, or the rules file, says otherwise"
        }
        NoteKind::NewChain => {
            "begins a chain: it has tools and system prompt of another and no word of it; if it is that agent with a history that \
             was replaced, name the agents (a subfolder each, or ids in the recording)"
        }
        NoteKind::Branch => {
            "goes on otherwise from the request before a chain's last, so it is taken for a fork of that or for another answer; \
             if it is that agent gone back by a step, name the agents (a subfolder each, or ids in the recording); if it is a \
             named fork of the last one, it lost an exchange"
        }
    }
}
