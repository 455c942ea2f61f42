// What the reader chooses samples by, and the list and detail that follow.

const SORTS = [["", "in order"], ["longest", "longest first"], ["shortest", "shortest first"], ["id", "by id"]];
const WORDS = ["", "right", "wrong", "unjudged", "truncated"];
const controls = { segments: new Map(), selects: new Map(), search: null, status: null };

function openSamples() {
  controls.search = make("input", { type: "search", id: "search", autocomplete: "off",
    placeholder: "prompt, completion, answer, id", spellcheck: "false" });
  controls.search.addEventListener("input", () => choose({ q: controls.search.value }));
  controls.status = make("p", { class: "status", role: "status" });
  const box = make("div", { class: "list", id: "list", role: "listbox", tabindex: "0",
    "aria-label": "Samples" });
  byId("view-samples").replaceChildren(
    make("div", { class: "controls", role: "search" },
      make("label", { class: "search" }, "Search", controls.search), segments(), ...selects(),
      make("span", { class: "keys dim small" },
        ...["j", "k", "/"].map((key) => make("kbd", {}, key)), " next, previous, search")),
    make("div", { class: "panes" },
      make("div", { class: "listing" }, controls.status, box),
      make("section", { class: "detail", id: "detail", "aria-label": "Sample", tabindex: "-1" })));
  openList(box, pick);
}

function segments() {
  const button = (word) => {
    const one = make("button", { type: "button", class: word, "aria-pressed": "false",
      onclick: () => choose({ outcome: word }) }, word || "all", make("span", { class: "count" }));
    controls.segments.set(word, one);
    return one;
  };
  return make("div", { class: "segments", role: "group", "aria-label": "Outcome" }, ...WORDS.map(button));
}

function selects() {
  const runs = page.runs.map((run) => [run.name, run.name]);
  const several = runs.length > 1;
  const failures = table.failures.filter(Boolean).map((kind) => [kind, kind.replaceAll("_", " ")]);
  const groups = table.groupNames.map(([column, name]) => [`${column}=${name}`, `${column}: ${name}`]);
  return [
    several && select("run", "Run", [["", "all"], ...runs]),
    several && select("against", "beside", [["", "no other"], ...runs]),
    several && select("flip", "Pairs", FLIPS),
    table.tasks.length > 1 && select("task", "Task", [["", "all"], ...table.tasks.map((name) => [name, name])]),
    failures.length > 0 && select("failure", "Failure", [["", "any"], ...failures]),
    groups.length > 1 && select("group", "Group", [["", "all"], ...groups]),
    select("sort", "Sort", SORTS),
  ].filter(Boolean);
}

function select(name, label, options) {
  const chooser = make("select", { "data-name": name }, ...options.map(([value, word]) =>
    make("option", { value }, oneLine(word, 60))));
  chooser.addEventListener("change", () => choose(selected(name, chooser.value)));
  controls.selects.set(name, chooser);
  return make("label", {}, label, chooser);
}

// Beside another run stands one run's list: the first, if none was chosen.
function selected(name, value) {
  const { chosen } = place();
  const other = page.runs.find((run) => run.name !== value);
  const beside = name === "against" && value && [null, "", value].includes(chosen.get("run"));
  return beside ? { against: value, run: other?.name ?? "" } : { [name]: value };
}

function showSamples(chosen) {
  const started = performance.now();
  const filter = chosenFilter(chosen);
  const { shown, counts } = matching(filter);
  showInList(shown, filter.against);
  showControls(chosen, filter, counts);
  performance.measure("rewardkit:filter", { start: started });
  controls.status.textContent = statusWords(shown.length, filter);
  const sample = chosen.has("sample")
    ? sampleWithKey(chosen.get("sample"), chosen.get("in") ?? chosen.get("run")) : shown[0] ?? -1;
  markInList(sample);
  showDetail(sample, filter.against);
}

function showControls(chosen, filter, counts) {
  for (const [word, button] of controls.segments) {
    button.setAttribute("aria-pressed", String(word === filter.outcome));
    button.lastChild.textContent = whole(counts[word]);
  }
  for (const [name, chooser] of controls.selects) chooser.value = chosen.get(name) ?? "";
  const flip = controls.selects.get("flip");
  if (flip) flip.disabled = filter.against < 0;
  if (document.activeElement !== controls.search) controls.search.value = chosen.get("q") ?? "";
}

function statusWords(shown, filter) {
  const words = [many(shown, filter.against >= 0 ? "pair" : "sample")];
  if (filter.query && textsRead < table.count) {
    words.push(`searched ${Math.floor((100 * textsRead) / table.count)}% of the texts so far`);
  }
  if (page.leftOut) words.push(`${whole(page.leftOut)} more are only in samples.jsonl`);
  return words.join(" · ");
}

function pick(sample) {
  if (sample < 0) return;
  const changes = { sample: keyOf(sample), in: page.runs.length > 1 ? page.runs[table.run[sample]].name : "" };
  const { chosen } = place();
  for (const [name, value] of Object.entries(changes)) {
    if (value) chosen.set(name, value);
  }
  history.replaceState(null, "", address("samples", chosen));
  markInList(sample);
  showDetail(sample, chosenFilter(chosen).against);
}

function stepTo(step) {
  pick(neighbour(step));
}
