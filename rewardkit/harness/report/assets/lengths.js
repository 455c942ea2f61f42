// How long completions are, by outcome: bars of one run, a table of several.

const LENGTH_COLOURS = ["right", "wrong", "truncated", "unjudged"];
const LENGTH_COLUMNS = ["count", "mean", "median", "p95", "maximum"];

function lengthsCard(taskRuns) {
  const [{ task }] = taskRuns;
  const outcomes = [...new Set(taskRuns.flatMap(({ task: own }) => own.lengths.map(([outcome]) => outcome)))];
  if (!outcomes.length) return null;
  const title = "Tokens by outcome";
  const length = (number) => rounded(Number(number.toFixed(1)));
  if (taskRuns.length > 1) {
    const cell = ({ task: own }, outcome) => {
      const { median, p95, maximum } = own.lengths.find(([name]) => name === outcome)?.[1] ?? {};
      return median === undefined ? "–" : [median, p95, maximum].map(length).join(" / ");
    };
    return wideCard(title, runsTable(taskRuns, outcomes.map((outcome) => [outcome, ...taskRuns.map((run) => cell(run, outcome))])),
      note("Median, 95th percentile and maximum of the tokens of the completion."));
  }
  const rows = task.lengths.map(([outcome, { median, maximum }]) => ({ label: outcome, value: median, low: median, high: maximum,
    number: length(median), kind: LENGTH_COLOURS.includes(outcome) ? outcome : "series-5" }));
  return card(title, barChart("Completion lengths in tokens by outcome", rows, Math.max(...rows.map(({ high }) => high))),
    note("The bar ends at the median, the whisker at the maximum."),
    plainTable(["outcome", ...LENGTH_COLUMNS.map(words)], task.lengths.map(([outcome, figure]) =>
      [outcome, ...LENGTH_COLUMNS.map((column) => length(figure[column]))]), [1, 2, 3, 4, 5]));
}
