// How long completions were, by outcome.

const LENGTH_KINDS = new Map([
  ["correct", "right"], ["wrong", "wrong"], ["truncated", "truncated"], ["unjudged", "unjudged"],
]);
const LENGTH_COLUMNS = ["outcome", "count", "mean", "median", "p95", "longest"];

function lengthsCard(told) {
  const rows = told.flatMap(({ task, runName }) =>
    task.lengths.map(([outcome, figure]) => lengthsRow(outcome, figure, runName)));
  if (!rows.length) return null;
  sortTogether(rows, (one) => one.outcome);
  const drawn = told.length > MOST_BARS ? rows.filter((one) => one.outcome === "all") : rows;
  const dressed = told.length > 1 ? wideCard : card;
  return dressed("Lengths by outcome", spans("Completion lengths in tokens by outcome", drawn),
    note("The dot is the median; the thick line ends at the 95th percentile, the thin at the longest."),
    make("details", { class: "small", open: told.length === 1 }, make("summary", {}, "Numbers"),
      plainTable(LENGTH_COLUMNS, rows.map(lengthsNumbers), [1, 2, 3, 4, 5])));
}

function lengthsRow(outcome, figure, runName) {
  return {
    ...figure,
    outcome,
    label: runName === null ? outcome : `${outcome} · ${runName}`,
    kind: LENGTH_KINDS.get(outcome) ?? "series-5",
    hover: `${visible(outcome)}: ${many(figure.count, "completion")}\n`
      + `mean ${short(figure.mean)}, median ${short(figure.median)}\n`
      + `p95 ${short(figure.p95)}, longest ${short(figure.maximum)}`,
  };
}

function lengthsNumbers({ label, count, mean, median, p95, maximum }) {
  const rounded = [mean, median, p95, maximum].map((value) => short(Number(value.toFixed(1))));
  return [label, whole(count), ...rounded];
}
