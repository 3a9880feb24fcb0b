//! The fields of every object of the format, as a flat table, used by the reader and compared with the JSON Schema by a
//! test.

/// Fields of one object.
pub type Known = &'static [&'static str];

/// The top level of the file.
pub const SCENARIO: Known = &[
    "about",
    "covers",
    "seed",
    "session",
    "variables",
    "features",
    "flags",
    "cache",
    "prices",
    "limits",
    "pace",
    "prompt",
    "sizes",
    "definitions",
    "files",
    "shell",
    "commands",
    "hooks",
    "skills",
    "permissions",
    "servers",
    "tools",
    "script",
    "user",
    "expect",
    "variants",
];
/// One of `variants`.
pub const VARIANT: Known = &["about", "covers", "set", "expect"];
/// `session`.
pub const SESSION: Known = &[
    "id",
    "interactive",
    "model",
    "models",
    "cwd",
    "home",
    "environment",
    "internal_build",
    "max_turns",
    "max_depth",
    "max_tokens",
    "thinking",
    "effort",
    "permission_mode",
    "bypass_allowed",
    "streaming_tools",
    "task_tools",
    "messages",
    "skill_tool",
    "assistant",
    "helpers",
    "compaction",
    "ranking",
    "retries",
    "token_budget",
    "classifier_ms",
    "breakpoints",
    "ttl",
    "forks",
    "worktrees",
    "teams",
    "remote",
];
/// `session.helpers`.
pub const HELPERS: Known =
    &["extract_memories", "session_memory", "prompt_suggestion", "speculation", "agent_summary", "auto_dream"];
/// `session.compaction`.
pub const COMPACTION: Known =
    &["window_tokens", "snip_percent", "micro_percent", "auto_percent", "kept_results", "idle"];
/// `session.worktrees`.
pub const WORKTREES: Known = &["offered", "linked", "by_hook", "private_remote", "takes_ms"];
/// An item of `session.remote`.
pub const REMOTE: Known = &["prompt", "result", "fails", "takes_ms", "never_ends"];
/// `session.teams`.
pub const TEAMS: Known = &["current", "places", "capacity", "poll_ms", "bridge"];
/// `session.forks`.
pub const FORKS: Known = &["profile", "launch", "ablations"];
/// `session.models`.
pub const MODELS: Known = &["sonnet", "opus", "haiku"];
/// `session.environment`.
pub const ENVIRONMENT: Known = &["git", "platform", "shell", "os_version", "knowledge_cutoff", "date"];
/// `session.retries`.
pub const RETRIES: Known = &["attempts_max", "waits_ms"];
/// `limits`.
pub const LIMITS: Known = &["steps", "until_ms", "turns"];
/// `pace`.
pub const PACE: Known = &[
    "base_ms",
    "read_us_per_ktok",
    "write_us_per_ktok",
    "fresh_us_per_ktok",
    "output_tokens_per_second",
    "refusal_ms",
];
/// `prompt`.
pub const PROMPT: Known = &["system", "user_context", "fragments", "history"];
/// An item of `prompt.history`.
pub const PAST: Known = &["user", "think", "say", "tools"];
/// An item of the `tools` of `prompt.history`.
pub const ANSWERED: Known = &["tool", "input", "id", "result", "failed"];
/// An item of `prompt.fragments`.
pub const FRAGMENT: Known = &["flag", "text", "before_divider"];
/// `sizes`.
pub const SIZES: Known =
    &["system", "tools", "history", "assistant", "placeholder", "directive_block", "growth", "agents", "types"];
/// An agent type in `types` of `sizes`.
pub const PREFIX_SIZES: Known = &["system", "tools"];
/// `agents` of `sizes`.
pub const AGENT_SIZES: Known = &["system", "tools", "brief", "gathered", "gathering_turns"];
/// An item of `definitions`.
pub const DEFINITION: Known = &["source", "file", "markdown", "json"];
/// An item of `shell`.
pub const SHELL: Known =
    &["command", "output", "exit_code", "takes_ms", "writes", "never_ends", "stuck_after_ms", "times"];
/// A slash command in `commands`.
pub const COMMAND: Known = &["output", "takes_ms"];
/// An item of `hooks`.
pub const HOOK: Known = &["name", "moment", "tool", "in_background", "says"];
/// An item of a hook's `says`.
pub const HOOK_SAYS: Known = &["after_ms", "prevent", "error", "add", "block"];
/// `permissions`.
pub const PERMISSIONS: Known = &["allow", "deny", "ask"];
/// A reply of a script.
pub const REPLY: Known = &[
    "id",
    "when",
    "think",
    "say",
    "tools",
    "output_tokens",
    "kept_tokens",
    "first_byte_ms",
    "streaming_ms",
    "block_ends_ms",
    "fault",
    "events",
    "times",
    "unseen",
    "model",
];
/// `unseen` of a reply.
pub const UNSEEN: Known = &["changed_after_tokens", "dropped_tokens", "tail_tokens", "kept_tokens"];
/// `when` of a reply.
pub const WHEN: Known = &["turn", "after", "user_has", "user_is"];
/// An item of a reply's `tools`.
pub const TOOL_CALL: Known = &["tool", "input", "id", "missing", "result_tokens", "notice_tokens", "brief_tokens"];
/// An item of `tools`: a tool by data.
pub const TOOL: Known = &["name", "description", "schema", "results"];
/// An MCP server in `servers`.
pub const SERVER: Known = &["instructions", "shared", "takes_ms", "fails", "tools"];
/// An item of the `results` of a tool by data.
pub const TOOL_RESULT: Known = &["call", "content", "failed", "takes_ms", "never_ends", "reads"];
/// `fault` of a reply.
pub const FAULT: Known = &["status", "kind", "message", "retry_after_ms", "lost", "breaks", "after_events"];
/// An item of a reply's `events`.
pub const RAW_EVENT: Known = &[
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
    "error",
];
/// `content_block_start`.
pub const BLOCK_START: Known = &["index", "type", "id", "name"];
/// `content_block_delta`.
pub const BLOCK_DELTA: Known = &["index", "text", "thinking", "signature", "input_json"];
/// `content_block_stop`.
pub const BLOCK_STOP: Known = &["index"];
/// `message_delta`.
pub const MESSAGE_DELTA: Known = &["stop_reason"];
/// `error`.
pub const STREAM_ERROR: Known = &["type", "message"];
/// An act of the user.
pub const ACT: Known = &[
    "at_ms",
    "tokens",
    "types",
    "escape",
    "background",
    "allow",
    "deny",
    "flip",
    "kill",
    "kill_all",
    "dialog",
    "arrives",
    "rewrites",
    "rewinds",
    "forgets",
    "loses",
    "asks_aside",
    "connects",
    "disconnects",
    "waits",
];
/// A history that is replaced by one text.
pub const REWRITES: Known = &["agent", "as", "takes_ms"];
/// Waiting for the agents.
pub const WAITS: Known = &["for", "ms"];
/// An item that is enqueued from outside.
pub const ARRIVES: Known = &["text", "mode", "priority", "source", "agent"];
/// `expect`.
pub const EXPECT: Known = &["ends", "message", "figures", "agents", "events", "orders", "requests", "pending"];
/// `expect.figures`, and those of one agent.
pub const FIGURES: Known = &[
    "requests",
    "turns",
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
    "token_equivalents",
    "hit_rate",
    "cost_usd",
    "cost_without_cache_usd",
    "makespan_ms",
    "agents",
];
/// A figure's bounds.
pub const BOUNDS: Known = &["min", "max"];
/// Fields of an event pattern, besides the fields of the event.
pub const PATTERN: Known = &["event", "times", "min", "max", "at_ms"];
/// An item of `expect.requests`.
pub const REQUEST: Known = &[
    "agent",
    "turn",
    "has",
    "lacks",
    "tools",
    "begins_as",
    "same_as",
    "same_but_last",
    "unchanged",
    "cache_read_input_tokens",
    "cause",
    "missed_tokens",
    "missed_usd",
    "difference",
    "breakpoints",
];
/// The first difference of a request.
pub const DIFFERENCE: Known = &["to", "cause", "level", "path", "name", "offset_in_block", "offset_in_prefix"];
/// A request by its agent and turn.
pub const WHICH: Known = &["agent", "turn"];
/// An item of `expect.pending`.
pub const PENDING: Known = &["step", "needs"];

/// Every object, by the name of its definition in the JSON Schema.
pub const OBJECTS: [(&str, Known); 53] = [
    ("scenario", SCENARIO),
    ("variant", VARIANT),
    ("session", SESSION),
    ("helpers", HELPERS),
    ("compaction", COMPACTION),
    ("worktrees", WORKTREES),
    ("teams", TEAMS),
    ("remote", REMOTE),
    ("forks", FORKS),
    ("models", MODELS),
    ("environment", ENVIRONMENT),
    ("retries", RETRIES),
    ("limits", LIMITS),
    ("pace", PACE),
    ("prompt", PROMPT),
    ("past", PAST),
    ("answered", ANSWERED),
    ("fragment", FRAGMENT),
    ("sizes", SIZES),
    ("agent_sizes", AGENT_SIZES),
    ("prefix_sizes", PREFIX_SIZES),
    ("definition", DEFINITION),
    ("shell_rule", SHELL),
    ("command", COMMAND),
    ("hook", HOOK),
    ("hook_says", HOOK_SAYS),
    ("permissions", PERMISSIONS),
    ("reply", REPLY),
    ("unseen", UNSEEN),
    ("when", WHEN),
    ("tool_call", TOOL_CALL),
    ("tool", TOOL),
    ("server", SERVER),
    ("tool_result", TOOL_RESULT),
    ("fault", FAULT),
    ("raw_event", RAW_EVENT),
    ("content_block_start", BLOCK_START),
    ("content_block_delta", BLOCK_DELTA),
    ("content_block_stop", BLOCK_STOP),
    ("message_delta", MESSAGE_DELTA),
    ("stream_error", STREAM_ERROR),
    ("act", ACT),
    ("arrives", ARRIVES),
    ("rewrites", REWRITES),
    ("waits", WAITS),
    ("expect", EXPECT),
    ("figures", FIGURES),
    ("bounds", BOUNDS),
    ("pattern", PATTERN),
    ("request", REQUEST),
    ("which", WHICH),
    ("difference", DIFFERENCE),
    ("pending", PENDING),
];
