//! Where every token of a request went: `accounts.yaml`, a word per block.

use std::collections::{BTreeMap, BTreeSet};

use forkcast_sim::cache::{LookBack, PositionCount, Refresh, Rules};
use forkcast_sim::diagnosis::{CAUSES, Cause};
use forkcast_sim::pricing::Category;
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::Usage;
use serde::Deserialize;

use super::body::expand;
use super::day::{Day, Sent, Served};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Story {
    name: String,
    #[serde(default)]
    minimum: u64,
    results_sorted: Option<bool>,
    loss_per_million: Option<u32>,
    refresh_hit_only: Option<bool>,
    reach: Option<u32>,
    requests: Vec<Told>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    /// Seconds; by default ten after the previous request.
    at: Option<u64>,
    #[serde(default)]
    begins_after: u64,
    scope: Option<String>,
    chain: Option<String>,
    body: String,
    /// Input, read, written for five minutes, written for an hour.
    usage: Option<[u64; 4]>,
    account: String,
    notes: Option<Vec<String>>,
}

fn rules(story: &Story) -> Rules {
    let mut rules = Rules::default();
    rules.forms.results_sorted = story.results_sorted.unwrap_or(true);
    rules.loss_per_million = story.loss_per_million.unwrap_or(0);
    rules.look_back = LookBack { count: PositionCount::Blocks, reach: story.reach.unwrap_or(20) };
    if story.refresh_hit_only == Some(true) {
        rules.refresh = Refresh::HitOnly;
    }
    rules
}

fn sent(told: &Told, before: Option<&Sent>) -> Sent {
    let next = before.map_or(Instant::default(), |before| before.at + Duration::from_secs(10));
    Sent {
        at: told.at.map_or(next, |seconds| Instant::default() + Duration::from_secs(seconds)),
        begins_after: Duration::from_secs(told.begins_after),
        scope: told.scope.clone().unwrap_or_else(|| "scope".to_owned()),
        chain: told.chain.clone().unwrap_or_else(|| "chain".to_owned()),
        body: expand(&told.body),
        usage: told.usage.map(|[input, read, write_5m, write_1h]| Usage {
            input_tokens: input,
            cache_read_input_tokens: read,
            ephemeral_5m_input_tokens: write_5m,
            ephemeral_1h_input_tokens: write_1h,
            output_tokens: 0,
        }),
    }
}

fn cause(word: &str) -> Cause {
    CAUSES.into_iter().find(|cause| cause.word() == word).unwrap_or_else(|| panic!("no cause `{word}`"))
}

/// Where the tokens of a request went: read, new, and missed by cause and billing.
type Account = (u64, u64, BTreeMap<(Cause, Category), u64>);

/// `system_changed/40`: of an edited block 40 tokens were sent before, and the rest is new.
fn parted(word: &str) -> (&str, usize) {
    word.split_once('/').map_or((word, usize::MAX), |(word, tokens)| (word, tokens.parse().unwrap()))
}

/// The tokens of an account in words.
fn expected(served: &Served, words: &[&str]) -> Account {
    let usage = &served.usage;
    let read = usage.cache_read_input_tokens;
    let billed = |token: u64| match token {
        token if token < read + usage.ephemeral_1h_input_tokens => Category::Write1h,
        token if token < read + usage.cache_creation_input_tokens() => Category::Write5m,
        _ => Category::Input,
    };
    let mut missed = BTreeMap::new();
    let mut new = usage.total_input_tokens().saturating_sub(read.max(served.cumulative.last().copied().unwrap_or(0)));
    let starts = [0].into_iter().chain(served.cumulative.iter().copied());
    for ((word, start), end) in words.iter().zip(starts).zip(&served.cumulative) {
        let unread = start.max(read)..*end;
        match *word {
            "new" => new += unread.count() as u64,
            // Unread tokens of a block that should have been read show as a difference to the account found.
            "read" => {}
            word => {
                let (word, sent_before) = parted(word);
                for (step, token) in unread.enumerate() {
                    if step < sent_before {
                        *missed.entry((cause(word), billed(token))).or_default() += 1;
                    } else {
                        new += 1;
                    }
                }
            }
        }
    }
    (read, new, missed)
}

/// Plays a story; returns the errors.
fn play(story: &Story, met: &mut BTreeSet<Cause>) -> Vec<String> {
    let mut day = Day::new(rules(story), story.minimum);
    let mut before: Option<Sent> = None;
    let mut wrong = Vec::new();
    for (at, told) in story.requests.iter().enumerate() {
        let sent = sent(told, before.as_ref());
        let served = day.send(&sent);
        let words: Vec<&str> = told.account.split_whitespace().collect();
        let found = &served.explanation;
        let missed: BTreeMap<_, _> =
            found.missed.iter().map(|part| ((part.cause, part.billed_as), part.tokens)).collect();
        let account = (found.read_tokens, found.new_tokens, missed);
        let notes: Vec<&str> = found.notes.iter().map(|note| note.word()).collect();
        let expected_notes =
            told.notes.as_ref().map_or(notes.clone(), |notes| notes.iter().map(String::as_str).collect());
        if words.len() != served.cumulative.len() || account != expected(&served, &words) || notes != expected_notes {
            wrong.push(format!(
                "{}, request {at}: {}\n  expected {:?} {expected_notes:?}\n  found    {account:?} {notes:?}\n  blocks end at {:?}",
                story.name, told.account, expected(&served, &words), served.cumulative
            ));
        }
        let sum = found.read_tokens + found.new_tokens + found.missed_tokens();
        assert_eq!(sum, served.usage.total_input_tokens(), "{}, request {at}", story.name);
        met.extend(found.missed.iter().map(|part| part.cause));
        before = Some(sent);
    }
    wrong
}

#[test]
fn accounts_are_those_of_the_corpus() {
    let stories: Vec<Story> = serde_saphyr::from_str(include_str!("accounts.yaml")).unwrap();
    let mut met = BTreeSet::new();
    let wrong: Vec<String> = stories.iter().flat_map(|story| play(story, &mut met)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A hidden request and another machine leave no sign in the visible requests.
    let untold = [Cause::RoutedElsewhere, Cause::HiddenRequest];
    let missing: Vec<_> = CAUSES.iter().filter(|cause| !met.contains(cause) && !untold.contains(cause)).collect();
    assert!(missing.is_empty(), "no story ends in {missing:?}");
}
