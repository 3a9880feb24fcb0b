//! Every reader as a target of a fuzzer. `cargo test` replays what once broke a reader: files in `__fuzz__/NAME/crashes` beside
//! this one. Nothing else runs by itself, so two runs are alike; random bytes, and a fuzzer that is led by coverage:
//!
//! ```text
//! BOLERO_RANDOM_ITERATIONS=100000 cargo test -p forkcast-replay readers_mutated::fuzzed
//! cargo bolero test -p forkcast-replay --test all readers_mutated::fuzzed::codex --corpus-dir replay/tests/fixtures
//! ```

use bolero::check;
use forkcast_replay::formats::Format;
use forkcast_replay::input::{InputFormat, Inputs};

use super::read;

/// What holds of any bytes: they are read in time, twice alike, and no exchange twice.
fn holds(format: Format, bytes: &[u8]) {
    let (first, second) = (read(format, bytes), read(format, bytes));
    assert_eq!(format!("{first:?}"), format!("{second:?}"));
    assert!(first.exchanges.windows(2).all(|pair| pair[0].origin.index < pair[1].origin.index));
}

macro_rules! targets {
    ($($name:ident: $format:ident;)*) => {
        $(#[test]
        fn $name() {
            check!(name = stringify!($name)).with_iterations(0).for_each(|bytes: &[u8]| holds(Format::$format, bytes));
        })*

        #[test]
        fn every_reader_is_a_target() {
            assert_eq!([$(Format::$format),*].len(), Format::ALL.len());
            assert!(Format::ALL.iter().all(|format| [$(Format::$format),*].contains(format)));
        }
    };
}

targets! {
    vcr: Vcr;
    ruby_vcr: RubyVcr;
    har: Har;
    braintrust: Braintrust;
    datadog: Datadog;
    httpmock: HttpMock;
    req_llm: ReqLlm;
    wiremock: WireMock;
    curl_log: CurlLog;
    claude_trace: ClaudeTrace;
    litellm: LiteLlm;
    otel: Otel;
    wire_capture: WireCapture;
    batch: Batch;
    bodies: Bodies;
    exchange_log: ExchangeLog;
    claude_code: ClaudeCode;
    weka: Weka;
    mooncake: Mooncake;
    lmcache: LmCache;
    codex: Codex;
    pi: Pi;
    gemini_cli: GeminiCli;
    copilot_cli: CopilotCli;
    opencode: OpenCode;
    managed_agents: ManagedAgents;
    swe_agent: SweAgent;
    tracelab: TraceLab;
}

/// Packed bytes, and the format that they are detected as.
#[test]
fn detected() {
    check!(name = "detected").with_iterations(0).for_each(|bytes: &[u8]| {
        let inputs = Inputs::from_bytes("memory", bytes, InputFormat::Auto);
        let said = inputs.skipped.len() + inputs.unreadable.len() + inputs.repaired.len();
        assert!(inputs.requests() + said > 0, "a file that gives nothing says why");
    });
}
