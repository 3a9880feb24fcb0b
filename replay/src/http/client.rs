//! Which program sent a request, and which of its agents, as headers say.

use super::Headers;

/// Name and version of the program: the first product of the header, `claude-cli/2.1.63` of
/// `claude-cli/2.1.63 (external, cli)`. SDKs write the version behind a blank (`Anthropic/Python 0.28.1`, seen in recorded
/// cassettes of 2024 to 2026), which is kept. `None` where no version stands: recorders often put a mask in its place.
pub fn client(user_agent: &str) -> Option<String> {
    let mut words = user_agent.split_whitespace();
    let product = words.next()?;
    if product.split_once('/').is_some_and(|(_, version)| is_version(version)) {
        return Some(product.to_owned());
    }
    let version = words.next().filter(|word| is_version(word))?;
    Some(format!("{product} {version}"))
}

fn is_version(word: &str) -> bool {
    word.strip_prefix('v').unwrap_or(word).starts_with(|first: char| first.is_ascii_digit())
}

/// Session and agent of a request by a sub-agent: Claude Code's `x-claude-code-session-id` and `x-claude-code-agent-id`
/// (2.1.330), opencode's `x-session-id` where a parent is named beside it (1.18.33).
///
/// A client's main conversation is not named by its session: requests for titles and summaries bear the same id.
pub fn agent(headers: &Headers<'_>) -> Option<String> {
    if let Some(agent) = headers.get("x-claude-code-agent-id") {
        return Some(format!("{}/{agent}", headers.get("x-claude-code-session-id").unwrap_or_default()));
    }
    headers.get("x-parent-session-id")?;
    headers.get("x-session-id").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{Headers, agent, client};

    #[test]
    fn only_agents_below_another_are_named() {
        let of = |lines: &[(&'static str, &'static str)]| {
            let mut headers = Headers::default();
            lines.iter().for_each(|(name, value)| headers.push(*name, *value));
            agent(&headers)
        };
        assert_eq!(of(&[("X-Claude-Code-Session-Id", "s")]), None);
        assert_eq!(of(&[("X-Claude-Code-Session-Id", "s"), ("x-claude-code-agent-id", "a")]).as_deref(), Some("s/a"));
        assert_eq!(of(&[("x-session-id", "child"), ("x-parent-session-id", "s")]).as_deref(), Some("child"));
        assert_eq!(of(&[("x-session-id", "s")]), None);
    }

    #[test]
    fn the_first_product_is_the_client() {
        for (header, found) in [
            ("claude-cli/2.1.63 (external, cli)", Some("claude-cli/2.1.63")),
            ("Anthropic/Python 0.28.1", Some("Anthropic/Python 0.28.1")),
            ("Boto3/1.38.26 md/Botocore#1.38.26 ua/2.1", Some("Boto3/1.38.26")),
            ("Faraday v2.14.3", Some("Faraday v2.14.3")),
            ("X-USER-AGENT", None),
            ("Mozilla (like 4.0)", None),
            ("", None),
        ] {
            assert_eq!(client(header).as_deref(), found, "{header}");
        }
    }
}
