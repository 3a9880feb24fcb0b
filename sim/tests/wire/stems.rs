//! Requests with a common beginning: taking only the part after it gives the same as taking the whole request.

use std::rc::Rc;

use forkcast_sim::wire::{
    Beginning, Draft, Level, Mark, Message, Piece, Pieces, Request, Role, Sizes, Stem, Trail, Ttl, Wire,
};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

const CALLS: usize = 20;

fn id(at: usize) -> String {
    format!("toolu_{at}")
}

fn message(role: Role, content: impl Into<Pieces>) -> Rc<Message> {
    Rc::new(Message { role, content: content.into() })
}

fn says(role: Role, text: &str) -> Rc<Message> {
    message(role, [Piece::text(text)])
}

/// A conversation with many calls, and their results as siblings share them.
fn beginning() -> (Draft, Pieces) {
    let calls: Pieces = (0..CALLS).map(|at| Piece::tool_use(&id(at), "Agent", &json!({ "part": at }))).collect();
    let results = Pieces::shared((0..CALLS).map(|at| Piece::tool_result(&id(at), "started", false)).collect());
    let draft = Draft {
        model: "claude-opus-5-5".into(),
        tools: [Piece::new(json!({ "name": "Agent" }).to_string())].into(),
        system: [Piece::text("Be brief."), Piece::text("Be right.")].into(),
        messages: vec![says(Role::User, "Look."), message(Role::Assistant, calls)],
        parameters: [("thinking".to_owned(), "{\"type\":\"adaptive\"}".to_owned())].into(),
        marks: Vec::new(),
    };
    (draft, results)
}

/// A sibling: the results, then `own`, then more messages.
fn sibling(beginning: &(Draft, Pieces), own: Vec<Piece>, more: &[Rc<Message>]) -> Draft {
    let (mut draft, mut content) = beginning.clone();
    own.into_iter().for_each(|piece| content.push(piece));
    draft.messages.push(message(Role::User, content));
    draft.messages.extend(more.iter().cloned());
    draft.marks = vec![mark(Level::System, 1, 0), mark(Level::Messages, draft.messages.len() - 1, 0)];
    draft
}

fn mark(level: Level, item: usize, part: usize) -> Mark {
    Mark { level, item, part, ttl: Ttl::FiveMinutes }
}

fn turn(call: &str, results: &[&str]) -> [Rc<Message>; 2] {
    let result = |id: &&str| Piece::tool_result(id, "a part", false);
    [
        message(Role::Assistant, [Piece::tool_use(call, "Read", &json!({}))]),
        message(Role::User, results.iter().map(result).collect::<Vec<_>>()),
    ]
}

/// The stem of the part that `draft` shares with its siblings.
fn stem(wire: &mut Wire, draft: &Draft) -> Option<Stem> {
    wire.stem(&Rc::new(Beginning::of(draft, "scope")?))
}

/// The fields that both requests must have in common.
fn facts(request: &Request) -> impl PartialEq + std::fmt::Debug + use<> {
    let markers = (request.markers.clone(), request.markers_sent, request.bad_markers.clone());
    (request.root, request.model.clone(), request.envelope.clone(), request.end(), markers)
}

#[test]
fn the_part_after_a_stem_is_the_rest_of_the_whole_request() {
    let beginning = beginning();
    let mut wire = Wire::default();
    let first = sibling(&beginning, vec![Piece::text("You take part 0.")], &[]);
    let stem = stem(&mut wire, &first).unwrap();
    let more = turn("toolu_r", &["toolu_r"]);
    let shared = Mark { ttl: Ttl::OneHour, ..mark(Level::Messages, 2, CALLS - 1) };
    let mut marked = sibling(&beginning, vec![Piece::text("Two"), Piece::text("texts.")], &more);
    // Of two marks on one block the last counts; a mark without a block is ignored.
    marked.marks.extend([mark(Level::Messages, 2, CALLS + 1), shared, Mark { ttl: Ttl::FiveMinutes, ..shared }]);
    marked.marks.extend([mark(Level::Messages, 9, 0), mark(Level::Tools, 0, 0)]);
    for draft in [first, marked, sibling(&beginning, vec![], &more), sibling(&beginning, vec![], &[])] {
        let behind = wire.take_behind(&stem, &draft, "scope").unwrap();
        let whole = wire.take(&draft, "scope");
        let from = stem.request().nodes.len();
        assert_eq!((&behind.nodes[..], &behind.places[..]), (&whole.nodes[from..], &whole.places[from..]));
        let end = |request: &Request| request.nodes.last().copied().unwrap_or(stem.request().end());
        assert_eq!(end(&behind), end(&whole));
        let facts = |request: &Request| facts(&Request { nodes: vec![end(request)], ..request.clone() });
        assert_eq!(facts(&behind), facts(&whole));
    }
}

#[test]
fn parts_that_need_the_whole_request_are_not_taken_after_a_stem() {
    let beginning = beginning();
    let mut wire = Wire::default();
    let text = || vec![Piece::text("You take part 1.")];
    let stem = stem(&mut wire, &sibling(&beginning, text(), &[])).unwrap();
    let whole = |change: &dyn Fn(&mut Draft)| {
        let mut draft = sibling(&beginning, text(), &turn("toolu_r", &["toolu_r"]));
        change(&mut draft);
        draft
    };
    assert!(wire.take_behind(&stem, &whole(&|_| {}), "scope").is_some());
    assert!(wire.take_behind(&stem, &whole(&|_| {}), "another scope").is_none());
    let anew = |draft: &mut Draft| draft.system = [Piece::text("Be brief."), Piece::text("Be right.")].into();
    assert!(wire.take_behind(&stem, &whole(&anew), "scope").is_some(), "the same prompt, rendered again");
    let image = Piece::new(json!({ "type": "image", "source": { "type": "url", "url": "u" } }).to_string());
    let cached = Piece::new(r#"{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}"#.to_owned());
    let end = |pieces: Vec<Piece>| move |draft: &mut Draft| draft.messages.push(message(Role::User, pieces.clone()));
    let results = |ids: &[&str]| ids.iter().map(|id| Piece::tool_result(id, "a", false)).collect::<Vec<_>>();
    type Change<'a> = &'a dyn Fn(&mut Draft);
    let changes: [(&str, Change<'_>); 12] = [
        ("another model", &|draft| draft.model = "claude-sonnet-5".into()),
        ("other tools", &|draft| draft.tools = [].into()),
        ("another prompt", &|draft| draft.system = [Piece::text("Be brief."), Piece::text("Be left.")].into()),
        ("other sizes", &|draft| draft.system = draft.system.iter().map(|piece| piece.clone().sized(7)).collect()),
        ("another parameter", &|draft| draft.parameters = [].into()),
        ("another history", &|draft| draft.messages[0] = says(Role::User, "Look.")),
        ("results of its own", &|draft| draft.messages[2] = message(Role::User, results(&["toolu_0"]))),
        ("an image", &end(vec![image])),
        ("a breakpoint in a block", &end(vec![cached])),
        ("results that may move", &end(results(&["toolu_b", "toolu_a"]))),
        ("a marked empty text", &|draft| {
            draft.messages.push(says(Role::User, ""));
            draft.marks.push(mark(Level::Messages, 5, 0));
        }),
        ("too short", &|draft| draft.messages.truncate(2)),
    ];
    for (name, change) in changes {
        assert!(wire.take_behind(&stem, &whole(change), "scope").is_none(), "{name}");
    }
}

#[test]
fn only_messages_that_share_many_blocks_have_stems() {
    let (draft, results) = beginning();
    let mut wire = Wire::default();
    assert!(stem(&mut wire, &draft).is_none(), "nothing is shared");
    let few = Pieces::shared(results.iter().take(15).cloned().collect());
    assert!(stem(&mut wire, &sibling(&(draft.clone(), few), vec![], &[])).is_none());
    let automatic: Rc<[_]> = [("cache_control".to_owned(), "{\"type\":\"ephemeral\"}".to_owned())].into();
    let draft = Draft { parameters: automatic, ..draft };
    assert!(stem(&mut wire, &sibling(&(draft, results), vec![], &[])).is_none(), "its mark moves");
}

#[test]
fn sizes_continue_after_the_stem() {
    let beginning = beginning();
    let mut wire = Wire::default();
    let draft = sibling(&beginning, vec![Piece::text("one"), Piece::text("two")], &[]);
    let stem = stem(&mut wire, &draft).unwrap();
    let behind = wire.take_behind(&stem, &draft, "scope").unwrap();
    let all: Vec<u64> = (1..=stem.request().nodes.len() as u64).map(|at| at * 10).collect();
    let last = all[all.len() - 1];
    let own = [last + 1, last + 3];
    let sizes = stem.sizes(&wire.prefixes, &all, &own);
    let found = stem.request().nodes.iter().chain(&behind.nodes).map(|node| sizes.tokens_at(*node));
    assert!(found.eq(all.iter().chain(&own).copied()));
    assert_eq!(sizes.tokens_at(behind.root), 0);
}

/// Taking a sibling after another one gives the same as taking it alone.
#[test]
fn the_trail_of_a_sibling_changes_nothing() {
    let (draft, _) = beginning();
    let result = |at: usize| Piece::tool_result(&id(at), "started", false);
    let beginning = (draft, Pieces::shared((1..CALLS).rev().map(result).collect()));
    let text = |text: &str| Piece::text(text);
    let call = Piece::tool_use("toolu_late", "Read", &json!({}));
    let owns = [
        vec![text("one")],
        vec![text("two"), text("and more")],
        vec![result(0), text("three")],
        vec![text("four")],
        vec![call, text("five")],
        vec![text("six")],
        vec![],
        vec![result(0)],
        vec![result(0), text("seven")],
    ];
    let (mut following, mut taking, mut trail) = (Wire::default(), Wire::default(), Trail::default());
    for (at, own) in owns.into_iter().enumerate() {
        let draft = sibling(&beginning, own, &turn("toolu_more", &["toolu_more"])[..at % 3]);
        let followed = following.take_after(&draft, "scope", &mut trail);
        let taken = taking.take(&draft, "scope");
        assert_eq!(format!("{followed:?}"), format!("{taken:?}"), "{at}");
    }
}

/// A random sibling: its blocks after the shared ones, its later messages, its marks.
type Plan = (Vec<u8>, Vec<Vec<u8>>, Vec<(usize, usize)>);

fn plans() -> impl Strategy<Value = Vec<Plan>> {
    let messages = vec(vec(0..6_u8, 0..3), 0..3);
    vec((vec(0..6_u8, 0..3), messages, vec((0..5_usize, 0..24_usize), 0..4)), 1..8)
}

fn planned_piece(symbol: u8) -> Piece {
    match symbol {
        0..=2 => Piece::text(&format!("text {symbol}")),
        3 => Piece::text(""),
        4 => Piece::thinking("hm", "signature"),
        _ => Piece::tool_result("toolu_7", "done", false),
    }
}

fn planned(shared: &Pieces, before: &Rc<Message>, plan: &Plan) -> Draft {
    let (own, later, marks) = plan;
    let mut content = shared.clone();
    own.iter().for_each(|symbol| content.push(planned_piece(*symbol)));
    let mut messages = vec![before.clone(), Rc::new(Message { role: Role::User, content })];
    messages.extend(later.iter().enumerate().map(|(at, symbols)| {
        let role = if at % 2 == 0 { Role::Assistant } else { Role::User };
        let content = symbols.iter().map(|symbol| planned_piece(*symbol)).collect::<Vec<_>>();
        Rc::new(Message { role, content: Pieces::shared(content) })
    }));
    Draft {
        model: "claude-opus-5-5".into(),
        tools: Rc::from([]),
        system: Rc::from([Piece::text("Be brief.")]),
        messages,
        parameters: Rc::from([]),
        marks: marks.iter().map(|(item, part)| mark(Level::Messages, *item, *part)).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The slow twin takes each draft as a whole.
    #[test]
    fn a_request_is_the_same_whether_its_beginning_is_walked_or_not(plans in plans()) {
        let result = |at| Piece::tool_result(&format!("toolu_{at}"), "started", false);
        let shared = Pieces::shared((0..20).map(result).collect());
        let before = Rc::new(Message { role: Role::Assistant, content: [Piece::text("Go.")].into() });
        let mut fast = Wire::default();
        let mut slow = Wire::default();
        let mut known: Option<Stem> = None;
        for plan in &plans {
            let draft = planned(&shared, &before, plan);
            let whole = slow.take(&draft, "scope");
            let behind = known.as_ref().and_then(|stem| fast.take_behind(stem, &draft, "scope"));
            let taken = match (behind, &known) {
                (Some(behind), Some(stem)) => stem.whole(behind),
                _ => fast.take(&draft, "scope"),
            };
            prop_assert_eq!(format!("{taken:?}"), format!("{whole:?}"));
            if known.is_none() {
                known = stem(&mut fast, &draft);
            }
        }
    }
}
