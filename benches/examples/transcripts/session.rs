//! One session, continued until its file is large enough.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use super::below;
use super::text::Pool;
use super::write::{Envelope, id, timestamp, uuid};

/// A version of the client and the properties of its transcripts.
pub struct Version {
    /// Its name.
    pub name: &'static str,
    /// Later than about 2.1.100: attachments instead of progress lines, a queue, final outputs on all lines.
    is_new: bool,
    /// Output counts are final on the last line of an answer.
    ends_final: bool,
}

/// The versions written.
pub const VERSIONS: [Version; 5] = [
    Version { name: "2.0.76", is_new: false, ends_final: false },
    Version { name: "2.1.17", is_new: false, ends_final: false },
    Version { name: "2.1.39", is_new: false, ends_final: false },
    Version { name: "2.1.62", is_new: false, ends_final: true },
    Version { name: "2.1.217", is_new: true, ends_final: true },
];

const MODELS: [&str; 4] =
    ["claude-opus-4-5-20251101", "claude-opus-4-6", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"];
const TOOLS: [&str; 6] = ["Read", "Bash", "Edit", "Grep", "Glob", "Write"];

/// Bytes of text per token.
const BYTES_PER_TOKEN: u64 = 4;

/// Size at which the client compacts.
const WINDOW_TOKENS: u64 = 165_000;

/// State that a resuming session copies.
#[derive(Clone)]
pub struct Resumable {
    bytes: Vec<u8>,
    envelope: Envelope,
    version: &'static Version,
    model: &'static str,
    prompt_tokens: u64,
}

impl Resumable {
    /// Size of the copied lines.
    pub fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
}

/// A file being written.
pub struct Session<'a> {
    rng: &'a mut ChaCha8Rng,
    pool: &'a Pool,
    version: &'static Version,
    /// Fields of its lines.
    envelope: Envelope,
    model: &'static str,
    out: Vec<u8>,
    spawned: Vec<String>,
    /// Tokens of the next prompt, and of the prefix that the cache holds.
    prompt_tokens: u64,
    cached_tokens: u64,
    system_tokens: u64,
    hour: bool,
    asked_at_ms: u64,
}

impl<'a> Session<'a> {
    /// A new session of a project.
    pub fn new(rng: &'a mut ChaCha8Rng, pool: &'a Pool, project: u64) -> Self {
        let version = &VERSIONS[below(rng, VERSIONS.len() as u64) as usize];
        let model = MODELS[below(rng, MODELS.len() as u64) as usize];
        let envelope = Envelope {
            version: version.name,
            is_new: version.is_new,
            session: uuid(rng),
            cwd: format!("/home/user/code/project-{project:02}"),
            agent: None,
            parent: None,
            at_ms: 1_767_225_600_000 + below(rng, 200 * 86_400_000),
        };
        let hour = below(rng, 2) == 0;
        let prompt_tokens = 16_000 + below(rng, 3) * 1_500;
        Self {
            rng,
            pool,
            version,
            asked_at_ms: 0,
            envelope,
            model,
            out: Vec::new(),
            spawned: Vec::new(),
            prompt_tokens,
            cached_tokens: 0,
            system_tokens: prompt_tokens,
            hour,
        }
    }

    /// A session that begins with the lines of another session.
    pub fn resumed(rng: &'a mut ChaCha8Rng, pool: &'a Pool, old: Resumable) -> Self {
        let mut session = Self::new(rng, pool, 0);
        let text = String::from_utf8_lossy(&old.bytes).replace(&old.envelope.session, &session.envelope.session);
        session.out = text.into_bytes();
        let own = std::mem::take(&mut session.envelope.session);
        session.envelope = Envelope { session: own, ..old.envelope };
        session.envelope.at_ms += 600_000 + below(session.rng, 20_000_000);
        (session.version, session.model, session.prompt_tokens) = (old.version, old.model, old.prompt_tokens);
        session
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.envelope.session
    }

    /// The folder of its project below `projects`.
    pub fn project(&self) -> String {
        self.envelope.cwd.replace('/', "-")
    }

    /// The written lines.
    pub fn bytes(&self) -> &[u8] {
        &self.out
    }

    /// The sub-agents that it started.
    pub fn spawned(&self) -> &[String] {
        &self.spawned
    }

    /// The state that another session needs to resume this one.
    pub fn resumable(&self) -> Resumable {
        Resumable {
            bytes: self.out.clone(),
            envelope: self.envelope.clone(),
            version: self.version,
            model: self.model,
            prompt_tokens: self.prompt_tokens,
        }
    }

    /// Continues until the file has `bytes`.
    pub fn fill(&mut self, bytes: u64) {
        if bytes < 3_000 {
            let leaf = uuid(self.rng);
            self.text_line(
                "{\"type\":\"summary\",\"summary\":\"",
                bytes.saturating_sub(110),
                &format!("\",\"leafUuid\":\"{leaf}\"}}\n"),
            );
            return;
        }
        while (self.out.len() as u64) < bytes {
            self.turn(bytes);
        }
    }

    /// The file of a sub-agent of this session.
    pub fn sub_agent(&mut self, agent: &str, bytes: u64) -> Vec<u8> {
        let (out, envelope) = (std::mem::take(&mut self.out), self.envelope.clone());
        let (prompt, cached) = (self.prompt_tokens, self.cached_tokens);
        self.envelope.agent = Some(agent.to_owned());
        self.envelope.parent = None;
        (self.prompt_tokens, self.cached_tokens) = (12_000, 0);
        let spawned = self.spawned.len();
        self.prompt(600);
        while (self.out.len() as u64) < bytes {
            self.step(true);
        }
        self.step(false);
        self.spawned.truncate(spawned);
        (self.prompt_tokens, self.cached_tokens) = (prompt, cached);
        self.envelope = envelope;
        std::mem::replace(&mut self.out, out)
    }

    fn text_line(&mut self, head: &str, bytes: u64, end: &str) {
        self.out.extend_from_slice(head.as_bytes());
        self.pool.push(self.rng, bytes, &mut self.out);
        self.out.extend_from_slice(end.as_bytes());
    }

    fn line(&mut self, middle: &[u8], tail: &str) -> String {
        self.envelope.at_ms += 20 + below(self.rng, 60);
        self.envelope.line(self.rng, middle, tail, &mut self.out)
    }

    /// A length with a long tail, usually near `usual`.
    fn length(&mut self, usual: u64) -> u64 {
        let wide = 1 << below(self.rng, 5);
        (usual / 4 + below(self.rng, usual) * wide / 4) / self.pool.density
    }

    fn turn(&mut self, bytes: u64) {
        // People return after seconds, minutes, sometimes hours.
        let pause = [8_000, 60_000, 400_000, 5_000_000][below(self.rng, 4) as usize];
        self.envelope.at_ms += below(self.rng, pause);
        let now = timestamp(self.envelope.at_ms);
        let session = self.id().to_owned();
        if self.version.is_new {
            let head = format!(
                "{{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"timestamp\":\"{now}\",\"sessionId\":\"{session}\",\"content\":\""
            );
            self.text_line(&head, 120, "\"}\n");
        }
        let length = self.length(400);
        self.prompt(length);
        let message = uuid(self.rng);
        let snapshot = format!(
            "{{\"type\":\"file-history-snapshot\",\"messageId\":\"{message}\",\"snapshot\":{{\"messageId\":\"{message}\",\"trackedFileBackups\":{{}},\"timestamp\":\"{now}\"}},\"isSnapshotUpdate\":false}}\n"
        );
        self.out.extend_from_slice(snapshot.as_bytes());
        let steps = 1 + below(self.rng, 5) * below(self.rng, 9);
        for _ in 0..steps {
            if self.out.len() as u64 >= bytes {
                break;
            }
            self.step(true);
        }
        self.step(false);
        let duration = 4_000 * (steps + 1);
        let middle =
            format!("\"type\":\"system\",\"subtype\":\"turn_duration\",\"durationMs\":{duration},\"isMeta\":false");
        self.line(middle.as_bytes(), "");
        if self.prompt_tokens > WINDOW_TOKENS {
            self.compact();
        }
    }

    fn compact(&mut self) {
        let logical = self.envelope.parent.take().unwrap_or_default();
        let middle = format!(
            "\"logicalParentUuid\":\"{logical}\",\"type\":\"system\",\"subtype\":\"compact_boundary\",\"content\":\"Conversation compacted\",\"isMeta\":false,\"level\":\"info\",\"compactMetadata\":{{\"trigger\":\"auto\",\"preTokens\":{}}}",
            self.prompt_tokens
        );
        self.line(middle.as_bytes(), "");
        (self.prompt_tokens, self.cached_tokens) = (self.system_tokens, self.system_tokens);
        let mut middle = b"\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"".to_vec();
        self.pool.push(self.rng, 6_000, &mut middle);
        middle.extend_from_slice(b"\"}");
        self.prompt_tokens += 6_000 / BYTES_PER_TOKEN;
        self.line(&middle, ",\"isVisibleInTranscriptOnly\":true,\"isCompactSummary\":true");
    }

    fn prompt(&mut self, bytes: u64) {
        let mut middle = b"\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"".to_vec();
        self.pool.push(self.rng, bytes, &mut middle);
        middle.extend_from_slice(b"\"}");
        self.prompt_tokens += middle.len() as u64 / BYTES_PER_TOKEN;
        let thinks = if self.version.is_new {
            ""
        } else {
            ",\"thinkingMetadata\":{\"maxThinkingTokens\":31999},\"todos\":[],\"permissionMode\":\"default\""
        };
        self.line(&middle, thinks);
    }

    /// One request, its answer and the results of its tool calls.
    fn step(&mut self, calls_tools: bool) {
        let usage = self.ask();
        let (message, request) = (id("msg", self.rng), id("req", self.rng));
        let mut blocks = Vec::new();
        if below(self.rng, 2) == 0 {
            let mut block = b"{\"type\":\"thinking\",\"thinking\":\"".to_vec();
            let length = self.length(500);
            self.pool.push(self.rng, length, &mut block);
            block.extend_from_slice(b"\",\"signature\":\"");
            let signature = 300 + length;
            block.extend(
                (0..signature).map(|_| b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef"[(self.rng.next_u32() % 32) as usize]),
            );
            block.extend_from_slice(b"\"}");
            blocks.push(block);
        }
        if !calls_tools || below(self.rng, 3) == 0 {
            let mut block = b"{\"type\":\"text\",\"text\":\"".to_vec();
            let length = self.length(300);
            self.pool.push(self.rng, length, &mut block);
            block.extend_from_slice(b"\"}");
            blocks.push(block);
        }
        let mut calls = Vec::new();
        for _ in 0..u64::from(calls_tools) * (1 + below(self.rng, 6) / 4) {
            let (call, tool) = (id("toolu", self.rng), self.tool());
            let mut block =
                format!("{{\"type\":\"tool_use\",\"id\":\"{call}\",\"name\":\"{tool}\",\"input\":{{\"argument\":\"")
                    .into_bytes();
            let length = self.length(160);
            self.pool.push(self.rng, length, &mut block);
            block.extend_from_slice(b"\"}}");
            blocks.push(block);
            calls.push((call, tool));
        }
        let output = blocks.iter().map(|block| block.len() as u64).sum::<u64>() / BYTES_PER_TOKEN;
        let last = blocks.len() - 1;
        let mut lines = Vec::new();
        for (index, block) in blocks.iter().enumerate() {
            self.envelope.at_ms += 800 + below(self.rng, 4_000);
            let ends = self.version.ends_final && (index == last || self.version.is_new);
            let stop = match (ends, calls_tools) {
                (false, _) => "null",
                (true, true) => "\"tool_use\"",
                (true, false) => "\"end_turn\"",
            };
            let counted = if ends { output } else { 1 + below(self.rng, 8) };
            let mut middle = format!("\"message\":{{\"model\":\"{}\",\"id\":\"{message}\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[", self.model).into_bytes();
            middle.extend_from_slice(block);
            let end = format!(
                "],\"stop_reason\":{stop},\"stop_sequence\":null,\"usage\":{{{usage},\"output_tokens\":{counted},\"service_tier\":\"standard\",\"inference_geo\":\"not_available\"}}}},\"requestId\":\"{request}\",\"type\":\"assistant\""
            );
            middle.extend_from_slice(end.as_bytes());
            lines.push(self.line(&middle, if self.version.is_new { ",\"effort\":\"high\"" } else { "" }));
        }
        self.prompt_tokens += output;
        for (at, (call, tool)) in calls.iter().enumerate() {
            self.result(&lines[lines.len() - calls.len() + at], call, tool);
        }
    }

    fn tool(&mut self) -> &'static str {
        match (below(self.rng, 60), self.envelope.agent.is_none()) {
            (0, true) => {
                if self.version.is_new {
                    "Agent"
                } else {
                    "Task"
                }
            }
            (number, _) => TOOLS[(number % TOOLS.len() as u64) as usize],
        }
    }

    /// Simulates the cache; returns the usage fields.
    fn ask(&mut self) -> String {
        let lifetime_ms = if self.hour { 3_600_000 } else { 300_000 };
        let is_cold = self.envelope.at_ms.saturating_sub(self.asked_at_ms) > lifetime_ms;
        let read = if is_cold { 0 } else { self.cached_tokens };
        self.asked_at_ms = self.envelope.at_ms;
        let written = self.prompt_tokens.saturating_sub(read);
        self.cached_tokens = self.prompt_tokens;
        let (short, long) = if self.hour { (0, written) } else { (written, 0) };
        format!(
            "\"input_tokens\":3,\"cache_creation_input_tokens\":{written},\"cache_read_input_tokens\":{read},\"cache_creation\":{{\"ephemeral_5m_input_tokens\":{short},\"ephemeral_1h_input_tokens\":{long}}}"
        )
    }

    fn result(&mut self, caller: &str, call: &str, tool: &str) {
        self.envelope.parent = Some(caller.to_owned());
        self.envelope.at_ms += 100 + below(self.rng, 3_000);
        if !self.version.is_new {
            let middle = format!(
                "\"type\":\"progress\",\"data\":{{\"type\":\"hook_progress\",\"hookEvent\":\"PreToolUse\",\"hookName\":\"PreToolUse:{tool}\",\"command\":\"run the hook\"}},\"parentToolUseID\":\"{call}\",\"toolUseID\":\"{call}\""
            );
            self.line(middle.as_bytes(), "");
        }
        let length = self.length(3_700);
        let mut text = Vec::new();
        self.pool.push(self.rng, length, &mut text);
        self.prompt_tokens += text.len() as u64 / BYTES_PER_TOKEN;
        let mut middle = format!("\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"{call}\",\"type\":\"tool_result\",\"content\":\"").into_bytes();
        middle.extend_from_slice(&text);
        middle.extend_from_slice(b"\"}]}");
        let text = String::from_utf8_lossy(&text);
        let tail = match tool {
            "Agent" | "Task" => {
                let agent = format!("{:07x}", self.rng.next_u32() >> 4);
                self.spawned.push(agent.clone());
                format!(
                    ",\"toolUseResult\":{{\"status\":\"completed\",\"prompt\":\"look\",\"agentId\":\"{agent}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}],\"totalDurationMs\":90000,\"totalTokens\":{},\"totalToolUseCount\":9}}",
                    self.prompt_tokens
                )
            }
            "Read" => format!(
                ",\"toolUseResult\":{{\"type\":\"text\",\"file\":{{\"filePath\":\"/a/b\",\"content\":\"{text}\",\"numLines\":90,\"startLine\":1,\"totalLines\":90}}}}"
            ),
            "Edit" => {
                let lines: Vec<&str> = text.split_inclusive("\\n").collect();
                let quoted: Vec<String> = lines.iter().map(|line| format!("\"{line}\"")).collect();
                format!(
                    ",\"toolUseResult\":{{\"filePath\":\"/a/b\",\"oldString\":\"{}\",\"newString\":\"{}\",\"originalFile\":\"{text}\",\"structuredPatch\":[{{\"oldStart\":1,\"oldLines\":9,\"newStart\":1,\"newLines\":9,\"lines\":[{}]}}],\"userModified\":false,\"replaceAll\":false}}",
                    lines[0],
                    lines[0],
                    quoted.join(",")
                )
            }
            _ => format!(
                ",\"toolUseResult\":{{\"stdout\":\"{text}\",\"stderr\":\"\",\"interrupted\":false,\"isImage\":false}}"
            ),
        };
        self.line(&middle, &format!("{tail},\"sourceToolAssistantUUID\":\"{caller}\""));
    }
}
