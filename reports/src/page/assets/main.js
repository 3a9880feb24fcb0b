// Puts the page together: first what needs the report alone, then what needs every request.

const root = document.documentElement;
const look = byId("look");
const isDark = () => (root.dataset.look ? root.dataset.look === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
const sayLook = () => { look.textContent = isDark() ? "Light" : "Dark"; };
look.hidden = false;
look.addEventListener("click", () => { root.dataset.look = isDark() ? "light" : "dark"; sayLook(); });
sayLook();

// The chapter in view, in the list of chapters.
const seen = new IntersectionObserver((entries) => entries.forEach((entry) => {
  if (!entry.isIntersecting) return;
  document.querySelectorAll("nav a").forEach((link) => link.removeAttribute("aria-current"));
  const link = document.querySelector(`nav a[href="#${entry.target.id}"]`);
  if (link) link.setAttribute("aria-current", "true");
}), { rootMargin: "-20% 0px -70% 0px" });
document.querySelectorAll("main > section").forEach((section) => seen.observe(section));

// An address can name a session or a request.
const follow = () => {
  const [key, value] = decodeURIComponent(location.hash.slice(1)).split(/=(.*)/s);
  if (key === "request" && requests) {
    const row = requests.all("index").indexOf(Number(value));
    if (row >= 0) { change({ request: row, session: requests.get("session", row) }); go("request"); }
  }
  if (key === "session" && report.sessions.some((session) => session.id === value)) { change({ session: value }); go("session"); }
};

// What an action's proof is: a what-if, or the misses of its sessions.
const drawChanges = () => {
  const place = chapter("changes");
  if (!place) return;
  place.text.querySelectorAll('[data-table="actions"] tbody tr').forEach((line, at) => {
    const action = report.actions[at];
    if (!action || !line.cells[0]) return;
    const whatIf = report.totals.what_if.findIndex((one) => one.name === action.what_if);
    const prove = () => {
      if (whatIf >= 0) { change({ whatIf }); go("what-if"); return; }
      const advice = requests && requests.all("advice").flat().find((words) => words && action.what.startsWith(words.replace(/\.$/, "")));
      change({ filters: advice ? { advice } : {} });
      go("misses");
    };
    line.cells[0].append(" ", el("button", { type: "button", class: "go proof", on: { click: prove } }, "Proof"));
  });
};

const ready = (state) => { document.body.dataset.ready = state; };

const begin = async () => {
  report = await unpack("report");
  const causes = await unpack("causes");
  meanings = Object.fromEntries(((causes && causes.causes) || []).map((cause) => [cause.name, cause]));
  if (report) { drawBill(); drawChanges(); drawWhatIf(); }
  ready("report");
  await new Promise((later) => requestAnimationFrame(() => setTimeout(later)));
  for (const [part, drawn] of [["fanout", drawFanout], ["sweep", drawSweep], ["check", drawCheck], ["compare", drawCompare], ["explain", drawExplain], ["diff", drawDiff]]) {
    const record = await unpack(part);
    if (record) await drawn(record);
  }
  contents = (await unpack("contents")) || [];
  const columns = await unpack("requests");
  if (report && columns) {
    requests = new Requests(columns);
    every = Array.from({ length: requests.length }, (_, row) => row);
    drawDays(); drawMisses(); drawSessions(); drawSession(); drawRequest();
    follow();
    addEventListener("hashchange", follow);
  }
  ready("all");
};
begin();
