//! The make-up of a block for counting: texts by class, and parts that are counted by other rules.

use std::ops::AddAssign;

use forkcast_sim::wire::model::Tokenizer;
use forkcast_sim::wire::{BlockKind, Content, Level, json};
use memchr::memmem;

use crate::class::Class;
use crate::factors::Generation;
use crate::image::{self, Tier};
use crate::vocabulary::Vocabulary;
use crate::{chat, pdf, tools};

/// The make-up of one or more blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Makeup {
    /// Tokens of the vocabulary by [`Class`].
    pub text: [u64; Class::ALL.len()],
    /// Tokens that follow from a provider's rule instead of text: images, documents, built-in tools.
    pub fixed: u64,
    /// Tool calls and results, each with its own framing.
    pub calls: u64,
    /// Tool definitions.
    pub definitions: u64,
    /// Documents.
    pub documents: u64,
    /// Images, documents and thinking whose content is not in the request; their tokens are an assumption.
    pub outside: u64,
}

impl Makeup {
    /// Tokens of the vocabulary, over all classes.
    pub fn text_tokens(&self) -> u64 {
        self.text.iter().sum()
    }
}

impl AddAssign for Makeup {
    fn add_assign(&mut self, other: Self) {
        for (mine, others) in self.text.iter_mut().zip(other.text) {
            *mine += others;
        }
        self.fixed += other.fixed;
        self.calls += other.calls;
        self.definitions += other.definitions;
        self.documents += other.documents;
        self.outside += other.outside;
    }
}

/// Analyses a block. `tokenizer` determines the image tier.
pub fn makeup(content: Content<'_>, tokenizer: Tokenizer, vocabulary: Vocabulary) -> Makeup {
    let mut reader = Reader { makeup: Makeup::default(), vocabulary, tier: Tier::of(tokenizer), tokenizer };
    match content.kind {
        BlockKind::Tool => reader.tool(content.bytes),
        BlockKind::Parameters => reader.parameters(content.level, content.bytes),
        _ => reader.block(content.bytes, DEPTH_MAX),
    }
    reader.makeup
}

/// Whether the block refers to content outside the request: an image or document by address or id, or thinking with
/// only a signature. Nothing is counted for this check.
pub fn is_outside(content: Content<'_>) -> bool {
    match content.kind {
        BlockKind::Media => is_address(content.bytes),
        BlockKind::Thinking => field(content.bytes, b"\"thinking\"").is_none_or(|text| text.len() <= 2),
        BlockKind::ToolResult => {
            let list = field(content.bytes, b"\"content\"").filter(|list| list.first() == Some(&b'['));
            list.is_some_and(|list| json::elements(list).flatten().any(is_address))
        }
        _ => false,
    }
}

/// An image or document that is neither inline nor a list of blocks.
fn is_address(block: &[u8]) -> bool {
    let is_media = matches!(field(block, b"\"type\""), Some(b"\"image\"" | b"\"document\""));
    let source = field(block, b"\"source\"").and_then(|source| field(source, b"\"type\""));
    is_media && !matches!(source, Some(b"\"base64\"" | b"\"text\"" | b"\"content\""))
}

/// Maximum nesting of blocks, such as a document inside a tool result. Deeper blocks count as JSON.
const DEPTH_MAX: u8 = 4;

struct Reader {
    makeup: Makeup,
    vocabulary: Vocabulary,
    tier: Tier,
    tokenizer: Tokenizer,
}

fn field<'a>(raw: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    json::members(raw).flatten().filter(|(name, _)| *name == key).map(|(_, value)| value).last()
}

/// The inside of a JSON string without escapes, such as base64.
fn plain_string(raw: &[u8]) -> &[u8] {
    raw.strip_prefix(b"\"").and_then(|raw| raw.strip_suffix(b"\"")).unwrap_or_default()
}

impl Reader {
    fn count(&mut self, class: Class, text: &str) {
        self.makeup.text[class as usize] += self.vocabulary.count(text);
    }

    /// Raw JSON, counted as it is.
    fn json(&mut self, class: Class, raw: &[u8]) {
        self.makeup.text[class as usize] += self.vocabulary.count_bytes(raw);
    }

    /// A JSON string whose text reaches the model; `class` if it is known.
    fn string(&mut self, raw: Option<&[u8]>, class: Option<Class>) {
        if let Some(text) = raw.and_then(json::string) {
            self.count(class.unwrap_or_else(|| Class::of(&text)), &text);
        }
    }

    fn tool(&mut self, raw: &[u8]) {
        if Generation::of(self.tokenizer).is_none() {
            self.makeup.fixed += chat::definition_tokens(raw, self.vocabulary);
            return;
        }
        let kind = field(raw, b"\"type\"").and_then(json::string).unwrap_or_default();
        match tools::built_in_tokens(&kind, self.tokenizer) {
            Some(tokens) => self.makeup.fixed += tokens,
            None => {
                self.makeup.definitions += 1;
                self.json(Class::Tool, raw);
            }
        }
    }

    /// Parameters are settings, not text. Exceptions: the schema of a structured answer is shown to the model, and
    /// OpenAI's messages have tool calls in a separate key.
    fn parameters(&mut self, level: Level, raw: &[u8]) {
        if let Some(calls) = field(raw, b"\"tool_calls\"") {
            self.makeup.text[Class::Json as usize] += chat::calls_tokens(calls, self.vocabulary);
        }
        if level == Level::Messages
            && let Some(format) = field(raw, b"\"output_config.format\"")
        {
            self.json(Class::Tool, field(format, b"\"schema\"").unwrap_or(format));
        }
    }

    fn block(&mut self, raw: &[u8], depth_left: u8) {
        let kind = field(raw, b"\"type\"").unwrap_or_default();
        match kind {
            b"\"text\"" => self.string(field(raw, b"\"text\""), None),
            b"\"thinking\"" => self.thinking(raw),
            b"\"redacted_thinking\"" => self.hidden(field(raw, b"\"data\"")),
            b"\"tool_use\"" => self.call(raw),
            b"\"tool_result\"" => {
                self.makeup.calls += 1;
                self.contents(field(raw, b"\"content\""), depth_left);
            }
            b"\"image\"" => self.image(field(raw, b"\"source\"")),
            b"\"document\"" => self.document(raw, depth_left),
            b"\"image_url\"" => self.image(None),
            _ if raw.first() == Some(&b'"') => self.string(Some(raw), None),
            _ => self.json(Class::Json, raw),
        }
    }

    /// A string, or a list of blocks.
    fn contents(&mut self, raw: Option<&[u8]>, depth_left: u8) {
        match raw {
            Some(list) if list.first() == Some(&b'[') && depth_left > 0 => {
                for block in json::elements(list).flatten() {
                    self.block(block, depth_left - 1);
                }
            }
            Some(text) if text.first() == Some(&b'"') => self.string(Some(text), None),
            Some(other) if !json::is_null(other) => self.json(Class::Json, other),
            _ => {}
        }
    }

    /// If the text of thinking is withheld, only its signature remains, which contains the text in encrypted form.
    fn thinking(&mut self, raw: &[u8]) {
        let text = field(raw, b"\"thinking\"");
        if text.is_some_and(|text| text.len() > 2) {
            self.string(text, None);
        } else {
            self.hidden(field(raw, b"\"signature\""));
        }
    }

    /// Encrypted text in base64, estimated by its length: four bytes per token.
    fn hidden(&mut self, raw: Option<&[u8]>) {
        let bytes = raw.map_or(0, |raw| plain_string(raw).len() as u64) * 3 / 4;
        self.makeup.fixed += bytes / 4;
        self.makeup.outside += u64::from(bytes > 0);
    }

    fn call(&mut self, raw: &[u8]) {
        self.makeup.calls += 1;
        self.string(field(raw, b"\"name\""), Some(Class::Json));
        if let Some(input) = field(raw, b"\"input\"") {
            self.json(Class::Json, input);
        }
    }

    fn image(&mut self, source: Option<&[u8]>) {
        let size =
            source.and_then(|source| field(source, b"\"data\"")).and_then(|data| image::size_px(plain_string(data)));
        self.makeup.outside += u64::from(size.is_none());
        self.makeup.fixed += match size {
            Some((width, height)) => image::tokens(width, height, self.tier),
            None => image::UNKNOWN_IMAGE_TOKENS,
        };
    }

    fn document(&mut self, raw: &[u8], depth_left: u8) {
        self.makeup.documents += 1;
        self.string(field(raw, b"\"title\""), Some(Class::Prose));
        self.string(field(raw, b"\"context\""), Some(Class::Prose));
        let source = field(raw, b"\"source\"").unwrap_or_default();
        match (field(source, b"\"type\""), field(source, b"\"data\"")) {
            (Some(b"\"text\""), text) => self.string(text, None),
            (Some(b"\"base64\""), Some(data)) => self.file(&image::decode(plain_string(data))),
            (Some(b"\"content\""), _) => self.contents(field(source, b"\"content\""), depth_left),
            _ => {
                self.makeup.outside += 1;
                self.makeup.fixed += pdf::UNKNOWN_PDF_TOKENS;
            }
        }
    }

    /// A PDF, or a text in base64 as Bedrock accepts them.
    fn file(&mut self, bytes: &[u8]) {
        // The header may be anywhere in the first kilobyte (ISO 32000, annex H).
        if memmem::find(&bytes[..bytes.len().min(1_024)], b"%PDF-").is_some() {
            self.makeup.fixed += pdf::read(bytes).tokens();
        } else {
            let text = String::from_utf8_lossy(bytes);
            self.count(Class::of(&text), &text);
        }
    }
}
