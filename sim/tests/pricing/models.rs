//! The model table and all spellings of its models.

use Platform::{Bedrock, Copilot, Foundry, Maker, OpenRouter, Vertex};
use forkcast_sim::wire::model::{Family, MODELS, Model, Platform, Tokenizer, Vendor, resolve};
use proptest::prelude::*;

/// Id, name, family, version, window in thousands of tokens, tokenizer, handling of earlier thinking, first day.
/// Source: PC-N price table and table of invalidations (2026-09), models overview (PC-A).
const TABLE: &str = "
    claude-3-haiku         Haiku-3         Haiku   3.0  200   Claude    strips  -
    claude-3-5-haiku       Haiku-3.5       Haiku   3.5  200   Claude    strips  -
    claude-haiku-4-5       Haiku-4.5       Haiku   4.5  200   Claude    strips  -
    claude-haiku-5-5       Haiku-5.5       Haiku   5.5  1000  Claude47  keeps   2026-10-7
    claude-3-5-sonnet      Sonnet-3.5      Sonnet  3.5  200   Claude    strips  -
    claude-3-7-sonnet      Sonnet-3.7      Sonnet  3.7  200   Claude    strips  -
    claude-sonnet-4        Sonnet-4        Sonnet  4.0  200   Claude    strips  -
    claude-sonnet-4-5      Sonnet-4.5      Sonnet  4.5  200   Claude    strips  -
    claude-sonnet-4-6      Sonnet-4.6      Sonnet  4.6  1000  Claude    keeps   -
    claude-sonnet-5        Sonnet-5        Sonnet  5.0  1000  Claude47  keeps   -
    claude-sonnet-5-5      Sonnet-5.5      Sonnet  5.5  1000  Claude47  keeps   2026-9-28
    claude-3-opus          Opus-3          Opus    3.0  200   Claude    strips  -
    claude-opus-4          Opus-4          Opus    4.0  200   Claude    strips  -
    claude-opus-4-1        Opus-4.1        Opus    4.1  200   Claude    strips  -
    claude-opus-4-5        Opus-4.5        Opus    4.5  200   Claude    keeps   -
    claude-opus-4-6        Opus-4.6        Opus    4.6  1000  Claude    keeps   -
    claude-opus-4-7        Opus-4.7        Opus    4.7  1000  Claude47  keeps   -
    claude-opus-4-8        Opus-4.8        Opus    4.8  1000  Claude47  keeps   2026-5-28
    claude-opus-5          Opus-5          Opus    5.0  1000  Claude47  keeps   2026-7-24
    claude-opus-5-5        Opus-5.5        Opus    5.5  1000  Claude47  keeps   2026-9-22
    claude-mythos-preview  Mythos-Preview  Mythos  0.0  1000  Claude47  keeps   -
    claude-mythos-5        Mythos-5        Mythos  5.0  1000  Claude47  keeps   -
    claude-mythos-5-1      Mythos-5.1      Mythos  5.1  1000  Claude47  keeps   -
    claude-mythos-5-2      Mythos-5.2      Mythos  5.2  1000  Claude47  keeps   2026-11-9
    claude-fable-5         Fable-5         Fable   5.0  1000  Claude47  keeps   2026-6-9
    claude-fable-5-1       Fable-5.1       Fable   5.1  1000  Claude47  keeps   -
    claude-fable-5-2       Fable-5.2       Fable   5.2  1000  Claude47  keeps   2026-11-9
";

fn printed(row: &Model) -> Vec<String> {
    let (family, version) = row.claude.unwrap();
    vec![
        row.id.to_owned(),
        row.name.replace(' ', "-"),
        format!("{family:?}"),
        format!("{}.{}", version.0, version.1),
        row.window_tokens.map_or("-".to_owned(), |window| (window / 1_000).to_string()),
        format!("{:?}", row.tokenizer),
        row.keeps_thinking.map_or("-", |keeps| if keeps { "keeps" } else { "strips" }).to_owned(),
        row.first_date.map_or("-".to_owned(), |(year, month, day)| format!("{year}-{month}-{day}")),
    ]
}

#[test]
fn the_table_is_the_published_one() {
    let actual: Vec<_> = MODELS.iter().filter(|row| row.vendor == Vendor::Anthropic).map(printed).collect();
    let expected: Vec<Vec<String>> = TABLE
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.split_whitespace().map(str::to_owned).collect())
        .collect();
    assert_eq!(actual, expected);
    assert!(Family::Haiku < Family::Sonnet && Tokenizer::Claude < Tokenizer::Claude47);
}

/// Spelling, canonical id, platform, bound to a geography.
type Spelling = (&'static str, &'static str, Platform, bool);

/// Every spelling of a Claude model that occurs in the recordings.
const RECORDED: [Spelling; 38] = [
    ("claude-3-opus-20240229", "claude-3-opus", Maker, false),
    ("claude-3-5-sonnet-20240620", "claude-3-5-sonnet", Maker, false),
    ("claude-3-7-sonnet-20250219", "claude-3-7-sonnet", Maker, false),
    ("claude-3-5-haiku-20241022", "claude-3-5-haiku", Maker, false),
    ("claude-3-5-haiku-latest", "claude-3-5-haiku", Maker, false),
    ("claude-sonnet-4-20250514", "claude-sonnet-4", Maker, false),
    ("claude-opus-4-1-20250805", "claude-opus-4-1", Maker, false),
    ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5", Maker, false),
    ("claude-sonnet-4-5", "claude-sonnet-4-5", Maker, false),
    ("claude-haiku-4-5-20251001", "claude-haiku-4-5", Maker, false),
    ("claude-haiku-4-5", "claude-haiku-4-5", Maker, false),
    ("claude-opus-4-5-20251101", "claude-opus-4-5", Maker, false),
    ("claude-opus-4-5", "claude-opus-4-5", Maker, false),
    ("claude-opus-4-6", "claude-opus-4-6", Maker, false),
    ("claude-opus-4-7", "claude-opus-4-7", Maker, false),
    ("claude-opus-4-8", "claude-opus-4-8", Maker, false),
    ("claude-opus-4-8[1m]", "claude-opus-4-8", Maker, false),
    ("claude-opus-5", "claude-opus-5", Maker, false),
    ("claude-sonnet-4-6", "claude-sonnet-4-6", Maker, false),
    ("claude-sonnet-5", "claude-sonnet-5", Maker, false),
    ("claude-fable-5", "claude-fable-5", Maker, false),
    ("claude-sonnet-4.5", "claude-sonnet-4-5", Copilot, false),
    ("claude-sonnet-4.6", "claude-sonnet-4-6", Copilot, false),
    ("claude-opus-4.8", "claude-opus-4-8", Copilot, false),
    ("anthropic/claude-sonnet-4.6", "claude-sonnet-4-6", OpenRouter, false),
    ("anthropic/claude-4.6-sonnet-20260217", "claude-sonnet-4-6", OpenRouter, false),
    ("us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4", Bedrock, true),
    ("global.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5", Bedrock, false),
    ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5", Bedrock, true),
    ("us.anthropic.claude-sonnet-4-5-20250929-v1%3A0", "claude-sonnet-4-5", Bedrock, true),
    ("us.anthropic.claude-3-7-sonnet-20250219-v1%3A0", "claude-3-7-sonnet", Bedrock, true),
    ("anthropic.claude-3-5-haiku-20241022-v1%3A0", "claude-3-5-haiku", Bedrock, true),
    ("eu.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5", Bedrock, true),
    ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5", Bedrock, true),
    (
        "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse",
        "claude-sonnet-4-5",
        Bedrock,
        true,
    ),
    (
        "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-3-5-haiku-20241022-v1%3A0/invoke",
        "claude-3-5-haiku",
        Bedrock,
        true,
    ),
    (
        "https://bedrock-runtime.eu-central-1.amazonaws.com/model/eu.anthropic.claude-haiku-4-5-20251001-v1:0/invoke",
        "claude-haiku-4-5",
        Bedrock,
        true,
    ),
    (
        "https://bedrock-runtime.<AWS_REGION>.amazonaws.com/model/us.anthropic.claude-haiku-4-5-20251001-v1:0/converse",
        "claude-haiku-4-5",
        Bedrock,
        true,
    ),
];

/// Spellings of providers and routers beyond the recordings.
const DOCUMENTED: [Spelling; 59] = [
    ("claude-fable-5-2", "claude-fable-5-2", Maker, false),
    ("us.anthropic.claude-fable-5-2", "claude-fable-5-2", Bedrock, true),
    ("claude-fable-5-2@20261109", "claude-fable-5-2", Vertex, false),
    ("claude-opus-5-5-thinking", "claude-opus-5-5", Maker, false),
    ("claude-sonnet-4-0", "claude-sonnet-4", Maker, false),
    ("claude-opus-4-0", "claude-opus-4", Maker, false),
    ("claude-opus-4-20250514", "claude-opus-4", Maker, false),
    ("claude-3-haiku-20240307", "claude-3-haiku", Maker, false),
    ("claude-3-opus-latest", "claude-3-opus", Maker, false),
    ("claude-3-7-sonnet-latest", "claude-3-7-sonnet", Maker, false),
    ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5", Maker, false),
    ("claude-sonnet-4-5-20250929[1m]", "claude-sonnet-4-5", Maker, false),
    ("claude-opus-4-8%5B1m%5D", "claude-opus-4-8", Maker, false),
    ("claude-haiku-5-5", "claude-haiku-5-5", Maker, false),
    ("claude-sonnet-5-5", "claude-sonnet-5-5", Maker, false),
    ("claude-opus-5-5", "claude-opus-5-5", Maker, false),
    ("claude-fable-5-1", "claude-fable-5-1", Maker, false),
    ("claude-mythos-5-1", "claude-mythos-5-1", Maker, false),
    ("claude-mythos-preview", "claude-mythos-preview", Maker, false),
    ("CLAUDE-Opus-4-8", "claude-opus-4-8", Maker, false),
    ("  claude-opus-4-8\n", "claude-opus-4-8", Maker, false),
    ("anthropic:claude-sonnet-4-5", "claude-sonnet-4-5", Maker, false),
    ("anthropic/claude-sonnet-4-5", "claude-sonnet-4-5", Maker, false),
    ("anthropic/claude-3-5-haiku-20241022", "claude-3-5-haiku", Maker, false),
    ("anthropic/claude-sonnet-4-20250514", "claude-sonnet-4", Maker, false),
    ("anthropic/claude-sonnet-4", "claude-sonnet-4", OpenRouter, false),
    ("anthropic/claude-3.7-sonnet:thinking", "claude-3-7-sonnet", OpenRouter, false),
    ("anthropic/claude-opus-4.1", "claude-opus-4-1", OpenRouter, false),
    ("openrouter/anthropic/claude-opus-4.8", "claude-opus-4-8", OpenRouter, false),
    ("openrouter:anthropic/claude-opus-5", "claude-opus-5", OpenRouter, false),
    ("claude-3.5-sonnet", "claude-3-5-sonnet", Copilot, false),
    ("github_copilot/claude-opus-4.8", "claude-opus-4-8", Copilot, false),
    ("copilot/claude-opus-5", "claude-opus-5", Copilot, false),
    ("azure_ai/claude-opus-4-6", "claude-opus-4-6", Foundry, false),
    ("claude-sonnet-4@20250514", "claude-sonnet-4", Vertex, false),
    ("claude-sonnet-4%4020250514", "claude-sonnet-4", Vertex, false),
    ("claude-opus-4-1@20250805", "claude-opus-4-1", Vertex, false),
    ("claude-3-5-sonnet-v2@20241022", "claude-3-5-sonnet", Vertex, false),
    ("claude-sonnet-4-6@default", "claude-sonnet-4-6", Vertex, false),
    ("anthropic/claude-haiku-4-5@20251001", "claude-haiku-4-5", Vertex, false),
    ("vertex_ai/claude-haiku-4-5@20251001", "claude-haiku-4-5", Vertex, false),
    ("google-vertex:claude-opus-5", "claude-opus-5", Vertex, false),
    ("publishers/anthropic/models/claude-opus-4-6", "claude-opus-4-6", Vertex, false),
    (
        "https://us-east5-aiplatform.googleapis.com/v1/projects/claude-lab/locations/us-east5/publishers/anthropic/models/claude-sonnet-4@20250514:streamRawPredict",
        "claude-sonnet-4",
        Vertex,
        true,
    ),
    (
        "projects/p/locations/global/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict",
        "claude-sonnet-4-5",
        Vertex,
        false,
    ),
    ("anthropic.claude-opus-4-6-v1", "claude-opus-4-6", Bedrock, true),
    ("anthropic.claude-opus-4-8", "claude-opus-4-8", Bedrock, true),
    ("apac.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4", Bedrock, true),
    ("us-gov.anthropic.claude-3-5-sonnet-20240620-v1:0", "claude-3-5-sonnet", Bedrock, true),
    ("anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet", Bedrock, true),
    ("anthropic.claude-3-5-sonnet-20240620-v1:0:200k", "claude-3-5-sonnet", Bedrock, true),
    ("anthropic.claude-3-haiku-20240307-v1:0", "claude-3-haiku", Bedrock, true),
    ("GLOBAL.Anthropic.Claude-Opus-4-6-v1", "claude-opus-4-6", Bedrock, false),
    ("bedrock/global.anthropic.claude-opus-4-6-v1", "claude-opus-4-6", Bedrock, false),
    ("bedrock:eu.anthropic.claude-opus-5", "claude-opus-5", Bedrock, true),
    (
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "claude-sonnet-4-5",
        Bedrock,
        true,
    ),
    (
        "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fglobal.anthropic.claude-opus-4-5-20251101-v1%3A0",
        "claude-opus-4-5",
        Bedrock,
        false,
    ),
    (
        "https://bedrock-runtime.eu-west-1.amazonaws.com/model/global.anthropic.claude-opus-4-6-v1/converse-stream",
        "claude-opus-4-6",
        Bedrock,
        false,
    ),
    ("/model/eu.anthropic.claude-opus-5/invoke-with-response-stream", "claude-opus-5", Bedrock, true),
];

#[test]
fn spellings_lead_to_their_model() {
    for (spelling, id, platform, regional) in RECORDED.into_iter().chain(DOCUMENTED) {
        let found = resolve(spelling).map(|found| (found.id.row().id, found.platform, found.regional));
        assert_eq!(found, Some((id, platform, regional)), "{spelling}");
        assert_eq!(Model::resolve(spelling), resolve(spelling));
    }
}

/// Other names: other vendors' models, tools and files, and models that do not exist.
const UNKNOWN: [&str; 60] = [
    "",
    " ",
    "claude",
    "claude-",
    "claude-opus",
    "claude-sonnet",
    "claude-haiku",
    "opus",
    "sonnet",
    "opus-4-6",
    "claude-code-opus",
    "claude-instant-1.2",
    "claude-2.1",
    "claude-3",
    "claude-4-5",
    "claude-sonnet-latest",
    "claude-opus-4-9",
    "claude-opus-6",
    "claude-opus-48",
    "claude-opus-4-8-1",
    "claude-opus-4.8.1",
    "claude-opus-4.",
    "claude-opus-.5",
    "claude-opus-4x",
    "claude-opus-+4",
    "claude-opus-4.+5",
    "claude-+4-opus",
    "claude-opus-448",
    "claude-opus-400-8",
    "claude-opus-4-8-fast",
    "claude-opus-4-8-v",
    "claude-opus-4-8-vx",
    "claude-opus-4-8-19991231",
    "claude-opus-4-8-2026052",
    "claude-opus-4-8-2026052x",
    "claude-opus-4-8-202605280",
    "claude-mythos-0",
    "claude-mythos-0-0",
    "claude-opus-preview",
    "claude-fable-5-preview",
    "claude-sonnet-5-introductory-pricing",
    "claude-sonnet-4-5Waiting",
    "claude-sonnet-4-6:",
    "claude-sonnet-4-6: fast",
    "claude-sonnet-4.6.",
    "claude-sonnet-4-6/notes.md",
    "copilot-sdk--claude-sonnet-4.6",
    "reports/anthropic/claude-fable-5",
    "claude-3-5-haiku-sonnet-4",
    "claude-3-5-7-sonnet",
    "claude-x-haiku",
    "openai/claude-opus-5",
    "us_1.anthropic.claude-opus-5",
    "see anthropic.claude-opus-5",
    "publishers/google/models/claude-opus-5",
    "us.amazon.nova-lite-v1:0",
    "gpt-6-terra",
    "gemini-2.5-flash-image",
    "<synthetic>",
    "claude-opus-4-8[2m]",
];

#[test]
fn everything_else_is_unknown() {
    for spelling in UNKNOWN {
        assert_eq!(resolve(spelling), None, "{spelling}");
    }
}

proptest! {
    #[test]
    fn any_text_resolves_or_not(text in "\\PC*") {
        let _ = resolve(&text);
    }

    #[test]
    fn any_text_around_a_name_resolves_or_not(before in "[a-z./:@% -]{0,12}", after in "[0-9a-z./:@%\\[\\] é-]{0,16}") {
        let _ = resolve(&format!("{before}claude-{after}"));
        let _ = resolve(&format!("{before}anthropic.claude-opus-{after}"));
    }

    #[test]
    fn a_snapshot_is_its_model(at in 0..MODELS.len(), day in 20_200_000..20_999_999_u32, upper in any::<bool>()) {
        let row = &MODELS[at];
        let dated = format!("{}-{day}", row.id);
        let spelling = if upper { dated.to_uppercase() } else { dated };
        prop_assert_eq!(resolve(&spelling).map(|found| found.id), Some(row.model));
    }
}
