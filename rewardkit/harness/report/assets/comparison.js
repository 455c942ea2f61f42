// Several runs on one task: accuracy by run, flips, and all figures in one table.

function accuracyByRun(taskRuns) {
  const rows = taskRuns.filter(({ task }) => metricOf(task, "accuracy"))
    .map(({ task, runName, series }) => rateBar(runName, series, metricOf(task, "accuracy")));
  return wideCard("Accuracy by run", barChart("Accuracy by run with 95% intervals", rows),
    note("Whiskers are each run's own 95% interval. On the same problems, smaller differences than these ",
      "intervals suggest may be significant: the table below tests them."));
}

const COUNTS = ["problems", "completions", "truncated", "unjudged"];

function figuresTable(taskRuns) {
  const names = [...new Set(taskRuns.flatMap(({ task }) => task.metrics.map(([name]) => name)))];
  const rates = names.flatMap((name) => {
    const figures = taskRuns.map(({ task }) => metricOf(task, name));
    const best = bestOf(name, figures);
    const row = [words(name), ...figures.map((figure) => rateCell(figure, best))];
    return name === "accuracy" ? [row, ...differenceRows(taskRuns)] : [row];
  });
  const counts = COUNTS.map((name) => [words(name), ...taskRuns.map(({ task }) => integer(task[name]))]);
  return wideCard("All figures with 95% intervals", runsTable(taskRuns, [...rates, ...counts]),
    note("The best value of a row is bold; of the rates of failure, it is the lowest."),
    ...page.notCompared.map((reason) => note(`Not compared: ${visible(reason)}.`)));
}

// The best of the figures; null where all are equal, and for a spread, of which none is better.
function bestOf(name, figures) {
  if (name.startsWith("seed_spread")) return null;
  const values = figures.filter((figure) => figure !== null).map(({ value }) => value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (least === most) return null;
  return page.lowerIsBetter.includes(name) ? least : most;
}

function rateCell(figure, best) {
  if (figure === null) return "–";
  return make("span", {}, make(figure.value === best ? "strong" : "span", {}, percent(figure.value)), " ",
    make("span", { class: "dim small" }, interval(figure)));
}

// The paired difference of each run's accuracy from the first run's, and its p-value.
function differenceRows(taskRuns) {
  const own = taskRuns.map(({ runIndex, task }) =>
    page.comparisons.find((one) => one.run === runIndex && one.task === task.name) ?? null);
  if (own.every((one) => one === null)) return [];
  const cells = (text) => own.map((one, index) => (one ? text(one) : index ? "–" : "baseline"));
  return [
    ["difference", ...cells(({ difference }) => make("span", {}, `${signedPoints(difference.value)} pts`, " ",
      make("span", { class: "dim small" }, `${signedPoints(difference.low)} – ${signedPoints(difference.high)} pts`)))],
    ["p (Holm)", ...cells(({ p }) => (p < 0.0001 ? "< 0.0001" : p.toFixed(4)))],
  ];
}

// A difference of two shares, in percentage points.
function signedPoints(value) {
  return `${value < 0 ? "−" : "+"}${(100 * Math.abs(value)).toFixed(1)}`;
}

// How many pairs turned from right to wrong and back, between the first run and each other run.
function flipsCard(taskRuns) {
  const [first, ...others] = taskRuns;
  if (!others.length) return null;
  const rows = others.map((other) => {
    const { lost, gained, paired } = countFlips(first, other);
    const link = (flip, number) => (number ? make("a", { href: addressOf("samples", samplesQuery(
      first.task, first.runName, { against: other.runName, flip })) }, integer(number)) : "0");
    return [other.runName, link("lost", lost), link("gained", gained), integer(paired)];
  });
  return wideCard(`Flips against ${first.runName}`,
    plainTable(["run", "right → wrong", "wrong → right", "pairs"], rows, [1, 2, 3]),
    note("A pair is the same completion number of the same problem in both runs. The counts link to ",
      "the samples, side by side."));
}

function countFlips(first, other) {
  const task = table.tasks.indexOf(first.task.name);
  const counts = { lost: 0, gained: 0, paired: 0 };
  for (let sample = 0; sample < table.count; sample += 1) {
    if (table.run[sample] !== first.runIndex || table.task[sample] !== task) continue;
    const partner = partnerOf(sample, other.runIndex);
    if (partner < 0) continue;
    counts.paired += 1;
    counts.lost += matchesFlip("lost", sample, partner);
    counts.gained += matchesFlip("gained", sample, partner);
  }
  return counts;
}
