//! Where a byte of a block's canonical form is in the text of its field, as a program holds it.

/// Bytes of a JSON string's text before byte `offset` of `canonical`; `None` if that byte is in no string value.
pub(super) fn offset_in_text(canonical: &[u8], offset: usize) -> Option<u64> {
    let (mut at, mut text) = (0, None);
    while at < offset.min(canonical.len()) {
        at += match (canonical[at], &mut text) {
            (b'"', quoted) => {
                *quoted = if quoted.is_none() { Some(0) } else { None };
                1
            }
            (_, None) => 1,
            (byte, Some(bytes)) => {
                let (sent, held) = if byte == b'\\' { escape(&canonical[at..]) } else { (1, 1) };
                *bytes += held;
                sent
            }
        };
    }
    text.filter(|_| !is_key(canonical, at))
}

/// Length of the escape at the beginning of `text`, and of the bytes that it means.
fn escape(text: &[u8]) -> (usize, u64) {
    let code = |text: &[u8]| -> Option<u32> {
        let digits = text.get(..6).filter(|text| text.starts_with(b"\\u"))?;
        u32::from_str_radix(std::str::from_utf8(&digits[2..]).ok()?, 16).ok()
    };
    match code(text) {
        None => (2, 1),
        Some(0xd800..0xdc00) if text.get(6..).and_then(code).is_some() => (12, 4),
        Some(code) => (6, char::from_u32(code).map_or(3, |letter| letter.len_utf8() as u64)),
    }
}

/// Whether the string that contains `at` is the name of a member.
fn is_key(canonical: &[u8], mut at: usize) -> bool {
    while let Some(byte) = canonical.get(at) {
        match byte {
            b'"' => return canonical.get(at + 1) == Some(&b':'),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::offset_in_text;

    #[test]
    fn bytes_are_counted_in_the_text_of_the_value() {
        let canonical = br#"{"text":"Be kind.","type":"text"}"#;
        let at = |part: &str| String::from_utf8_lossy(canonical).find(part).unwrap();
        assert_eq!(offset_in_text(canonical, at("Be")), Some(0));
        assert_eq!(offset_in_text(canonical, at("kind")), Some(3));
        assert_eq!(offset_in_text(canonical, at("\",\"type")), Some(8), "the text ends there");
        for outside in [0, 1, at("ext\""), at(":"), at("ype"), canonical.len(), canonical.len() + 9] {
            assert_eq!(offset_in_text(canonical, outside), None, "{outside}");
        }
    }

    #[test]
    fn an_escape_is_the_bytes_that_it_means() {
        let canonical = r#"{"a":["x","\n\"é\u0007\u00e9\ud83d\ude00z"]}"#;
        let at = canonical.find('z').unwrap();
        assert_eq!(offset_in_text(canonical.as_bytes(), at), Some("\n\"é\u{7}é😀".len() as u64));
    }

    #[test]
    fn broken_text_is_no_trouble() {
        for text in [&b"\"\\"[..], b"\"\\u12", b"\"\\ud800\\u", b"\"\xff\\", b""] {
            for offset in 0..12 {
                offset_in_text(text, offset);
            }
        }
    }
}
