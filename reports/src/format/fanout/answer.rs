//! Questions that cells answer: curves, and their crossings.

use forkcast_scenarios::fanout::breakeven::{Answer, Crossing, Curve, Panel, Point, Question};

use crate::record::{Shape, Value, list};

/// An answer.
pub(super) struct AnswerOf<'a>(pub &'a Answer);

record! {
    AnswerOf<'_>, "answer":
    field "question", || Shape::words(Question::ALL.map(Question::word)), "The question." =>
        |answer| answer.0.question.word();
    records: Part<'_, Panel>, "panels", "A panel for each setting." =>
        |answer| list(answer.0.panels.iter().map(Part));
}

/// A part of an answer.
struct Part<'a, T>(&'a T);

record! {
    Part<'_, Panel>, "panel":
    text "title", "The setting." => |panel| Value::text(&panel.0.title);
    records: Part<'_, Curve>, "curves", "A curve for each policy." => |panel| list(panel.0.curves.iter().map(Part));
    records: Part<'_, Crossing>, "crossings", "Points at which one becomes cheaper than another." =>
        |panel| list(panel.0.crossings.iter().map(Part));
}

record! {
    Part<'_, Curve>, "curve":
    text "name", "The policy." => |curve| Value::text(&curve.0.name);
    truth "is_bound", "Not a policy, but the lower bound." => |curve| curve.0.is_bound;
    records: Part<'_, Point>, "points", "Its points." => |curve| list(curve.0.points.iter().map(Part));
}

record! {
    Part<'_, Point>, "point":
    number "at", "Children, turns, children that wait, or seconds, by the question." => |point| point.0.at, unit("as the question says");
    usd "cost_usd", "The cost that the question compares: with the parent's requests (`children`, `prime`), of the children and the words that start them (`fork-or-spawn`), of the children (`ttl`), of one child (`look-back`)." => |point| point.0.cost;
    text "label", "Its name." => |point| Value::text(&point.0.label);
}

/// When a field is null.
const BEYOND: &str = "if it does not happen within the range";

record! {
    Part<'_, Crossing>, "crossing":
    text "name", "The two policies." => |crossing| Value::text(&crossing.0.name);
    number "at", "Its place, as measured." => |crossing| crossing.0.at, null(BEYOND), unit("as the question says");
    number "at_with_parent", "Its place if the parent's other requests count too, as in the totals of a grid." => |crossing| crossing.0.with_parent, null("where it is not asked, or beyond the places examined"), unit("as the question says");
    number "formula", "Its place, by the formula." => |crossing| crossing.0.formula, null("if no formula is known"), unit("as the question says");
    usd "cost_usd", "The cost of both there." => |crossing| crossing.0.at.map(|_| crossing.0.cost), null(BEYOND);
}
