//! How each provider's own cache diagnosis names each cause.

use forkcast_sim::diagnosis::{CAUSES, Cause};
use forkcast_sim::wire::model::resolve;
use forkcast_sim::wire::{Maker, Wire};

/// Cause, Anthropic's word, `OpenAI`'s word; `-` without one.
const TABLE: &str = "
    model_changed      model_changed               model_changed
    breakpoint_limit   -                           -
    ttl_order          -                           -
    below_minimum      -                           -
    no_breakpoint      -                           -
    level_parameter    unavailable                 -
    tools_added        tools_changed               tools_changed
    tools_removed      tools_changed               tools_changed
    tools_reordered    tools_changed               tools_changed
    tool_changed       tools_changed               tools_changed
    system_changed     system_changed              input_changed
    message_edited     messages_changed            input_changed
    message_inserted   messages_changed            input_changed
    message_removed    messages_changed            input_changed
    message_moved      messages_changed            input_changed
    history_truncated  messages_changed            input_changed
    rewound            messages_changed            input_changed
    results_reordered  messages_changed            input_changed
    results_cleared    messages_changed            input_changed
    thinking_stripped  messages_changed            input_changed
    compacted          messages_changed            context_compacted
    key_order          messages_changed            input_changed
    image_changed      messages_changed            input_changed
    other_scope        previous_message_not_found  comparison_response_not_found
    expired            previous_message_not_found  comparison_response_not_found
    in_flight          -                           -
    beyond_lookback    -                           -
    evicted            -                           -
    routed_elsewhere   -                           -
    hidden_request     -                           -
    first_request      -                           -
    unexplained        -                           -
";

/// A setting of a body, and `OpenAI`'s word for a change of it.
const SETTINGS: &str = "
    prompt_cache_key     prompt_cache_key_changed
    service_tier         service_tier_changed
    text.format          text_format_changed
    response_format      text_format_changed
    reasoning.effort     reasoning_effort_changed
    reasoning_effort     reasoning_effort_changed
    text.verbosity       verbosity_changed
    verbosity            verbosity_changed
    parallel_tool_calls  -
    context_management   -
";

fn rows<const N: usize>(table: &'static str) -> Vec<[&'static str; N]> {
    let lines = table.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().try_into().unwrap()).collect()
}

fn reason(provider: Maker, cause: Cause, path: &str) -> &'static str {
    provider.reason(cause, path).unwrap_or("-")
}

#[test]
fn every_cause_has_the_word_of_each_provider() {
    let rows = rows::<3>(TABLE);
    assert_eq!(rows.len(), CAUSES.len());
    for (cause, [word, anthropic, openai]) in CAUSES.into_iter().zip(rows) {
        assert_eq!(cause.word(), word);
        assert_eq!(reason(Maker::Anthropic, cause, ""), anthropic, "{word}");
        assert_eq!(reason(Maker::OpenAi, cause, ""), openai, "{word}");
    }
}

#[test]
fn a_changed_setting_has_its_own_word_at_openai_but_not_at_anthropic() {
    for [path, word] in rows::<2>(SETTINGS) {
        assert_eq!(reason(Maker::OpenAi, Cause::LevelParameter, path), word, "{path}");
        assert_eq!(reason(Maker::Anthropic, Cause::LevelParameter, path), "unavailable", "{path}");
    }
}

#[test]
fn the_model_decides_which_diagnosis_applies() {
    let table = [
        ("claude-opus-4-8", Some(Maker::Anthropic)),
        ("my-local-model", Some(Maker::Anthropic)),
        ("gpt-5.6-sol", Some(Maker::OpenAi)),
        ("anthropic.claude-opus-4-5-20251101-v1:0", None),
        ("openrouter/anthropic/claude-opus-4.5", None),
        ("gemini-2.5-pro", None),
        ("deepseek-chat", None),
    ];
    for (model, provider) in table {
        assert_eq!(Maker::diagnosing_model(resolve(model)), provider, "{model}: {:?}", resolve(model));
    }
}

#[test]
fn the_rules_of_a_body_outweigh_its_model() {
    let mut wire = Wire::default();
    let mut of = |maker: Maker, model: &str| {
        let body = format!(r#"{{"model":"{model}","messages":[{{"role":"user","content":"a"}}]}}"#);
        Maker::diagnosing(&wire.read_by(maker, body.as_bytes(), "s", "").unwrap())
    };
    assert_eq!(of(Maker::OpenAi, "codex-house"), Some(Maker::OpenAi));
    assert_eq!(of(Maker::Other, "claude-opus-4-8"), None);
    assert_eq!(of(Maker::Anthropic, "codex-house"), Some(Maker::Anthropic));
    assert_eq!(of(Maker::Anthropic, "claude-opus-4-8"), Some(Maker::Anthropic));
    assert_eq!(of(Maker::Anthropic, "gpt-5.6-sol"), None);
    assert_eq!(of(Maker::Anthropic, "kimi-k3"), None);
}
