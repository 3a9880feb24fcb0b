//! Kinds of changes, as a flat table: name, description, expected finding, and how it is planted.

use forkcast_sim::diagnosis::{Cause, Volatile};

use super::case::{At, Case, Within};
use super::changes::characters::{self as chars, Sort};
use super::changes::{harmless, history, images, parameters, results, system, tools, varying};

/// The expected finding of a planted change.
#[derive(Clone, Copy, Debug)]
pub enum Tells {
    /// Nothing: the prompt is the same.
    Nothing,
    /// This cause.
    Cause(Cause),
    /// The cause of an edit at the level where it was planted.
    Edit,
}

/// The expected volatile content.
#[derive(Clone, Copy, Debug)]
pub enum Varies {
    /// Not checked.
    Anything,
    /// Exactly this.
    This(Option<Volatile>),
}

/// How it is planted.
#[derive(Clone, Copy)]
pub enum Plant {
    Character(Sort),
    Inside(Within),
    Varying(Volatile),
    Do(fn(&mut Case) -> Option<Vec<At>>),
}

/// One kind of change.
#[derive(Clone, Copy)]
pub struct Kind {
    pub word: &'static str,
    pub does: &'static str,
    pub tells: Tells,
    pub varies: Varies,
    pub plant: Plant,
}

impl Kind {
    /// Plants the change; `None` if the conversation lacks the required part.
    pub fn plant(&self, case: &mut Case) -> Option<Vec<At>> {
        match self.plant {
            Plant::Character(sort) => chars::somewhere(case, sort),
            Plant::Inside(within) => chars::inside(case, within),
            Plant::Varying(volatile) => varying::plant(case, volatile),
            Plant::Do(plant) => plant(case),
        }
    }

    pub fn is_harmless(&self) -> bool {
        matches!(self.tells, Tells::Nothing)
    }

    /// Description and expectation, for the table.
    pub fn expectation(&self) -> String {
        let cause = match self.tells {
            Tells::Nothing => "-",
            Tells::Cause(cause) => cause.word(),
            Tells::Edit => "by level",
        };
        let varies = match self.varies {
            Varies::This(Some(volatile)) => volatile.word(),
            Varies::This(None) => "nothing",
            Varies::Anything => "",
        };
        format!("{cause:<18} {varies:<10} {}", self.does)
    }
}

const fn character(word: &'static str, does: &'static str, sort: Sort) -> Kind {
    Kind { word, does, tells: Tells::Edit, varies: Varies::Anything, plant: Plant::Character(sort) }
}

const fn inside(word: &'static str, does: &'static str, within: Within) -> Kind {
    Kind { word, does, tells: Tells::Edit, varies: Varies::Anything, plant: Plant::Inside(within) }
}

const fn varying(word: &'static str, does: &'static str, volatile: Volatile) -> Kind {
    let varies = Varies::This(Some(volatile));
    Kind { word, does, tells: Tells::Edit, varies, plant: Plant::Varying(volatile) }
}

const fn change(word: &'static str, does: &'static str, cause: Cause, plant: fn(&mut Case) -> Option<Vec<At>>) -> Kind {
    Kind { word, does, tells: Tells::Cause(cause), varies: Varies::Anything, plant: Plant::Do(plant) }
}

const fn still(word: &'static str, does: &'static str, cause: Cause, plant: fn(&mut Case) -> Option<Vec<At>>) -> Kind {
    Kind { varies: Varies::This(None), ..change(word, does, cause, plant) }
}

const fn order(word: &'static str, does: &'static str, cause: Cause, plant: fn(&mut Case) -> Option<Vec<At>>) -> Kind {
    Kind { varies: Varies::This(Some(Volatile::MapOrder)), ..change(word, does, cause, plant) }
}

const fn same(word: &'static str, does: &'static str, plant: fn(&mut Case) -> Option<Vec<At>>) -> Kind {
    Kind { word, does, tells: Tells::Nothing, varies: Varies::Anything, plant: Plant::Do(plant) }
}

use Cause::{
    Compacted, HistoryTruncated, ImageChanged, KeyOrder, LevelParameter, MessageEdited, MessageInserted, MessageMoved,
    MessageRemoved, ModelChanged, ResultsCleared, Rewound, SystemChanged, ThinkingStripped, ToolChanged, ToolsAdded,
    ToolsRemoved, ToolsReordered,
};

pub const KINDS: &[Kind] = &[
    // One character, anywhere.
    character("letter", "another letter", chars::letter),
    character("digit", "another digit", chars::digit),
    character("space", "one more space", chars::space),
    character("newline", "a line break added", chars::newline),
    character("tab", "a space becomes a tab", chars::tab),
    character("quote", "a quote added", chars::quote),
    character("backslash", "a backslash added", chars::backslash),
    character("composed", "é in one or in two characters", chars::composed),
    character("chinese", "another Chinese character", chars::chinese),
    character("emoji", "an emoji added", chars::emoji),
    character("zero-width", "a zero-width character added", chars::zero_width),
    character("no-break-space", "a space becomes a non-breaking space", chars::no_break_space),
    character("nul", "a NUL escape added", chars::nul),
    character("line-end", "LF becomes CRLF", chars::line_end),
    character("trailing-space", "a trailing space", chars::trailing_space),
    character("case", "a small letter becomes a capital", chars::case),
    character("first-byte", "a character before the first", chars::first),
    character("last-byte", "another last character", chars::last),
    character("dropped", "a character removed", chars::dropped),
    character("byte-order-mark", "a byte order mark before the text", chars::byte_order_mark),
    character("look-alike", "a letter of another script that looks the same", chars::look_alike),
    character("twice", "two changes in one block", chars::twice),
    Kind { plant: Plant::Do(chars::emptied), ..character("emptied", "an emptied text", chars::letter) },
    Kind { varies: Varies::This(None), ..character("words", "one word for another", chars::plain_words) },
    // One character, by the text that contains it.
    inside("in-system", "a character of the system prompt", Within::System),
    inside("in-description", "a character of a tool's description", Within::ToolDescription),
    inside("in-schema", "a character of a tool's schema", Within::ToolSchema),
    inside("in-name", "a character of a tool's name", Within::ToolName),
    inside("in-user-text", "a character that the user said", Within::UserText),
    inside("in-assistant-text", "a character that the assistant said", Within::AssistantText),
    inside("in-result", "a character of a tool's result", Within::ToolResult),
    inside("in-input", "a character of a tool's input", Within::ToolInput),
    // Volatile content.
    varying("date", "another day", Volatile::Date),
    varying("time", "another second", Volatile::Time),
    varying("uuid", "another id", Volatile::Uuid),
    varying("path", "another folder", Volatile::Path),
    varying("process", "another process", Volatile::Pid),
    varying("counter", "an increased counter", Volatile::Counter),
    varying("git", "another state of the repository", Volatile::Git),
    varying("flag", "a switch", Volatile::Flag),
    varying("map-order", "the same entries of a map in another order", Volatile::MapOrder),
    // Tools.
    change("tool-added-first", "a tool before all others", ToolsAdded, tools::added_first),
    change("tool-added-between", "a tool between others", ToolsAdded, tools::added_between),
    change("tool-added-last", "a tool after all others", ToolsAdded, tools::added_last),
    change("tools-added", "a tool at each end", ToolsAdded, tools::several_added),
    change("tool-removed-first", "the first tool removed", ToolsRemoved, tools::removed_first),
    change("tool-removed-between", "a tool removed", ToolsRemoved, tools::removed_between),
    change("tool-removed-last", "the last tool removed", ToolsRemoved, tools::removed_last),
    change("tools-removed", "all tools removed", ToolsRemoved, tools::all_removed),
    order("tools-swapped", "two neighbours swapped", ToolsReordered, tools::swapped),
    order("tools-swapped-far", "first and last swapped", ToolsReordered, tools::swapped_far),
    order("tool-moved-first", "a tool moves to the front", ToolsReordered, tools::moved_first),
    order("tool-moved-last", "a tool moves to the end", ToolsReordered, tools::moved_last),
    order("tools-sorted", "all tools sorted by name", ToolsReordered, tools::sorted_anew),
    order("tools-shuffled", "all tools in any order", ToolsReordered, tools::shuffled),
    change("tool-renamed", "another name", ToolChanged, tools::renamed),
    change("tool-renamed-described", "another name and description", ToolChanged, tools::renamed_and_described),
    change("tool-described", "another description", ToolChanged, tools::described_anew),
    change("property-added", "a property of a schema added", ToolChanged, tools::property_added),
    change("property-removed", "a property of a schema removed", ToolChanged, tools::property_removed),
    change("property-type", "a property of another type", ToolChanged, tools::type_changed),
    change("required", "another property is required", ToolChanged, tools::required_changed),
    order("schema-keys", "a schema's keys in another order", ToolChanged, tools::schema_keys),
    change("strict", "a tool becomes strict", ToolChanged, tools::strict),
    change(
        "tool-moved-changed",
        "a tool changes, and its neighbour moves before it",
        ToolChanged,
        tools::moved_and_changed,
    ),
    // The system prompt.
    change("system-block-added", "a block added", SystemChanged, system::block_added),
    change("system-block-removed", "a block removed", SystemChanged, system::block_removed),
    change("system-swapped", "two blocks swapped", SystemChanged, system::swapped),
    change("system-appended", "a line after its end", SystemChanged, system::appended),
    still("system-rewritten", "another text", SystemChanged, system::rewritten),
    change("system-removed", "the system prompt removed", SystemChanged, system::all_removed),
    change("system-split", "one block becomes two", SystemChanged, system::split),
    change("system-merged", "two blocks become one", SystemChanged, system::merged),
    // The history.
    still("rewritten", "another text in one block", MessageEdited, history::rewritten),
    change("message-inserted", "a message inserted", MessageInserted, history::inserted),
    change("exchange-inserted", "a question and an answer inserted", MessageInserted, history::exchange_inserted),
    change("block-inserted", "a block of a message added", MessageInserted, history::block_inserted),
    change("message-removed", "a message removed", MessageRemoved, history::removed),
    change("exchange-removed", "two messages removed", MessageRemoved, history::exchange_removed),
    change("block-removed", "a block of a message removed", MessageRemoved, history::block_removed),
    change("message-doubled", "a message occurs twice", MessageInserted, history::doubled),
    change("messages-swapped", "two neighbours swapped", MessageMoved, history::swapped),
    change("message-moved-first", "a message moves to the front", MessageMoved, history::moved_first),
    change("reminder-moved", "a reminder moves to a later message", MessageMoved, history::reminder_moved),
    change("reminder-at-end", "a reminder moves to the newest message", MessageMoved, history::reminder_at_the_end),
    change("truncated", "the beginning is cut off", HistoryTruncated, history::truncated),
    change(
        "window-slid",
        "everything between the first message and the end is cut",
        HistoryTruncated,
        history::window_slid,
    ),
    change("rewound", "back to an earlier point, and on from there", Rewound, history::rewound),
    change("rewound-in-silence", "back to an earlier point", Rewound, history::rewound_in_silence),
    change("compacted", "a summary for all", Compacted, history::compacted),
    change("compacted-but-last", "a summary for all but the last messages", Compacted, history::compacted_but_the_last),
    change("compacted-but-third", "a summary for two thirds", Compacted, history::compacted_but_a_third),
    change("compacted-by-words", "a summary that calls itself one", Compacted, history::compacted_by_words),
    change("role", "another role", MessageEdited, history::role_changed),
    change("text-split", "one block becomes two", MessageEdited, history::split),
    change("texts-merged", "two blocks become one", MessageEdited, history::merged),
    change("type-left-out", "a block without its type", MessageEdited, history::type_left_out),
    change("own-effort", "a message with another effort", MessageEdited, history::effort_of_a_message),
    change("own-effort-came", "an effort added to a message", MessageEdited, history::effort_of_a_message_came),
    change("own-effort-went", "the effort of a message removed", MessageEdited, history::effort_of_a_message_went),
    // Calls, results, thinking.
    change("result-cleared", "a result is cleared", ResultsCleared, results::one_cleared),
    change("results-cleared", "all results are cleared", ResultsCleared, results::all_cleared),
    change("result-emptied", "an emptied result", ResultsCleared, results::emptied),
    change("error-flag", "a result is an error now", MessageEdited, results::error_flipped),
    change("call-id", "a call has another id", MessageEdited, results::id_changed),
    change("call-ids", "all calls have other ids", MessageEdited, results::all_ids_renewed),
    order("input-keys", "a tool's input in another order of keys", KeyOrder, results::input_keys),
    change("input-number", "1.0 for 1", MessageEdited, results::input_number),
    change("calls-reordered", "two calls swapped", MessageMoved, results::calls_reordered),
    change("thinking-stripped", "a thought removed", ThinkingStripped, results::thinking_stripped),
    change("all-thinking-stripped", "all thoughts removed", ThinkingStripped, results::all_thinking_stripped),
    still("thinking-changed", "another thought", MessageEdited, results::thinking_changed),
    // Images.
    change("image-byte", "a byte of an image", ImageChanged, images::byte_changed),
    change("image-encoded", "an image encoded differently", ImageChanged, images::encoded_anew),
    change("image-added", "an image added", MessageInserted, images::added),
    change("image-removed", "an image removed", MessageRemoved, images::removed),
    change("image-to-text", "a text in place of an image", ImageChanged, images::became_text),
    change("image-in-result", "an image in a result", ImageChanged, images::in_result),
    // Parameters.
    change("tool-choice", "another tool choice", LevelParameter, parameters::tool_choice),
    change("parallel", "parallel calls switched", LevelParameter, parameters::parallel),
    change("thinking", "other thinking", LevelParameter, parameters::thinking),
    change("effort", "another effort", LevelParameter, parameters::effort),
    change("format", "another output format", LevelParameter, parameters::format),
    change("speed", "another speed", LevelParameter, parameters::speed),
    change("several-parameters", "two parameters at once", LevelParameter, parameters::several),
    change("web-search", "the provider's search tool added", LevelParameter, parameters::web_search),
    change("citations", "citations are switched on", LevelParameter, parameters::citations),
    change("model", "another model", ModelChanged, parameters::model),
    change("model-strips", "a model that keeps no earlier thinking", ModelChanged, parameters::model_that_strips),
    // The same prompt.
    same("nothing", "the request as it is", harmless::nothing),
    same("string-or-list", "strings for lists and lists for strings", harmless::string_or_list),
    same("escapes", "other escapes", harmless::escapes),
    same("block-keys", "keys of blocks in another order", harmless::block_keys),
    same("body-keys", "keys of the body in another order", harmless::body_keys),
    same("envelope", "fields that are no prompt", harmless::envelope),
    same("defaults-written", "defaults written out", harmless::defaults_written),
    same("thinking-display", "thinking displayed differently", harmless::thinking_display),
    same("billing-header", "a client's header", harmless::billing_header),
    same("duplicate-keys", "a key twice, the last counts", harmless::duplicate_keys),
    same("deferred-tool", "a tool loaded later", tools::deferred_loaded),
    same("results-by-completion", "results in order of completion", results::results_by_completion),
    same("markers-moved", "a breakpoint elsewhere", harmless::markers_moved),
    same("markers-dropped", "no breakpoint", harmless::markers_dropped),
    same("lifetimes", "breakpoints of another lifetime", harmless::lifetimes_changed),
    same("automatic", "the automatic breakpoint", harmless::automatic),
];
