//! Settings of the request that belong to a level's identity, and the model.

use super::super::case::{At, Case};

fn set(case: &mut Case, key: &'static str, was: Option<&str>, is: Option<&str>) {
    for (prompt, value) in [(&mut case.older, was), (&mut case.newer, is)] {
        match value {
            Some(value) => prompt.set(key, value),
            None => prompt.unset(key),
        }
    }
}

const CHOICE: At = At::Parameter("tool_choice", "messages");
const THINKING: At = At::Parameter("thinking", "messages");
const EFFORT: At = At::Parameter("output_config.effort", "messages");
const FORMAT: At = At::Parameter("output_config.format", "messages");
const SPEED: At = At::Parameter("speed", "system");

/// Key, value in the older request, value in the newer one (empty: absent), place of the finding.
type Row = (&'static str, &'static str, &'static str, At);

const CHOICES: [Row; 4] = [
    ("tool_choice", "", r#"{"type":"any"}"#, CHOICE),
    ("tool_choice", r#"{"type":"tool","name":"Read"}"#, "", CHOICE),
    ("tool_choice", r#"{"type":"any"}"#, r#"{"type":"none"}"#, CHOICE),
    ("tool_choice", r#"{"type":"auto"}"#, r#"{"name":"Read","type":"tool"}"#, CHOICE),
];

const PARALLEL: [Row; 2] = [
    ("tool_choice", "", r#"{"type":"auto","disable_parallel_tool_use":true}"#, CHOICE),
    (
        "tool_choice",
        r#"{"type":"any","disable_parallel_tool_use":true}"#,
        r#"{"type":"any","disable_parallel_tool_use":false}"#,
        CHOICE,
    ),
];

const THOUGHT: [Row; 4] = [
    ("thinking", "", r#"{"type":"enabled","budget_tokens":4000}"#, THINKING),
    ("thinking", r#"{"type":"enabled","budget_tokens":4000}"#, r#"{"type":"enabled","budget_tokens":8000}"#, THINKING),
    ("thinking", r#"{"type":"adaptive"}"#, "", THINKING),
    ("thinking", r#"{"type":"adaptive"}"#, r#"{"type":"disabled"}"#, THINKING),
];

const EFFORTS: [Row; 3] = [
    ("output_config", r#"{"effort":"medium"}"#, r#"{"effort":"low"}"#, EFFORT),
    ("output_config", "", r#"{"effort":"max"}"#, EFFORT),
    ("output_config", r#"{"effort":"low"}"#, r#"{"effort":"high"}"#, EFFORT),
];

const FORMATS: [Row; 2] = [
    ("output_config", "", r#"{"format":{"type":"json_schema","schema":{"type":"object"}}}"#, FORMAT),
    (
        "output_config",
        r#"{"format":{"type":"json_schema","schema":{"type":"object"}}}"#,
        r#"{"format":{"type":"json_schema","schema":{"type":"array"}}}"#,
        FORMAT,
    ),
];

const SPEEDS: [Row; 2] = [("speed", "", r#""fast""#, SPEED), ("speed", r#""fast""#, r#""standard""#, SPEED)];

fn one(case: &mut Case, rows: &[Row]) -> Option<Vec<At>> {
    let (key, was, is, at) = case.dice.pick(rows).clone();
    let value = |text: &'static str| (!text.is_empty()).then_some(text);
    set(case, key, value(was), value(is));
    Some(vec![at])
}

pub fn tool_choice(case: &mut Case) -> Option<Vec<At>> {
    one(case, &CHOICES)
}

pub fn parallel(case: &mut Case) -> Option<Vec<At>> {
    one(case, &PARALLEL)
}

pub fn thinking(case: &mut Case) -> Option<Vec<At>> {
    one(case, &THOUGHT)
}

pub fn effort(case: &mut Case) -> Option<Vec<At>> {
    one(case, &EFFORTS)
}

pub fn format(case: &mut Case) -> Option<Vec<At>> {
    one(case, &FORMATS)
}

pub fn speed(case: &mut Case) -> Option<Vec<At>> {
    one(case, &SPEEDS)
}

pub fn several(case: &mut Case) -> Option<Vec<At>> {
    let mut found = tool_choice(case)?;
    found.extend(effort(case)?);
    Some(found)
}

pub fn model(case: &mut Case) -> Option<Vec<At>> {
    let other = if case.older.model().contains("opus") { "\"claude-sonnet-5\"" } else { "\"claude-opus-4-8\"" };
    case.newer.set("model", other);
    Some(vec![At::Parameter("model", "tools")])
}

/// A model whose rules drop thinking that both requests send.
pub fn model_that_strips(case: &mut Case) -> Option<Vec<At>> {
    (!case.of_kind(&["thinking"]).is_empty()).then(|| case.newer.set("model", "\"claude-haiku-4-5\""))?;
    Some(vec![At::Parameter("model", "tools")])
}

/// The request is unchanged except for the provider's search tool, which alters the system text.
pub fn web_search(case: &mut Case) -> Option<Vec<At>> {
    (!case.newer.tools.is_empty()).then_some(())?;
    let tool = case.newer.written(r#"{"type":"web_search_20250305","name":"web_search","max_uses":3}"#);
    case.newer.tools.push(tool);
    Some(vec![At::Standing(format!("tools[{}]", case.newer.tools.len() - 1), "system")])
}

/// Citations of a document are enabled.
pub fn citations(case: &mut Case) -> Option<Vec<At>> {
    let document = r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"A page."},"citations":{"enabled":$}}"#;
    let block = case.newer.written(&document.replace('$', "false"));
    let said = case.newer.messages.iter().position(|message| message.role == "user")?;
    for (prompt, enabled) in [(&mut case.older, "false"), (&mut case.newer, "true")] {
        let mut block = block.clone();
        block.json = super::super::json::Json::parse(&document.replace('$', enabled));
        let first = prompt.messages.iter_mut().find(|message| message.role == "user")?;
        first.content.insert(0, block);
        first.as_string = false;
    }
    Some(vec![At::Standing(format!("messages[{said}].content[0].citations"), "system")])
}
