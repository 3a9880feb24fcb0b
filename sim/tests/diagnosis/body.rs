//! Short forms for the blocks of a body, so that a corpus stays readable. Anything else in a body is plain JSON.
//!
//! `<u:Hi>` is a user message of one text block, `<a:…>` one of the assistant, `<m:…>` one of the system inside the
//! messages; `<t:…>` is a text block alone, `<r:ID:…>` a tool result, `<c:ID:NAME>` a tool call, `<tool:NAME>` a
//! definition. `*` after the first word marks the block for five minutes, `1` for an hour: `<u*:Hi>`.

use std::fmt::Write;

/// The JSON of a body in short forms.
pub fn expand(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('<') {
        let (form, after) = behind.split_once('>').expect("a short form ends with `>`");
        out.push_str(before);
        write!(out, "{}", block(form)).unwrap();
        rest = after;
    }
    out.push_str(rest);
    out
}

fn block(form: &str) -> String {
    let (word, value) = form.split_once(':').expect("a short form has a value");
    let (word, marker) = match (word.strip_suffix('*'), word.strip_suffix('1')) {
        (Some(word), _) => (word, r#","cache_control":{"type":"ephemeral"}"#),
        (_, Some(word)) => (word, r#","cache_control":{"type":"ephemeral","ttl":"1h"}"#),
        _ => (word, ""),
    };
    let text = format!(r#"{{"type":"text","text":"{value}"{marker}}}"#);
    let (id, value) = value.split_once(':').unwrap_or(("", value));
    match word {
        "t" => text,
        "u" => format!(r#"{{"role":"user","content":[{text}]}}"#),
        "a" => format!(r#"{{"role":"assistant","content":[{text}]}}"#),
        "m" => format!(r#"{{"role":"system","content":[{text}]}}"#),
        "r" => format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"{value}"{marker}}}"#),
        "c" => format!(r#"{{"type":"tool_use","id":"{id}","name":"{value}","input":{{}}{marker}}}"#),
        "tool" => format!(r#"{{"name":"{value}","description":"{value} does its work"{marker}}}"#),
        _ => panic!("no short form `{word}`"),
    }
}

#[test]
fn short_forms_are_json() {
    assert_eq!(
        expand(r#"{"messages":[<u:Hi>]}"#),
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]}"#
    );
    assert_eq!(
        expand("<r1:x:out>"),
        r#"{"type":"tool_result","tool_use_id":"x","content":"out","cache_control":{"type":"ephemeral","ttl":"1h"}}"#
    );
    assert_eq!(
        expand("<tool:Read>, <c*:x:Read>"),
        concat!(
            r#"{"name":"Read","description":"Read does its work"}, "#,
            r#"{"type":"tool_use","id":"x","name":"Read","input":{},"cache_control":{"type":"ephemeral"}}"#,
        )
    );
}
