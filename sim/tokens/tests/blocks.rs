//! Tokens of blocks: texts by class, images and documents by rule, tools by table.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use forkcast_sim::wire::model::{ModelId, Tokenizer, resolve};
use forkcast_sim::wire::{CountedBlocks, NormalForms, ToolUse, Wire};
use forkcast_tokens::image::{Tier, size_px, tokens};
use forkcast_tokens::{Class, Counter, pdf, tools};

/// Estimated tokens of a whole request.
fn whole(body: &str) -> u64 {
    let mut wire = Wire::new(NormalForms::default());
    let request = wire.read(body.as_bytes(), "scope", "").unwrap();
    let tokenizer = request.resolved.map_or(Tokenizer::Other, |resolved| resolved.id.row().tokenizer);
    let cumulative = CountedBlocks::default().cumulative(&Counter::default(), tokenizer, &request, &wire);
    assert!(cumulative.is_sorted());
    cumulative.last().copied().unwrap_or(0)
}

#[test]
fn images_cost_the_same_as_the_vision_pages_examples() {
    assert_eq!(tokens(1_000, 1_000, Tier::STANDARD), 1_296);
    assert_eq!(tokens(1_000, 1_000, Tier::HIGH), 1_296);
    assert_eq!(tokens(1_920, 1_080, Tier::HIGH), 2_691);
    assert_eq!(tokens(1_920, 1_080, Tier::STANDARD), 1_560);
}

#[test]
fn images_stay_within_the_edge_and_the_tokens_of_their_tier() {
    // One patch each, and the longest strip that an edge allows: 1,568 ÷ 28 = 56 patches, 2,576 ÷ 28 = 92.
    assert_eq!(tokens(1, 1, Tier::STANDARD), 1);
    assert_eq!(tokens(100_000, 10, Tier::STANDARD), 56);
    assert_eq!(tokens(100_000, 10, Tier::HIGH), 92);
    for (width, height) in [(8_000, 8_000), (4_032, 3_024), (2_576, 2_576), (u64::from(u32::MAX), 3), (0, 0)] {
        for tier in [Tier::STANDARD, Tier::HIGH] {
            assert!((1..=tier.tokens).contains(&tokens(width, height, tier)), "{width} by {height}");
        }
    }
}

/// The head of a PNG: signature and the first chunk.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend(b"\x08\x02\0\0\0\0\0\0\0");
    bytes
}

/// A JPEG with `preview` bytes of metadata before its size.
fn jpeg(width: u16, height: u16, preview: usize) -> Vec<u8> {
    let mut bytes = b"\xff\xd8".to_vec();
    for _ in 0..preview.div_ceil(60_000) {
        bytes.extend(b"\xff\xe1");
        bytes.extend(60_002_u16.to_be_bytes());
        bytes.extend(vec![0; 60_000]);
    }
    bytes.extend(b"\xff\xc0\0\x11\x08");
    bytes.extend(height.to_be_bytes());
    bytes.extend(width.to_be_bytes());
    bytes.extend(b"\x03\x01\x22\0\x02\x11\x01\x03\x11\x01\xff\xd9");
    bytes
}

#[test]
fn the_size_of_an_image_is_read_from_its_header() {
    let gif = b"GIF89a\x40\x01\xf0\0\0\0\0".to_vec();
    let webp = b"RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x3f\x01\0\xef\0\0VP8 \0\0\0\0".to_vec();
    let cases = [
        (png(640, 480), (640, 480)),
        (jpeg(512, 300, 0), (512, 300)),
        (jpeg(700, 20, 200_000), (700, 20)),
        (gif, (320, 240)),
        (webp, (320, 240)),
    ];
    for (bytes, size) in cases {
        assert_eq!(size_px(STANDARD.encode(&bytes).as_bytes()), Some(size));
    }
    for broken in [b"".as_slice(), b"!!!!", b"iVBORw0K", b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"] {
        assert_eq!(size_px(broken), None);
    }
}

#[test]
fn an_image_costs_its_patches_and_a_linked_image_the_assumed_tokens() {
    let body = |source: &str| {
        format!(
            r#"{{"model":"claude-sonnet-4-6","messages":[{{"role":"user","content":[{{"type":"image","source":{source}}}]}}]}}"#
        )
    };
    let empty = whole(r#"{"model":"claude-sonnet-4-6","messages":[{"role":"user","content":[]}]}"#);
    assert_eq!(empty, 0, "no block, no size");
    let data = STANDARD.encode(png(640, 480));
    let inside = whole(&body(&format!(r#"{{"type":"base64","media_type":"image/png","data":"{data}"}}"#)));
    // ⌈640 ÷ 28⌉ · ⌈480 ÷ 28⌉ = 23 · 18, and seven tokens for a request with one message.
    assert_eq!(inside, 23 * 18 + 7);
    let outside = whole(&body(r#"{"type":"url","url":"https://example.org/a.png"}"#));
    assert_eq!(outside, 1_296 + 7);
}

#[test]
fn pages_of_a_pdf_are_counted_however_they_are_written() {
    let three = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type /Pages /Kids[3 0 R 4 0 R 5 0 R]/Count 3>>endobj \
        3 0 obj<</Type/Page/Parent 2 0 R>>endobj 4 0 obj<</Type /Page>>endobj 5 0 obj<</Type\n/Page/X 1>>endobj";
    let found = pdf::read(three);
    assert_eq!((found.pages, found.characters), (3, Some(0)));
    let text = b"%PDF-1.4 1 0 obj<</Type/Page>>endobj 2 0 obj<</Length 40>>stream\nBT /F1 12 Tf (Hello\\) you) Tj <00410042> Tj ET\nendstream endobj";
    // Ten characters in parentheses, two of four digits each.
    assert_eq!(pdf::read(text).characters, Some(12));
    for broken in [b"".as_slice(), b"%PDF-1.7", b"%PDF-1.7 /Type /Pag", b"stream stream stream", &[0xff; 5_000]] {
        assert_eq!(pdf::read(broken).pages, 1);
    }
    let repeated = b"stream".repeat(200_000);
    assert_eq!(pdf::read(&repeated).pages, 1);
}

#[test]
fn packed_pages_are_unpacked() {
    use std::io::Write;
    let pack = |plain: &[u8]| {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    };
    let mut bytes = b"%PDF-1.5 1 0 obj<</Type/ObjStm/Filter/FlateDecode>>stream\n".to_vec();
    bytes.extend(pack(b"<</Type/Page>> <</Type/Page>> <</Type/Pages/Count 2>>"));
    bytes.extend(b"\nendstream 2 0 obj<</Filter/FlateDecode>>stream\n");
    bytes.extend(pack(b"BT (four) Tj ET BT (words) Tj ET"));
    bytes.extend(b"\nendstream");
    let found = pdf::read(&bytes);
    assert_eq!((found.pages, found.characters), (2, Some(9)));
    let mut bomb = b"%PDF-1.5 1 0 obj<</Type/Page>> 2 0 obj<</Filter/FlateDecode>>stream\n".to_vec();
    bomb.extend(pack(&vec![b'x'; 200 << 20]));
    bomb.extend(b"\nendstream");
    assert_eq!(pdf::read(&bomb).pages, 1);
}

#[test]
fn instructions_for_tools_come_from_the_table_or_its_nearest_row() {
    let of = |spelling: &str, tools| {
        let found = tools::instructions(resolve(spelling).map(|resolved| resolved.id), tools)?;
        Some((found.tokens, found.row))
    };
    assert_eq!(of("claude-opus-4-7", ToolUse::Free), Some((675, ModelId::Opus47)));
    assert_eq!(of("claude-opus-4-7", ToolUse::Forced), Some((804, ModelId::Opus47)));
    assert_eq!(of("claude-opus-4-7", ToolUse::Absent), None);
    // Models without their own row: the nearest of the family and the generation.
    assert_eq!(of("claude-sonnet-5-5", ToolUse::Free), Some((354, ModelId::Sonnet5)));
    assert_eq!(of("claude-3-7-sonnet", ToolUse::Free), Some((313, ModelId::Sonnet4)));
    assert_eq!(of("claude-haiku-5-5", ToolUse::Free).map(|(_, row)| row.row().tokenizer), Some(Tokenizer::Claude47));
    assert!(of("nothing-known", ToolUse::Free).is_some());
}

#[test]
fn estimates_match_the_counting_pages_examples_within_a_few_tokens() {
    // Counting page: 14 tokens for this request.
    let hello = whole(
        r#"{"model":"claude-opus-4-1","system":"You are a scientist","messages":[{"role":"user","content":"Hello, Claude"}]}"#,
    );
    assert!(hello.abs_diff(14) <= 3, "{hello}");
    // Counting page: 403 with this tool.
    let weather = whole(
        r#"{"model":"claude-opus-4-1","tools":[{"name":"get_weather","description":"Get the current weather in a given location","input_schema":{"type":"object","properties":{"location":{"type":"string","description":"The city and state, e.g. San Francisco, CA"}},"required":["location"]}}],"messages":[{"role":"user","content":"What's the weather like in San Francisco?"}]}"#,
    );
    assert!(weather.abs_diff(403) <= 10, "{weather}");
}

#[test]
fn public_vocabularies_are_exact_with_the_documented_framing() {
    // Cookbook: three tokens per message and one for its role, three before the answer; each text is one token.
    let body =
        r#"{"model":"gpt-4o","messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"hello"}]}"#;
    assert_eq!(whole(body), 4 + 1 + 4 + 1 + 3);
}

#[test]
fn chat_tools_cost_the_same_as_in_the_cookbook() {
    // The cookbook's worked example: 101 tokens with gpt-4o.
    let body = r#"{"model":"gpt-4o","tools":[{"type":"function","function":{"name":"get_current_weather","description":"Get the current weather in a given location","parameters":{"type":"object","properties":{"location":{"type":"string","description":"The city and state, e.g. San Francisco, CA"},"unit":{"type":"string","description":"The unit of temperature to return","enum":["celsius","fahrenheit"]}},"required":["location"]}}}],"messages":[{"role":"system","content":"You are a helpful assistant that can answer to questions about the weather."},{"role":"user","content":"What's the weather like in San Francisco?"}]}"#;
    assert_eq!(whole(body), 101);
}

#[test]
fn texts_have_the_expected_class() {
    for (text, class) in [
        (include_str!("vocabularies/code.txt"), Class::Code),
        (include_str!("vocabularies/records.json"), Class::Json),
        ("It rained all day, and nobody came. (The clerk slept.) What else is there to say?", Class::Prose),
        ("Кэш помнит начало письма. Кто пишет то же начало ещё раз, платит десятую часть.", Class::OtherScript),
        ("缓存记得信的开头。再次写下同样开头的人只需支付十分之一的邮费。", Class::OtherScript),
        (r#"{"status":200,"items":[{"id":"a1","ok":true},{"id":"a2","ok":false}]}"#, Class::Json),
        ("fn main() { let x = vec![1, 2]; println!(\"{x:?}\"); }", Class::Code),
        ("", Class::Prose),
    ] {
        assert_eq!(Class::of(text), class, "{text:.60}");
    }
}

#[test]
fn broken_images_and_documents_never_panic() {
    use rand_chacha::rand_core::{Rng, SeedableRng};
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(7);
    let starts: [&[u8]; 6] =
        [b"", b"%PDF-1.7 stream\n", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF....WEBPVP8 "];
    for number in 0..6_000 {
        let mut bytes = starts[number % starts.len()].to_vec();
        bytes.extend((0..random.next_u64() % 80).map(|_| u8::try_from(random.next_u64() & 0xff).unwrap()));
        assert!(pdf::read(&bytes).tokens() >= 1_568);
        size_px(&bytes);
        size_px(STANDARD.encode(&bytes).as_bytes());
    }
}

#[test]
fn broken_blocks_are_counted_and_never_panic() {
    for content in [
        r#"{"type":"image"}"#,
        r#"{"type":"image","source":{"type":"base64","data":5}}"#,
        r#"{"type":"document","source":{"type":"base64","data":"%%%"}}"#,
        r#"{"type":"document","source":"nowhere"}"#,
        r#"{"type":"tool_use"}"#,
        r#"{"type":"tool_result","content":{"a":[1,2]}}"#,
        r#"{"type":"tool_result","content":[{"type":"tool_result","content":[{"type":"document","source":{"type":"content","content":[{"type":"text","text":"x"}]}}]}]}"#,
        r#"{"type":"thinking","thinking":"","signature":"AAAAAAAA"}"#,
        r#"{"type":"unheard_of","text":"\ud800"}"#,
        r#"{"text":"no type"}"#,
        "7",
    ] {
        let body = format!(r#"{{"model":"claude-opus-5","messages":[{{"role":"user","content":[{content}]}}]}}"#);
        assert!(whole(&body) >= 7, "{content}");
    }
}
