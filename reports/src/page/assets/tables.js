// Tables that are sorted, filtered and shown page by page.

const PAGE_ROWS = 25;

// `columns`: { title, of: (row) => sort value, shown: (row) => node or text, isNumber, isOptional: left out if no row has it }.
const sortable = ({ label, columns: all, rows, by, opens, isChosen, first }) => {
  const columns = all.filter((one) => !one.isOptional || rows.some((row) => ![null, undefined, ""].includes(one.of(row))));
  let sorted = { column: by, falling: true }, most = first || PAGE_ROWS;
  const place = el("div");
  const paint = () => {
    const { column, falling } = sorted;
    const order = [...rows].sort((a, b) => compare(columns[column].of(a), columns[column].of(b)) * (falling ? -1 : 1));
    const body = order.slice(0, most).map((row) => line(row, columns, opens, isChosen));
    const head = columns.map((one, at) => el("th", {
      scope: "col", class: one.isNumber && "number", "aria-sort": at === column ? (falling ? "descending" : "ascending") : null,
    }, el("button", {
      type: "button", on: { click: () => { sorted = { column: at, falling: at === column ? !falling : Boolean(one.isNumber) }; paint(); } },
    }, one.title)));
    place.replaceChildren(
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
        el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...body))),
      order.length > most ? el("p", { class: "more" },
        el("button", { type: "button", on: { click: () => { most += 100; paint(); } } }, `Show more: ${count(order.length - most)} left`)) : "");
  };
  paint();
  return place;
};

const compare = (a, b) => {
  if (a === b) return 0;
  if (a === null || a === undefined) return -1;
  if (b === null || b === undefined) return 1;
  return a < b ? -1 : 1;
};

const line = (row, columns, opens, isChosen) => {
  const cells = columns.map((one, at) => el("td", { class: one.isNumber ? "number" : one.isName ? "name" : one.isWhen && "when" },
    at === 0 && opens ? el("button", { type: "button", class: "go" }, one.shown(row)) : one.shown(row)));
  return el("tr", {
    class: opens && "open", "aria-selected": isChosen && isChosen(row) ? "true" : null,
    on: opens ? { click: () => opens(row) } : {},
  }, ...cells);
};

// Requests as comma-separated values, for a spreadsheet or a data frame. A text that would be a formula gets an
// apostrophe in front, as everywhere in the program.
const csvOf = (rows) => {
  const names = Object.keys(requests.columns).filter((column) => rows.every((row) => typeof requests.get(column, row) !== "object" || requests.get(column, row) === null));
  const cellOf = (value) => {
    if (value === null || value === undefined) return "";
    if (typeof value !== "string") return String(value);
    const safe = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(value) ? `'${value}` : value;
    return `"${visible(safe).replaceAll('"', '""')}"`;
  };
  return [names.join(","), ...rows.map((row) => names.map((column) => cellOf(requests.get(column, row))).join(","))].join("\n");
};

const saver = (rows) => el("button", {
  type: "button", on: {
    click: () => {
      const link = el("a", { href: URL.createObjectURL(new Blob([csvOf(rows())], { type: "text/csv" })), download: "requests.csv" });
      link.click();
      URL.revokeObjectURL(link.href);
    },
  },
}, "Save as CSV");

const filterChips = () => {
  const entries = Object.entries(chosen.filters);
  if (entries.length === 0) return el("div", { class: "chips" });
  return el("div", { class: "chips" }, el("span", { class: "aside" }, "Only"),
    ...entries.map(([key, value]) => el("button", {
      type: "button", class: "chip", "aria-label": `Remove the filter ${KEYS[key].said}`, on: { click: () => setFilter(key, null) },
    }, `${KEYS[key].said}: ${shortened(value === null ? "unknown" : value, 40)} ×`)),
    el("button", { type: "button", class: "quiet", on: { click: () => change({ filters: {} }) } }, "Everything"));
};

// A choice among the values of a key: the latest week first, else the dearest.
const selector = (key, title) => {
  const found = new Map();
  for (const row of passing(key)) {
    const value = KEYS[key].of(row);
    found.set(value, (found.get(value) || 0) + requests.cost(row, -1));
  }
  if (found.size < 2 && !(key in chosen.filters)) return null;
  const values = [...found].sort((a, b) => (key === "week" ? compare(b[0], a[0]) : b[1] - a[1])).map(([value]) => value).filter((value) => value !== null);
  return el("select", {
    "aria-label": title,
    on: { change: (event) => { const at = Number(event.target.value); setFilter(key, at < 0 ? null : values[at]); } },
  }, el("option", { value: "-1" }, `${title}: all`),
  ...values.map((value, at) => el("option", { value: String(at), selected: chosen.filters[key] === value }, shortened(value, 60))));
};
