// Accuracy by the groups of a column: bars, or a table where many runs are compared.

const MOST_BARS = 3;
const MOST_GROUPS = 60;

function groupsCards(told) {
  const columns = new Set(told.flatMap(({ task }) => task.groups.map(([column]) => column)));
  return [...columns].map((column) => {
    const all = told.flatMap((one) => groupRows(one, column));
    const rows = ofLargest(all);
    const said = rows === all ? null
      : note(`The ${MOST_GROUPS} largest groups; all are in summary.json, and among the samples' filters.`);
    if (told.length > MOST_BARS) return groupsTable(column, rows, told, said);
    sortTogether(rows, (one) => one.group);
    return card(`Accuracy by ${column}`, bars(`Accuracy by ${column}`, rows), said);
  });
}

// The rows of the groups with the most completions: all rows, where the groups aren't too many.
function ofLargest(rows) {
  const sizes = new Map();
  for (const { group, count } of rows) sizes.set(group, Math.max(count, sizes.get(group) ?? 0));
  if (sizes.size <= MOST_GROUPS) return rows;
  const largest = [...sizes].sort(([, one], [, other]) => other - one).slice(0, MOST_GROUPS);
  const kept = new Set(largest.map(([group]) => group));
  return rows.filter(({ group }) => kept.has(group));
}

function groupRows({ task, runName, place }, column) {
  const groups = task.groups.find(([own]) => own === column)?.[1] ?? [];
  return groups.map(([group, figure]) => {
    const label = (group || "(none)") + (runName === null ? "" : ` · ${runName}`);
    return { ...rateBar(label, `series-${place % 8}`, figure), group, place };
  });
}

function groupsTable(column, rows, told, said) {
  const groups = [...new Set(rows.map((one) => one.group))];
  const cell = (group, { place }) =>
    rows.find((one) => one.group === group && one.place === place)?.number ?? "–";
  const cells = groups.map((group) => [group || "(none)", ...told.map((one) => cell(group, one))]);
  return wideCard(`Accuracy by ${column}`, runsTable(told, cells), said);
}

// Puts rows with the same mark next to each other, marks in the order in which they first come.
function sortTogether(rows, markOf) {
  const order = [...new Set(rows.map(markOf))];
  rows.sort((one, other) => order.indexOf(markOf(one)) - order.indexOf(markOf(other)));
}
