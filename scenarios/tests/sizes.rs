//! Token counts of a scenario's prompts: counted as in `replay`, or as declared.

use forkcast_scenarios::format::Scenario;
use forkcast_scenarios::run::{Options, Run, play};
use forkcast_sim::wire::model::Tokenizer;
use forkcast_sim::wire::{CountedBlocks, Level, NormalForms, Wire};
use forkcast_tokens::Counter;

fn run(sizes: &str, model: &str) -> Run {
    let text = format!(
        "about: Two questions.
session: {{model: {model}}}
{sizes}
script: {{main: [{{say: Yes., output_tokens: 5}}, {{say: 'No, never.', output_tokens: 5}}]}}
user: [{{at_ms: 0, types: Is it so?}}, {{at_ms: 60000, types: And is it always so?}}]
"
    );
    let scenario = Scenario::read("claim", "claim.yaml", &text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
    let run = play(scenario, &Options::default());
    assert_eq!(run.requests.len(), 2, "{:?}", run.message);
    run
}

fn input_tokens(run: &Run) -> Vec<u64> {
    run.requests.iter().map(|request| request.usage().total_input_tokens()).collect()
}

/// Tokens of each request, counted from its whole body, and of its messages block by block.
fn counted(run: &Run, tokenizer: Tokenizer) -> Vec<(u64, u64)> {
    let mut wire = Wire::new(NormalForms::default());
    let (mut blocks, counter) = (CountedBlocks::default(), Counter::default());
    let of = |request: &forkcast_scenarios::run::Request| {
        let draft = request.draft();
        let request = wire.read(&draft.body(), "scope", "").unwrap();
        let whole = *blocks.cumulative(&counter, tokenizer, &request, &wire).last().unwrap();
        let messages = request.nodes.iter().zip(&request.places).filter(|(_, place)| place.level == Level::Messages);
        let messages = messages.filter(|(_, place)| !place.keys).filter_map(|(node, _)| wire.prefixes.block(*node));
        (whole, messages.map(|block| blocks.tokens(&counter, tokenizer, &wire.blocks, block)).sum())
    };
    run.requests.iter().map(of).collect()
}

#[test]
fn without_sizes_tokens_are_counted_including_the_providers_additions() {
    for (model, tokenizer) in [
        ("claude-opus-4-8", Tokenizer::Claude47),
        ("claude-sonnet-4-5", Tokenizer::Claude),
        ("gpt-4.1", Tokenizer::O200k),
        ("claude-nobody-9", Tokenizer::Claude47),
    ] {
        let run = run("", model);
        let whole: Vec<u64> = counted(&run, tokenizer).iter().map(|(whole, _)| *whole).collect();
        assert_eq!(input_tokens(&run), whole, "{model}");
        assert_eq!(run.tokenizers().into_iter().collect::<Vec<_>>(), [tokenizer], "{model}");
        assert_eq!(run.declared().count(), 0);
    }
}

#[test]
fn declared_parts_have_their_size_and_the_rest_is_counted_without_the_providers_additions() {
    let run = run("sizes: {system: 7000, tools: 20000}", "claude-opus-4-8");
    let messages = counted(&run, Tokenizer::Claude47);
    let wanted: Vec<u64> = messages.iter().map(|(_, messages)| 27_000 + messages).collect();
    assert_eq!(input_tokens(&run), wanted);
    assert_eq!(run.declared().collect::<Vec<_>>(), [("system", 7_000), ("tools", 20_000)]);
}

#[test]
fn what_the_client_sends_anew_is_not_read_and_what_others_keep_is() {
    let line = |at_ms: u64| format!("{{at_ms: {at_ms}, types: Line {at_ms}, tokens: 2000}}");
    let lines = [0, 60_000, 120_000, 180_000, 240_000].map(line).join(", ");
    let text = format!(
        "about: A client that was restarted, and whose system prompt changed.
session: {{model: claude-opus-4-8}}
prompt: {{user_context: false}}
sizes: {{system: 10000, tools: 0}}
script:
  main:
    - {{say: One., kept_tokens: 1000, unseen: {{kept_tokens: 10000}}}}
    - {{say: Two., kept_tokens: 1000}}
    - {{say: Three., kept_tokens: 1000, unseen: {{changed_after_tokens: 10000}}}}
    - {{say: Four., kept_tokens: 1000, unseen: {{changed_after_tokens: 4000, kept_tokens: 4000}}}}
    - {{say: Five., kept_tokens: 1000}}
user: [{lines}]
"
    );
    let scenario = Scenario::read("claim", "claim.yaml", &text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
    let run = play(scenario, &Options::default());
    assert_eq!(input_tokens(&run), [12_000, 15_000, 18_000, 21_000, 24_000], "{:?}", run.message);
    let reads: Vec<u64> = run.requests.iter().map(|request| request.usage().cache_read_input_tokens).collect();
    assert_eq!(reads, [10_000, 12_000, 10_000, 4_000, 21_000]);
}
