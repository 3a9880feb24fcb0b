//! Records printed for people, as in TraceLab's examples: pretty JSON between lines like `===== record 0001 =====`, after
//! comments (`# …`). Each is joined on the line where it begins, so that line numbers stay true.

/// The beginning of a line between two records.
const SEPARATOR: &[u8] = b"===== ";

/// The same with one record per line; `None` for other texts.
pub(super) fn unfold(bytes: &[u8]) -> Option<Vec<u8>> {
    let is_shown = bytes.starts_with(b"# ") && memchr::memmem::find(bytes, b"\n===== ").is_some();
    if !is_shown {
        return None;
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut begun = false;
    // Line ends to add after the current record.
    let mut owed = 0;
    for line in bytes.split(|byte| *byte == b'\n') {
        if line.starts_with(SEPARATOR) || !begun {
            out.extend(std::iter::repeat_n(b'\n', owed));
            out.push(b'\n');
            owed = 0;
            begun |= line.starts_with(SEPARATOR);
            continue;
        }
        // In JSON a line end can only be white space.
        out.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
        out.push(b' ');
        owed += 1;
    }
    out.extend(std::iter::repeat_n(b'\n', owed));
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::unfold;

    #[test]
    fn records_begin_on_their_own_lines() {
        let text = "# a comment\n\n===== record 0001 =====\n{\n \"a\": 1\n}\n\n===== record 0002 =====\n{\"b\": 2}\n";
        let lines = String::from_utf8(unfold(text.as_bytes()).unwrap()).unwrap();
        let told: Vec<(usize, &str)> =
            lines.split('\n').enumerate().filter(|(_, line)| !line.trim().is_empty()).collect();
        assert_eq!(told.iter().map(|(at, _)| at + 1).collect::<Vec<_>>(), [4, 9]);
        assert_eq!(told[0].1.split_whitespace().collect::<String>(), "{\"a\":1}");
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        assert!(unfold(b"# A page\n\nWith words.\n").is_none());
        assert!(unfold(b"{\"a\":1}\n===== b\n").is_none());
    }
}
