// The filters above the samples, and the list and detail that follow them.

const SORTS = [["", "in order"], ["longest", "longest first"], ["shortest", "shortest first"], ["id", "by id"]];
const OUTCOME_FILTERS = ["", "right", "wrong", "unjudged", "truncated"];
const controls = { outcomes: new Map(), selects: new Map(), search: null, status: null, typeset: null };

function openSamples() {
  controls.search = make("input", { type: "search", id: "search", autocomplete: "off",
    placeholder: "prompt, completion, answer, id", spellcheck: "false" });
  controls.search.addEventListener("input", () => changeQuery({ q: controls.search.value }));
  controls.status = make("p", { class: "status", role: "status" });
  const box = make("div", { class: "list", id: "list", role: "listbox", tabindex: "0",
    "aria-label": "Samples" });
  byId("view-samples").replaceChildren(
    make("div", { class: "controls", role: "search" },
      make("label", { class: "search" }, "Search", controls.search), outcomeButtons(), ...selects(), typesetButton(), keysHint()),
    make("div", { class: "panes" },
      make("div", { class: "listing" }, controls.status, box),
      make("section", { class: "detail", id: "detail", "aria-label": "Sample", tabindex: "-1" })));
  openList(box, selectSample);
}

// The keys of the samples view, with what each does.
function keysHint() {
  const keys = [["j", "next"], ["k", "previous"], ["/", "search"], canTypeset && ["m", "Markdown and LaTeX"],
    page.live && ["n", "note"], page.live && ["t", "tags"]];
  return make("span", { class: "keys dim small" }, ...keys.filter(Boolean).map(([key, use]) =>
    make("span", {}, make("kbd", {}, key), ` ${use}`)));
}

function typesetButton() {
  if (!canTypeset) return null;
  controls.typeset = make("button", { type: "button", "aria-pressed": "false", onclick: toggleTypeset,
    title: "Draw the Markdown and LaTeX of prompts and completions, or show them as they are" }, "Markdown, LaTeX");
  return controls.typeset;
}

function toggleTypeset() {
  if (canTypeset) changeQuery({ typeset: readAddress().query.has("typeset") ? "" : "1" });
}

function outcomeButtons() {
  const buttonFor = (word) => {
    const button = make("button", { type: "button", class: word, "aria-pressed": "false",
      onclick: () => changeQuery({ outcome: word }) }, word || "all", make("span", { class: "count" }));
    controls.outcomes.set(word, button);
    return button;
  };
  return make("div", { class: "segments", role: "group", "aria-label": "Outcome" },
    ...OUTCOME_FILTERS.map(buttonFor));
}

function selects() {
  const runs = page.runs.map((run) => [run.name, run.name]);
  const tasks = table.tasks.map((name) => [name, name]);
  const severalRuns = runs.length > 1;
  const failures = table.failures.filter(Boolean).map((failure) => [failure, words(failure)]);
  const groups = table.groupNames.map(([column, group]) => [`${column}=${group}`, `${column}: ${group}`]);
  return [
    severalRuns && select("run", "Run", [["", "all"], ...runs]),
    severalRuns && select("against", "Compare with", [["", "no other run"], ...runs]),
    severalRuns && select("flip", "Flips", FLIPS),
    tasks.length > 1 && select("task", "Task", [["", "all"], ...tasks]),
    failures.length > 0 && select("failure", "Failure", [["", "any"], ...failures]),
    groups.length > 1 && select("group", "Group", [["", "all"], ...groups]),
    ...trainingSelects(),
    noteSelect(),
    select("sort", "Sort", SORTS),
  ].filter(Boolean);
}

function select(name, label, options) {
  const element = make("select", { "data-name": name }, ...options.map(([value, text]) =>
    make("option", { value }, oneLine(text, 60))));
  element.addEventListener("change", () => changeQuery(changesBy(name, element.value)));
  controls.selects.set(name, element);
  return make("label", {}, label, element);
}

// Comparing with another run needs a run to list: the first other one, if none is selected.
function changesBy(name, value) {
  const { query } = readAddress();
  const other = page.runs.find((run) => run.name !== value);
  const needsRun = name === "against" && value && [null, "", value].includes(query.get("run"));
  return needsRun ? { against: value, run: other?.name ?? "" } : { [name]: value };
}

function showSamples(query) {
  const started = performance.now();
  const filter = readFilter(query);
  const { shown, counts } = matching(filter);
  fillList(shown, filter.against);
  updateControls(query, filter, counts);
  performance.measure("rewardkit:filter", { start: started });
  controls.status.textContent = statusText(shown.length, filter);
  const sample = query.has("sample")
    ? sampleWithKey(query.get("sample"), query.get("in") ?? query.get("run")) : shown[0] ?? -1;
  markInList(sample);
  showDetail(sample, filter.against);
}

function updateControls(query, filter, counts) {
  for (const [word, button] of controls.outcomes) {
    button.setAttribute("aria-pressed", String(word === filter.outcome));
    button.lastChild.textContent = integer(counts[word]);
  }
  controls.typeset?.setAttribute("aria-pressed", String(query.has("typeset")));
  for (const [name, element] of controls.selects) element.value = query.get(name) ?? "";
  const flip = controls.selects.get("flip");
  if (flip) flip.disabled = filter.against < 0;
  if (document.activeElement !== controls.search) controls.search.value = query.get("q") ?? "";
}

function statusText(shown, filter) {
  const parts = [plural(shown, filter.against >= 0 ? "pair" : "sample")];
  if (filter.text && textsRead < table.count) {
    parts.push(`searched ${Math.floor((100 * textsRead) / table.count)}% of the texts so far`);
  }
  if (page.leftOut) parts.push(`${integer(page.leftOut)} more are only in the files of the run`);
  return parts.join(" · ");
}

function selectSample(sample) {
  if (sample < 0) return;
  const changes = { sample: keyOf(sample), in: page.runs.length > 1 ? page.runs[table.run[sample]].name : "" };
  const { query } = readAddress();
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value);
  }
  history.replaceState(null, "", addressOf("samples", query));
  markInList(sample);
  showDetail(sample, readFilter(query).against);
}

function moveSelection(step) {
  selectSample(neighbour(step));
}
