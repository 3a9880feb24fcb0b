//! The closed lists and their words, which scripts rely on.

use std::collections::BTreeSet;

use forkcast_sim::diagnosis::{CAUSES, Cause, Note, Volatile};
use forkcast_sim::wire::spelling::SpellingKind;

/// Word, the provider's word, whether the bytes are to blame; in order of precedence, as the design lists them.
const TABLE: [(&str, &str, bool); 32] = [
    ("model_changed", "model_changed", false),
    ("breakpoint_limit", "", false),
    ("ttl_order", "", false),
    ("below_minimum", "", false),
    ("no_breakpoint", "", false),
    ("level_parameter", "unavailable", true),
    ("tools_added", "tools_changed", true),
    ("tools_removed", "tools_changed", true),
    ("tools_reordered", "tools_changed", true),
    ("tool_changed", "tools_changed", true),
    ("system_changed", "system_changed", true),
    ("message_edited", "messages_changed", true),
    ("message_inserted", "messages_changed", true),
    ("message_removed", "messages_changed", true),
    ("message_moved", "messages_changed", true),
    ("history_truncated", "messages_changed", true),
    ("rewound", "messages_changed", true),
    ("results_reordered", "messages_changed", true),
    ("results_cleared", "messages_changed", true),
    ("thinking_stripped", "messages_changed", true),
    ("compacted", "messages_changed", true),
    ("key_order", "messages_changed", true),
    ("image_changed", "messages_changed", true),
    ("other_scope", "previous_message_not_found", false),
    ("expired", "previous_message_not_found", false),
    ("in_flight", "", false),
    ("beyond_lookback", "", false),
    ("evicted", "", false),
    ("routed_elsewhere", "", false),
    ("hidden_request", "", false),
    ("first_request", "", false),
    ("unexplained", "", false),
];

#[test]
fn causes_have_the_words_and_the_order_of_the_design() {
    for (cause, (word, reason, content)) in CAUSES.into_iter().zip(TABLE) {
        assert_eq!((cause.word(), cause.to_string().as_str()), (word, word));
        assert_eq!(cause.provider_reason().unwrap_or_default(), reason, "{word}");
        assert_eq!(cause.is_content(), content, "{word}");
        assert!(cause.suggestion().ends_with('.') && cause.suggestion().len() > 20, "{word}");
    }
    assert!(CAUSES.is_sorted());
    assert_eq!(CAUSES.iter().map(|cause| cause.word()).collect::<BTreeSet<_>>().len(), CAUSES.len());
}

#[test]
fn suggestions_concern_their_cause() {
    let table = [
        (Cause::Expired, "lifetime"),
        (Cause::InFlight, "begin"),
        (Cause::BeyondLookback, "look-back"),
        (Cause::NoBreakpoint, "breakpoint"),
        (Cause::BelowMinimum, "minimum"),
        (Cause::ToolsReordered, "order"),
        (Cause::SystemChanged, "system prompt"),
        (Cause::KeyOrder, "key order"),
        (Cause::BreakpointLimit, "four"),
    ];
    for (cause, word) in table {
        assert!(cause.suggestion().contains(word), "{cause}: {}", cause.suggestion());
    }
}

#[test]
fn every_cause_is_described_in_sentences() {
    for cause in CAUSES {
        for text in [cause.meaning(), cause.origin(), cause.suggestion()] {
            assert!(text.ends_with('.') && text.len() > 12, "{cause}: {text}");
            assert!(text.starts_with(char::is_uppercase) && !text.contains("  "), "{cause}: {text}");
        }
    }
    for note in Note::ALL {
        assert!(note.meaning().ends_with('.'), "{}", note.word());
    }
}

#[test]
fn notes_and_volatile_things_have_their_words() {
    let notes = [
        Note::Spelling,
        Note::Whitespace,
        Note::Escape,
        Note::MarkerMoved,
        Note::Envelope,
        Note::TailOnly,
        Note::ReadAhead,
    ];
    let words = ["spelling", "whitespace", "escape", "marker_moved", "envelope", "tail_only", "read_ahead"];
    assert_eq!(notes.map(Note::word), words);
    let kinds = [
        SpellingKind::Spelling,
        SpellingKind::Whitespace,
        SpellingKind::Escape,
        SpellingKind::MarkerMoved,
        SpellingKind::Envelope,
    ];
    assert_eq!(kinds.map(|kind| Note::from(kind).word()), words[..5]);
    let volatile = [
        Volatile::Date,
        Volatile::Time,
        Volatile::Uuid,
        Volatile::Path,
        Volatile::Pid,
        Volatile::Counter,
        Volatile::Git,
        Volatile::Flag,
        Volatile::MapOrder,
    ];
    assert_eq!(
        volatile.map(Volatile::word),
        ["date", "time", "uuid", "path", "pid", "counter", "git", "flag", "map_order"]
    );
}
