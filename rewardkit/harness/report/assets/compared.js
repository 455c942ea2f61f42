// Several runs on one task: accuracy run by run, and every rate in one table.

function accuracyByRun(told) {
  const rows = told.map(({ task, runName, place }) => ({ ...metric(task, "accuracy"), runName, place }))
    .filter((one) => one.value !== undefined)
    .map((one) => ({
      ...one, label: one.runName, kind: `series-${one.place % 8}`,
      number: `${percent(one.value)}`,
      hover: `${visible(one.runName)}\naccuracy ${percent(one.value)}\n95% interval ${interval(one)}\nover ${many(one.count, "completion")}`,
    }));
  return wideCard("Accuracy by run", bars("Accuracy by run with 95% intervals", rows),
    make("p", { class: "note" }, "Whiskers are 95% intervals of each run by itself; two runs on the same problems differ by less chance than these suggest."));
}

function ratesTable(told) {
  const names = [...new Set(told.flatMap(({ task }) => task.metrics.map(([name]) => name)))];
  const rows = names.map((name) => [metricName(name), ...told.map(({ task }) => {
    const figure = metric(task, name);
    return figure === null ? "–" : make("span", {}, percent(figure.value), " ",
      make("span", { class: "dim small" }, interval(figure)));
  })]);
  const counts = [["problems", "samples"], ["completions", "completions"], ["truncated", "truncated"], ["unjudged", "errors"]]
    .map(([word, field]) => [word, ...told.map(({ task }) => whole(task[field]))]);
  return wideCard("Every figure, with its 95% interval",
    plainTable(["", ...told.map(({ runName }) => runName)], [...rows, ...counts], told.map((_, place) => place + 1)));
}

// How many pairs went from right to wrong and back, from the first run to each other.
function flipsCard(told) {
  const task = table.tasks.indexOf(told[0].task.name);
  const [first, ...others] = told;
  const rows = others.map((other) => {
    const pairs = { lost: 0, gained: 0, paired: 0 };
    for (let sample = 0; sample < table.count; sample += 1) {
      if (table.run[sample] !== first.place || table.task[sample] !== task) continue;
      const partner = partnerOf(sample, other.place);
      if (partner < 0) continue;
      pairs.paired += 1;
      for (const flip of ["lost", "gained"]) pairs[flip] += flipIs(flip, sample, partner);
    }
    const link = (flip) => make("a", { href: address("samples", new URLSearchParams({
      run: first.runName, against: other.runName, task: first.task.name, flip })) }, whole(pairs[flip]));
    return [other.runName, link("lost"), link("gained"), whole(pairs.paired)];
  });
  if (!rows.length) return null;
  return wideCard(`Flips against ${first.runName}`,
    plainTable(["run", "right → wrong", "wrong → right", "pairs"], rows, [1, 2, 3]),
    make("p", { class: "note" }, "A pair is the same problem and the same number among its completions. The counts open the samples, side by side."));
}
