//! The table itself, a flat table by vendor: key, name, then the row.

use serde::{Deserialize, Serialize};

use super::{Family, Model, Tokenizer, Vendor};

/// Writes the key and the table from one list, so that a key without a row cannot be written.
macro_rules! models {
    ($($key:ident $name:literal $row:expr;)*) => {
        /// Key of a model; ordered as [`MODELS`]: by vendor, Claude by family and version, others as listed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum ModelId {
            $(#[doc = $name] $key,)*
        }

        /// Every model that is known, by vendor.
        ///
        /// Windows and dates. Claude: `providers.md` 6.1 (PC-N, 2026-09; OV pages, 2026-10); the 200,000 of
        /// models before Opus 4 and the 1,000,000 of Mythos Preview are not in it. Sonnet 4 and 4.5 reach 1,000,000 in
        /// beta. OpenAI: model pages and changelog (OAI, 2026-09) and the dates of the first snapshots. Others:
        /// genai-prices (GP, 2026-08-21) and the sources of their price rows. Models of November 2026:
        /// `providers-2026-11.md` B.
        pub const MODELS: &[Model] = &[$(Model { model: ModelId::$key, name: $name, ..$row },)*];
    };
}

const K128: u64 = 128_000;
const K200: u64 = 200_000;
const K400: u64 = 400_000;
const K1050: u64 = 1_050_000;
const M1: u64 = 1_000_000;
const OLD: Tokenizer = Tokenizer::Claude;
const NEW: Tokenizer = Tokenizer::Claude47;

/// A row with no facts yet.
const fn model(vendor: Vendor, id: &'static str) -> Model {
    Model {
        // Replaced by the list.
        model: ModelId::Haiku3,
        name: "",
        vendor,
        id,
        aliases: &[],
        claude: None,
        window_tokens: None,
        tokenizer: Tokenizer::Other,
        keeps_thinking: None,
        first_date: None,
    }
}

const fn claude(id: &'static str, family: Family, version: (u8, u8), window: u64, tokenizer: Tokenizer) -> Model {
    Model { claude: Some((family, version)), tokenizer, ..model(Vendor::Anthropic, id).window(window) }
}

const fn openai(id: &'static str) -> Model {
    model(Vendor::OpenAi, id)
}

const fn google(id: &'static str) -> Model {
    model(Vendor::Google, id)
}

const fn deepseek(id: &'static str) -> Model {
    model(Vendor::DeepSeek, id)
}

const fn moonshot(id: &'static str) -> Model {
    model(Vendor::Moonshot, id)
}

const fn xai(id: &'static str) -> Model {
    model(Vendor::Xai, id)
}

const fn zhipu(id: &'static str) -> Model {
    model(Vendor::Zhipu, id)
}

const fn mistral(id: &'static str) -> Model {
    model(Vendor::Mistral, id)
}

const fn cohere(id: &'static str) -> Model {
    model(Vendor::Cohere, id)
}

impl Model {
    const fn window(self, tokens: u64) -> Self {
        Self { window_tokens: Some(tokens), ..self }
    }

    const fn o200k(self) -> Self {
        Self { tokenizer: Tokenizer::O200k, ..self }
    }

    const fn cl100k(self) -> Self {
        Self { tokenizer: Tokenizer::Cl100k, ..self }
    }

    /// Thinking of earlier turns stays in the prompt.
    const fn keeps(self) -> Self {
        Self { keeps_thinking: Some(true), ..self }
    }

    /// Thinking of earlier turns is dropped at a user turn.
    const fn strips(self) -> Self {
        Self { keeps_thinking: Some(false), ..self }
    }

    const fn since(self, year: i32, month: u8, day: u8) -> Self {
        Self { first_date: Some((year, month, day)), ..self }
    }

    const fn also(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }
}

models! {
    Haiku3 "Haiku 3" claude("claude-3-haiku", Family::Haiku, (3, 0), K200, OLD).strips();
    Haiku35 "Haiku 3.5" claude("claude-3-5-haiku", Family::Haiku, (3, 5), K200, OLD).strips();
    Haiku45 "Haiku 4.5" claude("claude-haiku-4-5", Family::Haiku, (4, 5), K200, OLD).strips();
    Haiku55 "Haiku 5.5" claude("claude-haiku-5-5", Family::Haiku, (5, 5), M1, NEW).keeps().since(2026, 10, 7);
    Sonnet35 "Sonnet 3.5" claude("claude-3-5-sonnet", Family::Sonnet, (3, 5), K200, OLD).strips();
    Sonnet37 "Sonnet 3.7" claude("claude-3-7-sonnet", Family::Sonnet, (3, 7), K200, OLD).strips();
    Sonnet4 "Sonnet 4" claude("claude-sonnet-4", Family::Sonnet, (4, 0), K200, OLD).strips();
    Sonnet45 "Sonnet 4.5" claude("claude-sonnet-4-5", Family::Sonnet, (4, 5), K200, OLD).strips();
    Sonnet46 "Sonnet 4.6" claude("claude-sonnet-4-6", Family::Sonnet, (4, 6), M1, OLD).keeps();
    Sonnet5 "Sonnet 5" claude("claude-sonnet-5", Family::Sonnet, (5, 0), M1, NEW).keeps();
    Sonnet55 "Sonnet 5.5" claude("claude-sonnet-5-5", Family::Sonnet, (5, 5), M1, NEW).keeps().since(2026, 9, 28);
    Opus3 "Opus 3" claude("claude-3-opus", Family::Opus, (3, 0), K200, OLD).strips();
    Opus4 "Opus 4" claude("claude-opus-4", Family::Opus, (4, 0), K200, OLD).strips();
    Opus41 "Opus 4.1" claude("claude-opus-4-1", Family::Opus, (4, 1), K200, OLD).strips();
    Opus45 "Opus 4.5" claude("claude-opus-4-5", Family::Opus, (4, 5), K200, OLD).keeps();
    Opus46 "Opus 4.6" claude("claude-opus-4-6", Family::Opus, (4, 6), M1, OLD).keeps();
    Opus47 "Opus 4.7" claude("claude-opus-4-7", Family::Opus, (4, 7), M1, NEW).keeps();
    Opus48 "Opus 4.8" claude("claude-opus-4-8", Family::Opus, (4, 8), M1, NEW).keeps().since(2026, 5, 28);
    Opus5 "Opus 5" claude("claude-opus-5", Family::Opus, (5, 0), M1, NEW).keeps().since(2026, 7, 24);
    Opus55 "Opus 5.5" claude("claude-opus-5-5", Family::Opus, (5, 5), M1, NEW).keeps().since(2026, 9, 22);
    MythosPreview "Mythos Preview" claude("claude-mythos-preview", Family::Mythos, (0, 0), M1, NEW).keeps();
    Mythos5 "Mythos 5" claude("claude-mythos-5", Family::Mythos, (5, 0), M1, NEW).keeps();
    Mythos51 "Mythos 5.1" claude("claude-mythos-5-1", Family::Mythos, (5, 1), M1, NEW).keeps();
    Mythos52 "Mythos 5.2" claude("claude-mythos-5-2", Family::Mythos, (5, 2), M1, NEW).keeps().since(2026, 11, 9);
    Fable5 "Fable 5" claude("claude-fable-5", Family::Fable, (5, 0), M1, NEW).keeps().since(2026, 6, 9);
    Fable51 "Fable 5.1" claude("claude-fable-5-1", Family::Fable, (5, 1), M1, NEW).keeps();
    Fable52 "Fable 5.2" claude("claude-fable-5-2", Family::Fable, (5, 2), M1, NEW).keeps().since(2026, 11, 9);

    Gpt62Astra "GPT-6.2 Astra" openai("gpt-6.2-astra").window(K1050).since(2026, 11, 17);
    Gpt62Sol "GPT-6.2 Sol" openai("gpt-6.2-sol").window(K1050).since(2026, 11, 17);
    Gpt6Astra "GPT-6 Astra" openai("gpt-6-astra").window(K1050).since(2026, 9, 3);
    Gpt61Sol "GPT-6.1 Sol" openai("gpt-6.1-sol").window(K1050);
    Gpt6Sol "GPT-6 Sol" openai("gpt-6-sol").window(K1050).since(2026, 9, 22);
    Gpt6Luna "GPT-6 Luna" openai("gpt-6-luna").window(K1050).since(2026, 9, 22);
    // The changelog of 2026-07-09 routes the bare name to Sol.
    Gpt56Sol "GPT-5.6 Sol" openai("gpt-5.6-sol").window(K1050).since(2026, 7, 9).also(&["gpt-5.6"]);
    Gpt56Terra "GPT-5.6 Terra" openai("gpt-5.6-terra").window(K1050).since(2026, 7, 9);
    Gpt56Luna "GPT-5.6 Luna" openai("gpt-5.6-luna").window(K1050).since(2026, 7, 9);
    Gpt55 "GPT-5.5" openai("gpt-5.5").window(M1).since(2026, 4, 23);
    Gpt55Pro "GPT-5.5 Pro" openai("gpt-5.5-pro").window(M1).since(2026, 4, 23);
    Gpt54 "GPT-5.4" openai("gpt-5.4").window(K1050).since(2026, 3, 5);
    Gpt54Mini "GPT-5.4 mini" openai("gpt-5.4-mini").window(K400).since(2026, 3, 17);
    Gpt54Nano "GPT-5.4 nano" openai("gpt-5.4-nano").window(K400).since(2026, 3, 17);
    Gpt54Pro "GPT-5.4 Pro" openai("gpt-5.4-pro").window(K1050).since(2026, 3, 5);
    Gpt53Codex "GPT-5.3 Codex" openai("gpt-5.3-codex").window(K400).since(2026, 2, 5);
    Gpt52 "GPT-5.2" openai("gpt-5.2").window(K400).since(2025, 12, 11);
    Gpt52Pro "GPT-5.2 Pro" openai("gpt-5.2-pro").window(K400).since(2025, 12, 11);
    Gpt51 "GPT-5.1" openai("gpt-5.1").window(K400).since(2025, 11, 13);
    Gpt5 "GPT-5" openai("gpt-5").window(K400).o200k().since(2025, 8, 7);
    Gpt5Mini "GPT-5 mini" openai("gpt-5-mini").window(K400).o200k().since(2025, 8, 7);
    Gpt5Nano "GPT-5 nano" openai("gpt-5-nano").window(K400).o200k().since(2025, 8, 7);
    Gpt5Pro "GPT-5 Pro" openai("gpt-5-pro").window(K400).o200k().since(2025, 10, 6);
    Gpt41 "GPT-4.1" openai("gpt-4.1").window(1_047_576).o200k().since(2025, 4, 14);
    Gpt41Mini "GPT-4.1 mini" openai("gpt-4.1-mini").window(1_047_576).o200k().since(2025, 4, 14);
    Gpt41Nano "GPT-4.1 nano" openai("gpt-4.1-nano").window(1_047_576).o200k().since(2025, 4, 14);
    Gpt4o "GPT-4o" openai("gpt-4o").window(K128).o200k();
    // The first snapshot has a price of its own.
    Gpt4oFirst "GPT-4o of 2024-05-13" openai("gpt-4o-2024-05-13").window(K128).o200k().since(2024, 5, 13);
    Gpt4oMini "GPT-4o mini" openai("gpt-4o-mini").window(K128).o200k().since(2024, 7, 18);
    Gpt4Turbo "GPT-4 Turbo" openai("gpt-4-turbo").window(K128).cl100k().since(2024, 4, 9);
    Gpt4 "GPT-4" openai("gpt-4").window(8_192).cl100k().also(&["gpt-4-0613"]);
    Gpt35Turbo "GPT-3.5 Turbo" openai("gpt-3.5-turbo").window(16_385).cl100k().also(&["gpt-3.5-turbo-0125"]);
    O1 "o1" openai("o1").o200k().since(2024, 12, 17);
    O1Pro "o1-pro" openai("o1-pro").o200k().since(2025, 3, 19);
    O3 "o3" openai("o3").o200k().since(2025, 4, 16);
    O3Pro "o3-pro" openai("o3-pro").o200k().since(2025, 6, 10);
    O3Mini "o3-mini" openai("o3-mini").o200k().since(2025, 1, 31);
    O4Mini "o4-mini" openai("o4-mini").o200k().since(2025, 4, 16);

    // The window holds prompt and answer together.
    Gemini4Argon "Gemini 4 Argon" google("gemini-4-argon").window(1_048_576).since(2026, 10, 13);
    Gemini4Carbon "Gemini 4 Carbon" google("gemini-4-carbon").window(1_048_576).since(2026, 11, 10);
    Gemini31Pro "Gemini 3.1 Pro" google("gemini-3.1-pro").also(&["gemini-3.1-pro-preview"]);
    Gemini3Pro "Gemini 3 Pro" google("gemini-3-pro").also(&["gemini-3-pro-preview"]);
    Gemini25Pro "Gemini 2.5 Pro" google("gemini-2.5-pro")
        .also(&["gemini-2.5-pro-preview-03-25", "gemini-2.5-pro-preview-05-06", "gemini-2.5-pro-preview-06-05"]);
    Gemini38Flash "Gemini 3.8 Flash" google("gemini-3.8-flash").window(1_048_576);
    Gemini37Flash "Gemini 3.7 Flash" google("gemini-3.7-flash").window(M1);
    Gemini36Flash "Gemini 3.6 Flash" google("gemini-3.6-flash").window(M1);
    Gemini35Flash "Gemini 3.5 Flash" google("gemini-3.5-flash").window(M1).also(&["gemini-3.5-flash-preview"]);
    Gemini35FlashLite "Gemini 3.5 Flash-Lite" google("gemini-3.5-flash-lite").window(M1);
    Gemini31FlashLite "Gemini 3.1 Flash-Lite" google("gemini-3.1-flash-lite")
        .window(M1)
        .also(&["gemini-3.1-flash-lite-preview"]);
    Gemini3Flash "Gemini 3 Flash" google("gemini-3-flash").window(M1).also(&["gemini-3-flash-preview"]);
    Gemini25Flash "Gemini 2.5 Flash" google("gemini-2.5-flash").also(&["gemini-2.5-flash-preview-09-2025"]);
    Gemini25FlashLite "Gemini 2.5 Flash-Lite" google("gemini-2.5-flash-lite")
        .window(M1)
        .also(&["gemini-2.5-flash-lite-preview-06-17", "gemini-2.5-flash-lite-preview-09-2025"]);

    DeepSeekFlash "DeepSeek Flash (V4.1)" deepseek("deepseek-flash").window(M1).since(2026, 9, 10);
    // The dated names are gateways', in recordings of August 2026.
    DeepSeekV4Pro "DeepSeek V4 Pro" deepseek("deepseek-v4-pro")
        .window(M1)
        .since(2026, 4, 24)
        .also(&["deepseek-v4-pro-0813"]);
    DeepSeekV4Flash "DeepSeek V4 Flash" deepseek("deepseek-v4-flash")
        .window(M1)
        .since(2026, 4, 24)
        .also(&["deepseek-v4-flash-0731"]);
    // Names that moved from model to model and were switched off on 2026-07-24.
    DeepSeekChat "DeepSeek Chat" deepseek("deepseek-chat");
    DeepSeekReasoner "DeepSeek Reasoner" deepseek("deepseek-reasoner");

    Kimi31Pro "Kimi K3.1 Pro" moonshot("kimi-k3.1-pro").since(2026, 10, 24);
    Kimi31ProHighspeed "Kimi K3.1 Pro Highspeed" moonshot("kimi-k3.1-pro-highspeed").since(2026, 10, 24);
    Kimi3 "Kimi K3" moonshot("kimi-k3").window(1_048_576).since(2026, 7, 16);
    Kimi26 "Kimi K2.6" moonshot("kimi-k2.6").window(262_144);
    Kimi25 "Kimi K2.5" moonshot("kimi-k2.5").window(262_144);

    Grok45 "Grok 4.5" xai("grok-4.5").window(500_000);
    Grok43 "Grok 4.3" xai("grok-4.3").window(M1);
    Grok420 "Grok 4.20" xai("grok-4.20");
    Grok41Fast "Grok 4.1 Fast" xai("grok-4-1-fast")
        .window(2_000_000)
        .also(&["grok-4-1-fast-reasoning", "grok-4-1-fast-non-reasoning"]);
    Grok4Fast "Grok 4 Fast" xai("grok-4-fast")
        .window(2_000_000)
        .also(&["grok-4-fast-reasoning", "grok-4-fast-non-reasoning"]);
    Grok4 "Grok 4" xai("grok-4").window(256_000).also(&["grok-4-0709"]);
    Grok3 "Grok 3" xai("grok-3").window(131_072);
    Grok3Mini "Grok 3 mini" xai("grok-3-mini").window(131_072);

    Glm53 "GLM-5.3" zhipu("glm-5.3").window(M1);
    Glm52 "GLM-5.2" zhipu("glm-5.2").window(M1);

    MistralLarge3 "Mistral Large 3" mistral("mistral-large-2512");
    MistralSmall4 "Mistral Small 4" mistral("mistral-small-2603");
    Devstral2 "Devstral 2" mistral("devstral-2512");
    Codestral2508 "Codestral 25.08" mistral("codestral-2508");

    CommandA "Command A" cohere("command-a-03-2025");
    CommandR "Command R 08-2024" cohere("command-r-08-2024");
    CommandRPlus "Command R+ 08-2024" cohere("command-r-plus-08-2024");
    CommandR7b "Command R7B 12-2024" cohere("command-r7b-12-2024");
}
