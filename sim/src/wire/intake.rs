//! Turns the raw body of a request, or the parts of a draft, into a path in the arena.

use super::block::{BlockId, BlockKind, Blocks, Content};
use super::body::{self, Body, BodyError, RawElement};
use super::head::{Head, is_in_a_cloud};
use super::level::{Level, Place, Role};
use super::maker::Maker;
use super::marker::{Marker, Ttl};
use super::memory::ElementMemory;
use super::model::Platform;
use super::normal::{self, NormalForms};
use super::order::{self, Placed};
use super::parameters;
use super::part::{Element, ElementReader, Part, PartPlace};
use super::piece::{Piece, WireIdentity};
use super::prefix::Prefixes;
use super::request::{BadMarker, BadMarkerWhy, ExcludedBlock, ExcludedWhy, Request};
use super::spelling::{self, SpellingNote};
use super::trail::Path;

/// Everything that was ever sent: blocks, prefixes, and the memory that turns bodies into paths among them.
#[derive(Clone, Debug, Default)]
pub struct Wire {
    /// Distinct blocks.
    pub blocks: Blocks,
    /// Distinct prefixes.
    pub prefixes: Prefixes,
    forms: NormalForms,
    memory: ElementMemory,
    identity: WireIdentity,
    bytes_read: u64,
}

impl Wire {
    /// An empty wire under `forms`.
    pub fn new(forms: NormalForms) -> Self {
        Self { forms, ..Self::default() }
    }

    /// An empty wire under `forms` for one body of about `body_bytes`: it expects no repetition.
    pub fn for_one_body(forms: NormalForms, body_bytes: usize) -> Self {
        Self { forms, blocks: Blocks::with_bytes(body_bytes), memory: ElementMemory::off(), ..Self::default() }
    }

    /// The normal forms in force.
    pub const fn forms(&self) -> &NormalForms {
        &self.forms
    }

    /// Bytes of elements and pieces that were read because no equal one was known: this grows with new content.
    pub const fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Reads a body sent in `scope`. `model_outside` is the model if the address names it and the body does not.
    ///
    /// # Errors
    /// When the body is no request of the Messages API; no prefix of it is kept then.
    pub fn read(&mut self, body: &[u8], scope: &str, model_outside: &str) -> Result<Request, BodyError> {
        self.read_by(Maker::Anthropic, body, scope, model_outside)
    }

    /// The same for a body that follows the rules of `maker`: a body in another spelling is read in its translation.
    ///
    /// # Errors
    /// When the body is no request of the Messages API; no prefix of it is kept then.
    pub fn read_by(
        &mut self,
        maker: Maker,
        body: &[u8],
        scope: &str,
        model_outside: &str,
    ) -> Result<Request, BodyError> {
        let cut = body::cut_expecting(body, &self.memory)?;
        let head = Head::new(cut.fields.iter().map(|(key, value)| (key.as_str(), *value)), model_outside);
        let head = Head { maker, ..head };
        let placed = self.elements(&cut, head.sorts_results(&self.forms))?;
        Ok(self.request(head, placed, scope, None))
    }

    /// The harmless differences of two bodies that were read, as in [`spelling::notes`], with less work.
    ///
    /// # Errors
    /// When one of the bodies is no request.
    pub fn spelling_notes(&self, old: &[u8], new: &[u8]) -> Result<Vec<SpellingNote>, BodyError> {
        spelling::notes_knowing(old, new, &self.forms, &self.memory)
    }

    /// Distinguishes this wire from others.
    pub(super) const fn identity(&self) -> &WireIdentity {
        &self.identity
    }

    /// The request made of these parts: lays the path and sets the breakpoints on it. `path` is the expected path.
    pub(super) fn request(
        &mut self,
        head: Head,
        mut placed: Vec<Placed>,
        scope: &str,
        path: Option<&mut Path>,
    ) -> Request {
        if let Some(turns) = head.thinking_turns_kept(&self.forms) {
            order::strip_thinking(&mut placed, turns);
        }
        let missing_tool = order::defer_named(&mut placed, |block| self.blocks.bytes(block));
        if head.maker != Maker::OpenAi {
            order::forget_compacted(&mut placed, |block| self.blocks.bytes(block));
        }
        let root = self.prefixes.root(scope, head.model_key());
        if is_in_a_cloud(&head.envelope, head.resolved) {
            self.prefixes.count_each_block(root);
        }
        let mut request = Request {
            root,
            model: head.model,
            resolved: head.resolved,
            maker: head.maker,
            nodes: Vec::with_capacity(placed.len() + 2),
            places: Vec::with_capacity(placed.len() + 2),
            known: 0,
            markers: Vec::new(),
            markers_sent: 0,
            bad_markers: Vec::new(),
            missing_tool,
            automatic_conflict: None,
            excluded: Vec::new(),
            envelope: head.envelope,
            addresses: None,
        };
        self.lay(&placed, &mut request, path);
        if let Some(ttl) = request.envelope_value("cache_control").and_then(normal::ttl) {
            set_automatic(&mut request, &placed, ttl, &self.prefixes);
        }
        request
    }

    /// What `piece` contributes at `level` in a message of `role`: read once, then remembered by the piece.
    pub(super) fn part(&mut self, piece: &Piece, level: Level, role: Role) -> Part {
        if let Some(part) = piece.reading(&self.identity, level, role) {
            return part;
        }
        let Self { blocks, forms, bytes_read, .. } = self;
        let part = piece.look(|raw| {
            *bytes_read += raw.len() as u64;
            ElementReader { blocks, forms }.piece(level, role, raw)
        });
        piece.keep_reading(&self.identity, level, role, part);
        part
    }

    fn elements(&mut self, cut: &Body<'_>, results_sorted: bool) -> Result<Vec<Placed>, BodyError> {
        let mut placed = Vec::with_capacity(cut.tools.len() + cut.system.len() + cut.messages.len() * 2);
        let tools = self.level(Level::Tools, cut, &mut placed)?;
        if let Some(raw) = cut.system_string {
            if !body::is_valid(raw) {
                return Err(broken("system".to_owned()));
            }
            let Self { blocks, forms, .. } = self;
            place(&ElementReader { blocks, forms }.system_string(raw), Level::System, 0, &mut placed);
        }
        let system = self.level(Level::System, cut, &mut placed)?;
        let messages_from = placed.len();
        let messages = self.level(Level::Messages, cut, &mut placed)?;
        if results_sorted {
            order::sort_results(&mut placed, messages_from);
        }
        self.memory.remember([tools, system, messages], cut.generation);
        Ok(placed)
    }

    /// Places the elements of a level; returns their rows in the memory.
    fn level(&mut self, level: Level, cut: &Body<'_>, placed: &mut Vec<Placed>) -> Result<Vec<u32>, BodyError> {
        let elements = cut.elements(level);
        let mut rows = Vec::with_capacity(elements.len());
        for (item, RawElement { raw, row }) in elements.iter().enumerate() {
            let expected = row.filter(|_| self.memory.generation() == cut.generation);
            match expected.or_else(|| self.memory.row(level, raw)) {
                Some(row) => {
                    place(self.memory.at(row), level, item, placed);
                    rows.push(row);
                }
                None => {
                    let element = self.read_element(level, item, raw)?;
                    place(&element, level, item, placed);
                    rows.push(self.memory.put(level, raw, element));
                }
            }
        }
        Ok(rows)
    }

    fn read_element(&mut self, level: Level, item: usize, raw: &[u8]) -> Result<Element, BodyError> {
        let path = || format!("{}[{item}]", level.name());
        let first = raw.first().copied();
        let string_in_system = level == Level::System && first == Some(b'"');
        if first != Some(b'{') && !string_in_system {
            return Err(BodyError::Shape { path: path(), found: body::shape(first), expected: "an object" });
        }
        if !body::is_valid(raw) {
            return Err(broken(path()));
        }
        self.bytes_read += raw.len() as u64;
        let Self { blocks, forms, .. } = self;
        ElementReader { blocks, forms }.read(level, raw).map_err(|error| BodyError::Shape {
            path: path(),
            found: "another shape",
            expected: error.expected,
        })
    }

    /// Lays the path of prefixes: each level's parameters, then its blocks.
    fn lay(&mut self, placed: &[Placed], request: &mut Request, path: Option<&mut Path>) {
        let facts = order::facts(placed, |block| self.blocks.bytes(block).to_vec());
        let mut next = 0;
        let mut steps = Steps { path, all_known: true };
        if let Some(path) = &mut steps.path {
            path.begin(request.root);
        }
        for level in Level::ALL {
            if let Some(bytes) = parameters::canonical(level, &request.envelope, &facts, &self.forms) {
                let block = self.blocks.intern(Content::parameters(level, &bytes));
                self.step(request, block, BlockKind::Parameters, Place::head(level), &mut steps);
            }
            while let Some(Placed { part, place }) = placed.get(next).filter(|placed| placed.place.level == level) {
                let excluded = match (part.place, level) {
                    // Only the maker of the client removes its header (control-layer#1224, 2026).
                    (PartPlace::Excluded, Level::System) if request.maker != Maker::Anthropic => {
                        self.step(request, part.block, part.kind, *place, &mut steps);
                        None
                    }
                    (PartPlace::Prompt, _) => {
                        self.step(request, part.block, part.kind, *place, &mut steps);
                        None
                    }
                    (PartPlace::SystemHead, _) => None,
                    (PartPlace::Compacted, _) => Some(ExcludedWhy::Compacted),
                    (PartPlace::Excluded, Level::Tools) => Some(ExcludedWhy::DeferredTool),
                    (PartPlace::Excluded, Level::System) => Some(ExcludedWhy::BillingHeader),
                    (PartPlace::Excluded, Level::Messages) => Some(ExcludedWhy::StrippedThinking),
                };
                request.excluded.extend(excluded.map(|why| ExcludedBlock { place: *place, block: part.block, why }));
                mark(request, part, *place);
                next += 1;
            }
        }
    }

    fn step(&mut self, request: &mut Request, block: BlockId, kind: BlockKind, place: Place, steps: &mut Steps<'_>) {
        let expected = steps.path.as_mut().and_then(|path| path.next(block));
        let node = expected.unwrap_or_else(|| {
            let (node, new) = self.prefixes.extend(request.end(), block, kind);
            steps.all_known &= !new;
            if let Some(path) = &mut steps.path {
                path.push(block, node);
            }
            node
        });
        request.nodes.push(node);
        request.places.push(place);
        request.known += usize::from(steps.all_known);
    }
}

/// Progress of laying a path.
struct Steps<'a> {
    path: Option<&'a mut Path>,
    all_known: bool,
}

fn broken(path: String) -> BodyError {
    BodyError::Shape { path, found: "broken JSON", expected: "a JSON value" }
}

fn place(element: &Element, level: Level, item: usize, placed: &mut Vec<Placed>) {
    placed.extend(element.parts.iter().map(|part| Placed::new(*part, level, item)));
}

/// Notes the breakpoint of a part. On a block outside the identity it marks the previous block.
fn mark(request: &mut Request, part: &Part, place: Place) {
    if let Some(why) = part.misplaced_marker {
        let place = if why == BadMarkerWhy::OnMessage { Place { part: 0, keys: true, ..place } } else { place };
        request.bad_markers.push(BadMarker { place, why });
    }
    let Some(ttl) = part.marker else { return };
    request.markers_sent += 1;
    let why = match part.kind {
        BlockKind::Thinking => Some(BadMarkerWhy::Thinking),
        _ if part.empty => Some(BadMarkerWhy::EmptyText),
        BlockKind::Tool if part.place == PartPlace::Excluded => Some(BadMarkerWhy::Deferred),
        _ if request.is_without_caching() => Some(BadMarkerWhy::NoCaching),
        BlockKind::Tool if request.is_to_nova() => Some(BadMarkerWhy::NovaTool),
        _ if ttl == Ttl::OneHour && !has_one_hour(request) => Some(BadMarkerWhy::LongTtl),
        _ => None,
    };
    if let Some(why) = why {
        request.bad_markers.push(BadMarker { place, why });
        return;
    }
    if !request.nodes.is_empty() {
        request.markers.push(Marker { node: request.end(), ttl, place, automatic: false });
    }
}

/// Whether the model has the one-hour lifetime: on Bedrock, Claude since 4.5 only (earendil-works/pi#1570, 2026-02,
/// can1357/oh-my-pi#6409, 2026-07, LibreChat-AI/agents#256).
fn has_one_hour(request: &Request) -> bool {
    const FIRST_CLAUDE: (u8, u8) = (4, 5);
    let on_bedrock = request.resolved.filter(|model| model.platform == Platform::Bedrock);
    let claude = on_bedrock.and_then(|model| model.id.row().claude);
    !request.is_to_nova() && claude.is_none_or(|(_, version)| version >= FIRST_CLAUDE)
}

/// Sets the automatic breakpoint on the last block that can carry one. On a marked block it changes nothing if the
/// lifetimes agree (prompt-caching page, "automatic caching", 2026-09).
fn set_automatic(request: &mut Request, placed: &[Placed], ttl: Ttl, prefixes: &Prefixes) {
    let eligible = |part: &Part| {
        part.place == PartPlace::Prompt
            && !part.empty
            && !matches!(part.kind, BlockKind::Thinking | BlockKind::Parameters)
    };
    let Some(last) = placed.iter().rev().find(|placed| eligible(&placed.part)) else { return };
    let Some(at) = request.places.iter().rposition(|place| *place == last.place) else { return };
    let node = request.nodes[at];
    if let Some(own) = request.markers.iter().find(|marker| marker.node == node) {
        if own.ttl != ttl {
            request.automatic_conflict = Some((ttl, own.ttl));
        }
        return;
    }
    request.markers_sent += 1;
    request.markers.push(Marker { node, ttl, place: last.place, automatic: true });
    request.markers.sort_by_key(|marker| prefixes.depth(marker.node));
}
