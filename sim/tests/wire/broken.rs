//! Invalid bodies: an error that names the place, never a panic and never a lost prompt.

use forkcast_sim::wire::{BodyError, Wire};

use super::bodies::{REALISTIC, read};

fn complaint(body: &[u8]) -> String {
    match Wire::default().read(body, "scope", "") {
        Ok(_) => panic!("{} was read", String::from_utf8_lossy(body)),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_error_names_its_place() {
    let table: [(&str, &str); 38] = [
        ("", "byte 0: EOF"),
        ("   ", "byte 3: EOF"),
        ("hello", "byte 0: expected value"),
        ("5", "byte 0: expected an object"),
        ("[]", "byte 0: expected an object"),
        ("\"messages\"", "byte 0: expected an object"),
        ("{", "byte 1: EOF"),
        ("{}", "no `messages`: expected a request body"),
        (r#"{"model":"m"}"#, "no `messages`"),
        (r#"{"messages":null}"#, "no `messages`"),
        (r#"{"messages":[],"messages":null}"#, "no `messages`"),
        (r#"{"messages":[]} x"#, "byte 16: trailing characters"),
        (r#"{"messages":[]}{}"#, "byte 15: trailing characters"),
        (r#"{"messages":[],}"#, "byte 15: key must be a string"),
        (r#"{"messages" []}"#, "byte 12: expected `:`"),
        (r#"{"messages":[] "a":1}"#, "byte 15: expected `,` or `}`"),
        (r#"{"messages":[],a:1}"#, "byte 15: key must be a string"),
        (r#"{"messages":[],"\q":1}"#, "byte 17: invalid escape"),
        (r#"{"messages":[1 2]}"#, "byte 15: expected `,` or `]`"),
        (r#"{"messages":nope}"#, "byte 13: expected ident"),
        (r#"{"messages":[tru],"messages":[]}"#, "byte 16: expected ident"),
        (r#"{"system":[{"a":tru}],"system":"","messages":[]}"#, "byte 19: expected ident"),
        (r#"{"messages":[{]}"#, "byte 14: key must be a string"),
        (r#"{"messages":{}}"#, "messages: found an object, expected an array"),
        (r#"{"messages":"Hi"}"#, "messages: found a string, expected an array"),
        (r#"{"messages":true}"#, "messages: found a boolean, expected an array"),
        (r#"{"messages":-1}"#, "messages: found a number, expected an array"),
        (r#"{"messages":["Hi"]}"#, "messages[0]: found a string, expected an object"),
        (r#"{"messages":[{},[]]}"#, "messages[1]: found an array, expected an object"),
        (r#"{"messages":[null]}"#, "messages[0]: found null, expected an object"),
        (r#"{"messages":[{"role":tru}]}"#, "messages[0]: found broken JSON"),
        (r#"{"messages":[{"role":"user","content":[01]}]}"#, "messages[0]: found broken JSON"),
        (r#"{"tools":5,"messages":[]}"#, "tools: found a number, expected an array"),
        (r#"{"tools":[{"name":"A"},7],"messages":[]}"#, "tools[1]: found a number, expected an object"),
        (r#"{"system":{"type":"text"},"messages":[]}"#, "system: found an object, expected an array"),
        (r#"{"system":[5],"messages":[]}"#, "system[0]: found a number, expected an object"),
        (r#"{"system":"\q","messages":[]}"#, "system: found broken JSON"),
        (r#"{"max_tokens":1e,"messages":[]}"#, "byte 16: invalid number"),
    ];
    let mut wrong = Vec::new();
    for (body, expected) in table {
        let found = complaint(body.as_bytes());
        if !found.starts_with(expected) {
            wrong.push(format!("{body}\nexpected {expected}\nfound    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_offset_counts_bytes_over_all_lines() {
    assert!(complaint(b"{\n\"a\": 1,\n  \"b\": x}").starts_with("byte 17: expected value"));
    assert!(complaint("{\"é\": x}".as_bytes()).starts_with("byte 7: expected value"));
}

#[test]
fn bytes_that_are_no_utf8_are_named() {
    let mut body = br#"{"messages":[{"role":"user","content":"a"#.to_vec();
    let offset = body.len();
    body.extend_from_slice(b"\xff\"}]}");
    assert_eq!(Wire::default().read(&body, "s", "").unwrap_err(), BodyError::NotUtf8 { offset });
    assert!(complaint(&body).starts_with("byte 40: found a byte that is not UTF-8"));
}

#[test]
fn a_body_cut_anywhere_is_an_error_at_its_end() {
    let mut wire = Wire::default();
    for end in 0..REALISTIC.len() {
        let text = &REALISTIC.as_bytes()[..end];
        let error = wire.read(text, "scope", "").expect_err("a part of a body is none");
        match error {
            // A truncated number is an error at its last digit, everything else at the end.
            BodyError::NotJson { offset, .. } => assert!(offset == end || offset + 1 == end, "cut at {end}: {error}"),
            BodyError::NotUtf8 { offset } => assert!(offset <= end),
            other => panic!("cut at {end}: {other}"),
        }
    }
    assert!(wire.prefixes.is_empty(), "no path was laid");
    let after = read(&mut wire, REALISTIC);
    let fresh = read(&mut Wire::default(), REALISTIC);
    assert_eq!((after.places, after.known), (fresh.places, 0));
}

#[test]
fn a_million_brackets_are_one_block_or_an_error() {
    const DEEP: usize = 1_000_000;
    for (open, close) in [
        ("[", "]"),
        (r#"{"a":"#, "}"),
        (r#"{"type":"image","source":"#, "}"),
        (r#"{"type":"tool_result","content":["#, "]}"),
    ] {
        let nested = format!("{}1{}", open.repeat(DEEP), close.repeat(DEEP));
        for body in [
            format!(r#"{{"messages":[{{"role":"user","content":{nested}}}]}}"#),
            format!(r#"{{"messages":[{{"role":"user","content":[{nested}]}}]}}"#),
            format!(r#"{{"messages":[],"x":{nested},"thinking":{nested}}}"#),
            format!(r#"{{"messages":[],"tools":[{{"name":"A","input_schema":{nested}}}]}}"#),
        ] {
            let mut wire = Wire::default();
            let blocks = wire.read(body.as_bytes(), "scope", "").map(|request| request.nodes.len());
            assert!(blocks.is_ok_and(|blocks| blocks >= 1), "{open}");
        }
        let half = format!(r#"{{"messages":[{{"role":"user","content":{}"#, open.repeat(DEEP));
        assert!(complaint(half.as_bytes()).starts_with(&format!("byte {}: EOF", half.len())));
    }
}

#[test]
fn huge_numbers_are_bytes_like_others() {
    let digits = "9".repeat(100_000);
    let body = format!(
        r#"{{"max_tokens":{digits},"messages":[{{"role":"assistant","content":[{{"type":"tool_use","input":{{"a":{digits},"b":1e999999999}}}}]}}]}}"#
    );
    let mut wire = Wire::default();
    let request = read(&mut wire, &body);
    let bytes = wire.blocks.bytes(wire.prefixes.block(request.end()).unwrap());
    assert_eq!(bytes.len(), r#"{"input":{"a":,"b":1e999999999},"type":"tool_use"}"#.len() + digits.len());
    assert_eq!(request.envelope_value("max_tokens"), Some(digits.as_bytes()));
}

#[test]
fn after_an_error_the_wire_continues_as_before() {
    let mut wire = Wire::default();
    let half = r#"{"tools":[{"name":"A"}],"messages":[{"role":"user","content":"Hi"},5]}"#;
    assert!(wire.read(half.as_bytes(), "scope", "").is_err());
    let request = read(&mut wire, r#"{"tools":[{"name":"A"}],"messages":[{"role":"user","content":"Hi"}]}"#);
    assert_eq!((request.known, request.nodes.len()), (0, 2));
}
