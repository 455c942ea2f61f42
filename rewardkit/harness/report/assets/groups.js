// Accuracy by the groups of a column: bars, or a table for many runs.

const MOST_BARS = 3;
const MOST_GROUPS = 60;

function groupCards(taskRuns) {
  const columns = new Set(taskRuns.flatMap(({ task }) => task.groups.map(([column]) => column)));
  return [...columns].map((column) => {
    const allRows = taskRuns.flatMap((taskRun) => groupRows(taskRun, column));
    const rows = largestGroups(allRows);
    const remark = rows === allRows ? null
      : note(`The ${MOST_GROUPS} largest groups; summary.json and the samples' filters have all of them.`);
    if (taskRuns.length > MOST_BARS) return groupsTable(column, rows, taskRuns, remark);
    sortTogether(rows, (row) => row.group);
    return card(`Accuracy by ${column}`, barChart(`Accuracy by ${column}`, rows), remark);
  });
}

// The rows of the groups with the most completions, or all rows if there are not too many groups.
function largestGroups(rows) {
  const sizes = new Map();
  for (const { group, count } of rows) sizes.set(group, Math.max(count, sizes.get(group) ?? 0));
  if (sizes.size <= MOST_GROUPS) return rows;
  const largest = [...sizes].sort(([, left], [, right]) => right - left).slice(0, MOST_GROUPS);
  const kept = new Set(largest.map(([group]) => group));
  return rows.filter(({ group }) => kept.has(group));
}

function groupRows({ task, runName, runIndex, series }, column) {
  const groups = task.groups.find(([own]) => own === column)?.[1] ?? [];
  return groups.map(([group, figure]) => {
    const label = (group || "(none)") + (runName === null ? "" : ` · ${runName}`);
    return { ...rateBar(label, series, figure), group, runIndex };
  });
}

function groupsTable(column, rows, taskRuns, remark) {
  const groups = [...new Set(rows.map((row) => row.group))];
  const cell = (group, { runIndex }) =>
    rows.find((row) => row.group === group && row.runIndex === runIndex)?.number ?? "–";
  const cells = groups.map((group) =>
    [group || "(none)", ...taskRuns.map((taskRun) => cell(group, taskRun))]);
  return wideCard(`Accuracy by ${column}`, runsTable(taskRuns, cells), remark);
}

// Puts rows with the same key next to each other, keys in the order in which they first occur.
function sortTogether(rows, keyOfRow) {
  const order = [...new Set(rows.map(keyOfRow))];
  rows.sort((left, right) => order.indexOf(keyOfRow(left)) - order.indexOf(keyOfRow(right)));
}
