// One request and what its cache held; two requests and where they differ.

// Both sides of a difference: equal ends, and between them what differs.
const bothSides = ({ older, newer }, names) => {
  const [a, b] = [[...visible(older)], [...visible(newer)]], least = Math.min(a.length, b.length);
  let head = 0, tail = 0;
  while (head < least && a[head] === b[head]) head += 1;
  while (tail < least - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const side = (said, text) => el("div", {}, el("span", { class: "aside" }, said),
    el("pre", { tabindex: "0" }, text.slice(0, head).join(""), el("mark", {}, text.slice(head, text.length - tail).join("") || "∅"), text.slice(text.length - tail).join("")));
  return el("div", { class: "sides" }, side(names[0], a), side(names[1], b));
};

const NO_CONTENT = "With --show-content the page shows the bytes on both sides.";

const STATES = { live: ["read", "readable"], in_flight: ["answer", "being written"], expired: ["input", "expired"], evicted: ["input", "lost"], absent: ["input", "absent"] };

const drawExplain = (explain) => {
  const place = chapter("shown");
  if (!place) return;
  const difference = explain.nearest && explain.nearest.difference;
  place.show(explain.levels.length ? fitted(el("div"), (width) => promptAndCache(width, explain), 200) : inputStrip(explain),
    explain.levels.length ? legend([["read", "read, and entries that could be read"], ["missed", "sent before, not read"], ["written", "new"], ["input", "entries that could not be read"]]) : null,
    difference ? el("div", {}, el("h3", {}, "The first difference to the nearest entry"), findingCard(difference, ["the entry", "this request"])) : null,
    explain.causes.length ? el("div", {}, el("h3", {}, "Why it was not read"), ...explain.causes.map((part) => causeCard(part, part.suggestion))) : null);
};

// Tokens of the input: read, sent before and not read, new.
const inputParts = (explain) => {
  const usage = explain.recorded || explain.predicted, missed = explain.causes.reduce((sum, part) => sum + part.tokens, 0);
  const read = usage ? usage.cache_read_input_tokens : 0;
  const all = usage ? read + usage.cache_creation_input_tokens + usage.input_tokens : explain.total_tokens || 0;
  return [["read", "read", read], ["missed", "sent before, not read", missed], ["written", "new", Math.max(0, all - read - missed)]].filter(([, , tokens]) => tokens > 0);
};

const inputStrip = (explain) => el("div", {}, strips(inputParts(explain)));

// Parts of an input as one strip with its legend.
const strips = (parts) => el("div", {},
  el("div", { class: "stripe low", role: "img", "aria-label": parts.map(([, said, tokens]) => `${said} ${count(tokens)}`).join(", ") },
    ...parts.map(([look, said, tokens]) => el("div", { class: look, style: { flex: `${tokens} 1 0` }, tip: `${said}: ${count(tokens)} tokens` }))),
  legend(parts.map(([look, said, tokens]) => [look, `${said} ${count(tokens)}`])));

const ENTRIES_SHOWN = 8;

// The prompt by levels, what became of its tokens, its breakpoints, and below on the same scale the entries of its cache.
const promptAndCache = (width, explain) => {
  const high = 30, left = width < 560 ? 84 : 150, room = width - left - 8;
  const entries = [...explain.entries].sort((a, b) => b.shared_blocks - a.shared_blocks || b.tokens - a.tokens);
  const shown = entries.slice(0, ENTRIES_SHOWN), parts = inputParts(explain);
  const most = Math.max(1, explain.total_tokens || 0, parts.reduce((sum, [, , tokens]) => sum + tokens, 0), ...shown.map((entry) => entry.tokens));
  const x = (tokens) => left + (room * tokens) / most, found = [];
  const row = (at, said) => found.push(draw("text", { class: "strong", x: 0, y: at * high + 19 }, shortened(said, Math.floor(left / 7))));
  const bar = (at, from, tokens, look, text, said) => found.push(draw("g", { tip: said, role: "img", "aria-label": said.replaceAll("\n", ", ") },
    draw("rect", { class: `cell ${look}`, x: x(from), width: Math.max(1, x(from + tokens) - x(from)), y: at * high + 4, height: high - 8, style: look ? {} : { fill: "var(--raised)", stroke: "var(--line)" } }),
    x(from + tokens) - x(from) > text.length * 7 + 10 ? draw("text", { class: textOn(look), x: x(from) + 5, y: at * high + 19 }, text) : null));
  row(0, "Its levels");
  let from = 0;
  explain.levels.forEach((level) => { bar(0, from, level.tokens, "", level.level, `${level.level}: ${count(level.tokens)} tokens in ${plural(level.blocks, "block")}, ${count(level.blocks_sent_before)} sent before`); from += level.tokens; });
  row(1, "Its tokens");
  from = 0;
  parts.forEach(([look, said, tokens]) => { bar(1, from, tokens, look, `${said} ${count(tokens)}`, `${said}: ${count(tokens)} tokens`); from += tokens; });
  explain.breakpoints.forEach((marker) => found.push(draw("g", { tip: breakpointSaid(marker) },
    draw("rect", { class: "hit", x: x(marker.tokens) - 6, width: 12, y: 0, height: 2 * high }),
    draw("path", { class: "tipped", d: `M${x(marker.tokens) - 4} 0h8l-4 6z` }), draw("line", { class: "axis", x1: x(marker.tokens), x2: x(marker.tokens), y1: 4, y2: 2 * high + shown.length * high }))));
  shown.forEach((entry, at) => {
    const [look, said] = STATES[entry.state] || ["input", entry.state];
    row(2 + at, at === 0 ? (width < 560 ? "Entries" : "Cache entries") : "");
    bar(2 + at, 0, entry.tokens, look, `${count(entry.tokens)}, ${said}`, `An entry of ${count(entry.tokens)} tokens, ${said}${entry.ttl ? `, lives ${entry.ttl}` : ""}\nshares ${plural(entry.shared_blocks, "block")} of ${count(entry.blocks)} with this request\nlast marked by request ${entry.last_marked_by}${entry.last_use_ms_ago === null ? "" : `, used ${span(entry.last_use_ms_ago)} before`}`);
  });
  const rows = 2 + shown.length;
  return [draw("svg", { width, height: rows * high + 4, role: "group", "aria-label": "The prompt, and the entries of its cache" }, ...found.filter(Boolean)),
    entries.length > shown.length ? el("p", { class: "aside" }, `Entries that share less with it: ${count(entries.length - shown.length)}.`) : null];
};

const breakpointSaid = (marker) => [`A breakpoint at ${marker.path}, ${marker.ttl}: ${count(marker.tokens)} tokens before it${marker.effective ? "" : ", too few to be cached"}`,
  `its own prefix: ${(STATES[marker.state] || [null, marker.state])[1]}`,
  marker.found_tokens === null ? "no readable prefix within its look-back" : `longest readable prefix: ${count(marker.found_tokens)} tokens, to ${marker.found_path}`].join("\n");

const drawDiff = (diff) => {
  const place = chapter("shown");
  if (!place) return;
  if (diff.cause === null) {
    place.show(el("p", {}, `No difference that affects the cache: ${count(diff.shared_blocks)} of ${plural(diff.newer_blocks, "block")} of the newer request were in the older.`));
    return;
  }
  const all = [diff, ...diff.findings], detail = el("div", { role: "status" }), open = (found) => detail.replaceChildren(findingCard(found, ["older", "newer"]));
  open(diff);
  place.show(el("p", { class: "aside" }, name(diff.older), " and ", name(diff.newer)), detail, all.length > 1 ? sortable({
    label: "Differences", rows: all, by: 3, first: 12, opens: open,
    columns: [
      { title: "Change", isName: true, of: (found) => found.cause, shown: (found) => name(found.cause) },
      { title: "Where", of: (found) => found.path, shown: (found) => el("span", { class: "mono" }, name(shortened(found.path ?? "", 44))) },
      { title: "Tokens lost", isNumber: true, of: (found) => found.tokens_lost, shown: (found) => (found.tokens_lost === null ? "unknown" : count(found.tokens_lost)) },
      { title: "Cost", isNumber: true, of: (found) => found.cost_usd, shown: (found) => money(found.cost_usd) },
    ],
  }) : null);
};
