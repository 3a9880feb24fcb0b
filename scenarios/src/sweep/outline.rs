//! The outline of a plan.

use forkcast_sim::pricing::Category;

use super::plan::SCHEMA;
use crate::format::outline::{Field, Object, Shape};

/// The form of a hash.
pub const HASH: &str = "^[0-9a-f]{32}$";

/// A plan.
pub static PLAN: Object = Object::new(
    "plan",
    "A grid: what is run, and the values of its fields. Its cells are all combinations, in order.",
    &[
        Field::format(SCHEMA),
        Field::text("version", "The version of the program that made the plan; only this version may run it.").required(),
        Field::of("plan", Shape::Pattern(HASH), "Hash of everything else in this file.").required(),
        Field::object("subject", &SUBJECT).required(),
        Field::object("prices", &PRICES).required(),
        Field::list(
            "axes",
            &Shape::Object(&AXIS),
            "The values of each field; those of the last one change fastest.",
        )
        .required(),
        Field::count(
            "parts",
            1,
            "files",
            "Number of files of results. Part I holds the cells from I × cells / parts, rounded down, up to the next part's first. Shard I of N makes the parts P for which P + P / N (rounded down) leaves the rest I when divided by N.",
        )
        .required(),
    ],
);

/// What is run.
static SUBJECT: Object = Object::new(
    "subject",
    "What each cell runs: a scenario or a fan-out.",
    &[Field::object("scenario", &SCENARIO), Field::object("fanout", &FANOUT)],
)
.given(1, Some(1));

static SCENARIO: Object = Object::new(
    "scenario",
    "A scenario.",
    &[
        Field::text("name", "Its name.").required(),
        Field::text("file", "The file that it was read from.").required(),
        Field::text("variant", "The name of its variant.").null("for the scenario itself").required(),
        Field::text("text", "The whole scenario, so that no other file is needed to run a part.").required(),
    ],
);

static FANOUT: Object = Object::new(
    "fanout",
    "A fan-out.",
    &[Field::text("price_book", "Which prices these are, for people, such as `list prices of 2026-11-21`.").required()],
);

static PRICES: Object = Object::new(
    "prices",
    "Prices other than list prices.",
    &[
        Field::list("files", &Shape::Object(&BOOK_FILE), "Price books of the user, in their order.").required(),
        Field::list("prices", &Shape::Object(&PLANNED_PRICE), "Single prices; they override price books.").required(),
        Field::count(
            "remaining_millionths",
            0,
            "millionths",
            "The part of each price of tokens that remains after a discount.",
        )
        .null("without a discount")
        .required(),
    ],
);

static BOOK_FILE: Object = Object::new(
    "book_file",
    "A price book.",
    &[
        Field::text("name", "The name of the file.").required(),
        Field::text("text", "The whole price book, so that no other file is needed to run a part.").required(),
    ],
);

static PLANNED_PRICE: Object = Object::new(
    "planned_price",
    "A price.",
    &[
        Field::text("model", "The model.").required(),
        Field::words("category", || Category::ALL.map(Category::word).to_vec(), "The tokens that the price is for.")
            .required(),
        Field::text("usd_per_mtok", "The price with all digits.").unit("USD per million tokens").required(),
    ],
);

static AXIS: Object = Object::new(
    "axis",
    "A field and its values.",
    &[
        Field::text("path", "The field.").required(),
        Field::of("values", Shape::Different(&Shape::Text), "Its values.").required(),
    ],
);
