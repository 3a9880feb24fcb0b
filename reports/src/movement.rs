//! Two results side by side: what moved between them, by cause and by kind of cost, in tokens and dollars. A result
//! is a folder of `--out` or a report; the sums of a folder are made in `folder::sums`.

use std::collections::{BTreeMap, BTreeSet};

use forkcast_sim::pricing::{Money, div_half_even};
use forkcast_sim::wire::Usage;

use crate::report::{Report, Share, Spending, unpriced};

/// Sums of one result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Those that count.
    pub requests: u64,
    /// Their tokens.
    pub usage: Usage,
    /// Their bill; `None` if nothing has a price.
    pub cost: Option<Money>,
    /// The bill with every missed token read.
    pub perfect: Option<Money>,
    /// The parts of the bill.
    pub spending: Spending,
    /// Missed tokens and their cost, by the word of the cause.
    pub causes: BTreeMap<String, Missed>,
    /// Requests with tokens but without a price: they are in no amount.
    pub unpriced: u64,
    /// Something was interrupted.
    pub is_partial: bool,
}

/// Missed tokens of a cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missed {
    /// How many.
    pub tokens: u64,
    /// Their cost above the read price.
    pub cost: Money,
}

impl Sums {
    /// The same, where no requests cost nothing.
    pub(crate) fn or_nothing(self) -> Self {
        let nothing = (self.requests == 0).then_some(Money::ZERO);
        Self { cost: self.cost.or(nothing), perfect: self.perfect.or(nothing), ..self }
    }

    /// All tokens, in and out.
    const fn tokens(&self) -> u64 {
        self.usage.total_input_tokens() + self.usage.output_tokens
    }
}

impl From<&Report<'_>> for Sums {
    fn from(report: &Report<'_>) -> Self {
        let totals = &report.totals;
        let missed = totals
            .causes()
            .into_iter()
            .map(|(cause, total)| (cause.word().to_owned(), Missed { tokens: total.tokens, cost: total.cost }));
        let without_price = unpriced(report).into_iter().filter(|model| model.tokens > 0);
        let sums = Self {
            requests: report.tally.counted,
            usage: totals.billed.usage,
            cost: totals.billed.cost,
            perfect: totals.perfect,
            spending: totals.spending,
            causes: missed.collect(),
            unpriced: without_price.map(|model| model.requests).sum(),
            is_partial: report.is_partial(),
        };
        sums.or_nothing()
    }
}

/// Two results.
#[derive(Clone, Debug)]
pub struct Movement {
    /// Their names.
    pub names: [String; 2],
    /// Their sums.
    pub sums: [Sums; 2],
}

/// Something that has a value in both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Its word.
    pub what: String,
    /// Its tokens.
    pub tokens: [u64; 2],
    /// Its money; `None` if nothing has a price.
    pub cost: [Option<Money>; 2],
}

impl Moved {
    /// The second minus the first.
    pub fn delta(&self) -> Option<Money> {
        Some(self.cost[1]? - self.cost[0]?)
    }

    /// The second minus the first.
    pub fn delta_tokens(&self) -> i128 {
        i128::from(self.tokens[1]) - i128::from(self.tokens[0])
    }

    /// By how much it rose, as a share of the first; `None` without a price, or if it was nothing before.
    pub fn rise(&self) -> Option<f64> {
        let before = self.cost[0].filter(|before| *before > Money::ZERO)?;
        Some(self.delta()?.picousd() as f64 / before.picousd() as f64)
    }
}

/// The row of everything that is no miss.
pub const WORK: &str = "work";

impl Movement {
    /// The bill.
    pub fn bill(&self) -> Moved {
        self.moved("bill", Sums::tokens, |sums| sums.cost)
    }

    /// The bill of one request on average, rounded; `None` if one of them has no requests. Those without a price are in no
    /// bill, and not counted in its average.
    pub fn one_request(&self) -> Option<Moved> {
        let Moved { tokens, cost, .. } = self.bill();
        let requests = [&self.sums[0], &self.sums[1]].map(|sums| sums.requests);
        if requests.contains(&0) {
            return None;
        }
        let part = |cost: Money, of: u64| Money::from_picousd(div_half_even(cost.picousd(), i128::from(of)));
        let priced = [&self.sums[0], &self.sums[1]].map(|sums| sums.requests.saturating_sub(sums.unpriced));
        let cost = [0, 1].map(|at| cost[at].filter(|_| priced[at] > 0).map(|cost| part(cost, priced[at])));
        let tokens = [0, 1].map(|at| tokens[at] / requests[at]);
        Some(Moved { what: "one_request".to_owned(), tokens, cost })
    }

    /// Why the bill moved: the same requests with every missed token read, then each cause of misses, the largest move
    /// first. Their differences add up to that of the bill.
    pub fn causes(&self) -> Vec<Moved> {
        let words: BTreeSet<&String> = self.sums.iter().flat_map(|sums| sums.causes.keys()).collect();
        let cause = |word: &String| {
            let missed = |sums: &Sums| sums.causes.get(word).copied();
            let cost = |sums: &Sums| sums.cost.map(|_| missed(sums).map_or(Money::ZERO, |missed| missed.cost));
            self.moved(word, |sums| missed(sums).map_or(0, |missed| missed.tokens), cost)
        };
        let mut causes: Vec<Moved> = words.into_iter().map(cause).collect();
        causes.sort_by_key(|moved| std::cmp::Reverse(moved.delta().map(|delta| delta.picousd().abs())));
        let not_missed = |sums: &Sums| sums.tokens() - sums.causes.values().map(|missed| missed.tokens).sum::<u64>();
        causes.insert(0, self.moved(WORK, not_missed, |sums| sums.perfect));
        causes
    }

    /// What the bill was spent on; these add up to it too.
    pub fn parts(&self) -> Vec<Moved> {
        type Part = (&'static str, fn(&Usage) -> u64, fn(&Spending) -> Money);
        const PARTS: [Part; 5] = [
            ("read", |usage| usage.cache_read_input_tokens, |spending| spending.read),
            ("written", Usage::cache_creation_input_tokens, Spending::writes),
            ("input", |usage| usage.input_tokens, |spending| spending.input),
            ("output", |usage| usage.output_tokens, |spending| spending.output),
            ("fees", |_| 0, |spending| spending.fees),
        ];
        let part = |(word, tokens, money): Part| {
            self.moved(word, |sums| tokens(&sums.usage), |sums| sums.cost.map(|_| money(&sums.spending)))
        };
        PARTS.into_iter().map(part).collect()
    }

    fn moved(&self, what: &str, tokens: impl Fn(&Sums) -> u64, cost: impl Fn(&Sums) -> Option<Money>) -> Moved {
        let both = [&self.sums[0], &self.sums[1]];
        Moved { what: what.to_owned(), tokens: both.map(tokens), cost: both.map(cost) }
    }
}

/// The largest allowed rise of the bill, as a share of the first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Of the whole bill.
    pub rise_max: Option<Share>,
    /// Of the bill of one request on average.
    pub request_rise_max: Option<Share>,
}

/// A limit that was not certainly kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// The option that set it, without its dashes.
    pub name: &'static str,
    /// What it limits.
    pub what: &'static str,
    /// The allowed rise.
    pub limit: f64,
    /// The rise; else why it is unknown.
    pub rise: Result<f64, &'static str>,
}

impl Movement {
    /// The limits that were not certainly kept: an unknown rise may be any.
    pub fn broken(&self, limits: Limits) -> Vec<Broken> {
        let one = |name, what, limit: Option<Share>, moved: Option<Moved>| {
            let limit = limit?.part();
            let known = match self.unsure() {
                Some(why) => Err(why),
                None => moved.and_then(|moved| moved.rise()).ok_or("one of them has no bill"),
            };
            let is_kept = known.is_ok_and(|rise| rise <= limit);
            (!is_kept).then_some(Broken { name, what, limit, rise: known })
        };
        let whole = one("max-rise", "the bill", limits.rise_max, Some(self.bill()));
        let request =
            one("max-rise-per-request", "the bill of one request", limits.request_rise_max, self.one_request());
        [whole, request].into_iter().flatten().collect()
    }

    /// Why the rise is not certain.
    fn unsure(&self) -> Option<&'static str> {
        let any = |is_so: fn(&Sums) -> bool| self.sums.iter().any(is_so);
        if any(|sums| sums.is_partial) {
            return Some("one of them is partial");
        }
        any(|sums| sums.unpriced > 0).then_some("some requests have no price")
    }
}
