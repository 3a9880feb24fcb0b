//! Lines as the client writes them: the common fields, in the key order of the version.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

/// Fields of every line in a file.
#[derive(Clone)]
pub struct Envelope {
    /// Version of the client.
    pub version: &'static str,
    /// Key order of versions from about 2.1.100.
    pub is_new: bool,
    /// The session.
    pub session: String,
    /// Working directory.
    pub cwd: String,
    /// The sub-agent of this file.
    pub agent: Option<String>,
    /// The previous line.
    pub parent: Option<String>,
    /// The clock, milliseconds since the epoch.
    pub at_ms: u64,
}

/// A UUID.
pub fn uuid(rng: &mut ChaCha8Rng) -> String {
    let (high, low) = (rng.next_u64(), rng.next_u64());
    format!(
        "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
        high >> 32,
        high & 0xffff,
        high >> 16 & 0xfff,
        low >> 52,
        low & 0xffff_ffff_ffff
    )
}

/// An id in the format of providers.
pub fn id(prefix: &str, rng: &mut ChaCha8Rng) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut text = format!("{prefix}_01");
    for _ in 0..22 {
        text.push(char::from(DIGITS[(rng.next_u32() % 62) as usize]));
    }
    text
}

/// A timestamp such as `2026-02-06T10:22:39.880Z`; the clock stays within 2026.
pub fn timestamp(at_ms: u64) -> String {
    /// 2026-01-01 in milliseconds.
    const YEAR: u64 = 1_767_225_600_000;
    const MONTHS: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let ms = at_ms.saturating_sub(YEAR) % (365 * 86_400_000);
    let (mut day, mut month) = (ms / 86_400_000, 0);
    while day >= MONTHS[month] {
        day -= MONTHS[month];
        month += 1;
    }
    let (hour, minute, second) = (ms / 3_600_000 % 24, ms / 60_000 % 60, ms / 1000 % 60);
    format!("2026-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", month + 1, day + 1, ms % 1000)
}

impl Envelope {
    /// Writes a line around `middle` and `tail` (fields, without trailing commas); returns its id.
    pub fn line(&mut self, rng: &mut ChaCha8Rng, middle: &[u8], tail: &str, out: &mut Vec<u8>) -> String {
        let own = uuid(rng);
        let parent = self.parent.as_ref().map_or("null".to_owned(), |parent| format!("\"{parent}\""));
        let agent = self.agent.as_ref().map_or(String::new(), |agent| format!("\"agentId\":\"{agent}\","));
        let side = self.agent.is_some();
        let place = format!(
            "\"cwd\":\"{}\",\"sessionId\":\"{}\",\"version\":\"{}\",\"gitBranch\":\"main\"",
            self.cwd, self.session, self.version
        );
        let (head, end) = match self.is_new {
            true => (
                format!("{{\"parentUuid\":{parent},\"isSidechain\":{side},{agent}"),
                format!("{tail},\"userType\":\"external\",\"entrypoint\":\"cli\",{place}}}\n"),
            ),
            false => (
                format!(
                    "{{\"parentUuid\":{parent},\"isSidechain\":{side},\"userType\":\"external\",{place},{agent}\"slug\":\"made-up-words\","
                ),
                format!("{tail}}}\n"),
            ),
        };
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(middle);
        let stamp = format!(",\"uuid\":\"{own}\",\"timestamp\":\"{}\"", timestamp(self.at_ms));
        out.extend_from_slice(stamp.as_bytes());
        out.extend_from_slice(end.as_bytes());
        self.parent = Some(own.clone());
        own
    }
}
