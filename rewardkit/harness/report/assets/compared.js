// Several runs on one task: accuracy run by run, flips, and every figure in one table.

function accuracyByRun(told) {
  const rows = told.filter(({ task }) => metric(task, "accuracy")).map(({ task, runName, place }) =>
    rateBar(runName, `series-${place % 8}`, metric(task, "accuracy")));
  return wideCard("Accuracy by run", bars("Accuracy by run with 95% intervals", rows),
    note("Whiskers are 95% intervals of each run by itself; two runs on the same problems differ by ",
      "less chance than these suggest."));
}

const COUNTED = [
  ["problems", "samples"], ["completions", "completions"], ["truncated", "truncated"],
  ["unjudged", "errors"],
];

function figuresTable(told) {
  const names = [...new Set(told.flatMap(({ task }) => task.metrics.map(([name]) => name)))];
  const rates = names.map((name) =>
    [metricName(name), ...told.map(({ task }) => rateCell(metric(task, name)))]);
  const counts = COUNTED.map(([word, field]) =>
    [word, ...told.map(({ task }) => whole(task[field]))]);
  return wideCard("Every figure, with its 95% interval", runsTable(told, [...rates, ...counts]));
}

function rateCell(figure) {
  if (figure === null) return "–";
  return make("span", {}, percent(figure.value), " ",
    make("span", { class: "dim small" }, interval(figure)));
}

// How many pairs went from right to wrong and back, from the first run to each other.
function flipsCard(told) {
  const [first, ...others] = told;
  if (!others.length) return null;
  const rows = others.map((other) => {
    const { lost, gained, paired } = countFlips(first, other);
    const link = (flip, number) => (number ? make("a", { href: address("samples", samplesOf(
      first.task, first.runName, { against: other.runName, flip })) }, whole(number)) : "0");
    return [other.runName, link("lost", lost), link("gained", gained), whole(paired)];
  });
  return wideCard(`Flips against ${first.runName}`,
    plainTable(["run", "right → wrong", "wrong → right", "pairs"], rows, [1, 2, 3]),
    note("A pair is the same problem and the same number among its completions. The counts lead to ",
      "the samples, side by side."));
}

function countFlips(first, other) {
  const task = table.tasks.indexOf(first.task.name);
  const found = { lost: 0, gained: 0, paired: 0 };
  for (let sample = 0; sample < table.count; sample += 1) {
    if (table.run[sample] !== first.place || table.task[sample] !== task) continue;
    const partner = partnerOf(sample, other.place);
    if (partner < 0) continue;
    found.paired += 1;
    found.lost += flipIs("lost", sample, partner);
    found.gained += flipIs("gained", sample, partner);
  }
  return found;
}
