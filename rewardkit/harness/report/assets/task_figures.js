// The tables, plots and bars that a task defines itself. Those of several runs that have the same kind
// and title are joined into one.

const MOST_OPEN = 3;

// All figures of a task: joined ones first, then those that only one run has, run by run.
function taskFigures(taskRuns) {
  const joined = joinedFigures(taskRuns);
  const sections = taskRuns.map((taskRun) => ownFigures(taskRun, taskRuns.length, joined));
  if (!joined.size) return sections;
  const cards = [...joined.values()].map((entries) => figureCard(entries, wideCard));
  return [make("div", { class: "cards" }, ...cards), ...sections];
}

// The figures that at least two runs have, as {figure, runName, runIndex} entries by kind and title.
function joinedFigures(taskRuns) {
  const joined = new Map();
  for (const { task, runName, runIndex } of taskRuns) {
    for (const [key, figure] of new Map(task.figures.map((own) => [figureKey(own), own]))) {
      joined.set(key, [...(joined.get(key) ?? []), { figure, runName, runIndex }]);
    }
  }
  for (const [key, entries] of joined) if (entries.length < 2) joined.delete(key);
  return joined;
}

function figureKey({ kind, title }) {
  return JSON.stringify([kind, title]);
}

// A run's own figures; of many runs, folded until opened.
function ownFigures({ task, runName }, runs, joined) {
  const figures = task.figures.filter((figure) => !joined.has(figureKey(figure)));
  if (!figures.length) return null;
  const cards = make("div", { class: "cards" },
    ...figures.map((figure) => figureCard([{ figure, runName }], card)));
  if (runs < MOST_OPEN) return cards;
  return make("details", { class: "figures" },
    make("summary", {}, "Figures of ", isolated(runName)), cards);
}

const FIGURES = { plot: taskPlot, bars: taskBars, table: taskTable };

function figureCard(entries, makeCard) {
  const [{ figure, runName }] = entries;
  const alone = entries.length === 1;
  const title = alone && runName !== null ? `${figure.title} · ${runName}` : figure.title;
  const content = Object.hasOwn(FIGURES, figure.kind) ? FIGURES[figure.kind](entries, alone) : null;
  return makeCard(title, content, remark(entries));
}

// The figure's note; the notes of several runs by their names, if they differ.
function remark(entries) {
  const notes = [...new Set(entries.map(({ figure }) => figure.note || ""))];
  if (notes.length === 1) return notes[0] ? note(visible(notes[0])) : null;
  const noted = entries.filter(({ figure }) => figure.note);
  return note(noted.map(({ figure, runName }) => `${visible(runName)}: ${visible(figure.note)}`).join("; "));
}

// What each run has under each name, names in the order in which they first occur.
function byName(entries, pairsOf) {
  const values = new Map();
  for (const { figure, runName, runIndex } of entries) {
    for (const [name, value] of pairsOf(figure)) {
      values.set(name, [...(values.get(name) ?? []), { runName, runIndex, value }]);
    }
  }
  return [...values].flatMap(([name, runs]) => runs.map((run) => ({ name, first: runs[0].value, ...run })));
}

function inRun(name, runName, alone) {
  return alone ? name : `${name} · ${runName}`;
}

function taskPlot(entries, alone) {
  const [{ figure }] = entries;
  const series = byName(entries, (own) => own.series)
    .map(({ name, runName, runIndex, value }) => [inRun(name, runName, alone), value, alone ? undefined : runIndex]);
  return plotChart({ ...figure, series });
}

function taskBars(entries, alone) {
  const rows = byName(entries, (own) => own.bars).map(({ name, runName, runIndex, value, first }) => {
    const label = inRun(name, runName, alone);
    const number = rounded(value.value) + spacedChange(value.value, first.value);
    const hover = `${visible(label)}: ${number}\n95% interval ${bounds(value)}`;
    return { ...value, label, number, hover, kind: `series-${(runIndex ?? 0) % 8}` };
  });
  const ends = rows.flatMap(({ value, high }) => [value, high]).filter(Number.isFinite);
  return barChart(entries[0].figure.title, rows, Math.max(0, ...ends));
}

// Rows with the same key cells are joined; numbers show their change against the first run's.
function taskTable(entries, alone) {
  const [{ figure }] = entries;
  const keys = alone ? 0 : figure.keys ?? 1;
  const tables = entries.map(({ figure: own, runName }) => ({
    runName, columns: own.columns.slice(keys),
    rows: new Map(own.rows.map((row, index) => [alone ? index : rowKey(row, keys), row])),
  }));
  const rowKeys = numbersFirst([...new Set(tables.flatMap(({ rows }) => [...rows.keys()]))], alone);
  const columns = [...new Set(tables.flatMap((own) => own.columns.map((_, index) => index)))];
  const cells = rowKeys.map((key) => columns.flatMap((column) => tables.map(({ rows }) => ({
    value: rows.get(key)?.[keys + column],
    first: alone ? undefined : tables[0].rows.get(key)?.[keys + column],
  }))));
  const headings = columns.flatMap((column) => tables.map(({ runName, columns: names }) =>
    inRun(names[column] ?? "", runName, alone)));
  const named = rowKeys.map((key) => tables.find(({ rows }) => rows.has(key)).rows.get(key).slice(0, keys));
  const numeric = headings.map((_, index) => index)
    .filter((index) => isNumeric(cells.map((row) => row[index].value)));
  return plainTable([...figure.columns.slice(0, keys), ...headings],
    cells.map((row, index) => [...named[index].map(cellText), ...row.map(changedCell)]),
    numeric.map((index) => keys + index));
}

function rowKey(row, keys) {
  return JSON.stringify(row.slice(0, keys));
}

// Keys that start with a number in ascending order, then the others as they first occur.
function numbersFirst(keys, alone) {
  if (alone) return keys;
  const numberOf = (key) => (typeof JSON.parse(key)[0] === "number" ? JSON.parse(key)[0] : Infinity);
  return keys.sort((left, right) => (numberOf(left) === numberOf(right) ? 0 : numberOf(left) - numberOf(right)));
}

function isNumeric(values) {
  return values.some((value) => typeof value === "number") && values.every((value) => typeof value !== "string");
}

function cellText(value) {
  return typeof value === "number" ? rounded(value) : value ?? "";
}

function changedCell({ value, first }) {
  const change = spacedChange(value, first);
  return change ? make("span", {}, cellText(value), make("span", { class: "dim small" }, change)) : cellText(value);
}

// The relative change of a number, after a space; empty below 0.05%.
function spacedChange(value, first) {
  if (!Number.isFinite(value) || !Number.isFinite(first) || first === 0) return "";
  const change = 100 * (value / first - 1);
  if (Math.abs(change) < 0.05) return "";
  return ` (${change < 0 ? "−" : "+"}${Math.abs(change).toFixed(Math.abs(change) < 10 ? 1 : 0)}%)`;
}
