// The records in the page, and what of them is chosen.

const decoded = (base64) => (Uint8Array.fromBase64 ? Uint8Array.fromBase64(base64) : Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)));

const unpack = async (part) => {
  const node = byId(`data-${part}`);
  if (!node) return null;
  const bytes = decoded(node.textContent.trim());
  node.remove();
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(plain).text());
};

// Requests by column. A column that no request has is null everywhere.
class Requests {
  constructor({ rows, columns }) {
    this.length = rows;
    this.columns = columns;
    this.made = {};
  }

  all(column) {
    if (!this.made[column]) {
      const { own, distinct, at } = this.columns[column] || { distinct: [null] };
      this.made[column] = own || (at ? at.map((place) => distinct[place]) : new Array(this.length).fill(distinct[0]));
      delete this.columns[column]?.at;
    }
    return this.made[column];
  }

  get(column, row) {
    return this.all(column)[row];
  }

  // The tokens that were billed.
  usage(part, row) {
    const recorded = this.get(`recorded.${part}`, row);
    return (recorded === null ? this.get(`predicted.${part}`, row) : recorded) || 0;
  }

  cost(row, whatIf) {
    if (!this.get("counted", row)) return 0;
    const other = whatIf >= 0 ? this.get("what_if_usd", row) : null;
    return (other && other[whatIf]) ?? this.get("cost_usd", row) ?? 0;
  }

  // Whether it is known what of it was avoidable: that takes a cache profile.
  isJudged(row) {
    return this.get("explanation.missed_tokens", row) !== null;
  }

  avoidable(row) {
    if (!this.get("counted", row)) return 0;
    const perfect = this.get("perfect_cost_usd", row);
    return perfect === null ? 0 : (this.get("cost_usd", row) || 0) - perfect;
  }
}

// The keys by which requests are filtered, each with the column that it is compared with.
const KEYS = {
  day: { said: "Day", of: (row) => dayOf(row) },
  week: { said: "Week from", of: (row) => weekOf(row) },
  model: { said: "Model", of: (row) => requests.get("model", row) },
  project: { said: "Project", of: (row) => requests.get("project", row) },
  agent_kind: { said: "Kind of agent", of: (row) => requests.get("agent_kind", row) },
  session: { said: "Session", of: (row) => requests.get("session", row) },
  cause: { said: "Missed for", of: null },
  advice: { said: "To change", of: null },
};

let report = null;
let requests = null;
let every = [];
let contents = [];
let meanings = {};
const chosen = { filters: {}, whatIf: -1, session: null, request: null };
const watchers = [];
const watch = (act) => { watchers.push(act); act(); };
const change = (changes) => {
  Object.assign(chosen, changes);
  watchers.forEach((act) => act());
};
const setFilter = (key, value) => {
  const filters = { ...chosen.filters };
  if (value === null || filters[key] === value) delete filters[key];
  else filters[key] = value;
  change({ filters });
};

// The misses of a request that pass the filters, each with what to do about it.
const missesOf = (row, { cause, advice }) => (requests.get("causes", row) || [])
  .map((part, at) => ({ row, part, advice: requests.get("advice", row)[at] }))
  .filter((one) => (!cause || one.part.cause === cause) && (!advice || one.advice === advice));

const isMissedFor = (row, cause) => missesOf(row, { cause }).length > 0;

// The requests that pass all filters but one.
const passing = (but) => {
  const wanted = Object.entries(chosen.filters).filter(([key]) => key !== but);
  if (wanted.length === 0) return every;
  const { cause, advice } = Object.fromEntries(wanted), isOfMisses = cause || advice, rows = [];
  for (let row = 0; row < requests.length; row += 1) {
    if (isOfMisses && missesOf(row, { cause, advice }).length === 0) continue;
    if (wanted.every(([key, value]) => KEYS[key].of === null || KEYS[key].of(row) === value)) rows.push(row);
  }
  return rows;
};

// Days in the zone of the report. Offsets of zones change on quarters of an hour at most.
const zone = () => (report && report.time_zone) || "UTC";
let calendar = null;
const quarter = 15 * MINUTE, known = new Map();
const parts = (ms) => {
  const key = Math.floor(ms / quarter);
  if (!known.has(key)) {
    calendar = calendar || makeCalendar();
    const found = Object.fromEntries(calendar.formatToParts(new Date(key * quarter)).map((part) => [part.type, part.value]));
    known.set(key, { day: `${found.year}-${found.month}-${found.day}`, hour: found.hour, minute: Number(found.minute) });
  }
  return known.get(key);
};
const makeCalendar = () => {
  const form = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  try {
    return new Intl.DateTimeFormat("en-GB", { ...form, timeZone: zone() });
  } catch {
    return new Intl.DateTimeFormat("en-GB", form);
  }
};
const isRun = document.body.dataset.kind === "run";
// The clocks of runs and of some traces begin at zero, and none of them lasts a year.
const hasDay = (ms) => !isRun && ms !== null && ms >= 365 * DAY;
let days = null;
const dayOf = (row) => {
  days = days || requests.all("at_ms").map((at) => (hasDay(at) ? parts(at).day : null));
  return days[row];
};
const moment = (ms) => {
  if (ms === null) return "at an unknown time";
  if (!hasDay(ms)) return `+${span(ms)}`;
  const { day, hour, minute } = parts(ms);
  const rest = ms % quarter;
  return `${day} ${hour}:${String(minute + Math.floor(rest / MINUTE)).padStart(2, "0")}:${String(Math.floor((rest % MINUTE) / 1000)).padStart(2, "0")}`;
};
// Without the year and the seconds, if it has a day.
const brief = (ms) => (hasDay(ms) ? moment(ms).slice(5, 16) : moment(ms));
