// Other settings as switches: columns that were computed with the report.

const drawWhatIf = () => {
  const place = chapter("what-if");
  const { totals } = report;
  if (!place || totals.what_if.length === 0) return;
  place.text.querySelectorAll('[data-table="what_if"]').forEach((table) => {
    const box = table.closest(".scroll");
    if (box.previousElementSibling && box.previousElementSibling.tagName === "H3") box.previousElementSibling.remove();
  });
  const bill = totals.recorded.cost_usd ?? (totals.predicted && totals.predicted.cost_usd);
  const most = Math.max(bill || 0, ...totals.what_if.map((one) => one.cost_usd || 0), 1e-12);
  const set = el("fieldset", { class: "switches" }, el("legend", { class: "aside" }, "The same requests with other settings. A choice changes sessions, days and the map."));
  const row = (at, said, usd, delta) => el("label", {},
    el("input", { type: "radio", name: "what-if", value: String(at), checked: at === chosen.whatIf, on: { change: () => change({ whatIf: at }) } }),
    el("span", { class: "name" }, name(said)), el("span", { class: "n" }, money(usd)), el("span", { class: "n" }, delta),
    el("span", { class: "gauge" }, el("b", { class: usd > bill ? "over" : "", style: { width: `${((usd || 0) / most) * 100}%` } })));
  const rows = [row(-1, isRun ? "As run" : "As billed", bill, ""), ...totals.what_if.map((one, at) => row(at, one.name, one.cost_usd, deviation(one.delta_share)))];
  set.append(...rows);
  place.show(set);
  watch(() => { set.querySelectorAll("input").forEach((input) => { input.checked = Number(input.value) === chosen.whatIf; }); });
};
