//! Sentences about a change, for people and for outputs with text. They contain no text of prompts.

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::guard::{Finding, NoteKind, Noted, Rule};
use forkcast_sim::outside::quoted;
use forkcast_sim::wire::Maker;

use crate::check::{Check, Kind, Verdict};
use crate::comparison::sentence;
use crate::document::{count, money, several};
use crate::human::{change, list};
use crate::names::Names;

/// The change as a title: `tool_changed: tool `Read`, field `description``.
pub fn headline(check: &Check<'_>, kind: &Kind<'_>) -> String {
    let finding = kind.first();
    let how = match kind.verdict {
        Verdict::Fails => "",
        Verdict::Allowed => " (allowed)",
        Verdict::Noted | Verdict::Harmless => " (only noted)",
    };
    let causes: Vec<&str> = kind.causes().into_iter().map(Cause::word).collect();
    format!("{}: {}{how}", causes.join(", "), called(check, kind).unwrap_or_else(|| finding.path.clone()))
}

/// Most names listed for blocks that were added or removed together.
const CALLED: usize = 3;

/// The changed things, by name.
fn called(check: &Check<'_>, kind: &Kind<'_>) -> Option<String> {
    let names = kind.names();
    let more = names.len().saturating_sub(CALLED);
    let said: Vec<String> = names.iter().take(CALLED).map(|name| check.names.thing(name)).collect();
    let more = if more > 0 { format!(" and {} more", count(more as u64)) } else { String::new() };
    (!said.is_empty()).then(|| format!("{}{more}", said.join(", ")))
}

/// The requests, and the place in them.
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
    let against = if finding.cause.is_refusal() { String::new() } else { format!(", against {older}") };
    let first = format!("{newer} of chain {chain}{against}; rule {}.", finding.rule.word());
    let place = range(finding).filter(|_| finding.offset_in_block.is_none());
    let place = place.or_else(|| change::place(&finding.site));
    let times = match kind.times() {
        1 => None,
        times => Some(format!("{} such changes in this request; the first is shown.", count(times as u64))),
    };
    [Some(first), place, times, further(kind)].into_iter().flatten().collect()
}

/// The place if only a stretch is known, as for a lock.
fn range(finding: &Finding) -> Option<String> {
    let [from, to] = finding.offset_range?;
    Some(format!("At {}, first differing byte between {} and {} of the block.", finding.path, count(from), count(to)))
}

/// Most further requests that are listed.
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
    let same = if kind.causes().len() > 1 { "More such changes" } else { "The same" };
    Some(format!("{same} in {}: {}{more}.", several(number as u64, "more request"), named.join(", ")))
}

/// The cause, the cost, the provider's name for it, and how to fix it.
pub fn what_it_means(check: &Check<'_>, kind: &Kind<'_>) -> Vec<String> {
    let finding = kind.first();
    let together = !kind.further().is_empty() && kind.tokens_lost() > finding.tokens_lost();
    [
        change::varying(finding.volatile),
        Some(cost(check, finding)),
        (together && !finding.cause.is_refusal()).then(|| all(kind)),
        Some(provider(finding)),
        Some(format!("How to fix it: {}", suggestion(check, finding))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The cost of a finding, in its request and per day.
pub fn cost(check: &Check<'_>, finding: &Finding) -> String {
    if !finding.breaks_prefix {
        return "It loses no cached tokens.".to_owned();
    }
    if finding.cause.is_refusal() {
        return "The provider answers HTTP 400: nothing of the request is read, written or billed.".to_owned();
    }
    let Some(loss) = finding.loss else {
        return change::NOT_MODELLED.to_owned();
    };
    if loss.tokens == 0 {
        return "In this request it loses no cached tokens: without it they would not have been read either."
            .to_owned();
    }
    let tokens = format!("{} {}", if loss.is_upper_bound { "At most" } else { "About" }, count(loss.tokens));
    if finding.rule == Rule::Equality {
        let cost = loss.cost.map_or_else(String::new, |cost| format!(": {} more", money(cost)));
        return format!("{tokens} tokens of the lock's cached prompt are paid again, once{cost}.");
    }
    let instead = change::instead(loss.billed_as);
    if finding.with_sibling {
        let cost = loss.cost.map_or_else(String::new, |cost| format!(", for {} less", money(cost)));
        return format!("{tokens} tokens would be read if it shared them with its sibling{cost}; they are {instead}.");
    }
    let Some(cost) = loss.cost else {
        return format!("{tokens} cached tokens are {instead}; the model has no price in the book.");
    };
    let each = match loss.requests {
        0 | 1 => "per request".to_owned(),
        several => format!("in {} requests together", count(several)),
    };
    let never_cached = finding.rule == Rule::Breakpoints;
    let cached = if loss.requests > 1 || never_cached { "repeated" } else { "cached" };
    let day = check.rules.requests_per_day.and_then(|requests| {
        let cost = finding.cost_per_day(requests)?;
        Some(format!(", {} per day with {} such requests", money(cost), count(requests)))
    });
    let writes = if never_cached { ", the writes that reading takes included" } else { "" };
    format!("{tokens} {cached} tokens are {instead}: {} more {each}{writes}{}.", money(cost), day.unwrap_or_default())
}

fn all(kind: &Kind<'_>) -> String {
    let tokens = count(kind.tokens_lost().unwrap_or(0));
    match kind.cost() {
        Some(cost) => format!("Together in these requests: {tokens} tokens, {}.", money(cost)),
        None => format!("Together in these requests: {tokens} tokens."),
    }
}

/// The word of the provider's own diagnosis with the provider's name, or a sentence that there is none.
pub fn provider(finding: &Finding) -> String {
    match (finding.provider.and_then(Maker::diagnosis), finding.provider_reason()) {
        (Some(diagnosis), Some(word)) => format!("{diagnosis} calls it `{word}`."),
        (Some(diagnosis), None) => format!("{diagnosis} has no word for it."),
        (None, _) => "Its provider has no cache diagnosis.".to_owned(),
    }
}

/// Advice.
pub fn suggestion(check: &Check<'_>, finding: &Finding) -> String {
    check.names.thing(&finding.suggestion())
}

/// Everything about a change as lines of plain text, with its bytes if files may contain them.
pub fn lines(check: &Check<'_>, kind: &Kind<'_>) -> Vec<String> {
    let windows = kind.first().windows.as_ref().filter(|_| check.content && check.names == Names::Plain);
    let windows = windows.into_iter().flat_map(|[older, newer]| {
        [("older", older), ("newer", newer)]
            .map(|(side, window)| format!("{side}: {}[{}]{}", window.before, window.mark, window.after))
    });
    let means = what_it_means(check, kind).into_iter().chain([list::more(kind.first().cause)]);
    where_it_is(check, kind).into_iter().chain(windows).chain(means).collect()
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
        NoteKind::Time(Cause::Expired) => "came after the entry that it repeats had expired; no byte is to blame",
        NoteKind::Time(Cause::InFlight) => "came before the writer of its prefix had begun its answer",
        NoteKind::Time(cause) => cause.suggestion(),
        NoteKind::Refused => {
            "is refused by the known rules of the provider; a recorded answer, or the rules file, accepts it"
        }
        NoteKind::ThinkingUnbound => "sends thinking after other content than it was made after",
        NoteKind::ThinkingDropped => "sends thinking that the provider drops",
        NoteKind::ThinkingAltered => "sends thinking with another text than before",
        NoteKind::NewChain => {
            "begins a chain: it has the tools and system prompt of another, but none of its messages; if it is that agent with a \
             replaced history, name the agents (a subfolder each, or ids in the recording)"
        }
        NoteKind::Branch => {
            "continues an earlier request of a chain in another way, so it counts as a fork, as a retry for another answer or as a \
             return to an earlier message; if it is that agent one step back, name the agents (a subfolder each, or ids in the recording); if it is a \
             named fork of the last one, it lost an exchange"
        }
    }
}
