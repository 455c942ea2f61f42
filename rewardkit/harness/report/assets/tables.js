// Tables, and the figures that a task draws of itself.

function plainTable(columns, rows, numeric = []) {
  const cell = (tag, value, place) =>
    make(tag, numeric.includes(place) ? { class: "number" } : {}, value instanceof Node ? value : named(value));
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table" },
    make("table", {},
      make("thead", {}, make("tr", {}, ...columns.map((one, place) => cell("th", one, place)))),
      make("tbody", {}, ...rows.map((row) =>
        make("tr", {}, ...row.map((one, place) => cell("td", one, place)))))));
}

// A column for each run, beside one of names.
function runsTable(told, rows) {
  return plainTable(["", ...told.map(({ runName }) => runName)], rows, told.map((_, place) => place + 1));
}

function note(...children) {
  return make("p", { class: "note" }, ...children);
}

function card(title, ...children) {
  return make("section", { class: "card" }, make("h3", {}, named(title)), ...children);
}

function wideCard(title, ...children) {
  const wide = card(title, ...children);
  wide.classList.add("wide");
  return wide;
}

function ownFigure(figure, runName) {
  const title = runName === null ? figure.title : `${figure.title} · ${runName}`;
  const said = figure.note ? note(visible(figure.note)) : null;
  return card(title, figure.kind === "plot" ? ownPlot(figure) : ownTable(figure), said);
}

function ownPlot(figure) {
  return lines({
    title: figure.title, xLabel: figure.x_label, yLabel: figure.y_label,
    series: figure.series.map(([name, points]) => ({ name, points: points.map(([x, y]) => ({ x, y })) })),
  });
}

function ownTable({ columns, rows }) {
  const numeric = columns.map((_, place) => place).filter((place) =>
    rows.some((row) => typeof row[place] === "number") && rows.every((row) => typeof row[place] !== "string"));
  const written = (value) => (typeof value === "number" ? short(value) : value ?? "");
  return plainTable(columns, rows.map((row) => row.map(written)), numeric);
}
