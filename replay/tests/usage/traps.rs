//! Mistakes that others made with usage (economics of prompt caches, list of traps), each as a case.

use forkcast_replay::exchange::Dialect::{self, *};
use forkcast_replay::formats::exchange_log::{RawAnswer, write_line};
use forkcast_replay::formats::{Format, read as read_file};
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, replay};
use forkcast_sim::pricing::ServiceTier;

use super::{Counts, answer, clean, counts, refusal};

/// The same call, 1,000 tokens of prompt with 600 read, as each convention spells it.
#[test]
fn the_same_call_gives_the_same_counts_in_every_convention() {
    let spelled: [(Dialect, &str); 9] = [
        (Messages, r#"{"usage":{"input_tokens":400,"cache_read_input_tokens":600,"output_tokens":50}}"#),
        (BedrockInvoke, r#"{"usage":{"input_tokens":400,"cache_read_input_tokens":600,"output_tokens":50}}"#),
        (
            BedrockConverse,
            r#"{"usage":{"inputTokens":400,"cacheReadInputTokens":600,"outputTokens":50,"totalTokens":1050}}"#,
        ),
        (
            ChatCompletions,
            r#"{"usage":{"prompt_tokens":1000,"completion_tokens":50,"total_tokens":1050,"prompt_tokens_details":{"cached_tokens":600}}}"#,
        ),
        (
            ChatCompletions,
            r#"{"usage":{"prompt_tokens":1000,"completion_tokens":50,"total_tokens":1050,"prompt_cache_hit_tokens":600,"prompt_cache_miss_tokens":400}}"#,
        ),
        (
            ChatCompletions,
            r#"{"usage":{"prompt_tokens":1000,"completion_tokens":50,"total_tokens":1050,"cached_tokens":600}}"#,
        ),
        (
            Responses,
            r#"{"usage":{"input_tokens":1000,"output_tokens":50,"total_tokens":1050,"input_tokens_details":{"cached_tokens":600}}}"#,
        ),
        (
            GenerateContent,
            r#"{"usageMetadata":{"promptTokenCount":1000,"cachedContentTokenCount":600,"candidatesTokenCount":20,"thoughtsTokenCount":30,"totalTokenCount":1050}}"#,
        ),
        (
            Cohere,
            r#"{"usage":{"billed_units":{"input_tokens":900,"output_tokens":48},"tokens":{"input_tokens":1000,"output_tokens":50},"cached_tokens":600}}"#,
        ),
    ];
    for (dialect, body) in spelled {
        assert_eq!(counts(&clean(dialect, body)), [400, 600, 0, 0, 50], "{body}");
    }
}

/// The total shows that the prompt is complete, so it is billed and only the read part is in doubt.
#[test]
fn more_read_than_a_prompt_that_the_total_bears_out_is_plain_input() {
    let chat = r#"{"usage":{"prompt_tokens":10,"completion_tokens":1,"total_tokens":11,"prompt_tokens_details":{"cached_tokens":161}}}"#;
    let answer = answer(ChatCompletions, chat);
    assert_eq!(counts(&answer.usage.unwrap()), [10, 0, 0, 0, 1]);
    assert!(answer.repairs[0].starts_with("161 tokens are said to be read of the 10"), "{:?}", answer.repairs);
}

#[test]
fn more_read_than_the_prompt_has_is_refused_with_both_counts() {
    let chat = r#"{"usage":{"prompt_tokens":10,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":161}}}"#;
    assert_eq!(
        refusal(ChatCompletions, chat),
        "`prompt_tokens` is 10, expected at least the 161 read tokens that are part of it"
    );
    let gemini = r#"{"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":11,"totalTokenCount":10}}"#;
    assert!(refusal(GenerateContent, gemini).starts_with("`promptTokenCount` is 10, expected at least the 11 read"));
    let written = r#"{"usage":{"input_tokens":10,"output_tokens":1,"input_tokens_details":{"cached_tokens":6,"cache_write_tokens":5}}}"#;
    assert!(refusal(Responses, written).contains("the 6 read and 5 written tokens"));
}

/// A gateway with disjoint counts under the names of the other convention: only the total reveals it.
#[test]
fn a_total_that_shows_the_other_convention_refuses_the_answer() {
    let chat = r#"{"usage":{"prompt_tokens":1000,"completion_tokens":50,"total_tokens":1650,"prompt_tokens_details":{"cached_tokens":600}}}"#;
    assert!(refusal(ChatCompletions, chat).contains("as if the 600 read or written tokens stood beside"));
    let converse = r#"{"usage":{"inputTokens":1000,"cacheReadInputTokens":600,"outputTokens":50,"totalTokens":1050}}"#;
    assert!(refusal(BedrockConverse, converse).contains("as if the 600 read or written tokens were part of"));
}

#[test]
fn two_places_for_one_count_must_agree() {
    let twice = r#"{"usage":{"prompt_tokens":9,"completion_tokens":1,"cached_tokens":5,"prompt_tokens_details":{"cached_tokens":4}}}"#;
    assert_eq!(
        refusal(ChatCompletions, twice),
        "`prompt_tokens_details.cached_tokens` is 4 and `cached_tokens` is 5, expected the same count twice"
    );
    let missed = r#"{"usage":{"prompt_tokens":9,"completion_tokens":1,"prompt_cache_hit_tokens":5,"prompt_cache_miss_tokens":5}}"#;
    assert!(refusal(ChatCompletions, missed).starts_with("5 tokens hit and 5 missed the cache, expected the 9"));
}

#[test]
fn counts_that_a_gateway_may_have_left_out_are_reported() {
    let body = r#"{"usage":{"prompt_tokens":1000,"completion_tokens":1,"total_tokens":1001,"cache_read_input_tokens":100,"cache_creation_input_tokens":200}}"#;
    let answer = answer(ChatCompletions, body);
    assert_eq!(counts(&answer.usage.unwrap()), [700, 100, 200, 0, 1]);
    assert!(answer.repairs[0].ends_with("some versions of LiteLLM leave them out"), "{:?}", answer.repairs);
}

#[test]
fn null_and_missing_cache_fields_are_nothing_and_no_error() {
    let null = r#"{"usage":{"input_tokens":7,"cache_read_input_tokens":null,"cache_creation_input_tokens":null,"cache_creation":null,"output_tokens":1,"server_tool_use":null,"service_tier":null}}"#;
    assert_eq!(counts(&clean(Messages, null)), [7, 0, 0, 0, 1]);
    let null = r#"{"usage":{"prompt_tokens":7,"completion_tokens":1,"total_tokens":8,"prompt_tokens_details":null,"completion_tokens_details":null}}"#;
    assert_eq!(counts(&clean(ChatCompletions, null)), [7, 0, 0, 0, 1]);
}

/// Tokens not read cost the full price: a missing count is zero, never the whole prompt.
#[test]
fn a_prompt_without_a_count_of_reads_is_plain_input() {
    let bare = r#"{"usage":{"prompt_tokens":100000,"completion_tokens":1,"total_tokens":100001}}"#;
    assert_eq!(counts(&clean(ChatCompletions, bare)), [100_000, 0, 0, 0, 1]);
}

#[test]
fn thoughts_are_output_at_any_place() {
    // Included in the completion (OpenAI), separate from it (Grok), separate from the candidates (Gemini).
    let cases: [(Dialect, &str, u64); 5] = [
        (
            ChatCompletions,
            r#"{"usage":{"prompt_tokens":10,"completion_tokens":90,"total_tokens":100,"completion_tokens_details":{"reasoning_tokens":80}}}"#,
            90,
        ),
        (
            ChatCompletions,
            r#"{"usage":{"prompt_tokens":10,"completion_tokens":10,"total_tokens":100,"completion_tokens_details":{"reasoning_tokens":80}}}"#,
            90,
        ),
        (
            ChatCompletions,
            r#"{"usage":{"prompt_tokens":10,"completion_tokens":10,"completion_tokens_details":{"reasoning_tokens":80}}}"#,
            90,
        ),
        (
            Responses,
            r#"{"usage":{"input_tokens":10,"output_tokens":90,"total_tokens":100,"output_tokens_details":{"reasoning_tokens":80}}}"#,
            90,
        ),
        (
            GenerateContent,
            r#"{"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":10,"thoughtsTokenCount":80,"totalTokenCount":100}}"#,
            90,
        ),
    ];
    for (dialect, body, output) in cases {
        let usage = clean(dialect, body);
        assert_eq!((usage.usage.output_tokens, usage.reasoning_tokens), (output, 80), "{body}");
    }
}

#[test]
fn prompt_tokens_added_by_the_providers_tools_are_input() {
    let body = r#"{"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":40,"candidatesTokenCount":20,"thoughtsTokenCount":5,"toolUsePromptTokenCount":12000,"totalTokenCount":12125}}"#;
    assert_eq!(counts(&clean(GenerateContent, body)), [12_060, 40, 0, 0, 25]);
}

#[test]
fn a_total_that_differs_from_its_parts_is_reported() {
    let gemini = answer(
        GenerateContent,
        r#"{"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":30,"thoughtsTokenCount":10,"toolUsePromptTokenCount":5,"totalTokenCount":150}}"#,
    );
    assert_eq!(gemini.repairs, ["`totalTokenCount` is 150, expected the sum of its parts, 145; the parts are taken"]);
    assert_eq!(counts(&gemini.usage.unwrap()), [105, 0, 0, 0, 40]);
    let chat = answer(ChatCompletions, r#"{"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":99}}"#);
    assert_eq!(chat.repairs.len(), 1);
    assert_eq!(counts(&chat.usage.unwrap()), [10, 0, 0, 0, 2]);
}

#[test]
fn a_compaction_is_billed_although_the_top_level_leaves_it_out() {
    let body = r#"{"usage":{"input_tokens":45,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":1234,"iterations":[
        {"type":"compaction","input_tokens":3,"cache_read_input_tokens":180000,"cache_creation_input_tokens":900,"output_tokens":3500},
        {"type":"message","input_tokens":45,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":1234}]}}"#;
    let usage = clean(Messages, body);
    assert_eq!((counts(&usage), usage.server_passes), ([48, 180_000, 900, 0, 4_734], true));
}

#[test]
fn an_hour_of_lifetime_is_kept_apart_from_five_minutes() {
    let body = r#"{"usage":{"input_tokens":1,"cache_creation_input_tokens":2070,"cache_creation":{"ephemeral_5m_input_tokens":14,"ephemeral_1h_input_tokens":2056},"output_tokens":1}}"#;
    assert_eq!(counts(&clean(Messages, body)), [1, 0, 14, 2_056, 1]);
    let body = r#"{"usage":{"inputTokens":1,"cacheWriteInputTokens":2070,"cacheDetails":[{"ttl":"1h","inputTokens":2056},{"ttl":"5m","inputTokens":14}],"outputTokens":1,"totalTokens":2072}}"#;
    assert_eq!(counts(&clean(BedrockConverse, body)), [1, 0, 14, 2_056, 1]);
}

const LOG: &str = r#"{"v":1,"at_ms":1767225600000,"request":{"model":"claude-opus-4-8","messages":[]},"response":{"id":"msg_1","type":"message","model":"claude-opus-4-8","usage":{"input_tokens":1000000,"output_tokens":0}},"status":200}"#;

fn cost_of(line: &str) -> String {
    let inputs = Inputs::from_bytes("log.jsonl", line.as_bytes(), InputFormat::Auto);
    let replayed = replay(&inputs, &Options::default());
    replayed.entries[0].line.charge.bill.as_ref().unwrap().total.to_string()
}

/// claude-opus-4-8: 5 USD per million tokens of input, batches half (Anthropic price page, 2026-08).
#[test]
fn each_answer_is_billed_at_its_reported_tier() {
    assert_eq!(cost_of(LOG), "5");
    assert_eq!(cost_of(&LOG.replace("\"output_tokens\"", "\"service_tier\":\"batch\",\"output_tokens\"")), "2.5");
    assert_eq!(cost_of(&LOG.replace("\"output_tokens\"", "\"service_tier\":\"standard\",\"output_tokens\"")), "5");
    let batch = LOG.replace("\"v\":1,", "\"v\":1,\"batch\":true,");
    assert_eq!(cost_of(&batch.replace("\"output_tokens\"", "\"service_tier\":\"standard\",\"output_tokens\"")), "2.5");
}

/// gpt-5.5: 5 USD per million tokens of input, 10 % more at regional hosts (OpenAI price page, 2026-08).
#[test]
fn a_regional_host_costs_more() {
    let cost = |host: &str| {
        let answer = r#"{\"usage\":{\"input_tokens\":100000,\"output_tokens\":0,\"total_tokens\":100000}}"#;
        let text = format!(
            r#"{{"interactions":[{{"request":{{"method":"POST","uri":"https://{host}/v1/responses","body":"{{\"model\":\"gpt-5.5\"}}"}},"response":{{"status":{{"code":200}},"body":{{"string":"{answer}"}}}}}}]}}"#
        );
        let inputs = Inputs::from_bytes("c.json", text.as_bytes(), InputFormat::Auto);
        replay(&inputs, &Options::default()).entries[0].line.charge.bill.as_ref().unwrap().total.to_string()
    };
    assert_eq!((cost("api.openai.com").as_str(), cost("eu.api.openai.com").as_str()), ("0.5", "0.55"));
}

#[test]
fn the_answer_takes_precedence_over_the_request() {
    let exchange = |request: &str, response: &str| {
        let line = format!(
            r#"{{"v":1,"request":{{"model":"gpt-5.4","messages":[]{request}}},"response":{{"object":"chat.completion","usage":{{"prompt_tokens":1}}{response}}},"status":200}}"#
        );
        let reading = read_file(Format::ExchangeLog, "log", line.as_bytes());
        (reading.exchanges[0].tier, reading.notes.len())
    };
    let cases = [
        ("", "", ServiceTier::Standard, 0),
        (r#","service_tier":"flex""#, "", ServiceTier::Flex, 0),
        (r#","service_tier":"auto""#, r#","service_tier":"default""#, ServiceTier::Standard, 0),
        (r#","service_tier":"priority""#, r#","service_tier":"default""#, ServiceTier::Standard, 0),
        (r#","service_tier":"auto""#, r#","service_tier":"priority""#, ServiceTier::Priority, 0),
        ("", r#","service_tier":"fast""#, ServiceTier::Priority, 0),
        ("", r#","service_tier":"provisioned""#, ServiceTier::Standard, 1),
    ];
    for (request, response, tier, notes) in cases {
        assert_eq!(exchange(request, response), (tier, notes), "{request} {response}");
    }
}

#[test]
fn items_charged_individually_are_counted() {
    let claude = clean(
        Messages,
        r#"{"usage":{"input_tokens":1,"output_tokens":1,"server_tool_use":{"web_search_requests":3,"web_fetch_requests":2}}}"#,
    );
    assert_eq!((claude.web_search_requests, claude.web_fetch_requests), (3, 2));
    let searched = r#"{"type":"web_search_call","action":{"type":"search","query":"q"}}"#;
    let opened = r#"{"type":"web_search_call","action":{"type":"open_page","url":"u"}}"#;
    let body = format!(
        r#"{{"output":[{searched},{opened},{searched},{{"type":"message"}}],"usage":{{"input_tokens":1,"output_tokens":1}}}}"#
    );
    assert_eq!(clean(Responses, &body).web_search_requests, 2, "pages are opened free of charge");
    let grok = r#"{"output":[{"type":"web_search_call"}],"usage":{"input_tokens":1,"output_tokens":1,"server_side_tool_usage_details":{"web_search_calls":1,"x_search_calls":2,"code_interpreter_calls":4}}}"#;
    let grok = clean(Responses, grok);
    assert_eq!((grok.web_search_requests, grok.code_execution_requests), (3, 4), "an item is one of the calls counted");
    let gemini = r#"{"candidates":[{"groundingMetadata":{"webSearchQueries":["a","b"]}}],"usageMetadata":{"promptTokenCount":1,"totalTokenCount":1}}"#;
    assert_eq!(clean(GenerateContent, gemini).web_search_requests, 2);
}

#[test]
fn the_facts_for_a_bill_survive_the_exchange_log() {
    let usage = r#"{"input_tokens":1,"cache_creation_input_tokens":5,"cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":3},"output_tokens":4,"server_tool_use":{"web_search_requests":3},"output_tokens_details":{"thinking_tokens":2},"service_tier":"priority","speed":"fast","inference_geo":"us","iterations":[{"type":"message","input_tokens":1,"cache_creation_input_tokens":5,"cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":3},"output_tokens":2},{"type":"advisor_message","model":"claude-opus-4-8","input_tokens":7,"output_tokens":2},{"type":"message","input_tokens":0,"output_tokens":2}]}"#;
    let line = format!(
        r#"{{"v":1,"request":{{"model":"claude-opus-5","messages":[]}},"response":{{"usage":{usage}}},"status":200}}"#
    );
    let first = read_file(Format::ExchangeLog, "log", line.as_bytes()).exchanges.remove(0);
    let mut written = Vec::new();
    write_line(&mut written, &first, RawAnswer::UsageOnly).unwrap();
    let again = read_file(Format::ExchangeLog, "log", &written).exchanges.remove(0);
    assert_eq!((again.usage, again.tier), (first.usage, ServiceTier::Priority));
    assert_eq!(again.usage.unwrap().web_search_requests, 3);
    assert_eq!(again.usage.unwrap().listed_passes().len(), 3);
}

#[test]
fn speed_and_place_are_those_of_the_answer() {
    let usage =
        clean(Messages, r#"{"usage":{"input_tokens":1,"output_tokens":1,"speed":"fast","inference_geo":"us"}}"#);
    assert_eq!((usage.fast, usage.geo_us), (Some(true), Some(true)));
    let usage = clean(
        Messages,
        r#"{"usage":{"input_tokens":1,"output_tokens":1,"speed":"standard","inference_geo":"not_available"}}"#,
    );
    assert_eq!((usage.fast, usage.geo_us), (Some(false), None));
}

#[test]
fn an_object_of_no_known_convention_is_listed_with_its_keys() {
    let cases: [(Dialect, &str, &str); 5] = [
        (ChatCompletions, r#"{"usage":{"in":1,"out":2}}"#, "usage has no `prompt_tokens`, its keys are `in`, `out`"),
        (Messages, r#"{"usage":{"prompt_tokens":1}}"#, "usage has no `input_tokens`, its keys are `prompt_tokens`"),
        (
            GenerateContent,
            r#"{"usageMetadata":{"totalTokenCount":9}}"#,
            "usage has no `promptTokenCount`, its keys are `totalTokenCount`",
        ),
        (Cohere, r#"{"meta":{"api_version":{}}}"#, "usage has no `tokens`, its keys are `api_version`"),
        (Responses, r#"{"usage":{}}"#, "usage has no `input_tokens`, its keys are none"),
    ];
    for (dialect, body, reason) in cases {
        assert_eq!(refusal(dialect, body), reason);
    }
}

#[test]
fn an_answer_without_usage_reports_its_kind() {
    assert_eq!(refusal(Messages, r#"{"id":"msg_1"}"#), "answer has no `usage`");
    assert_eq!(
        refusal(ChatCompletions, r#"{"error":{"type":"server_error"}}"#),
        "the answer is an error (`server_error`)"
    );
    assert_eq!(
        refusal(Responses, r#"{"status":"queued","usage":null}"#),
        "answer has no `usage` yet, its status is `queued`"
    );
}

#[test]
fn charged_tokens_may_be_fewer_than_counted_ones() {
    let usage = clean(
        Cohere,
        r#"{"usage":{"billed_units":{"input_tokens":10,"output_tokens":104},"tokens":{"input_tokens":505,"output_tokens":107},"cached_tokens":448}}"#,
    );
    let billed = usage.billed_units.unwrap();
    assert_eq!((counts(&usage), billed.input_tokens, billed.output_tokens), ([57, 448, 0, 0, 107] as Counts, 10, 104));
}
