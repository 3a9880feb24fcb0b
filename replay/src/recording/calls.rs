//! Calls that start agents, as bodies repeat them: their prompts, and the reports in their results.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::formats::json::{elements, member, member_text, text};

/// Names of the tool that starts agents: the current one and the one before 2.1.63.
pub(super) const TOOLS: [&str; 2] = ["Agent", "Task"];

/// What follows a report in the result of its call.
const BEHIND_REPORT: &str = "agentId: ";

/// What only the result of a call has whose agent runs in the background: its report comes with a notification.
pub(super) const LAUNCHED: &str = "output_file: ";

/// Calls with their results.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Ids by prompt.
    ids: BTreeMap<String, String>,
    reports: BTreeMap<String, String>,
}

impl Calls {
    /// Adds the calls in the history of a request.
    pub fn add(&mut self, body: &[u8]) {
        for message in messages(body) {
            for block in blocks(message) {
                match member_text(block, "type").as_deref() {
                    Some("tool_use") => {
                        let id = member_text(block, "id");
                        let call = prompt(block).zip(id);
                        self.ids.extend(call.map(|(prompt, id)| (prompt.into_owned(), id.into_owned())));
                    }
                    Some("tool_result") => {
                        let id = member_text(block, "tool_use_id");
                        let report = id.map(|id| (id.into_owned(), report(block)));
                        self.reports.extend(report.filter(|(_, report)| !report.is_empty()));
                    }
                    _ => {}
                }
            }
            for text in texts(message) {
                self.reports.extend(notified(&text));
            }
        }
    }

    /// The report of the agent that began with this request, if its parent received one.
    pub fn report_of(&self, first: &[u8]) -> Option<&str> {
        let asked = texts_of_last(first);
        let is_asked = |prompt: &str| asked.iter().any(|text| text.contains(prompt));
        let calls = self.ids.iter().filter(|(prompt, _)| is_asked(prompt));
        let (_, id) = calls.max_by_key(|(prompt, _)| prompt.len())?;
        self.reports.get(id).map(String::as_str)
    }
}

/// Whether a client sends back who made a call, as the answer names it. The client of the open wire captures does (2,501 of
/// 2,501 calls); the agent SDK does not (8 of 8 calls, 2.1.113 and 2.1.198, in recordings of dd-trace-js).
pub(super) fn sends_callers(body: &[u8]) -> bool {
    let has_caller = |block: &&[u8]| member(block, "caller").is_some();
    messages(body).into_iter().flat_map(blocks).any(|block| has_caller(&block))
}

/// The messages of a body.
pub(super) fn messages(body: &[u8]) -> Vec<&[u8]> {
    member(body, "messages").into_iter().flat_map(elements).collect()
}

fn blocks(message: &[u8]) -> Vec<&[u8]> {
    member(message, "content").into_iter().flat_map(elements).collect()
}

/// The prompt of a block that calls an agent.
fn prompt(block: &[u8]) -> Option<Cow<'_, str>> {
    let name = member_text(block, "name").filter(|name| TOOLS.contains(&&**name))?;
    let is_call = member_text(block, "type")? == "tool_use" && !name.is_empty();
    member_text(member(block, "input")?, "prompt").filter(|prompt| is_call && !prompt.is_empty())
}

pub(super) fn texts_of_last(body: &[u8]) -> Vec<Cow<'_, str>> {
    messages(body).pop().map_or_else(Vec::new, texts)
}

pub(super) fn texts(holder: &[u8]) -> Vec<Cow<'_, str>> {
    let Some(content) = member(holder, "content") else { return Vec::new() };
    match text(content) {
        Some(text) => vec![text],
        None => elements(content).filter_map(|block| member_text(block, "text")).collect(),
    }
}

/// What a notification begins with.
pub(super) const NOTIFICATION: &str = "<task-notification>";

/// The text in a tag.
pub(super) fn inner<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, after) = text.split_once(&format!("<{tag}>"))?;
    Some(after.split_once(&format!("</{tag}>"))?.0)
}

/// The call and the report in a notification.
fn notified(text: &str) -> Option<(String, String)> {
    let report = inner(text, "result")?.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    Some((inner(text, "tool-use-id")?.to_owned(), report))
}

/// The text of a result without what the client adds to a report.
fn report(result: &[u8]) -> String {
    let texts = texts(result);
    if texts.iter().any(|text| text.contains(BEHIND_REPORT) && text.contains(LAUNCHED)) {
        return String::new();
    }
    let own = texts.iter().map(|text| text.split(BEHIND_REPORT).next().unwrap_or(text).trim_end());
    own.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}
