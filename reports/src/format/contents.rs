//! What the prompts of each agent were made of, and what that cost, for pages.

use std::collections::BTreeMap;

use forkcast_sim::pricing::{Bill, Category, Money, div_half_even};
use forkcast_sim::service::{Content, ContentKind, Portion};
use forkcast_sim::wire::Usage;

use crate::record::{Shape, Value};
use crate::report::{Recorded, Report};

/// Sums by session, agent and content.
#[derive(Debug, Default)]
pub struct ContentSums(BTreeMap<(usize, String, Content), Sum>);

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    tokens: u64,
    cost: Money,
}

impl ContentSums {
    /// Adds the prompt of a request that is in the sums.
    pub(super) fn add(&mut self, report: &Report<'_>, entry: &Recorded<'_>) {
        let Some(usage) = entry.line.billed() else { return };
        let agent = report.agent_of(entry).unwrap_or("unknown");
        for portion in &entry.composition.0 {
            let key = (entry.line.session, agent.to_owned(), portion.content.clone());
            let sum = self.0.entry(key).or_default();
            sum.tokens += portion.tokens();
            sum.cost += entry.line.charge.bill.as_ref().map_or(Money::ZERO, |bill| cost(portion, bill, &usage));
        }
    }

    /// The sums as rows.
    pub fn rows<'a>(&'a self, report: &'a Report<'_>) -> impl Iterator<Item = ContentSum<'a>> {
        self.0.iter().map(|((session, agent, content), sum)| ContentSum {
            session: report.session(*session).map_or("unknown", |session| &session.id),
            agent,
            content,
            tool: content.tool.as_ref().map(|tool| report.names.tool(tool)),
            sum: *sum,
        })
    }
}

/// The part of a bill's input that a portion has: tokens of one category have one price.
fn cost(portion: &Portion, bill: &Bill, usage: &Usage) -> Money {
    let part = |tokens: u64, of: u64, is_of: fn(Category) -> bool| {
        let all: Money = bill.lines.iter().filter(|line| is_of(line.category)).map(|line| line.cost).sum();
        let product = all.picousd().saturating_mul(i128::from(tokens));
        Money::from_picousd(div_half_even(product, i128::from(of)))
    };
    part(portion.read, usage.cache_read_input_tokens, |category| category == Category::Read)
        + part(portion.written, usage.cache_creation_input_tokens(), |category| {
            matches!(category, Category::Write5m | Category::Write1h)
        })
        + part(portion.fresh, usage.input_tokens, |category| category == Category::Input)
}

/// A row.
pub struct ContentSum<'a> {
    session: &'a str,
    agent: &'a str,
    content: &'a Content,
    tool: Option<String>,
    sum: Sum,
}

record! {
    ContentSum<'_>, "content_sum":
    text "session", "The session." => |it| Value::text(it.session);
    text "agent", "The agent." => |it| Value::text(it.agent);
    field "content", || Shape::words(ContentKind::ALL.map(ContentKind::name)), "What it is." =>
        |it| it.content.kind.name();
    text "tool", "The tool, of results." => |it| it.tool.clone(), null("if it is unknown, and for other content");
    tokens "tokens", "Its tokens in all prompts." => |it| it.sum.tokens;
    usd "cost_usd", "What they cost." => |it| it.sum.cost;
}
