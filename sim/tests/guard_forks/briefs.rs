//! Agents with briefs of their own: what those of one kind share (economics G2, G3).

use forkcast_sim::guard::Rule;
use serde_json::{Value, json};

use super::family::{Post, body, breaks, checked, long, parent, told};

/// The first request of an agent that was called with a brief, after notes that all of its kind have.
fn brief(chain: &'static str, words: &str) -> Post {
    let content = json!([
        {"type": "text", "text": long("Notes on the project.")},
        {"type": "text", "text": words},
    ]);
    let mut body = body(vec![json!({"role": "user", "content": content})]);
    body["system"][0]["text"] = json!(long("You look into things."));
    body["tools"].as_array_mut().unwrap().remove(0);
    Post { chain, parent: Some("main"), body }
}

fn changed(mut post: Post, change: fn(&mut Value)) -> Post {
    change(&mut post.body);
    post
}

#[test]
fn cache_13_economics_g2_briefs_that_differ_are_no_fault() {
    let posts = [
        parent(),
        brief("a", "Look at one."),
        brief("b", "Look at one."),
        brief("c", "Look at two."),
        brief("d", "Look at three."),
    ];
    for ids in [true, false] {
        let found: Vec<_> = checked(&posts, ids).into_iter().flat_map(|checked| checked.findings).collect();
        assert!(found.is_empty(), "ids {ids}: {:?}", told(&found));
    }
}

#[test]
fn a_later_agent_of_one_kind_has_the_tools_and_the_system_prompt_of_the_first() {
    type Change = fn(&mut Value);
    let changes: [(Change, &str, &str); 3] = [
        (|body| body["tools"].as_array_mut().unwrap().swap(0, 1), "tools_reordered", "tools[0]"),
        (|body| body["tools"][1]["description"] = json!("Edit does something else."), "tool_changed", "tools[1]"),
        (|body| body["system"][0]["text"] = json!(on("2026-11-23")), "system_changed", "system[0]"),
    ];
    for (change, cause, path) in changes {
        let mut posts = [parent(), brief("a", "Look at one."), changed(brief("b", "Look at two."), change)];
        if cause == "system_changed" {
            posts[1].body["system"][0]["text"] = json!(on("2026-11-22"));
        }
        assert_eq!(told(&breaks(&posts, true)), [(Rule::Sharing, 2, Some(1), cause, path)]);
    }
}

fn on(day: &str) -> String {
    format!("{}Today is {day}.", long("You look into things."))
}

#[test]
fn a_third_agent_with_an_extra_text_is_a_break_if_two_were_alike() {
    let wordy = |body: &mut Value| body["system"][0]["text"] = json!(long("You look into things.") + "Always.");
    let alike = [
        parent(),
        brief("a", "Look at one."),
        brief("b", "Look at two."),
        changed(brief("c", "Look at three."), wordy),
    ];
    assert_eq!(told(&breaks(&alike, true)), [(Rule::Sharing, 3, Some(1), "system_changed", "system[0]")]);
    let alone = [parent(), brief("a", "Look at one."), changed(brief("b", "Look at two."), wordy)];
    assert_eq!(told(&breaks(&alone, true)), [], "it may be another kind with a similar prompt");
}

#[test]
fn notes_that_two_agents_share_the_third_shares_too() {
    let dated = |body: &mut Value| body["messages"][0]["content"][0]["text"] = json!(long("Notes of today."));
    let mut posts = vec![
        parent(),
        brief("a", "Look at one."),
        brief("b", "Look at two."),
        changed(brief("c", "Look at three."), dated),
    ];
    // The mark at the very end covers the agent's own part: the notes have a breakpoint of their own.
    for post in &mut posts[1..] {
        post.body["messages"][0]["content"][0]["cache_control"] = json!({"type": "ephemeral"});
    }
    assert_eq!(told(&breaks(&posts, true)), [(Rule::Sharing, 3, Some(1), "message_edited", "messages[0].content[0]")]);
    posts.remove(2);
    assert_eq!(told(&breaks(&posts, true)), [], "with only one, the shared part is unknown");
}

#[test]
fn economics_g3_a_line_about_the_environment_after_the_breakpoint_breaks_only_equal_briefs() {
    let reviews = |words: [&'static str; 3]| -> Vec<Post> {
        let states = ["main, clean", "main, 1 change", "main, 2 changes"].into_iter().zip(["a", "b", "c"]);
        let reviews = states.zip(words).map(|((state, chain), words)| {
            let mut post = brief(chain, words);
            let line = json!({"type": "text", "text": format!("Branch {state}.")});
            post.body["system"].as_array_mut().unwrap().push(line);
            post
        });
        std::iter::once(parent()).chain(reviews).collect()
    };
    assert_eq!(told(&breaks(&reviews(["Review one.", "Review two.", "Review three."]), true)), []);
    let alike = breaks(&reviews(["Review it."; 3]), true);
    let expected = [2, 3].map(|request| (Rule::Sharing, request, Some(1), "system_changed", "system[1]"));
    assert_eq!(told(&alike), expected);
}

#[test]
fn settings_of_an_agent_of_one_kind_are_its_own() {
    let quick = |body: &mut Value| body["output_config"] = json!({"effort": "low"});
    let posts = [parent(), brief("a", "Look at one."), changed(brief("b", "Look at two."), quick)];
    let found: Vec<_> = checked(&posts, true).into_iter().flat_map(|checked| checked.findings).collect();
    assert_eq!(told(&found), []);
}

#[test]
fn agents_called_by_two_different_agents_are_no_siblings() {
    let swapped = |body: &mut Value| body["tools"].as_array_mut().unwrap().swap(0, 1);
    let other = Post { parent: Some("other"), ..changed(brief("b", "Look at two."), swapped) };
    assert_eq!(told(&breaks(&[parent(), brief("a", "Look at one."), other], true)), []);
}

#[test]
fn other_kinds_and_other_models_are_no_siblings() {
    let other_kind = |body: &mut Value| body["system"][0]["text"] = json!(long("You plan what is to be done."));
    let other_model = |body: &mut Value| body["model"] = json!("claude-haiku-5-5");
    for change in [other_kind as fn(&mut Value), other_model] {
        let posts = [
            parent(),
            brief("a", "Look at one."),
            brief("b", "Look at one."),
            changed(brief("c", "Look at two."), change),
        ];
        assert_eq!(told(&breaks(&posts, true)), []);
    }
}

#[test]
fn an_agent_with_less_than_half_of_the_tools_is_of_another_kind() {
    let other_tools = |body: &mut Value| {
        body["tools"].as_array_mut().unwrap().remove(0);
        body["tools"][0]["description"] = json!(long("Nobody else has this one."));
    };
    let posts = [
        parent(),
        brief("a", "Look at one."),
        brief("b", "Look at two."),
        changed(brief("c", "Look at three."), other_tools),
    ];
    assert_eq!(told(&breaks(&posts, true)), []);
}
