//! Two results side by side, for people.

use crate::document::{Cell, Column, Document, Table, count, share};
use crate::movement::{Broken, Moved, Movement, Sums, WORK};

/// The document.
pub fn document(movement: &Movement) -> Document {
    let mut document = Document::default();
    document.title(title(movement));
    let [before, after] = [0, 1].map(|at| side(&movement.names[at], &movement.sums[at]));
    document.aside(vec![format!("Before: {before}"), format!("After:  {after}")]);
    document.text(movement.one_request().iter().map(one_request).collect());
    document.heading("Why it moved");
    document.table(table("causes", "Cause", &movement.causes(), &movement.bill()));
    document.aside(vec!["All else: what the requests would have cost with every missed token read".to_owned()]);
    if movement.causes().iter().any(|moved| moved.what != WORK) {
        super::list::hint(&mut document);
    }
    document.heading("What it was spent on");
    document.table(table("parts", "Spent on", &movement.parts(), &movement.bill()));
    document
}

/// `$0.69 → $0.56 · -18.2 %`.
fn title(movement: &Movement) -> String {
    let bill = movement.bill();
    let rise = bill.rise().map_or_else(String::new, |rise| format!(" · {}", Cell::Error(Some(rise)).human()));
    format!("{}{rise}", arrow(&bill))
}

fn arrow(moved: &Moved) -> String {
    let [before, after] = moved.cost.map(|cost| Cell::Money(cost).human());
    format!("{before} → {after}")
}

fn side(name: &str, sums: &Sums) -> String {
    let without_price = match sums.unpriced {
        0 => String::new(),
        requests => format!(", {} of them without a price and in no amount", count(requests)),
    };
    let partial = if sums.is_partial { ", interrupted" } else { "" };
    let plural = if sums.requests == 1 { "" } else { "s" };
    format!("{name}, {} request{plural}{without_price}{partial}", count(sums.requests))
}

fn one_request(moved: &Moved) -> String {
    let [before, after] = moved.tokens.map(count);
    let rise = moved.rise().map_or_else(String::new, |rise| format!(" ({})", Cell::Error(Some(rise)).human()));
    format!("A request on average: {}{rise}, {before} → {after} tokens", arrow(moved))
}

fn table(word: &'static str, first: &'static str, rows: &[Moved], sum: &Moved) -> Table {
    // What neither has says nothing.
    let says = |moved: &&Moved| moved.cost.iter().flatten().any(|cost| cost.picousd() != 0) || moved.tokens != [0, 0];
    let rows: Vec<&Moved> = std::iter::once(sum).chain(rows.iter().filter(says)).collect();
    let mut table = Table::of(word, &rows)
        .with(Column::left(first, "what").kept(), |moved| Cell::text(what(moved)))
        .with(Column::right("Difference", "delta_usd").kept(), |moved| Cell::MoneyDifference(moved.delta()))
        .with(Column::right("Before", "before_usd"), |moved| Cell::Money(moved.cost[0]))
        .with(Column::right("After", "after_usd"), |moved| Cell::Money(moved.cost[1]))
        .with(Column::right("Tokens", "delta_tokens"), |moved| Cell::Difference(moved.delta_tokens()))
        .with(Column::right("Tokens before", "before_tokens").optional(), |moved| Cell::Count(moved.tokens[0]))
        .with(Column::right("Tokens after", "after_tokens").optional(), |moved| Cell::Count(moved.tokens[1]))
        .whole();
    table.sum = Some(table.rows.remove(0));
    table
}

fn what(moved: &Moved) -> &str {
    match moved.what.as_str() {
        "bill" => "The bill",
        WORK => "All else",
        "read" => "Reading the context again",
        "written" => "Writing to the cache",
        "input" => "Input without the cache",
        "output" => "Answers",
        "fees" => "Fees",
        cause => cause,
    }
}

/// Why a limit is broken.
pub fn sentence(broken: &Broken) -> String {
    let Broken { name, what, limit, rise } = broken;
    match rise {
        Ok(rise) => format!("--{name}: {what} rose by {}, allowed are {}", share(*rise), share(*limit)),
        Err(why) => format!("--{name}: {why}, so it is unknown by how much {what} rose"),
    }
}
