// The filters above the samples, and the list and detail that follow them.

const MOST_OPTIONS = 60;  // a column with more values has a field for text
const OUTCOME_FILTERS = ["", "right", "wrong", "unjudged", "truncated"];
const controls = { outcomes: new Map(), fields: new Map() };

function openSamples() {
  openFilter();
  controls.search = field("q", { type: "search", id: "search", placeholder: "prompt, completion, answer, id", spellcheck: "false" });
  controls.status = make("p", { class: "status", role: "status" });
  const box = make("div", { class: "list", id: "list", role: "listbox", tabindex: "0",
    "aria-label": "Samples" });
  byId("view-samples").replaceChildren(
    make("div", { class: "controls", role: "search" },
      make("label", { class: "search" }, "Search", make("kbd", {}, "/"), controls.search), outcomeButtons(), sortControls(), typesetButton(),
      filters()),
    make("div", { class: "panes" },
      make("div", { class: "listing" }, controls.status, box),
      make("section", { class: "detail", id: "detail", "aria-label": "Sample", tabindex: "-1" })));
  openList(box, selectSample);
}

function typesetButton() {
  if (!canTypeset) return null;
  controls.typeset = make("button", { type: "button", "aria-pressed": "false", onclick: toggleTypeset,
    title: "Draw the Markdown and LaTeX of prompts and completions, or show the plain text" }, "Markdown, LaTeX", make("kbd", {}, "m"));
  return controls.typeset;
}

function toggleTypeset() {
  if (canTypeset) changeQuery({ typeset: isTypeset() ? "0" : "1" });
}

// A page of `rewardkit view` draws Markdown and LaTeX, a file shows texts as they are, unless the reader chose.
function isTypeset() {
  return (readAddress().query.get("typeset") ?? (page.live ? "1" : "0")) === "1";
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

// Folded in a narrow window, and where there are many.
function filters() {
  const names = page.runs.map(({ name }) => [name, name]);
  const several = names.length > 1;
  const fields = [
    several && select("against", "Compare with", [["", "no other run"], ...names]),
    several && select("flip", "Flips", FLIPS),
    ...facets.filter(({ name, values }) => values.filter(Boolean).length > (name === "failure" ? 0 : 1)).map(facetField),
    noteSelect(),
  ].filter(Boolean);
  if (!fields.length) return null;
  controls.filters = make("summary", {}, "Filters");
  return make("details", { class: "filters", open: !narrow.matches && fields.length < 8 }, controls.filters,
    make("div", {}, ...fields));
}

function facetField({ name, label, values }) {
  const options = values.filter(Boolean);
  if (options.length <= MOST_OPTIONS) {
    return select(name, label, [["", "all"], ...options.map((value) => [value, name === "failure" ? words(value) : value])]);
  }
  return make("label", {}, oneLine(label, 30), field(name, { placeholder: "text, < 5 or > 5" }));
}

// A field whose text is the value of this name in the address.
function field(name, attributes) {
  const element = make("input", { ...attributes, "data-name": name, autocomplete: "off",
    oninput: () => changeQuery({ [name]: element.value }) });
  controls.fields.set(name, element);
  return element;
}

function sortControls() {
  const sort = select("sort", "Sort", [["", "in order"], ...orders.map(([name, label]) => [name, label])]);
  controls.direction = make("button", { type: "button", title: "Highest or lowest first", onclick: () => {
    const own = readAddress().query.get("sort") ?? "";
    changeQuery({ sort: own.startsWith("-") ? own.slice(1) : `-${own}` });
  } });
  return make("span", { class: "sort" }, sort, controls.direction);
}

function select(name, label, options) {
  const element = make("select", { "data-name": name, onchange: () => changeQuery(changesBy(name, element.value)) },
    ...options.map(([value, text]) => make("option", { value }, oneLine(text, 60))));
  controls.fields.set(name, element);
  return make("label", {}, oneLine(label, 30), element);
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
  const { shown, counts, order } = matching(filter);
  fillList(shown, filter.against, order);
  updateControls(query, filter, counts);
  performance.measure("rewardkit:filter", { start: started });
  controls.status.textContent = statusText(shown.length, filter);
  const sample = query.has("sample")
    ? sampleWithKey(query.get("sample"), query.get("in") ?? query.get("run"))
    : (narrow.matches ? null : shown[0]) ?? -1;
  markInList(sample);
  showDetail(sample, filter.against);
}

function updateControls(query, filter, counts) {
  for (const [word, button] of controls.outcomes) {
    button.setAttribute("aria-pressed", String(word === filter.outcome));
    button.lastChild.textContent = integer(counts[word]);
  }
  controls.typeset?.setAttribute("aria-pressed", String(isTypeset()));
  for (const [name, element] of controls.fields) {
    const value = query.get(name) ?? "";
    if (element !== document.activeElement || element.matches("select")) {
      element.value = name === "sort" ? value.replace("-", "") : value;
    }
  }
  const active = [...controls.fields.keys()].filter((name) => query.get(name) && name !== "sort" && name !== "q").length;
  controls.filters?.replaceChildren(active ? `Filters (${active})` : "Filters");
  controls.direction.textContent = filter.sort.startsWith("-") ? "↑" : "↓";
  controls.direction.disabled = !filter.sort;
  const flip = controls.fields.get("flip");
  if (flip) flip.disabled = filter.against < 0;
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
  if (narrow.matches && sample === list.selected) {  // a second tap closes it
    changeQuery({ sample: "", in: "" });
    return;
  }
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
