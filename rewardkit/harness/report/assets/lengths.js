// How long completions are, by outcome.

const LENGTH_COLOURS = ["right", "wrong", "truncated", "unjudged"];
const LENGTH_COLUMNS = ["count", "mean", "median", "p95", "maximum"];

function lengthsCard(taskRuns) {
  const rows = taskRuns.flatMap(({ task, runName, series }) =>
    task.lengths.map(([outcome, figure]) => lengthsRow(outcome, figure, runName, series)));
  if (!rows.length) return null;
  sortTogether(rows, (row) => row.outcome);
  const drawn = taskRuns.length > MOST_BARS ? rows.filter((row) => row.outcome === "all") : rows;
  const makeCard = taskRuns.length > 1 ? wideCard : card;
  return makeCard("Lengths by outcome", lengthChart("Completion lengths in tokens by outcome", drawn),
    note("The dot is the median. The thick line ends at p95, the 95th percentile, the thin line at the maximum."),
    make("details", { class: "small", open: taskRuns.length === 1 }, make("summary", {}, "Numbers"),
      plainTable(["outcome", ...LENGTH_COLUMNS.map(words)], rows.map(lengthCells), [1, 2, 3, 4, 5])));
}

// The colour is the outcome's, or of several runs the run's.
function lengthsRow(outcome, figure, runName, series) {
  const ofOutcome = LENGTH_COLOURS.includes(outcome) ? outcome : "series-5";
  return {
    ...figure,
    outcome,
    label: runName === null ? outcome : `${outcome} · ${runName}`,
    kind: runName === null ? ofOutcome : series,
    hover: `${visible(outcome)}: ${plural(figure.count, "completion")}\n`
      + `mean ${rounded(figure.mean)}, median ${rounded(figure.median)}\n`
      + `p95 ${rounded(figure.p95)}, maximum ${rounded(figure.maximum)}`,
  };
}

function lengthCells({ label, count, mean, median, p95, maximum }) {
  const numbers = [mean, median, p95, maximum].map((value) => rounded(Number(value.toFixed(1))));
  return [label, integer(count), ...numbers];
}
