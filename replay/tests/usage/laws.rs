//! Laws over generated counts: the whole input is the provider's own, or the answer is refused with a reason; nothing panics.

use forkcast_replay::exchange::Dialect;
use forkcast_replay::response::read;
use forkcast_sim::wire::TOKENS_MAX;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Small counts, so that parts often exceed the whole, and some that no prompt has.
fn count() -> impl Strategy<Value = u64> {
    prop_oneof![6 => 0..40_u64, 3 => 0..3_000_000_u64, 1 => TOKENS_MAX - 2..=TOKENS_MAX]
}

/// A field as writers leave it: a count, null, or something that is no count.
fn field() -> impl Strategy<Value = Value> {
    prop_oneof![
        12 => count().prop_map(|count| json!(count)),
        2 => Just(Value::Null),
        1 => prop_oneof![Just(json!(-1)), Just(json!("7")), Just(json!(1.5)), Just(json!(u64::MAX)), Just(json!({})), Just(json!([1]))],
    ]
}

/// Some of `names`, each with a field.
fn some_of(names: &'static [&'static str]) -> impl Strategy<Value = serde_json::Map<String, Value>> {
    prop::collection::vec(prop::option::weighted(0.8, field()), names.len()).prop_map(move |fields| {
        let named = names.iter().zip(fields);
        named.filter_map(|(name, field)| Some(((*name).to_owned(), field?))).collect()
    })
}

fn at(usage: &Value, name: &str) -> u64 {
    usage[name].as_u64().unwrap_or(0)
}

/// The whole input according to the provider.
type Whole = fn(&Value) -> u64;

fn usage_of(dialect: Dialect) -> (BoxedStrategy<Value>, Whole) {
    let nested = |own: &'static [&'static str], inner: &'static str, names: &'static [&'static str]| {
        (some_of(own), some_of(names)).prop_map(move |(mut own, within)| {
            own.insert(inner.to_owned(), Value::Object(within));
            Value::Object(own)
        })
    };
    match dialect {
        Dialect::Messages => {
            const OWN: &[&str] =
                &["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"];
            const SPLIT: &[&str] = &["ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"];
            let whole: Whole = |usage| {
                let split = at(&usage["cache_creation"], SPLIT[0]) + at(&usage["cache_creation"], SPLIT[1]);
                // The sum of the parts replaces a missing total.
                let written = usage["cache_creation_input_tokens"].as_u64().unwrap_or(split);
                at(usage, "input_tokens") + at(usage, "cache_read_input_tokens") + written
            };
            (nested(OWN, "cache_creation", SPLIT).boxed(), whole)
        }
        Dialect::BedrockConverse => {
            const OWN: &[&str] = &["inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens", "outputTokens"];
            let whole: Whole = |usage| OWN.iter().take(3).map(|name| at(usage, name)).sum();
            (some_of(OWN).prop_map(Value::Object).boxed(), whole)
        }
        Dialect::Responses => {
            const OWN: &[&str] = &["input_tokens", "output_tokens", "total_tokens"];
            let inner = nested(OWN, "input_tokens_details", &["cached_tokens", "cache_write_tokens"]);
            (inner.boxed(), |usage| at(usage, "input_tokens"))
        }
        Dialect::GenerateContent => {
            const OWN: &[&str] = &[
                "promptTokenCount",
                "cachedContentTokenCount",
                "candidatesTokenCount",
                "thoughtsTokenCount",
                "toolUsePromptTokenCount",
                "totalTokenCount",
            ];
            let whole: Whole = |usage| at(usage, "promptTokenCount") + at(usage, "toolUsePromptTokenCount");
            (some_of(OWN).prop_map(Value::Object).boxed(), whole)
        }
        Dialect::Cohere => {
            const OWN: &[&str] = &["cached_tokens"];
            let inner = nested(OWN, "tokens", &["input_tokens", "output_tokens", "reasoning_tokens"]);
            (inner.boxed(), |usage| at(&usage["tokens"], "input_tokens"))
        }
        _ => {
            const OWN: &[&str] =
                &["prompt_tokens", "completion_tokens", "total_tokens", "prompt_cache_hit_tokens", "reasoning_tokens"];
            let inner = nested(OWN, "prompt_tokens_details", &["cached_tokens", "cache_write_tokens"]);
            (inner.boxed(), |usage| at(usage, "prompt_tokens"))
        }
    }
}

const DIALECTS: [Dialect; 6] = [
    Dialect::Messages,
    Dialect::BedrockConverse,
    Dialect::ChatCompletions,
    Dialect::Responses,
    Dialect::GenerateContent,
    Dialect::Cohere,
];

fn generated() -> impl Strategy<Value = (Dialect, Value, Whole)> {
    prop::sample::select(&DIALECTS[..]).prop_flat_map(|dialect| {
        let (usage, whole) = usage_of(dialect);
        usage.prop_map(move |usage| (dialect, usage, whole))
    })
}

fn body(dialect: Dialect, usage: &Value) -> Value {
    match dialect {
        Dialect::GenerateContent => json!({ "usageMetadata": usage }),
        _ => json!({ "usage": usage }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn the_whole_input_is_the_providers_own_or_the_answer_is_refused((dialect, usage, whole) in generated()) {
        let answer = read(dialect, body(dialect, &usage).to_string().as_bytes());
        match answer.usage {
            Some(recorded) => {
                let sum = recorded.usage.input_tokens as u128
                    + recorded.usage.cache_read_input_tokens as u128
                    + recorded.usage.cache_creation_input_tokens() as u128;
                prop_assert_eq!(sum, u128::from(recorded.usage.total_input_tokens()), "no part wrapped: {}", usage);
                prop_assert_eq!(recorded.usage.total_input_tokens(), whole(&usage), "{:?} {}", dialect, usage);
            }
            None => prop_assert!(!answer.faults.is_empty(), "{} is refused without a reason", usage),
        }
    }

    #[test]
    fn an_answer_of_any_dialect_is_read_or_refused_by_the_reader_of_any_other((dialect, usage, _) in generated(), other in prop::sample::select(&Dialect::ALL[..])) {
        let answer = read(other, body(dialect, &usage).to_string().as_bytes());
        prop_assert!(answer.usage.is_some() || !answer.faults.is_empty());
    }

    #[test]
    fn bytes_of_any_kind_are_read_or_refused(dialect in prop::sample::select(&Dialect::ALL[..]), bytes in mutilated()) {
        let answer = read(dialect, &bytes);
        prop_assert!(answer.usage.is_some() || !answer.faults.is_empty());
    }
}

/// Whole answers with a piece cut out, doubled or overwritten, and noise.
fn mutilated() -> impl Strategy<Value = Vec<u8>> {
    const WHOLE: [&str; 6] = [
        "data: {\"choices\":[{\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n",
        "[{\"usageMetadata\":{\"promptTokenCount\":9}},\n{\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":9}}]",
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9}}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
        "{\"done\":false}\n{\"done\":true,\"prompt_eval_count\":9,\"eval_count\":1}\n",
        "data: {\"type\":\"response.completed\",\"response\":{\"output\":[{\"type\":\"web_search_call\"}],\"usage\":{\"input_tokens\":9}}}\n\n",
        "{\"usage\":{\"inputTokens\":9,\"cacheDetails\":[{\"ttl\":\"1h\",\"inputTokens\":3}],\"cacheWriteInputTokens\":3,\"totalTokens\":12}}",
    ];
    let piece = (0..WHOLE.len(), any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..3_u8, any::<u8>());
    let broken = piece.prop_map(|(which, from, to, how, byte)| {
        let whole = WHOLE[which].as_bytes();
        let (from, to) = (from.index(whole.len()), to.index(whole.len()));
        let (from, to) = (from.min(to), from.max(to));
        let mut out = whole[..from].to_vec();
        match how {
            0 => {}
            1 => out.extend([&whole[from..to], &whole[from..to]].concat()),
            _ => out.extend(std::iter::repeat_n(byte, to - from)),
        }
        out.extend(&whole[to..]);
        out
    });
    prop_oneof![4 => broken, 1 => prop::collection::vec(any::<u8>(), 0..200)]
}
