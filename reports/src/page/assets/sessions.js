// All sessions: filters, a map by dollars, a table.

// The sums of each session over its requests that pass the filters.
const sessionSums = (rows) => {
  const found = new Map();
  for (const row of rows) {
    const id = requests.get("session", row);
    if (!found.has(id)) found.set(id, { id, rows: [], usd: 0, other: 0, avoidable: 0, isJudged: false, read: 0, input: 0, at: null, agents: new Set(), project: requests.get("project", row) });
    const sum = found.get(id);
    sum.rows.push(row);
    sum.usd += requests.cost(row, -1);
    sum.other += requests.cost(row, chosen.whatIf);
    sum.avoidable += requests.avoidable(row);
    sum.isJudged ||= requests.isJudged(row);
    const read = requests.usage("cache_read_input_tokens", row);
    sum.read += read;
    sum.input += read + requests.usage("cache_creation_input_tokens", row) + requests.usage("input_tokens", row);
    sum.agents.add(requests.get("chain", row));
    const at = requests.get("at_ms", row);
    if (at !== null && (sum.at === null || at < sum.at)) sum.at = at;
  }
  return [...found.values()];
};

let sought = "";

const drawSessions = () => {
  const place = chapter("sessions");
  if (!place || report.sessions.length < 2) return;
  place.text.querySelectorAll('[data-table="sessions"]').forEach((table) => {
    const box = table.closest(".scroll");
    [box.previousElementSibling, box.nextElementSibling, box].forEach((node) => {
      if (node && (node === box || node.tagName === "H3" || node.classList.contains("aside"))) node.remove();
    });
  });
  const chips = el("div"), controls = el("div", { class: "controls" }), map = el("div"), table = el("div"), summary = el("p", { class: "aside", role: "status" });
  const search = el("input", { type: "search", placeholder: "Session, project, model …", "aria-label": "Search sessions", on: { input: (event) => { sought = event.target.value.toLowerCase(); paint(); } } });
  const selects = el("span", { class: "controls", style: { margin: 0 } });
  controls.append(search, selects, saver(() => passing(null)));
  place.show(chips, controls, summary, map, table);
  const paint = () => {
    chips.replaceChildren(filterChips());
    selects.replaceChildren(...[selector("project", "Project"), selector("model", "Model"), selector("agent_kind", "Kind of agent")].filter(Boolean));
    const all = sessionSums(passing("session"));
    const sums = sought ? all.filter(isSought) : all;
    const usd = sums.reduce((sum, one) => sum + one.usd, 0), number = sums.reduce((sum, one) => sum + one.rows.length, 0);
    summary.textContent = `${plural(sums.length, "session")}, ${plural(number, "request")}, ${money(usd)}`;
    map.replaceChildren(fitted(el("div"), (width) => treemap(width, sums), MAP_HEIGHT + 30));
    table.replaceChildren(sessionTable(sums));
  };
  watch(paint);
};

const isSought = (sum) => `${sum.id} ${sum.project} ${requests.get("model", sum.rows[0])}`.toLowerCase().includes(sought);

// A long id is told apart by its beginning, and its project says more.
const isUuid = (id) => /^[0-9a-f]{8}-[0-9a-f-]{27}/.test(id);
const labelOf = (id, project) => (isUuid(id) && project ? `${folderName(project)} ${id.slice(0, 8)}` : id);

const openSession = (id) => {
  change({ session: id, request: null });
  location.hash = `session=${encodeURIComponent(id)}`;
  go("session");
};

const sessionTable = (sums) => sortable({
  label: "Sessions", rows: sums, by: 1, first: 15, opens: (sum) => openSession(sum.id), isChosen: (sum) => sum.id === chosen.session,
  columns: [
    { title: "Session", isName: true, of: (sum) => sum.id, shown: (sum) => el("span", {}, name(shortened(labelOf(sum.id, sum.project), 36)), sum.project && sum.project !== sum.id ? el("span", { class: "under" }, name(shortened(sum.project, 48))) : "") },
    { title: "Cost", isNumber: true, of: (sum) => sum.usd, shown: (sum) => money(sum.usd) },
    ...(chosen.whatIf < 0 ? [] : [{ title: "What if", isNumber: true, of: (sum) => sum.other, shown: (sum) => money(sum.other) }]),
    { title: "Avoidable", isNumber: true, of: (sum) => (sum.isJudged ? sum.avoidable : null), shown: (sum) => (sum.isJudged ? money(sum.avoidable) : "–") },
    { title: "Requests", isNumber: true, of: (sum) => sum.rows.length, shown: (sum) => count(sum.rows.length) },
    { title: "Agents", isNumber: true, of: (sum) => sum.agents.size, shown: (sum) => count(sum.agents.size) },
    { title: "Hit rate", isNumber: true, of: (sum) => (sum.input ? sum.read / sum.input : null), shown: (sum) => share(sum.input ? sum.read / sum.input : null) },
    { title: isRun ? "From" : "Began", isWhen: true, of: (sum) => sum.at, shown: (sum) => (sum.at === null ? "–" : moment(sum.at).slice(0, 16)) },
  ],
});
