//! Requests before they are bytes: taken as a draft or read as a body, they are the same request.

use std::rc::Rc;

use forkcast_sim::cache::PRESETS;
use forkcast_sim::wire::{Draft, Level, Mark, Message, NormalForms, Piece, Request, Role, Trail, Ttl, Wire};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::json;

use super::bodies::blocks;
use crate::tries::tries;

/// Both lifetimes of thinking, a spelling with a date, and words that are in no table.
const MODELS: [&str; 6] = [
    "claude-opus-4-8",
    "claude-sonnet-4-5",
    "claude-haiku-4-5-20251001",
    "eu.anthropic.claude-opus-4-8",
    "",
    "a \"b\"\n",
];

/// Parameters that break a level, that break none, that set a breakpoint, and that no draft sends.
const PARAMETERS: [(&str, &str); 19] = [
    ("max_tokens", "32000"),
    ("max_tokens", "64000"),
    ("stream", "true"),
    ("metadata", r#"{"user_id": "a\u002fb"}"#),
    ("thinking", r#"{"type":"adaptive","display":"omitted"}"#),
    ("thinking", r#"{"budget_tokens":4000,"type":"enabled"}"#),
    ("thinking", r#"{"type":"disabled"}"#),
    ("output_config", r#"{"effort":"low"}"#),
    ("output_config", r#"{"effort":"high"}"#),
    ("output_config", r#"{"format":{"type":"json_schema","schema":{}}}"#),
    ("tool_choice", r#"{"type":"auto"}"#),
    ("tool_choice", r#"{"type":"any"}"#),
    ("speed", r#""fast""#),
    ("cache_control", r#"{"type":"ephemeral"}"#),
    ("cache_control", r#"{"type":"ephemeral","ttl":"1h"}"#),
    ("cache_control", "null"),
    ("k\"\n\u{e9}", "[1.0, null]"),
    ("model", r#""claude-opus-4-1""#),
    ("messages", "[]"),
];

fn text() -> impl Strategy<Value = String> {
    select(vec![
        "",
        "Hi",
        "x-anthropic-billing-header: cc_version=1;",
        "a \"b\" \\ \n\t\u{1b}[0m\u{8}\u{7f}",
        "t\u{e9}st \u{1f600}\u{2028}",
        "{\"cache_control\":{}}",
    ])
    .prop_map(str::to_owned)
}

fn id() -> impl Strategy<Value = &'static str> {
    select(vec!["toolu_1", "toolu_2", "toolu_3", "toolu \u{1b}\"4\u{8}"])
}

fn tool() -> impl Strategy<Value = Piece> {
    (select(vec!["Bash", "Read", "Grep"]), text(), 0..4_u8).prop_map(|(name, description, shape)| {
        let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
        let tool = match shape {
            0 => json!({"name": name, "defer_loading": true}),
            1 => json!({"type": "web_search_20260209", "name": "web_search", "max_uses": 3}),
            _ => json!({"name": name, "description": description, "input_schema": schema}),
        };
        Piece::new(tool.to_string())
    })
}

fn image() -> serde_json::Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}})
}

/// A block of any kind, also in messages where no client would send it.
fn block() -> impl Strategy<Value = Piece> {
    let rare = vec![
        image(),
        json!({"type": "document", "title": "d", "citations": {"enabled": true}, "source": {"type": "text", "data": "x"}}),
        json!({"type": "tool_result", "tool_use_id": "toolu_2", "content": [{"type": "text", "text": "x"}, image()]}),
        json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": 1.0}}),
        json!({"type": "connector_text", "b": 1, "a": [2]}),
        json!({"type": "text", "text": "own", "cache_control": {"type": "ephemeral", "ttl": "1h"}}),
        json!({}),
    ];
    prop_oneof![
        3 => text().prop_map(|text| Piece::text(&text)),
        2 => (text(), text()).prop_map(|(thinking, signature)| Piece::thinking(&thinking, &signature)),
        3 => (id(), text()).prop_map(|(id, path)| Piece::tool_use(id, "Read", &json!({"path": path, "limit": 20}))),
        3 => (id(), text(), any::<bool>()).prop_map(|(id, text, error)| Piece::tool_result(id, &text, error)),
        1 => id().prop_map(|id| Piece::tool_use_raw(id, "Bash", r#"{ "z": 1.0, "a": "\u0041\u4e2d" }"#)),
        2 => select(rare).prop_map(|block| Piece::new(block.to_string())),
        1 => Just(Piece::new(" {\n} ".to_owned())),
    ]
}

/// Calls in one message and their results in the next, in any order.
fn parallel_calls() -> impl Strategy<Value = Vec<Message>> {
    Just(vec!["toolu_1", "toolu_2", "toolu_3"]).prop_shuffle().prop_map(|results| {
        let call = |id: &&str| Piece::tool_use(id, "Read", &json!({"path": id}));
        let calls = ["toolu_1", "toolu_2", "toolu_3"].iter().map(call).collect();
        let results = results.iter().map(|id| Piece::tool_result(id, id, false)).collect();
        vec![Message { role: Role::Assistant, content: calls }, Message { role: Role::User, content: results }]
    })
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let role =
        select(vec![Role::User, Role::User, Role::Assistant, Role::Assistant, Role::System, Role::Other, Role::None]);
    let one = (role, prop::collection::vec(block(), 0..5))
        .prop_map(|(role, content)| vec![Message { role, content: content.into() }]);
    let some = prop_oneof![3 => one, 1 => parallel_calls()];
    prop::collection::vec(some, 0..5).prop_map(|messages| messages.into_iter().flatten().collect())
}

fn mark() -> impl Strategy<Value = Mark> {
    let ttl = select(vec![Ttl::FiveMinutes, Ttl::OneHour]);
    (select(Level::ALL.to_vec()), 0..5_usize, 0..3_usize, ttl).prop_map(|(level, item, part, ttl)| Mark {
        level,
        item,
        part,
        ttl,
    })
}

fn draft() -> impl Strategy<Value = Draft> {
    let system = prop_oneof![3 => text().prop_map(|text| Piece::text(&text)), 1 => block()];
    let parameters = prop::collection::vec(select(PARAMETERS.to_vec()), 0..5);
    (
        select(MODELS.to_vec()),
        prop::collection::vec(tool(), 0..4),
        prop::collection::vec(system, 0..3),
        messages(),
        parameters,
        prop::collection::vec(mark(), 0..5),
    )
        .prop_map(|(model, tools, system, messages, parameters, marks)| Draft {
            model: model.into(),
            tools: tools.into(),
            system: system.into(),
            messages: messages.into_iter().map(Rc::new).collect(),
            parameters: parameters.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
            marks,
        })
}

/// Changes by an agent, or a stranger, between two requests. Most of them keep pieces and move them to other places.
#[derive(Clone, Debug)]
enum Change {
    Append(Vec<Message>),
    Marks(Vec<Mark>),
    Parameter(&'static str, &'static str),
    Model(&'static str),
    Role(Index, Role),
    ToSystem(Index),
    SystemToTools,
    ReverseBlocks(Index),
    DropMessage(Index),
    Resized(Index),
}

fn change() -> impl Strategy<Value = Change> {
    let role = select(vec![Role::User, Role::Assistant, Role::System]);
    prop_oneof![
        messages().prop_map(Change::Append),
        prop::collection::vec(mark(), 0..4).prop_map(Change::Marks),
        select(PARAMETERS.to_vec()).prop_map(|(key, value)| Change::Parameter(key, value)),
        select(MODELS.to_vec()).prop_map(Change::Model),
        (any::<Index>(), role).prop_map(|(index, role)| Change::Role(index, role)),
        any::<Index>().prop_map(Change::ToSystem),
        Just(Change::SystemToTools),
        any::<Index>().prop_map(Change::ReverseBlocks),
        any::<Index>().prop_map(Change::DropMessage),
        any::<Index>().prop_map(Change::Resized),
    ]
}

/// A mutable reference to the message at `index`.
fn message<'a>(draft: &'a mut Draft, index: &Index) -> Option<&'a mut Message> {
    let count = draft.messages.len();
    (count > 0).then(|| Rc::make_mut(&mut draft.messages[index.index(count)]))
}

fn changed(draft: &Draft, change: &Change) -> Draft {
    let mut draft = draft.clone();
    match change {
        Change::Append(messages) => draft.messages.extend(messages.iter().cloned().map(Rc::new)),
        Change::Marks(marks) => draft.marks.clone_from(marks),
        Change::Parameter(key, value) => {
            let added = [(String::from(*key), String::from(*value))];
            draft.parameters = draft.parameters.iter().cloned().chain(added).collect();
        }
        Change::Model(model) => draft.model = (*model).into(),
        Change::Role(index, role) => message(&mut draft, index).into_iter().for_each(|message| message.role = *role),
        Change::ToSystem(index) => {
            let content = message(&mut draft, index).map(|message| message.content.clone()).unwrap_or_default();
            draft.system = content.iter().cloned().collect();
        }
        Change::SystemToTools => draft.tools = Rc::clone(&draft.system),
        Change::ReverseBlocks(index) => {
            message(&mut draft, index).into_iter().for_each(|message| message.content.own().reverse());
        }
        Change::DropMessage(index) => {
            let count = draft.messages.len();
            drop((count > 0).then(|| draft.messages.remove(index.index(count))));
        }
        Change::Resized(index) => {
            let content = message(&mut draft, index).into_iter().flat_map(|message| message.content.own());
            content.for_each(|piece| *piece = piece.clone().sized(7));
        }
    }
    draft
}

/// A conversation: each draft comes from the one before it.
fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    (draft(), prop::collection::vec(change(), 0..5)).prop_map(|(first, changes)| {
        changes.iter().fold(vec![first], |mut drafts, change| {
            let next = changed(&drafts[drafts.len() - 1], change);
            drafts.push(next);
            drafts
        })
    })
}

fn forms() -> impl Strategy<Value = NormalForms> {
    let switches = any::<[bool; 4]>().prop_map(|[string, sorted, stripped, images]| NormalForms {
        string_is_block: string,
        results_sorted: sorted,
        thinking_stripped: stripped,
        images_in_level: images,
        thinking_level: if images { Level::System } else { Level::Messages },
    });
    prop_oneof![select(PRESETS.to_vec()).prop_map(|rules| rules.forms), switches]
}

fn read(wire: &mut Wire, draft: &Draft) -> Request {
    let body = draft.body();
    wire.read(&body, "scope", "").unwrap_or_else(|error| panic!("{}: {error}", String::from_utf8_lossy(&body)))
}

/// All fields of a request, and the bytes of its blocks.
fn seen(wire: &Wire, request: &Request) -> String {
    let excluded = request.excluded.iter().map(|excluded| excluded.block);
    let all = blocks(wire, request).into_iter().chain(excluded);
    let block = |id| (wire.blocks.kind(id), wire.blocks.role(id), String::from_utf8_lossy(wire.blocks.bytes(id)));
    format!("{request:#?}{:#?}", all.map(block).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(tries(1_500))]

    #[test]
    fn taken_or_read_it_is_the_same_request(drafts in drafts(), forms in forms()) {
        let (mut taking, mut reading) = (Wire::new(forms), Wire::new(forms));
        for draft in &drafts {
            let (taken, read) = (taking.take(draft, "scope"), read(&mut reading, draft));
            prop_assert_eq!(seen(&taking, &taken), seen(&reading, &read));
        }
    }

    /// A trail saves work and changes nothing: the same trail is used for everything, also in another wire and scope.
    #[test]
    fn a_trail_changes_nothing(drafts in drafts(), forms in forms()) {
        let mut trail = Trail::default();
        let (mut following, mut taking) = (Wire::new(forms), Wire::new(forms));
        for (draft, scope) in drafts.iter().zip(["a", "a", "b", "a", "b"]) {
            let followed = following.take_after(draft, scope, &mut trail);
            let taken = taking.take(draft, scope);
            prop_assert_eq!(seen(&following, &followed), seen(&taking, &taken));
        }
        let (mut elsewhere, mut fresh) = (Wire::default(), Wire::default());
        for draft in drafts.iter().chain(&drafts[..1]) {
            let followed = elsewhere.take_after(draft, "c", &mut trail);
            let taken = fresh.take(draft, "c");
            prop_assert_eq!(seen(&elsewhere, &followed), seen(&fresh, &taken));
        }
    }

    /// Pieces that one wire has read mean nothing to another, nor to its copy.
    #[test]
    fn a_piece_is_right_in_every_wire(drafts in drafts(), forms in forms()) {
        let mut first = Wire::new(forms);
        first.take(&drafts[0], "scope");
        let mut copy = first.clone();
        first.take(&drafts[drafts.len() - 1], "scope");
        let mut other = Wire::default();
        for draft in drafts.iter().rev() {
            for wire in [&mut copy, &mut other, &mut first] {
                let mut fresh = Wire::new(*wire.forms());
                let (taken, read) = (wire.take(draft, "scope"), read(&mut fresh, draft));
                let bytes = |wire: &Wire, request: &Request| -> Vec<Vec<u8>> {
                    blocks(wire, request).into_iter().map(|id| wire.blocks.bytes(id).to_vec()).collect()
                };
                prop_assert_eq!(bytes(wire, &taken), bytes(&fresh, &read));
                prop_assert_eq!(taken.places, read.places);
            }
        }
    }

    #[test]
    fn digests_are_equal_exactly_if_prompts_are(drafts in drafts()) {
        let mut wire = Wire::default();
        let requests: Vec<Request> = drafts.iter().map(|draft| read(&mut wire, draft)).collect();
        for (draft, request) in drafts.iter().zip(&requests) {
            prop_assert_eq!(draft.digest(), wire.digest(request));
            for (other, other_request) in drafts.iter().zip(&requests) {
                prop_assert_eq!(draft.digest() == other.digest(), request.end() == other_request.end());
            }
        }
    }

    #[test]
    fn marks_and_outer_keys_are_in_no_digest(draft in draft(), marks in prop::collection::vec(mark(), 0..5)) {
        let marked = Draft { marks, ..draft.clone() };
        prop_assert_eq!(marked.digest(), draft.digest());
        for (key, value) in [("max_tokens", "7"), ("stream", "false"), ("metadata", "{}")] {
            prop_assert_eq!(changed(&draft, &Change::Parameter(key, value)).digest(), draft.digest());
        }
    }

    #[test]
    fn every_place_finds_its_piece(draft in draft()) {
        let mut wire = Wire::default();
        let request = wire.take(&draft, "scope");
        for (place, node) in request.places.iter().zip(&request.nodes).filter(|(place, _)| !place.keys) {
            let mut alone = Wire::default();
            let piece = draft.piece(*place).unwrap().clone();
            let role = wire.blocks.role(wire.prefixes.block(*node).unwrap());
            let (tools, system, content) = match place.level {
                Level::Tools => (vec![piece], vec![], vec![]),
                Level::System => (vec![], vec![piece], vec![]),
                Level::Messages => (vec![], vec![], vec![piece]),
            };
            let messages = vec![Rc::new(Message { role, content: content.into() })];
            let only = Draft { tools: tools.into(), system: system.into(), messages, marks: vec![], ..draft.clone() };
            let only = alone.take(&only, "scope");
            let own = |id: &_| alone.blocks.bytes(*id) == wire.blocks.bytes(wire.prefixes.block(*node).unwrap());
            prop_assert!(blocks(&alone, &only).iter().any(own), "{}", place);
        }
    }
}
