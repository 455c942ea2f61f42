// Bar charts: bars with whiskers, each with its number beside it; and charts of lengths.

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

// rows: {label, kind, median, p95, maximum, hover}: a dot at the median, a thick line to the 95th
// percentile, a thin line to the maximum.
function lengthChart(label, rows) {
  const most = Math.max(1, ...rows.map((row) => row.maximum));
  return plot(label, (width) => {
    const narrow = width < 420;
    const left = narrow ? 6 : Math.min(230, width * 0.32);
    const x = scale([0, most], [left, width - 8]);
    const rowHeight = narrow ? BAR.stackedRow : BAR.row;
    const bottom = rows.length * rowHeight;
    const tickCount = Math.max(2, Math.floor((width - left) / 90));
    const axis = ticks(0, most, tickCount).flatMap((length) => [
      draw("line", { class: "grid", x1: x(length), x2: x(length), y1: 0, y2: bottom }),
      draw("text", { x: x(length), y: bottom + 16, "text-anchor": "middle" }, rounded(length)),
    ]);
    const axisLabel = draw("text", { x: (left + width) / 2, y: bottom + 34, "text-anchor": "middle" },
      "tokens of the completion");
    return { height: bottom + 40, shapes: [...axis, axisLabel, ...rows.map((row, index) =>
      lengthSpan(row, { x, left, width, narrow, top: index * rowHeight, rowHeight }))] };
  });
}

function lengthSpan(row, { x, left, width, narrow, top, rowHeight }) {
  const y = top + (narrow ? 30 : rowHeight / 2);
  const level = { y1: y, y2: y };
  return draw("g", {},
    narrow ? clipped(row.label, top + 14, width) : clipped(row.label, y + 4, left - 10),
    draw("line", { ...level, class: `stroke thin ${row.kind}`, x1: x(row.median), x2: x(row.maximum) }),
    draw("line", { ...level, class: `stroke thick ${row.kind}`, x1: x(row.median), x2: x(row.p95) }),
    draw("line", { class: `stroke ${row.kind}`, x1: x(row.maximum), x2: x(row.maximum), y1: y - 5, y2: y + 5 }),
    draw("circle", { class: `fill ${row.kind}`, cx: x(row.median), cy: y, r: 5 }),
    hoverArea(0, top, width, rowHeight, row.hover));
}
