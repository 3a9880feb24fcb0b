//! The document around the chapters of a page.

use forkcast_sim::outside::visible;
use maud::{Markup, PreEscaped, html};

use super::{Chapter, HEAD, Page};
use crate::document::html;

/// The style.
const STYLE: &str =
    concat!(include_str!("assets/base.css"), include_str!("assets/parts.css"), include_str!("assets/pictures.css"),);

/// The scripts, in the order in which they use one another.
const SCRIPTS: &str = concat!(
    "\"use strict\";(() => {\n",
    include_str!("assets/elements.js"),
    include_str!("assets/numbers.js"),
    include_str!("assets/data.js"),
    include_str!("assets/tables.js"),
    include_str!("assets/bill.js"),
    include_str!("assets/days.js"),
    include_str!("assets/sessions.js"),
    include_str!("assets/treemap.js"),
    include_str!("assets/lanes.js"),
    include_str!("assets/session.js"),
    include_str!("assets/request.js"),
    include_str!("assets/what_if.js"),
    include_str!("assets/fanout.js"),
    include_str!("assets/check.js"),
    include_str!("assets/compare.js"),
    include_str!("assets/explain.js"),
    include_str!("assets/main.js"),
    "})();\n",
);

/// The whole page. Only its own script runs, and nothing is loaded: whatever a name in a recording has, it stays text.
pub(super) fn markup(page: &Page) -> Markup {
    let nonce = nonce(page);
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
         form-action 'none'"
    );
    html! {
        (PreEscaped(HEAD))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "forkcast " (env!("CARGO_PKG_VERSION")) };
                title { (visible(&page.title)) " · forkcast" }
                style { (PreEscaped(STYLE)) }
            }
            body data-kind=(page.kind) {
                a.skip href="#main" { "Skip to the report" }
                (top(page))
                main id="main" {
                    h1 { (heading(&page.title)) }
                    @for chapter in &page.chapters { (section(chapter)) }
                }
                footer {
                    @if let Some(command) = &page.command { p { "Made by " code { (visible(command)) } } }
                    p { "A file of its own: nothing is loaded, and nothing leaves this machine." }
                }
                div id="tip" role="status" hidden {}
                @for part in &page.data {
                    script type="text/plain" id={ "data-" (part.name) } { (PreEscaped(&part.base64)) }
                }
                script nonce=(nonce) { (PreEscaped(SCRIPTS)) }
            }
        }
    }
}

/// Any text that an author of names cannot foresee.
fn nonce(page: &Page) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(page.title.as_bytes());
    page.data.iter().for_each(|part| {
        hasher.update(part.base64.as_bytes());
    });
    hasher.finalize().to_hex()[..32].to_owned()
}

fn top(page: &Page) -> Markup {
    html! {
        header.top {
            a.brand href="#main" { "forkcast" }
            nav aria-label="Chapters" {
                @for chapter in &page.chapters {
                    a href={ "#" (chapter.id) } hidden[chapter.document.parts.is_empty()] { (chapter.heading) }
                }
            }
            button.quiet id="look" type="button" hidden { "Dark" }
        }
    }
}

/// The amount is large, the rest is not.
fn heading(title: &str) -> Markup {
    match title.split_once(" · ") {
        Some((first, rest)) => html! { span.amount { (visible(first)) } " " span.rest { (visible(rest)) } },
        None => html! { span.said { (visible(title)) } },
    }
}

/// A chapter without text is hidden until a script fills it.
fn section(chapter: &Chapter) -> Markup {
    html! {
        section id=(chapter.id) hidden[chapter.document.parts.is_empty()] aria-labelledby={ (chapter.id) "-head" } {
            h2 id={ (chapter.id) "-head" } { (chapter.heading) }
            div.picture {}
            div.text { (html::markup(&chapter.document)) }
        }
    }
}
