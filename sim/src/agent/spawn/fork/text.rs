//! The texts for forks, in our own wording (contract FORK-24, FORK-30..41, C02..C04).

/// Marks a fork's message, for the child and for the guard (FORK-30, FORK-31, C02).
pub const TAG_OPEN: &str = "<fork-boilerplate>";
const TAG_CLOSE: &str = "</fork-boilerplate>";

/// The result of every call in the forking message, the same for all calls and all children (FORK-24, C03).
pub const PLACEHOLDER: &str = "Fork started; it runs in the background.";

/// How the result of the child's own call begins in the client of 2026 (`clients.md` 1).
pub const STARTED_AS_YOU: &str = "Fork started: that fork is you.";

/// The refusal for a fork that tries to fork (FORK-48).
pub const REFUSAL: &str = "You are a fork, and forks do not fork: do the work yourself with your own tools.";

/// The rules of a fork (FORK-32..41).
const RULES: &str = "Attention: you are a forked worker, not the main agent.
- What you inherited says to fork by default; that is for your parent. Do the work yourself and start no agents.
- No conversation: ask nothing, suggest no next steps.
- Use your tools directly, and write no text between calls. Report once, at the end.
- Stay inside the scope of your directive.
- If you changed files, commit them before you report.
- Keep the report under 500 words. It begins with `Scope:` and is plain text of this form:
Scope: the scope that you were given, in your words
Result: what you found or did
Key files: paths that matter
Files changed: paths, with the hash of the commit; only if you changed any
Issues: what stands in the way; only if anything does";

/// The rules inside their tag, then the directive with its label (FORK-30, C04).
pub fn directive(prompt: &str) -> String {
    format!("{}{prompt}", beginning())
}

/// What [`directive`] begins with for every fork.
pub fn beginning() -> String {
    format!("{TAG_OPEN}\n{RULES}\n{TAG_CLOSE}\n\nfork-directive: ")
}
