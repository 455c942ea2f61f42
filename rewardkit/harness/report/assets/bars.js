// Bar charts: bars with whiskers, each with its number beside it.

const BAR = { height: 12, row: 34, stackedRow: 46 };

// rows: {label, value, low, high, kind, number, hover, href}; the scale runs from 0 to `most`.
function barChart(label, rows, most = 1) {
  return plot(label, (width) => {
    const narrow = width < 420;
    const left = narrow ? 0 : Math.min(230, width * 0.38);
    const right = narrow ? width : width - 24 - 7.2 * Math.max(...rows.map((row) => row.number.length));
    const rowHeight = narrow ? BAR.stackedRow : BAR.row;
    const x = scale([0, most || 1], [left, right]);
    const shapes = rows.map((row, index) => bar(row, { x, left, right, width, narrow, rowHeight, index }));
    return { height: rows.length * rowHeight + 4, shapes };
  });
}

function bar(row, { x, left, right, width, narrow, rowHeight, index }) {
  const top = index * rowHeight + (narrow ? 22 : (rowHeight - BAR.height) / 2);
  const middle = top + BAR.height / 2;
  const baseline = narrow ? top - 8 : middle + 4;
  const labelWidth = narrow ? width - 7.2 * row.number.length - 16 : left - 10;
  const end = Math.max(left, x(row.value));
  return linked(row.href, row.label,
    clipped(row.label, baseline, labelWidth),
    draw("rect", { class: "track", x: left, y: top, width: right - left, height: BAR.height, rx: 3 }),
    draw("rect", { class: `fill ${row.kind}`, x: left, y: top, width: end - left, height: BAR.height, rx: 3 }),
    ...whisker(row, x, middle),
    draw("text", { class: "number", x: width, y: baseline, "text-anchor": "end" }, row.number),
    hoverArea(0, index * rowHeight, width, rowHeight, row.hover ?? `${visible(row.label)}\n${row.number}`));
}

// A label, cut off where it would be wider than `width`.
function clipped(label, baseline, width) {
  const text = oneLine(label, Math.max(4, Math.floor(width / 6.4)));
  return draw("svg", { x: 0, y: baseline - 14, width: Math.max(0, width), height: 20 },
    draw("text", { class: "name", x: 0, y: 14 }, text));
}

function whisker({ low, high }, x, middle) {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [];
  const from = x(Math.max(0, low));
  const to = x(high);
  return [[from, to, middle, middle], [from, from, middle - 5, middle + 5], [to, to, middle - 5, middle + 5]]
    .map(([x1, x2, y1, y2]) => draw("line", { class: "whisker", x1, x2, y1, y2 }));
}

function linked(href, label, ...shapes) {
  return href ? draw("a", { href, "aria-label": visible(label) }, ...shapes) : draw("g", {}, ...shapes);
}
