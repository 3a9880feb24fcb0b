//! The twin law (`design.md` 6): the extra cost of a conversation compared with the same one without the change is the
//! damage that the guard reports, plus the cost of the tokens that only it has, minus the cost (in the twin) of the
//! tokens that only the twin has.

use std::collections::BTreeMap;

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::guard::{Facts, Guard, Rules, Sent};
use forkcast_sim::pricing::Money;
use forkcast_sim::wire::{BlockId, Request, Usage, Wire};

use super::case::Case;
use super::compared::generated;
use super::generated::mark;
use super::judged::{cases, seed};
use super::kinds::{KINDS, Kind, Tells};
use super::prompt::{Message, Prompt};

/// Bytes per declared token, small enough that every prompt is cached.
const TOKEN_BYTES: u64 = 2;

/// A client marks the end of the system prompt and the end of the request.
fn place(prompt: &mut Prompt) {
    prompt.unmark();
    let system = prompt.system.last_mut();
    let end = prompt.messages.last_mut().and_then(|message| message.content.last_mut());
    system.into_iter().chain(end).for_each(|block| mark(&mut block.json));
}

/// Three requests of a conversation, with and without the change in the second.
struct Pair {
    changed: [String; 3],
    twin: [String; 3],
}

impl Pair {
    /// Both newer requests add the same turn, and so do the next ones.
    fn new(case: &Case, turn: &[Message]) -> Self {
        let mut twin = case.older.clone();
        twin.messages.extend(turn.iter().cloned());
        let mut next = case.newer.clone();
        let said = [next.says("assistant", "It is so, as I see it."), next.says("user", "Then go on, and be quick.")];
        let bodies = |second: &Prompt| {
            let mut third = second.clone();
            third.messages.extend(said.iter().cloned());
            [case.older.clone(), second.clone(), third].map(|mut prompt| {
                place(&mut prompt);
                prompt.body()
            })
        };
        Self { changed: bodies(&case.newer), twin: bodies(&twin) }
    }
}

/// A section of a request: the number of tokens at one price.
struct Part {
    block: BlockId,
    place: String,
    from: u64,
    tokens: u64,
}

/// A request as read by the guard.
struct Played {
    parts: Vec<Part>,
    usage: Usage,
    damage: Option<Money>,
    is_first: bool,
}

impl Played {
    /// The price of a token at this position: reads first, then writes, then plain input.
    fn price(&self, at: u64, prices: &Prices) -> i128 {
        let Usage { cache_read_input_tokens, ephemeral_1h_input_tokens, ephemeral_5m_input_tokens, .. } = self.usage;
        let one_hour = cache_read_input_tokens + ephemeral_1h_input_tokens;
        match at {
            at if at < cache_read_input_tokens => prices.read,
            at if at < one_hour => prices.write_1h,
            at if at < one_hour + ephemeral_5m_input_tokens => prices.write_5m,
            _ => prices.input,
        }
    }

    /// The cost of the first `tokens` tokens of a section.
    fn cost(&self, part: &Part, tokens: u64, prices: &Prices) -> i128 {
        (part.from..part.from + tokens).map(|at| self.price(at, prices)).sum()
    }

    fn is_read(&self, at: u64) -> bool {
        at < self.usage.cache_read_input_tokens
    }
}

/// Prices of a token in 10^-12 USD.
struct Prices {
    read: i128,
    write_5m: i128,
    write_1h: i128,
    input: i128,
}

/// Three bodies through one guard, with declared sizes.
fn play(wire: &mut Wire, bodies: &[String; 3]) -> Vec<Played> {
    let mut guard = Guard::new(Rules::default());
    let take = |body: &String| {
        let request: Request = wire.read(body.as_bytes(), "scope", "").expect("a body");
        let mut parts: Vec<Part> = Vec::new();
        for (node, place) in request.nodes.iter().zip(&request.places) {
            let block = wire.prefixes.block(*node).expect("a block");
            let from = parts.last().map_or(0, |last| last.from + last.tokens);
            let tokens = wire.blocks.len_bytes(block).div_ceil(TOKEN_BYTES);
            parts.push(Part { block, place: place.to_string(), from, tokens });
        }
        let sizes: Vec<u64> = parts.iter().map(|part| part.from + part.tokens).collect();
        let sent = Sent {
            sizes: Some(&sizes),
            facts: Facts { chain: Some("main"), scope: "scope", ..Facts::default() },
            ..Sent::body(body.as_bytes())
        };
        let checked = guard.take(&sent).expect("a body");
        let damage = checked.findings.iter().map(|found| found.cost()).sum::<Option<Money>>();
        Played { parts, usage: checked.expected, damage, is_first: checked.first }
    };
    bodies.iter().map(take).collect()
}

/// Prices by the difference between categories, from bills of the guard's own model.
fn prices(model: &str) -> Option<Prices> {
    use forkcast_sim::pricing::{ModelKey, PriceBook, Terms};
    let terms = Terms { prompt_tokens: 50_000, ..Terms::default() };
    let rates = PriceBook::built_in().rates(&ModelKey::from(model), &terms).ok()?;
    let of = |usage: Usage| rates.bill(&usage, &[]).total.picousd() / 1_000;
    Some(Prices {
        read: of(Usage { cache_read_input_tokens: 1_000, ..Usage::default() }),
        write_5m: of(Usage { ephemeral_5m_input_tokens: 1_000, ..Usage::default() }),
        write_1h: of(Usage { ephemeral_1h_input_tokens: 1_000, ..Usage::default() }),
        input: of(Usage { input_tokens: 1_000, ..Usage::default() }),
    })
}

/// The law's terms for one request.
#[derive(Debug, Default)]
struct Account {
    /// Cost of the common tokens in the changed request minus their cost in the twin, for tokens that the twin reads.
    read: i128,
    /// The same for tokens that the twin does not read: they change their price category.
    other: i128,
    /// A changed block is shared in part, by bytes.
    is_shared: bool,
}

/// The number of common bytes at both ends of two contents, and the length of the newer one. Every block has the first
/// key and the type at the end in common.
fn share(wire: &Wire, old: BlockId, new: BlockId) -> (u64, u64) {
    let content = |block: BlockId| {
        let text = std::str::from_utf8(wire.blocks.bytes(block)).expect("JSON");
        let text = text.split_once(':').map_or(text, |(_, content)| content);
        text.rsplit_once(",\"type\":\"").map_or(text, |(content, _)| content).trim_matches('"').to_owned()
    };
    let [old, new] = [old, new].map(content);
    let (old, new) = (old.as_bytes(), new.as_bytes());
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - start;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    ((start + end) as u64, new.len() as u64)
}

/// Whether the changed blocks are edits of earlier ones: images have no parts, and a summary that replaces a history is
/// new.
fn has_parts(kind: &Kind) -> bool {
    use Cause::{Compacted, HistoryTruncated, ImageChanged, Rewound};
    !matches!(kind.tells, Tells::Cause(Compacted | HistoryTruncated | ImageChanged | Rewound))
}

fn account(wire: &Wire, kind: &Kind, changed: &Played, twin: &Played, prices: &Prices) -> Account {
    let mut account = Account::default();
    let mut free: Vec<&Part> = twin.parts.iter().collect();
    let mut unmatched: Vec<&Part> = Vec::new();
    let mut common = |part: &Part, other: &Part, tokens: u64| {
        let more = changed.cost(part, tokens, prices) - twin.cost(other, tokens, prices);
        let is_read = twin.is_read(other.from);
        *if is_read { &mut account.read } else { &mut account.other } += more;
    };
    for part in &changed.parts {
        match free.iter().position(|other| other.block == part.block) {
            Some(at) => common(part, free.remove(at), part.tokens),
            None => unmatched.push(part),
        }
    }
    let mut is_shared = false;
    let level = |part: &Part| part.place.split(['[', '.']).next().map(str::to_owned);
    for part in unmatched.into_iter().filter(|_| has_parts(kind)) {
        let in_place = free.iter().position(|other| other.place == part.place);
        // A tool may have changed and moved.
        let is_tool = |other: &&Part| level(part).as_deref() == Some("tools") && level(other) == level(part);
        let Some(at) = in_place.or_else(|| free.iter().position(is_tool)) else { continue };
        let other = free.remove(at);
        let (equal, whole) = share(wire, other.block, part.block);
        let tokens = (part.tokens * equal / whole.max(1)).min(other.tokens);
        is_shared |= tokens > 0;
        common(part, other, tokens);
    }
    Account { is_shared, ..account }
}

/// The results of the law for one kind of change.
#[derive(Debug, Default)]
struct Sum {
    exact: u64,
    shared: u64,
    other_category: u64,
    other_prices: u64,
    said: i128,
    truth: i128,
}

#[test]
fn a_changes_cost_is_the_bill_minus_the_twins_bill() {
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    let (mut wrong, mut requests) = (Vec::new(), 0_u64);
    for (at, kind) in KINDS.iter().enumerate() {
        for number in 0..cases(12) {
            let mut case = generated(seed(at, number) + number);
            let history = case.history();
            let turn = case.newer.messages[history..].to_vec();
            let Some(_) = kind.plant(&mut case) else { continue };
            let pair = Pair::new(&case, &turn);
            let mut wire = Wire::default();
            let (changed, twin) = (play(&mut wire, &pair.changed), play(&mut wire, &pair.twin));
            let sum = sums.entry(kind.word).or_default();
            let is_priced_alike = case.newer.model() == case.older.model() && kind.word != "speed";
            let Some(prices) = prices(&case.newer.model()).filter(|_| is_priced_alike) else {
                sum.other_prices += 1;
                continue;
            };
            for (number_of_request, (changed, twin)) in changed.iter().zip(&twin).enumerate().skip(1) {
                requests += 1;
                let said = changed.damage.map_or(0, Money::picousd);
                let law = account(&wire, kind, changed, twin, &prices);
                if law.other != 0 {
                    sum.other_category += 1;
                    continue;
                }
                if law.is_shared {
                    (sum.shared, sum.said, sum.truth) = (sum.shared + 1, sum.said + said, sum.truth + law.read);
                    continue;
                }
                sum.exact += 1;
                if said != law.read && wrong.len() < 40 {
                    let usages = [changed.usage, twin.usage].map(|usage| usage.cache_read_input_tokens);
                    wrong.push(format!(
                        "{} {number} request {number_of_request}: said {said}, law {}, read {usages:?}, first {}",
                        kind.word, law.read, changed.is_first
                    ));
                }
            }
        }
    }
    println!("{requests} requests\n{}", wrong.join("\n"));
    let mut far = Vec::new();
    for (word, sum) in &sums {
        let off = (sum.said - sum.truth).abs() * 1_000 / sum.truth.abs().max(1);
        if sum.other_category > 0 || off > 20 {
            println!("{word}: {sum:?}, off {off} per mille");
        }
        if off > 20 {
            far.push(*word);
        }
    }
    let total = |of: fn(&Sum) -> u64| sums.values().map(of).sum::<u64>();
    println!(
        "exact {}, shared {}, another category {}, other prices {}",
        total(|sum| sum.exact),
        total(|sum| sum.shared),
        total(|sum| sum.other_category),
        total(|sum| sum.other_prices)
    );
    assert!(wrong.is_empty() && far.is_empty(), "{wrong:#?} {far:?}");
}
