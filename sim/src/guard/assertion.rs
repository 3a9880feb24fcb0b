//! Assertions for test suites: they panic with the finding.

use std::borrow::Cow;

use super::bodies::Guard;
use super::finding::Finding;
use super::report::Checked;
use super::rules::Rules;
use super::sent::{Facts, Sent};

/// A request as sent.
///
/// Pass the original bytes if you have them: a value that was parsed, or a text that was serialised again, may have its
/// keys in another order than the bytes sent.
pub trait Body {
    /// The bytes.
    fn bytes(&self) -> Cow<'_, [u8]>;
}

macro_rules! bodies {
    ($([$($generic:tt)*] $body:ty,)+) => {
        $(impl<$($generic)*> Body for $body {
            fn bytes(&self) -> Cow<'_, [u8]> {
                Cow::Borrowed(self.as_ref())
            }
        })+
    };
}

bodies! {
    [] [u8],
    [] str,
    [] Vec<u8>,
    [] String,
    [const N: usize] [u8; N],
}

impl Body for serde_json::Value {
    fn bytes(&self) -> Cow<'_, [u8]> {
        Cow::Owned(self.to_string().into_bytes())
    }
}

impl<T: Body + ?Sized> Body for &T {
    fn bytes(&self) -> Cow<'_, [u8]> {
        (**self).bytes()
    }
}

impl Guard {
    /// A guard for test suites, where prompts are short: every breakpoint counts, however little it covers.
    ///
    /// ```
    /// use forkcast_sim::guard::Guard;
    ///
    /// let mut guard = Guard::in_tests();
    /// guard.assert_next(r#"{"model":"claude-opus-4-8","messages":[{"role":"user","content":"One?"}]}"#);
    /// guard.assert_next(
    ///     r#"{"model":"claude-opus-4-8","messages":[{"role":"user","content":"One?"},
    ///     {"role":"assistant","content":"Two."},{"role":"user","content":"Three?"}]}"#,
    /// );
    /// ```
    pub fn in_tests() -> Self {
        Self::new(Rules { in_tests: true, ..Rules::default() })
    }

    /// Takes the next body of one conversation. If the bodies of a conversation carry no breakpoints, breakpoints after
    /// the system prompt and at the end are assumed, so that its bytes are checked all the same.
    ///
    /// # Panics
    /// When changes break the prefix of the previous body, listing all of them; when the provider refuses the body; and
    /// when it is no request.
    #[track_caller]
    pub fn assert_next(&mut self, body: &(impl Body + ?Sized)) -> Checked {
        self.implies = true;
        self.assert_sent(&Sent {
            facts: Facts { chain: Some("conversation"), ..Facts::default() },
            ..Sent::body(&body.bytes())
        })
    }

    /// Takes the next body, of any chain.
    ///
    /// # Panics
    /// When changes break the prefix of the previous body in its chain, listing all of them; when the provider refuses
    /// the body; and when it is no request.
    #[track_caller]
    pub fn assert_sent(&mut self, sent: &Sent<'_>) -> Checked {
        let checked = match self.take(sent) {
            Ok(checked) => checked,
            Err(error) => fail(&format!("body {} is no request of the Messages API: {error}", self.len())),
        };
        if let Some(answer) = &checked.refused {
            fail(&format!("the provider refuses body {}: {answer}", self.len() - 1));
        }
        let rules = self.rules();
        let broken: Vec<&Finding> = checked.findings.iter().filter(|finding| rules.forbid(finding)).collect();
        if !broken.is_empty() {
            fail(&text(&broken));
        }
        checked
    }
}

/// Asserts that `next` keeps the whole prefix of `previous`: what
/// [`assert_prefix_stable!`](crate::assert_prefix_stable) calls.
///
/// # Panics
/// When changes in `next` break it, listing all of them; and when one of the bodies is no request.
#[track_caller]
pub fn assert_stable(previous: &(impl Body + ?Sized), next: &(impl Body + ?Sized)) {
    let mut guard = Guard::in_tests();
    guard.assert_next(previous);
    guard.assert_next(next);
}

fn text(broken: &[&Finding]) -> String {
    let changes =
        if broken.len() == 1 { "a change breaks".to_owned() } else { format!("{} changes break", broken.len()) };
    let findings: Vec<String> = broken.iter().map(|finding| format!("\n\n{finding}")).collect();
    format!("{changes} the cached prefix{}\n", findings.concat())
}

#[track_caller]
#[allow(clippy::panic)] // A failed assertion must panic.
fn fail(text: &str) -> ! {
    panic!("{text}")
}

/// Asserts that a request keeps the whole prefix of the previous one: every byte that the provider could have cached is
/// sent again, in the same place. Content that `next` appends does not matter, nor does the spelling of the same prompt
/// (string or list, escapes, white space, envelope fields).
///
/// Both are bodies as they are sent: bytes, text, or a [`serde_json::Value`]. Prompts in tests are short, so every
/// breakpoint counts, however little it covers; if `previous` has none, its whole prompt must stay.
///
/// ```
/// use forkcast_sim::assert_prefix_stable;
///
/// let first = r#"{"model": "claude-sonnet-4-5", "system": "Be kind.", "messages": [{"role": "user", "content": "Hi"}]}"#;
/// let second = r#"{"model": "claude-sonnet-4-5", "system": "Be kind.", "messages": [{"role": "user", "content": "Hi"},
///     {"role": "assistant", "content": "Hello."}, {"role": "user", "content": "How are you?"}]}"#;
/// assert_prefix_stable!(first, second);
///
/// let moved = second.replace("Be kind.", "Be kind. It is 10:15.");
/// let failed = std::panic::catch_unwind(|| assert_prefix_stable!(first, moved));
/// assert!(failed.is_err());
/// ```
#[macro_export]
macro_rules! assert_prefix_stable {
    ($previous:expr, $next:expr $(,)?) => {
        $crate::guard::assert_stable(&$previous, &$next)
    };
}
