//! The bytes of drafts, and the cost of drafts.

use std::rc::Rc;

use forkcast_sim::wire::{
    Draft, Form, Level, Mark, Message, NormalForms, Piece, Place, Role, TextBeginning, Trail, Ttl, Wire,
};
use serde_json::json;

fn draft(messages: Vec<Message>) -> Draft {
    Draft {
        model: "claude-opus-4-8".into(),
        tools: Rc::default(),
        system: Rc::default(),
        messages: messages.into_iter().map(Rc::new).collect(),
        parameters: Rc::default(),
        marks: Vec::new(),
    }
}

fn says(role: Role, text: &str) -> Message {
    Message { role, content: [Piece::text(text)].into() }
}

#[test]
fn a_body_has_the_keys_of_the_client_of_2026_in_their_order() {
    let mark = |level, part, ttl| Mark { level, item: 0, part, ttl };
    let request = Draft {
        tools: [Piece::new(json!({"name": "Bash"}).to_string()), Piece::new("{}".to_owned())].into(),
        system: [Piece::text("Be \"brief\".")].into(),
        parameters: [("max_tokens", "9"), ("stream", "true"), ("system", "\"no\"")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
        marks: vec![
            mark(Level::System, 0, Ttl::OneHour),
            mark(Level::Messages, 1, Ttl::OneHour),
            mark(Level::Messages, 1, Ttl::FiveMinutes),
            mark(Level::Messages, 9, Ttl::FiveMinutes),
            Mark { level: Level::Tools, item: 1, part: 0, ttl: Ttl::FiveMinutes },
        ],
        ..draft(vec![Message { role: Role::User, content: [Piece::text("a"), Piece::text("b\n")].into() }])
    };
    let body = concat!(
        r#"{"model":"claude-opus-4-8","messages":[{"role":"user","content":[{"type":"text","text":"a"},"#,
        r#"{"type":"text","text":"b\n","cache_control":{"type":"ephemeral"}}]}],"#,
        r#""system":[{"type":"text","text":"Be \"brief\".","cache_control":{"type":"ephemeral","ttl":"1h"}}],"#,
        r#""tools":[{"name":"Bash"},{"cache_control":{"type":"ephemeral"}}],"max_tokens":9,"stream":true}"#
    );
    assert_eq!(String::from_utf8(request.body()).unwrap(), body);
}

#[test]
fn levels_without_elements_are_left_out() {
    assert_eq!(draft(vec![]).body(), br#"{"model":"claude-opus-4-8","messages":[]}"#);
}

#[test]
fn pieces_are_spelled_as_clients_spell_them() {
    let pieces = [
        Piece::text("a\u{1b}"),
        Piece::thinking("t", "s"),
        Piece::tool_use("i", "Read", &json!({"path": "/src", "limit": 1})),
        Piece::tool_use_raw("i", "Read", r#"{"path":"/src","limit":1.0}"#),
        Piece::tool_result("i", "", false),
        Piece::tool_result("i", "no", true),
    ];
    let json = [
        r#"{"type":"text","text":"a\u001b"}"#,
        r#"{"type":"thinking","thinking":"t","signature":"s"}"#,
        r#"{"type":"tool_use","id":"i","name":"Read","input":{"limit":1,"path":"/src"}}"#,
        r#"{"type":"tool_use","id":"i","name":"Read","input":{"path":"/src","limit":1.0}}"#,
        r#"{"tool_use_id":"i","type":"tool_result","content":""}"#,
        r#"{"tool_use_id":"i","type":"tool_result","content":"no","is_error":true}"#,
    ];
    assert_eq!(pieces.each_ref().map(Piece::json), json);
}

#[test]
fn a_declared_size_stays_with_its_piece() {
    let piece = Piece::text("a");
    let sized = piece.clone().sized(700);
    assert_eq!((piece.declared_tokens(), sized.declared_tokens()), (None, Some(700)));
    assert_eq!(sized.json(), piece.json());
    assert!(sized.same(&sized.clone()) && !sized.same(&piece) && !piece.same(&Piece::text("a")));
    let draft =
        draft(vec![says(Role::User, "b"), Message { role: Role::User, content: [piece, sized.clone()].into() }]);
    let place = Place { level: Level::Messages, item: 1, part: 1, keys: false };
    assert!(draft.piece(place).unwrap().same(&sized));
    let nowhere = [Place { part: 2, ..place }, Place { item: 2, ..place }, Place { keys: true, ..place }];
    assert!(nowhere.iter().all(|place| draft.piece(*place).is_none()));
    assert!(draft.piece(Place { level: Level::Tools, ..place }).is_none());
}

/// Recordings are replayed on several threads, each with a wire of its own.
#[test]
fn a_wire_can_be_sent_and_copied() {
    const fn asked<T: Send + Clone>() {}
    asked::<Wire>();
}

/// Bytes read in each of 50 turns; each turn adds an answer and a result to a first text of `prefix` bytes.
fn bytes_per_turn(prefix: usize, mut trail: Option<Trail>) -> Vec<u64> {
    let mut wire = Wire::default();
    let mut draft = draft(vec![says(Role::User, &"p".repeat(prefix))]);
    draft.tools = [Piece::new(json!({"name": "Bash", "description": "d".repeat(prefix)}).to_string())].into();
    wire.take(&draft, "scope");
    (0..50_u32)
        .map(|turn| {
            let id = format!("toolu_{turn:03}");
            let (call, result) =
                (Piece::tool_use(&id, "Bash", &json!({"command": "ls"})), Piece::tool_result(&id, "a.rs", false));
            let new = call.json().len() + result.json().len();
            let messages = [(Role::Assistant, call), (Role::User, result)];
            draft.messages.extend(messages.map(|(role, piece)| Rc::new(Message { role, content: [piece].into() })));
            let item = draft.messages.len() - 1;
            draft.marks = vec![Mark { level: Level::Messages, item, part: 0, ttl: Ttl::FiveMinutes }];
            let (read, held) = (wire.bytes_read(), wire.blocks.total_bytes());
            let request = match &mut trail {
                Some(trail) => wire.take_after(&draft.clone(), "scope", trail),
                None => wire.take(&draft.clone(), "scope"),
            };
            assert_eq!(request.known + 2, request.nodes.len(), "turn {turn}");
            assert_eq!(wire.bytes_read() - read, new as u64, "turn {turn}");
            assert!(wire.blocks.total_bytes() - held < new + 50, "turn {turn}");
            wire.bytes_read() - read
        })
        .collect()
}

#[test]
fn a_turn_reads_only_its_new_bytes() {
    let turns = bytes_per_turn(10, None);
    assert_eq!(turns, bytes_per_turn(1 << 20, None));
    assert_eq!(turns, bytes_per_turn(1 << 20, Some(Trail::default())));
    assert!(turns.iter().all(|bytes| *bytes == turns[0]));
}

#[test]
fn agents_that_share_pieces_read_them_once() {
    let mut wire = Wire::default();
    let parent = draft(vec![says(Role::User, &"p".repeat(100_000)), says(Role::Assistant, "I fork.")]);
    wire.take(&parent, "scope");
    let read = wire.bytes_read();
    for child in 0..100 {
        let mut fork = parent.clone();
        fork.messages.push(Rc::new(says(Role::User, &format!("Do part {child:02}."))));
        assert_eq!(wire.take(&fork, "scope").known, 2);
    }
    assert_eq!(wire.bytes_read() - read, 100 * Piece::text("Do part 00.").json().len() as u64);
}

#[test]
fn a_trail_that_left_its_path_forgets_the_rest_of_it() {
    let [x, y, z] = ["x", "y", "z"].map(|text| Rc::new(says(Role::User, text)));
    let with = |messages: &[&Rc<Message>]| Draft {
        messages: messages.iter().map(|message| Rc::clone(message)).collect(),
        ..draft(vec![])
    };
    let (mut wire, mut trail) = (Wire::default(), Trail::default());
    for messages in [[&x, &y].as_slice(), &[&x, &z], &[&x, &y, &z]] {
        let followed = wire.take_after(&with(messages), "scope", &mut trail);
        assert_eq!(followed.nodes, wire.take(&with(messages), "scope").nodes);
    }
}

/// `observed.md` 1: results are put into the order of their calls, however their ids are escaped.
#[test]
fn results_find_their_calls_in_another_spelling() {
    let calls = ["a\u{8}", "b"].map(|id| Piece::tool_use(id, "Read", &json!({})));
    let escaped = r#"{"type":"tool_result","tool_use_id":"a\b","content":"x"}"#;
    let results = vec![Piece::tool_result("b", "y", false), Piece::new(escaped.to_owned())];
    let calls = Message { role: Role::Assistant, content: calls.into() };
    let draft = draft(vec![calls, Message { role: Role::User, content: results.into() }]);
    let places = Wire::default().take(&draft, "scope").places;
    assert_eq!(places[2..].iter().map(|place| place.part).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn a_text_in_two_parts_has_the_bytes_of_the_whole_text() {
    for (beginning, rest) in
        [("rules: ", "look at part 7"), ("", ""), ("a \"quote\"\n", "\\ and \u{1}"), ("é", "\u{10ffff}")]
    {
        let whole = Piece::text(&format!("{beginning}{rest}"));
        let (shared, in_parts) = (TextBeginning::new(beginning), |shared: &TextBeginning| shared.piece(rest));
        let parts = [in_parts(&shared), in_parts(&shared).sized(9), in_parts(&shared).clone().sized(9)];
        let mut wire = Wire::new(NormalForms::default());
        let mut block = |piece: &Piece| {
            let message = Message { role: Role::User, content: [piece.clone()].into() };
            wire.take(&draft(vec![message]), "").nodes
        };
        let of_whole = block(&whole);
        for piece in &parts {
            // Read before its bytes were needed, and after.
            assert_eq!(block(piece), of_whole);
            assert_eq!(piece.json(), whole.json());
            assert_eq!(piece.clone().json(), whole.json());
        }
        assert_eq!(parts.map(|piece| piece.declared_tokens()), [None, Some(9), Some(9)]);
    }
}

#[test]
fn a_formed_result_has_the_bytes_of_its_text() {
    static PARTS: [&str; 3] = ["agentId: ", "\noutput: \"", "\". Wait."];
    for words in [["agent-1", "/tmp/agent-1.output"], ["", "\\ and \u{1}"]] {
        let form = Form { parts: &PARTS, words: words.map(Into::into) };
        let whole = Piece::tool_result("toolu_\"1\"", &form.text(), false);
        let formed = Piece::formed_result("toolu_\"1\"".into(), form);
        let sized = formed.clone().sized(9);
        let mut wire = Wire::new(NormalForms::default());
        let mut block = |piece: &Piece| {
            let message = Message { role: Role::User, content: [piece.clone()].into() };
            wire.take(&draft(vec![message]), "").nodes
        };
        let of_whole = block(&whole);
        for piece in [&formed, &sized] {
            // Read before its bytes were needed, and after.
            assert_eq!(block(piece), of_whole);
            assert_eq!((piece.json(), piece.clone().json()), (whole.json(), whole.json()));
        }
        assert_eq!([formed, sized].map(|piece| piece.declared_tokens()), [None, Some(9)]);
    }
}

#[test]
fn only_the_piece_that_is_sized_gets_the_size() {
    let piece = Piece::text("one");
    let (copy, sized) = (piece.clone(), piece.clone().sized(3));
    assert_eq!([&piece, &copy, &sized].map(Piece::declared_tokens), [None, None, Some(3)]);
    assert!(piece.same(&copy) && !piece.same(&sized));
}
