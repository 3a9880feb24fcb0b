//! Which program sent a request, as its `User-Agent` header says.

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

#[cfg(test)]
mod tests {
    use super::client;

    #[test]
    fn the_first_product_is_the_client() {
        for (header, found) in [
            ("claude-cli/2.1.63 (external, cli)", Some("claude-cli/2.1.63")),
            ("Anthropic/Python 0.28.1", Some("Anthropic/Python 0.28.1")),
            ("Boto3/1.38.26 md/Botocore#1.38.26 ua/2.1", Some("Boto3/1.38.26")),
            ("Faraday v2.14.3", Some("Faraday v2.14.3")),
            ("X-USER-AGENT-XXX", None),
            ("Mozilla (like 4.0)", None),
            ("", None),
        ] {
            assert_eq!(client(header).as_deref(), found, "{header}");
        }
    }
}
