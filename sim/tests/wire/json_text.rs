//! JSON text: borders of values, escapes, the normal spelling.

use forkcast_sim::wire::json::{self, ScanError, Scanner};

fn normal(raw: &str) -> String {
    let mut out = Vec::new();
    json::normalise(raw.as_bytes(), &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn strings_are_unescaped() {
    let table = [
        (r#""""#, Some("")),
        (r#""plain é 😀""#, Some("plain é 😀")),
        (r#""\" \\ \/ \b \f \n \r \t""#, Some("\" \\ / \u{8} \u{c} \n \r \t")),
        (r#""\u0041\u00e9\u00E9\u20ac""#, Some("Aéé€")),
        (r#""\u0000\u001f\u007f""#, Some("\0\u{1f}\u{7f}")),
        (r#""\ud83d\ude00 \uD83D\uDE00""#, Some("😀 😀")),
        (r#""\ud800\udc00\udbff\udfff""#, Some("\u{10000}\u{10ffff}")),
        (r#""\ud83dx""#, Some("\u{fffd}x")),
        (r#""\ude00\ud83d""#, Some("\u{fffd}\u{fffd}")),
        (r#""\ud83d\ud83d\ude00""#, Some("\u{fffd}😀")),
        (r#""\ud83d\ue000""#, Some("\u{fffd}\u{e000}")),
        (r#""\udc00\udc00""#, Some("\u{fffd}\u{fffd}")),
        (r#""\ud83d\u0041""#, Some("\u{fffd}A")),
        (r#""\\u0041""#, Some("\\u0041")),
        // Not JSON, but names are read leniently and must not cause errors.
        (r#""\u12""#, Some("u12")),
        (r#""\u+123""#, Some("u+123")),
        (r#""\q""#, Some("q")),
        ("\"", None),
        ("", None),
        ("plain", None),
        ("\"open", None),
        ("open\"", None),
        ("5", None),
    ];
    for (raw, expected) in table {
        assert_eq!(json::string(raw.as_bytes()).as_deref(), expected, "{raw}");
    }
    assert_eq!(json::string(b"\"\\\"").as_deref(), Some("\\"));
}

#[test]
fn cache_32_the_normal_spelling_has_no_blanks_and_the_fewest_escapes() {
    let table = [
        (" [ 1 ,\t2 ,\r\n3 ] ", "[1,2,3]"),
        (r#"{ "a b" : " c " }"#, r#"{"a b":" c "}"#),
        (r#""\u0041\u00e9\/""#, r#""Aé/""#),
        (r#""\b\f\u0008\u000C\u001F""#, r#""\u0008\u000c\u0008\u000c\u001f""#),
        (r#""\n\u000a\u000D\r\u0009\t""#, r#""\n\n\r\r\t\t""#),
        (r#""\" \u0022 \\ \u005c""#, r#""\" \" \\ \\""#),
        (r#""\uD83D\uDE00""#, r#""😀""#),
        (r#""\uD800 \udfff\uD800""#, r#""\ud800 \udfff\ud800""#),
        (r#""\u007f\u0020\u00a0""#, "\"\u{7f} \u{a0}\""),
        (r#""\\u0041""#, r#""\\u0041""#),
        // Numbers, key order and duplicate keys reach the model and stay.
        (r#"{"b": 1.0, "a": 1, "b": 1E2}"#, r#"{"b":1.0,"a":1,"b":1E2}"#),
        ("-0.0e-00", "-0.0e-00"),
        ("true", "true"),
        ("", ""),
        // The rest of a truncated string stays as it is.
        (r#"[ "open \u0041"#, r#"["open \u0041"#),
    ];
    for (raw, expected) in table {
        assert_eq!(normal(raw), expected, "{raw}");
        assert_eq!(normal(expected), expected, "again {raw}");
    }
}

#[test]
fn text_becomes_a_string_in_the_normal_spelling() {
    for text in ["", "plain", "a\"b\\c\nd\te\u{1}f\u{7f}g😀"] {
        let mut out = Vec::new();
        json::push_string(text, &mut out);
        let raw = String::from_utf8(out).unwrap();
        assert_eq!(normal(&raw), raw);
        assert_eq!(json::string(raw.as_bytes()).as_deref(), Some(text));
        assert_eq!(serde_json::from_str::<String>(&raw).unwrap(), text);
    }
}

#[test]
fn only_escaped_letters_are_resolved() {
    assert!(matches!(json::plain(b"{\"a\" : \"\\ud800\"}"), std::borrow::Cow::Borrowed(_)));
    assert_eq!(*json::plain(b"{\"\\u0061\" : 1}"), *b"{\"a\":1}");
}

#[test]
fn values_end_at_their_last_byte() {
    let table: [(&str, &[&str]); 12] = [
        ("1 2", &["1", "2"]),
        (" \t\r\n1", &["1"]),
        ("-1.5e+3,", &["-1.5e+3"]),
        ("true}", &["true"]),
        ("null]", &["null"]),
        ("t:b", &["t"]),
        (r#""a\"b" "c\\""d""#, &[r#""a\"b""#, r#""c\\""#, r#""d""#]),
        (r#"{"}":"{[\"]"}[]"#, &[r#"{"}":"{[\"]"}"#, "[]"]),
        ("[[],[[]]] {}", &["[[],[[]]]", "{}"]),
        ("[]]", &["[]"]),
        ("1\n2\r3\t4", &["1", "2", "3", "4"]),
        ("\"\\\\\" 1", &["\"\\\\\"", "1"]),
    ];
    for (text, expected) in table {
        let mut scanner = Scanner::new(text.as_bytes());
        for value in expected {
            assert_eq!(scanner.value().map(str::from_utf8), Ok(Ok(*value)), "{text}");
        }
    }
}

#[test]
fn a_failed_scan_reports_its_offset_and_the_expected_text() {
    let table = [
        ("", 0, "a JSON value"),
        ("  ", 2, "a JSON value"),
        (" ,", 1, "a JSON value"),
        (":", 0, "a JSON value"),
        ("}", 0, "a JSON value"),
        ("]", 0, "a JSON value"),
        (" \"open", 1, "a closing quote"),
        ("\"open\\", 0, "a closing quote"),
        ("\"open\\\"", 0, "a closing quote"),
        (" [1,[2]", 1, "a closing bracket"),
        ("{\"a\":\"b", 5, "a closing quote"),
    ];
    for (text, offset, expected) in table {
        assert_eq!(Scanner::new(text.as_bytes()).value(), Err(ScanError { offset, expected }), "{text}");
    }
    let mut scanner = Scanner::new(b"{ : 1");
    assert_eq!((scanner.take(1), scanner.rest()), (&b"{"[..], &b" : 1"[..]));
    assert_eq!(scanner.expect(b',', "a comma"), Err(ScanError { offset: 2, expected: "a comma" }));
    assert_eq!((scanner.expect(b':', "a colon"), scanner.offset()), (Ok(()), 3));
    assert_eq!((scanner.peek(), scanner.offset()), (Some(b'1'), 4));
    assert_eq!((scanner.value(), scanner.peek()), (Ok(&b"1"[..]), None));
    assert_eq!((scanner.take(9), scanner.rest()), (&b""[..], &b""[..]));
}

/// A text, its elements, and the offset and expected text of the error, if there is one.
type Listing = (&'static str, &'static [&'static str], Option<(usize, &'static str)>);

#[test]
fn members_and_elements_are_listed_until_the_first_that_is_broken() {
    let table: [Listing; 11] = [
        ("{}", &[], None),
        (" { } ", &[], None),
        (r#"{"a":1 , "b" : [2]}"#, &[r#""a"=1"#, r#""b"=[2]"#], None),
        ("[]", &[], Some((0, "an object"))),
        ("5", &[], Some((0, "an object"))),
        ("{5}", &[], Some((1, "a key in quotes"))),
        (r#"{"a" 1}"#, &[], Some((5, "`:` after a key"))),
        (r#"{"a":}"#, &[], Some((5, "a JSON value"))),
        (r#"{"a":1 "b":2}"#, &[r#""a"=1"#], Some((7, "`,` or `}`"))),
        (r#"{"a":1,}"#, &[r#""a"=1"#], Some((7, "a key in quotes"))),
        (r#"{"a":1"#, &[r#""a"=1"#], Some((6, "`,` or `}`"))),
    ];
    let utf8 = |raw: &[u8]| String::from_utf8(raw.to_vec()).unwrap();
    for (text, expected, error) in table {
        let mut members = json::members(text.as_bytes());
        for pair in expected {
            let (key, value) = members.next().unwrap().unwrap();
            assert_eq!(format!("{}={}", utf8(key), utf8(value)), *pair, "{text}");
        }
        let stopped = members.next().map(|item| item.map_err(|error| (error.offset, error.expected)));
        assert_eq!(stopped, error.map(Err), "{text}");
        assert_eq!(members.next(), None, "{text}: nothing after the end");
    }
}

#[test]
fn elements_are_listed_until_the_first_that_is_broken() {
    let table: [Listing; 7] = [
        ("[]", &[], None),
        (" [ ] ", &[], None),
        (r#"[1, "a,b" ,{"c":[]}]"#, &["1", r#""a,b""#, r#"{"c":[]}"#], None),
        ("{}", &[], Some((0, "an array"))),
        ("[1 2]", &["1"], Some((3, "`,` or `]`"))),
        ("[1,]", &["1"], Some((3, "a JSON value"))),
        ("[1", &["1"], Some((2, "`,` or `]`"))),
    ];
    for (text, expected, error) in table {
        let mut elements = json::elements(text.as_bytes());
        for value in expected {
            assert_eq!(elements.next(), Some(Ok(value.as_bytes())), "{text}");
        }
        let stopped = elements.next().map(|item| item.map_err(|error| (error.offset, error.expected)));
        assert_eq!(stopped, error.map(Err), "{text}");
        assert_eq!(elements.next(), None, "{text}: nothing after the end");
    }
}

#[test]
fn a_scanner_enters_only_the_requested_kind_of_value() {
    let text = br#"{"a": "x\"y", "list": [1, {"b": [[2]]}], "c": null}"#;
    let mut scanner = Scanner::new(text);
    assert_eq!(scanner.enter(b'{'), Ok(true));
    assert_eq!((scanner.key(), scanner.string()), (Ok(Some(&b"a"[..])), Ok(Some(&br#"x\"y"#[..]))));
    assert_eq!((scanner.key(), scanner.enter(b'[')), (Ok(Some(&b"list"[..])), Ok(true)));
    assert_eq!((scanner.element(), scanner.value(), scanner.depth()), (Ok(true), Ok(&b"1"[..]), 0));
    assert_eq!((scanner.element(), scanner.value(), scanner.depth()), (Ok(true), Ok(&br#"{"b": [[2]]}"#[..]), 3));
    assert_eq!((scanner.element(), scanner.key()), (Ok(false), Ok(Some(&b"c"[..]))));
    let start = scanner.offset();
    assert_eq!((scanner.enter(b'{'), scanner.since(start)), (Ok(false), &b" null"[..]));
    assert_eq!(scanner.key(), Ok(None));
}

#[test]
fn the_offset_after_an_object_is_its_end() {
    let mut scanner = Scanner::new(b"{\"a\":1}  5");
    assert_eq!((scanner.enter(b'{'), scanner.key(), scanner.value()), (Ok(true), Ok(Some(&b"a"[..])), Ok(&b"1"[..])));
    assert_eq!((scanner.key(), scanner.offset()), (Ok(None), 7));
}

#[test]
fn only_the_word_null_is_null() {
    assert!(json::is_null(b"null"));
    assert!(!json::is_null(b"\"null\""));
    assert!(!json::is_null(b""));
}
