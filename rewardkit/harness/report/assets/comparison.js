// Several runs on one task: accuracy by run, flips, and all figures in one table.

function accuracyByRun(taskRuns) {
  const rows = taskRuns.filter(({ task }) => metricOf(task, "accuracy"))
    .map(({ task, runName, series }) => rateBar(runName, series, metricOf(task, "accuracy")));
  return wideCard("Accuracy by run", barChart("Accuracy by run with 95% intervals", rows));
}

const COUNTS = ["problems", "completions", "truncated", "unjudged"];

// The figures of all runs; those of several completions are folded.
function figuresTable(taskRuns) {
  const names = [...new Set(taskRuns.flatMap(({ task }) => task.metrics.map(([name]) => name)))];
  const rows = foldedRows(names.map((name) => ({ name, figures: taskRuns.map(({ task }) => metricOf(task, name)) })));
  const rowOf = ({ name, also, figures }) => {
    const best = bestOf(name, figures, taskRuns);
    return [make("span", {}, words(name), also.length ? make("span", { class: "dim small" }, ` = ${also.map(words).join(", ")}`) : null),
      ...figures.map((figure) => rateCell(figure, best))];
  };
  const rates = rows.filter(({ name }) => !isAtK(name)).flatMap((row) => (row.name === "accuracy"
    ? [rowOf(row), ...differenceRows(taskRuns), ...flipRows(taskRuns)] : [rowOf(row)]));
  const counts = COUNTS.map((name) => [words(name), ...taskRuns.map(({ task }) => integer(task[name]))]);
  const atK = rows.filter(({ name }) => isAtK(name)).map(rowOf);
  return wideCard("Figures with 95% intervals", runsTable(taskRuns, [...rates, ...counts, ...failureRows(taskRuns)]),
    atK.length ? make("details", {}, make("summary", {}, "Several completions per problem"), runsTable(taskRuns, atK)) : null,
    note("Bold marks the best value if its difference from the first run is shown: for accuracy by the test, for other figures by ",
      "intervals that do not overlap. The counts lead to the samples."),
    ...page.notCompared.map((reason) => note(`Not compared: ${visible(reason)}.`)));
}

function isAtK(name) {
  return AT_K.test(name) || FOLLOWS.test(name);
}

// Rows whose figures look the same as one row, with the names of the others.
function foldedRows(rows) {
  const folded = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.figures.map((figure) => figure && [percent(figure.value), interval(figure)]),
      page.lowerIsBetter.includes(row.name)]);
    if (folded.has(key)) folded.get(key).also.push(row.name);
    else folded.set(key, { ...row, also: [] });
  }
  return [...folded.values()];
}

// The best of the figures; null unless its difference from the first run is shown, or from all others if it is the first's.
function bestOf(name, figures, taskRuns) {
  const [first, ...others] = figures;
  if (name.startsWith("seed_spread") || !first) return null;
  const better = (left, right) => (page.lowerIsBetter.includes(name) ? right.value > left.value : right.value < left.value);
  const best = figures.filter(Boolean).reduce((left, right) => (better(right, left) ? right : left));
  const differs = (figure, index) => {
    const tested = name === "accuracy" && comparisonOf(taskRuns[index + 1]);
    return tested ? tested.isShown : figure !== null && (figure.low > first.high || figure.high < first.low);
  };
  const isShown = best === first ? others.every(differs) : differs(best, others.indexOf(best));
  return isShown ? best : null;
}

function rateCell(figure, best) {
  if (figure === null) return "–";
  return make("span", {}, make(figure === best ? "strong" : "span", {}, percent(figure.value)), " ",
    make("span", { class: "dim small" }, interval(figure)));
}

function comparisonOf({ runIndex, task }) {
  return page.comparisons.find((one) => one.run === runIndex && one.task === task.name) ?? null;
}

// The paired difference of each run's accuracy from the first run's, and its p-value.
function differenceRows(taskRuns) {
  const own = taskRuns.map(comparisonOf);
  if (own.every((one) => one === null)) return [];
  const cells = (text) => own.map((one, index) => (one ? text(one) : index ? "–" : "baseline"));
  return [
    ["difference", ...cells(({ difference }) => make("span", {}, `${signedPoints(difference.value)} pts`, " ",
      make("span", { class: "dim small" }, `${signedPoints(difference.low)} – ${signedPoints(difference.high)}`)))],
    ["p (Holm)", ...cells(({ p }) => p)],
  ];
}

// A difference of two shares, in percentage points.
function signedPoints(value) {
  return `${value < 0 ? "−" : "+"}${(100 * Math.abs(value)).toFixed(1)}`;
}

// How many completions turned from right to wrong and back, between the first run and each other run.
function flipRows([first, ...others]) {
  const counts = others.map((other) => countFlips(first, other));
  const link = (flip, number, { runName }) => (number ? make("a", { href: addressOf("samples", samplesQuery(
    first.task, first.runName, { against: runName, flip })) }, integer(number)) : "0");
  return [["right → wrong", "lost"], ["wrong → right", "gained"]].map(([title, flip]) =>
    [title, "–", ...others.map((other, index) => link(flip, counts[index][flip], other))]);
}

function countFlips(first, other) {
  const task = table.tasks.indexOf(first.task.name);
  const counts = { lost: 0, gained: 0 };
  for (let sample = 0; sample < table.count; sample += 1) {
    if (table.run[sample] !== first.runIndex || table.task[sample] !== task) continue;
    const partner = partnerOf(sample, other.runIndex);
    if (partner < 0) continue;
    counts.lost += matchesFlip("lost", sample, partner);
    counts.gained += matchesFlip("gained", sample, partner);
  }
  return counts;
}
