// One request: what it read and missed, why, at which byte, and what would have saved it.

const openRequest = (row) => {
  change({ request: row, session: requests.get("session", row) });
  location.hash = `request=${requests.get("index", row)}`;
  go("request");
};

// Misses, the dearest first: each leads to its request.
const drawMisses = () => {
  const place = chapter("misses");
  if (!place) return;
  if (!requests.all("causes").some((causes) => causes && causes.length)) return;
  place.text.hidden = true;
  watch(() => {
    const found = passing("none").flatMap((row) => missesOf(row, chosen.filters));
    place.show(filterChips(), el("p", { class: "aside", role: "status" }, `${plural(found.length, "miss").replace("misss", "misses")}, ${money(found.reduce((sum, { row, part }) => sum + (requests.get("counted", row) ? part.cost_usd || 0 : 0), 0))}`),
      sortable({
        label: "Misses", rows: found, by: 1, first: 10, opens: ({ row }) => openRequest(row), isChosen: ({ row }) => row === chosen.request,
        columns: [
          { title: "Request", isName: true, of: ({ row }) => requests.get("index", row), shown: ({ row }) => name(shortened(placeOf(row), innerWidth < 640 ? 20 : 30)) },
          { title: "Cost", isNumber: true, of: ({ part }) => part.cost_usd, shown: ({ part }) => money(part.cost_usd) },
          { title: "Missed for", of: ({ part }) => part.cause, shown: ({ part }) => el("span", { tip: () => (meanings[part.cause] || {}).meaning || part.cause }, part.cause) },
          { title: "Tokens", isNumber: true, of: ({ part }) => part.tokens, shown: ({ part }) => count(part.tokens) },
          { title: "At", isWhen: true, isOptional: true, of: ({ row }) => startOf(row), shown: ({ row }) => (startOf(row) === null ? "–" : moment(startOf(row)).slice(0, 16)) },
          { title: "What changed", isName: true, isOptional: true, of: ({ row, part }) => changeOf(row, part.cause), shown: ({ row, part }) => name(shortened(changeOf(row, part.cause), 60)) },
        ],
      }));
  });
};

const fileName = (path) => String(path).split(/[\\/]/).pop();
// As every report names it: a line of a transcript, a request of a recording, a file with one body.
let alone = null;
const isAlone = (row) => {
  if (alone === null) {
    const bodies = new Set(report.sessions.filter((session) => session.format === "bodies").map((session) => session.id));
    alone = new Map();
    every.filter((other) => bodies.has(requests.get("session", other))).forEach((other) => { const file = requests.get("origin.file", other); alone.set(file, !alone.has(file)); });
  }
  return alone.get(requests.get("origin.file", row));
};
const placeOf = (row) => {
  const file = fileName(requests.get("origin.file", row)), line = requests.get("origin.line", row);
  if (isAlone(row)) return file;
  return requests.get("in_transcript", row) ? `${file}:${line}` : `${file}#${requests.get("origin.index", row)}`;
};
const changeOf = (row, cause) => {
  const found = (requests.get("differences", row) || []).find((difference) => difference.cause === cause);
  if (found) return `${found.name}${found.path && !found.name.includes(found.path) ? ` at ${found.path}` : ""}${found.volatile ? `, a varying ${found.volatile}` : ""}`;
  return requests.get("transcript.shown.shows", row) || "";
};

const drawRequest = () => {
  const place = chapter("request");
  if (!place || requests.length === 0) return;
  watch(() => {
    const row = chosen.request ?? dearestMiss();
    if (row === null || row === undefined) return;
    place.show(requestHead(row), requestFacts(row), whyOf(row), differencesOf(row), evidenceOf(row), bytesOf(row));
  });
};

// This page has no text of prompts: the command that shows the bytes on both sides of a difference.
const bytesOf = (row) => {
  const { paths } = report.options || {};
  if (isRun || !paths || paths.length !== 1 || paths[0] === "-" || (requests.get("differences", row) || []).length === 0) return null;
  const path = /^[\w./~-]+$/.test(paths[0]) ? paths[0] : `'${visible(paths[0]).replaceAll("'", "'\\''")}'`;
  return el("p", { class: "aside" }, "Both sides, byte by byte: ", el("code", {}, `forkcast explain ${path} ${requests.get("index", row)} --show-content --html request.html`));
};

const dearestMiss = () => {
  let most = 0;
  for (let row = 1; row < requests.length; row += 1) {
    const more = requests.avoidable(row) - requests.avoidable(most);
    if (more > 0 || (more === 0 && requests.cost(row, -1) > requests.cost(most, -1))) most = row;
  }
  return most;
};

const requestHead = (row) => {
  const agent = requests.get("chain", row), session = requests.get("session", row);
  const own = requests.all("chain").flatMap((chain, at) => (chain === agent && requests.get("session", at) === session ? [at] : []));
  const at = own.indexOf(row);
  const step = (to, text) => el("button", { type: "button", disabled: to === undefined, on: { click: () => openRequest(to) } }, text);
  return el("div", {}, el("p", {}, el("strong", {}, `Request ${requests.get("index", row)}`), el("span", { class: "aside" }, " ", name(placeOf(row)))),
    el("div", { class: "controls" }, step(own[at - 1], "← Before"), step(own[at + 1], "After →"),
      report.sessions.length > 0 ? el("button", { type: "button", on: { click: () => { change({ session }); go("session"); } } }, "Its session") : null));
};

const facts = (pairs) => el("dl", { class: "facts" }, ...pairs.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false).flatMap(([said, value]) => [el("dt", {}, said), el("dd", {}, value)]));

const requestFacts = (row) => {
  const input = inputOf(row), parts = [["read", "read", input.read], ["written", "new, written", input.written], ["input", "new, not cached", input.fresh], ["missed", "sent before, not read", input.missed]];
  const began = requests.get("first_byte_ms", row), ended = requests.get("ended_ms", row), at = startOf(row);
  const times = at === null ? null : `${moment(at)}${began !== null ? `, answer after ${span(began - at)}` : ""}${ended !== null && ended > at ? `, done after ${span(ended - at)}` : ""}`;
  const predicted = requests.get("comparison.predicted_read_tokens", row);
  return el("div", {}, strips(parts.filter(([, , tokens]) => tokens > 0)), facts([
    ["Cost", requests.get("counted", row) ? `${money(requests.get("cost_usd", row))}${requests.avoidable(row) > 0 ? `, ${money(requests.avoidable(row))} of it avoidable` : ""}` : "in no sum: nothing was recorded"],
    ["Agent", name(shortened([...new Set([requests.get("chain", row) ?? "unknown", requests.get("agent_kind", row) ?? "unknown kind"])].join(", "), 200))],
    ["Model", name(shortened(requests.get("model", row) ?? "", 200))], ["Sent", times],
    ["Answer", `${count(requests.usage("output_tokens", row))} tokens`],
    ["Predicted read", predicted === null ? null : `${count(predicted)} tokens${requests.get("comparison.read_agrees", row) ? ", as recorded" : ", not as recorded"}`],
    ["Not compared", requests.get("comparison.reason", row) && String(requests.get("comparison.reason", row)).replaceAll("_", " ")],
    ["Client", requests.get("client", row) && name(`${requests.get("client", row)} ${requests.get("client_version", row) ?? ""}`)],
    ["Notes", [...(requests.get("notes", row) || []), ...(requests.get("remarks", row) || [])].map(visible).join("; ")],
  ]));
};

const whyOf = (row) => {
  const causes = requests.get("causes", row) || [];
  if (causes.length === 0) {
    const isKnown = requests.get("explanation.missed_tokens", row) !== null;
    return el("p", {}, isKnown ? "Nothing that had been sent before was missed." : "The recording does not show what had been sent before.");
  }
  return el("div", {}, el("h3", {}, "Why it was not read"), ...causes.map((part, at) => causeCard(part, requests.get("advice", row)[at], (meanings[part.cause] || {}).meaning)));
};

const causeCard = (part, suggestion, meaning) => el("div", { class: "card" }, el("span", { class: "sum" }, money(part.cost_usd)), el("h4", {}, part.cause),
  el("p", {}, `${count(part.tokens)} tokens. ${meaning || ""}`), suggestion ? el("p", {}, el("strong", {}, "What to do: "), suggestion) : null);

const differencesOf = (row) => {
  const found = requests.get("differences", row) || [];
  if (found.length === 0) return null;
  return el("div", {}, el("h3", {}, "What differs from the request before"), sortable({
    label: "Differences", rows: found.map((difference, at) => ({ ...difference, at })), by: 0,
    columns: [
      { title: "In order", of: (one) => -one.at, shown: (one) => String(one.at + 1) },
      { title: "What", isName: true, of: (one) => one.name, shown: (one) => name(shortened(one.name, 60)) },
      { title: "Where", of: (one) => one.path, shown: (one) => el("span", { class: "mono" }, name(shortened(one.path, 60))) },
      { title: "First byte in its block", isNumber: true, of: (one) => one.offset_in_block, shown: (one) => (one.offset_in_block === null ? "–" : count(one.offset_in_block)) },
      { title: "In the prompt", isNumber: true, of: (one) => one.offset_in_prefix, shown: (one) => (one.offset_in_prefix === null ? "–" : count(one.offset_in_prefix)) },
      { title: "Looks like", of: (one) => one.volatile, shown: (one) => (one.volatile ? `a varying ${one.volatile}` : "–") },
    ],
  }));
};

const evidenceOf = (row) => {
  const shown = requests.get("transcript.shown.file", row);
  return shown === null ? null : el("p", {}, "Shown by ", el("span", { class: "mono" }, name(`${fileName(shown)}:${requests.get("transcript.shown.line", row)}`)), ": ", name(requests.get("transcript.shown.shows", row)));
};
