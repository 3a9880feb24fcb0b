//! `forkcast.compare/1`: two results side by side.

use std::io::{self, Write};

use forkcast_sim::diagnosis::{CAUSES, Cause};

use super::usage::NO_PRICE;
use super::words::cause;
use crate::movement::{Moved, Movement};
use crate::record::{Record, Shape, Value, list, pretty};

/// Name and version.
pub const SCHEMA: &str = "forkcast.compare/1";

/// The description in the schema.
pub(super) const ABOUT: &str = "Two results side by side: what moved, by cause and by kind of cost, in tokens and \
                                dollars. Contains no text of prompts.";

/// Writes it as one JSON object.
///
/// # Errors
/// When the target cannot be written.
pub fn write(movement: &Movement, target: &mut dyn Write) -> io::Result<()> {
    pretty(movement, target)
}

fn both(of: fn() -> Shape) -> Shape {
    Shape::Pair(Box::new(of()))
}

fn counts() -> Shape {
    both(|| Shape::Count { least: 0 })
}

record! {
    Movement, "compare":
    format || Shape::Constant(SCHEMA) => |_| SCHEMA;
    field "names", || both(|| Shape::Text), "The two results, as they were named." =>
        |it| Value::texts(&it.names);
    field "requests", counts, "Their requests." =>
        |it| [it.sums[0].requests, it.sums[1].requests], unit("requests");
    field "unpriced", counts, "Requests with tokens but without a price: they are in no amount." =>
        |it| [it.sums[0].unpriced, it.sums[1].unpriced], unit("requests");
    record: Moved, "bill", "The bill, and all tokens." => |it| it.bill().value();
    record: Moved, "one_request", "The bill of one request on average, rounded." =>
        |it| it.one_request().as_ref().map(Record::value), null("if one of them has no requests");
    records: Moved, "causes",
        "Why the bill moved: `work` is what it would have been with every missed token read, the others are causes of \
         misses, the largest move first. They add up to the bill." => |it| list(it.causes());
    records: Moved, "parts", "What the bill was spent on; they add up to it." => |it| list(it.parts());
}

record! {
    Moved, "moved":
    text "what", "Its word: of a cause the cause's." => |moved| Value::text(&moved.what);
    field "cause", cause, "The cause." =>
        |moved| CAUSES.into_iter().map(Cause::word).find(|word| *word == moved.what), null("if it is none");
    usd "before_usd", "Its money in the first." => |moved| moved.cost[0], null(NO_PRICE);
    usd "after_usd", "In the second." => |moved| moved.cost[1], null(NO_PRICE);
    usd "delta_usd", "The second minus the first." => |moved| moved.delta(), null(NO_PRICE);
    number "rise", "The same as a share of the first." =>
        |moved| moved.rise(), unit("part of 1"), null("without a price, and if the first is nothing");
    tokens "before_tokens", "Its tokens in the first." => |moved| moved.tokens[0];
    tokens "after_tokens", "In the second." => |moved| moved.tokens[1];
}
