// A check: every request as a cell, broken ones stand out; its findings as a table, each with the blocks of its request.

const VERDICTS = { fails: ["var(--missed)", "breaks a cached prefix"], noted: ["#e69f00", "noted"], allowed: ["var(--answer)", "allowed change"], harmless: ["var(--answer)", "harmless"] };
const ORDER = ["fails", "noted", "allowed", "harmless"];

const drawCheck = async (check) => {
  const place = chapter("strip");
  if (!place || check.requests === 0) return;
  const strips = (await unpack("strips")) || [];
  check.findings.forEach((found, at) => { found.strip = strips[at]; });
  const worst = new Map();
  check.findings.forEach((found) => {
    const known = worst.get(found.request);
    if (known === undefined || ORDER.indexOf(found.verdict) < ORDER.indexOf(known.verdict)) worst.set(found.request, found);
  });
  const detail = el("div", { role: "status" });
  const open = (found) => detail.replaceChildren(findingCard(found));
  const used = ORDER.filter((verdict) => check.findings.some((found) => found.verdict === verdict));
  place.show(fitted(el("div"), (width) => strip(width, check.requests, worst, open)),
    legend([["var(--read)", "keeps its prefix"], ...used.map((verdict) => VERDICTS[verdict])]), detail,
    check.findings.length ? sortable({
      label: "Findings", rows: check.findings, by: 1, first: 12, opens: (found) => { open(found); detail.scrollIntoView({ block: "nearest" }); },
      columns: [
        { title: "Change", isName: true, of: (found) => found.cause, shown: (found) => name(found.cause) },
        { title: "Verdict", of: (found) => -ORDER.indexOf(found.verdict), shown: (found) => VERDICTS[found.verdict][1] },
        { title: "Request", isNumber: true, of: (found) => found.request, shown: (found) => count(found.request) },
        { title: "Where", of: (found) => found.path, shown: (found) => el("span", { class: "mono" }, name(shortened(found.path ?? "", 44))) },
        { title: "First byte", isNumber: true, of: (found) => found.offset_in_block, shown: (found) => (found.offset_in_block === null ? "–" : count(found.offset_in_block)) },
        { title: "Tokens lost", isNumber: true, of: (found) => found.tokens_lost, shown: (found) => (found.tokens_lost === null ? "unknown" : count(found.tokens_lost)) },
        { title: "Cost", isNumber: true, of: (found) => found.cost_usd, shown: (found) => money(found.cost_usd) },
      ],
    }) : null);
  const first = check.findings.find((found) => found.verdict === "fails") || check.findings[0];
  if (first) open(first);
};

const strip = (width, number, worst, open) => {
  const least = 7, columns = Math.min(number, Math.max(1, Math.floor(width / least))), side = Math.min(28, width / columns), rows = Math.ceil(number / columns);
  const cells = Array.from({ length: number }, (_, at) => {
    const found = worst.get(at), look = found ? VERDICTS[found.verdict][0] : "var(--read)";
    const text = found ? `Request ${at}: ${found.cause}, ${visible(found.name ?? "")}` : `Request ${at} keeps its prefix`;
    return draw("rect", {
      class: "cell", x: (at % columns) * side, y: Math.floor(at / columns) * 30, width: side, height: 26, style: { fill: look },
      tip: text, tabindex: found ? "0" : null, role: found ? "button" : null, "aria-label": found ? text : null, on: found ? pressable(() => open(found)) : {},
    });
  });
  return draw("svg", { width, height: rows * 30, role: "group", "aria-label": `${plural(number, "request")} in order` }, ...cells);
};

// The blocks of a request: what is kept, the changed block, and what is after it.
const blocks = (strip, isLost) => {
  const at = strip.findIndex((part) => part.is_changed), levels = distinct(strip, "level");
  const look = (part, place) => (part.is_changed ? "missed" : isLost && place > at ? "written" : "read");
  const said = (part) => `${part.is_changed ? "The change: " : ""}${part.level}, ${plural(part.blocks, "block")}, ${count(part.tokens)} tokens`;
  const sum = (level) => strip.filter((part) => part.level === level).reduce((all, part) => all + part.tokens, 0);
  const held = levels.map((level) => `${level} ${count(sum(level))}`).join(", ");
  return el("div", {},
    el("div", { class: "stripe low blocks", role: "img", "aria-label": `${held} tokens; the change is in ${strip[at].level}` }, ...strip.map((part, place) => el("div", { class: look(part, place), style: { flex: `${part.tokens} 1 0` }, tip: said(part) }))),
    legend([["read", "as before"], ["missed", "the changed block"], ...(isLost && at < strip.length - 1 ? [["written", "after it, not read"]] : [])]),
    el("p", { class: "aside" }, `Its blocks by tokens: ${held}.`));
};

const findingCard = (found, sides = ["older", "newer"]) => el("div", { class: "card" },
  el("span", { class: "sum" }, found.cost_usd ? money(found.cost_usd) : ""),
  el("h4", {}, found.cause, ": ", name(found.name ?? "")),
  found.strip && found.strip.some((part) => part.is_changed) ? blocks(found.strip, found.breaks_prefix) : null,
  facts([
    ["Request", Number.isInteger(found.request) && `${found.request}${Number.isInteger(found.older) ? `, against request ${found.older}` : ""}`], ["File", found.file && name(found.file)],
    ["Where", el("span", { class: "mono" }, name(found.path ?? ""))],
    ["First differing byte", (found.offset_in_block ?? null) === null ? null : `${count(found.offset_in_block)} of the block, ${count(found.offset_in_prefix ?? 0)} of the prompt`],
    ["Stretch that differs", found.offset_range && `bytes ${count(found.offset_range[0])} to ${count(found.offset_range[1])}`],
    ["Looks like", found.volatile && `a varying ${found.volatile}`], ["Tokens lost", found.tokens_lost === undefined ? null : found.tokens_lost === null ? "unknown" : count(found.tokens_lost)],
    ["Cost a day", (found.cost_usd_per_day ?? null) === null ? null : money(found.cost_usd_per_day)], ["The provider's word", found.provider_reason],
    ["What to do", found.suggestion],
  ]),
  found.window ? bothSides(found.window, sides) : (found.offset_in_block ?? null) === null ? null : el("p", { class: "aside" }, NO_CONTENT));
