//! A recorded session as played beside the same with agents that are built otherwise. JSON has the same columns.

use forkcast_scenarios::cast::comparison::{Side, Variant};
use forkcast_scenarios::cast::otherwise::{Alteration, Basis};
use forkcast_scenarios::format::expect::Ends;
use forkcast_sim::pricing::Money;

use crate::document::{Document, Table};
use crate::record::{Record, Shape, Value, table};

/// When nothing is compared.
const NOT_COMPARED: &str = "in the rows that others are compared with";

/// When a cost is unknown.
const NO_PRICE: &str = "if nothing has a price";

/// A play of a session, compared with the session as played without changes.
pub(crate) struct Row<'a> {
    name: String,
    side: Side,
    /// The play; `None` for the recording.
    play: Option<&'a Variant>,
    /// With what it is compared.
    played: Option<Side>,
}

impl<'a> Row<'a> {
    /// A variant of a session that was `played` like this.
    pub fn of(variant: &'a Variant, played: Side) -> Self {
        Self { name: variant.otherwise.name(), side: variant.side, play: Some(variant), played: Some(played) }
    }

    fn delta(&self) -> Option<Money> {
        Some(self.side.cost? - self.played?.cost?)
    }

    fn delta_share(&self) -> Option<f64> {
        let played = self.played?.cost?.picousd();
        (played != 0).then_some(self.delta()?.picousd() as f64 / played as f64)
    }

    fn share(&self) -> Option<String> {
        self.delta_share().map(|share| format!("{:+.1} %", share * 100.0))
    }

    fn delta_hit_rate(&self) -> Option<f64> {
        Some(self.side.usage.hit_rate()? - self.played?.usage.hit_rate()?)
    }

    fn delta_ms(&self) -> Option<f64> {
        Some((self.side.ended_at.0 as f64 - self.played?.ended_at.0 as f64) / 1e6)
    }

    fn delta_secs(&self) -> Option<String> {
        self.delta_ms().map(|ms| format!("{:+.1} s", ms / 1e3))
    }

    fn bases(&self, of: fn(Basis) -> &'static str) -> Value {
        let alterations = self.play.iter().flat_map(|play| &play.otherwise.alterations);
        Value::List(alterations.map(|one| Value::text(of(one.basis()))).collect())
    }
}

record! {
    Row<'_>, "cast_what_if":
    text "name", "What is built otherwise, as options say it." => |row| Value::text(&row.name), shown("");
    count "requests", "Requests." => |row| row.side.requests, unit("requests"), shown("Requests"), if_wide();
    tokens "total_input_tokens", "All input." => |row| row.side.usage.total_input_tokens(), shown("Input"), if_wide();
    tokens "cache_read_input_tokens", "Input that was read from the cache." =>
        |row| row.side.usage.cache_read_input_tokens;
    share "hit_rate", "Input that was read over all input." =>
        |row| row.side.usage.hit_rate(), null("if there is no input"), shown("Read");
    number "delta_hit_rate", "How much higher that is than as played." =>
        |row| row.delta_hit_rate().map(Value::Number), unit("part of 1"), null(NOT_COMPARED);
    usd "input_cost_usd", "The cost of the input." => |row| row.side.input_cost, null(NO_PRICE);
    usd "cost_usd", "The cost of input and output." => |row| row.side.cost, null(NO_PRICE), shown("Cost");
    usd "delta_usd", "How much more that is than as played." => |row| row.delta(), null(NOT_COMPARED), shown("Difference"),
        difference();
    number "delta_share", "The same as a share of the cost as played." =>
        |row| row.delta_share().map(Value::Number), unit("part of 1"), null(NOT_COMPARED);
    text "share", "The same for people." => |row| row.share().map(|share| Value::text(&share)), derived(),
        null(NOT_COMPARED), shown("Share"), if_wide();
    millis "makespan_ms", "When the last answer ended, from the start of the session." => |row| row.side.ended_at, shown("Ends at"), if_wide();
    number "delta_makespan_ms", "How much later that is than as played." =>
        |row| row.delta_ms().map(Value::Number), unit("ms"), null(NOT_COMPARED);
    text "later", "The same for people." => |row| row.delta_secs().map(|secs| Value::text(&secs)), derived(),
        null(NOT_COMPARED), shown("Later");
    truth "keeps_answers", "Each recorded answer would still fit its request." =>
        |row| row.play.is_none_or(|variant| variant.otherwise.keeps_answers());
    count "answers_left_out", "Recorded answers that it does not ask for." =>
        |row| row.play.map_or(0, |variant| variant.left_out), unit("answers"), shown("Left out"), if_any();
    count "answers_unknown", "Requests of the main agent whose answer is not recorded; one token is taken." =>
        |row| row.play.map_or(0, |variant| variant.unknown), unit("answers"), shown("Unknown"), if_any();
    field "ends", || Shape::words(Ends::ALL.map(Ends::word)), "How the run ended." =>
        |row| row.play.map_or(Ends::Finished, |variant| variant.ends).word(), shown("Ends"), if_it_varies();
    texts "recorded", "What of it is recorded." => |row| row.bases(|basis| basis.recorded);
    texts "modelled", "What of it is modelled." => |row| row.bases(|basis| basis.modelled);
    texts "unknown", "What of it cannot be known." => |row| row.bases(|basis| basis.unknown);
}

/// The session as recorded, as played, and with each change; then what the figures rest on.
pub fn document(session: &str, recorded: Side, played: &Variant, variants: &[Variant]) -> Document {
    let mut document = Document::default();
    document.title(format!("Session {session}: what if its agents had been built otherwise"));
    let base = |name: &str, side, play| Row { name: name.to_owned(), side, play, played: None };
    let recorded = (recorded.requests > 0).then(|| base("(as recorded)", recorded, None));
    let bases = recorded.into_iter().chain([base("(as played)", played.side, Some(played))]);
    let others = variants.iter().map(|variant| Row::of(variant, played.side));
    let mut rows: Vec<Row<'_>> = bases.chain(others).collect();
    if let Some(all) = rows.last_mut().filter(|_| variants.len() > 1) {
        "(all together)".clone_into(&mut all.name);
    }
    let mut table: Table = table::people("what_if", &rows, rows.len());
    table.rows_are = "variants";
    document.table(table);
    let alterations: Vec<&Alteration> = match variants.last() {
        Some(all) => all.otherwise.alterations.iter().collect(),
        None => Vec::new(),
    };
    for (keeps, heading) in [(true, "Every recorded answer still fits its request"), (false, "Answers would differ")] {
        let meant: Vec<String> =
            alterations.iter().filter(|one| one.keeps_answers() == keeps).flat_map(|one| basis(one)).collect();
        if !meant.is_empty() {
            document.heading(heading);
            document.text(meant);
        }
    }
    if variants.iter().chain([played]).any(|variant| variant.left_out > 0) {
        document.aside(vec![
            "Left out: recorded answers that were never asked for. Their requests are in no cost, so a row that leaves out more \
             than the play it is compared with costs less for that alone."
                .to_owned(),
        ]);
    }
    document.aside(vec![
        "As played: the session through the runtime, with what it recorded; agents' first reads are foreseen. Differences are \
         against this row. Cost includes output, which is estimated where clients record only the beginning of a stream."
            .to_owned(),
    ]);
    document
}

fn basis(alteration: &Alteration) -> Vec<String> {
    let Basis { recorded, modelled, unknown } = alteration.basis();
    vec![
        format!("{alteration}. Recorded: {recorded}."),
        format!("Modelled: {modelled}."),
        format!("Unknown: {unknown}."),
    ]
}

/// The rows of variants, for machines.
pub(crate) fn value(variants: &[Variant], played: Side) -> Value {
    Value::List(variants.iter().map(|variant| Row::of(variant, played).value()).collect())
}
