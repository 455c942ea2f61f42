// Bars with whiskers, one under the other, each with its number written out; and spans of lengths.

const BAR = { height: 12, row: 34, stacked: 46 };

// rows: {label, value, low, high, kind, number, hover, href}; `most` is where the scale ends.
function bars(label, rows, most = 1) {
  return plot(label, (width) => {
    const narrow = width < 420;
    const left = narrow ? 0 : Math.min(230, width * 0.38);
    const right = narrow ? width : width - 24 - 7.2 * Math.max(...rows.map((one) => one.number.length));
    const row = narrow ? BAR.stacked : BAR.row;
    const x = scale([0, most || 1], [left, right]);
    const marks = rows.map((one, place) => bar(one, { x, left, right, width, narrow, row, place }));
    return { height: rows.length * row + 4, marks };
  });
}

function bar(one, { x, left, right, width, narrow, row, place }) {
  const top = place * row + (narrow ? 22 : (row - BAR.height) / 2);
  const middle = top + BAR.height / 2;
  const line = narrow ? top - 8 : middle + 4;
  const room = narrow ? width - 7.2 * one.number.length - 16 : left - 10;
  const end = Math.max(left, x(one.value));
  return linked(one.href, one.label,
    clipped(one.label, line, room),
    draw("rect", { class: "track", x: left, y: top, width: right - left, height: BAR.height, rx: 3 }),
    draw("rect", { class: `fill ${one.kind}`, x: left, y: top, width: end - left, height: BAR.height, rx: 3 }),
    ...whisker(one, x, middle),
    draw("text", { class: "number", x: width, y: line, "text-anchor": "end" }, one.number),
    telling(0, place * row, width, row, one.hover ?? `${visible(one.label)}\n${one.number}`));
}

// A name with its end cut off where it has no more room, whatever its letters' widths.
function clipped(label, line, room) {
  const shown = oneLine(label, Math.max(4, Math.floor(room / 6.4)));
  return draw("svg", { x: 0, y: line - 14, width: Math.max(0, room), height: 20 },
    draw("text", { class: "name", x: 0, y: 14 }, shown));
}

function whisker({ low, high }, x, middle) {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [];
  const from = x(Math.max(0, low));
  const to = x(high);
  return [[from, to, middle, middle], [from, from, middle - 5, middle + 5], [to, to, middle - 5, middle + 5]]
    .map(([x1, x2, y1, y2]) => draw("line", { class: "whisker", x1, x2, y1, y2 }));
}

function linked(href, label, ...marks) {
  return href ? draw("a", { href, "aria-label": visible(label) }, ...marks) : draw("g", {}, ...marks);
}

// rows: {label, kind, median, p95, maximum, hover}: a dot at the median, thick to p95, thin to the end.
function spans(label, rows) {
  const most = Math.max(1, ...rows.map((one) => one.maximum));
  return plot(label, (width) => {
    const left = Math.min(230, width * 0.32);
    const x = scale([0, most], [left, width - 8]);
    const bottom = rows.length * BAR.row;
    const wanted = Math.max(2, Math.floor((width - left) / 90));
    const axis = ticks(0, most, wanted).flatMap((at) => [
      draw("line", { class: "grid", x1: x(at), x2: x(at), y1: 0, y2: bottom }),
      draw("text", { x: x(at), y: bottom + 16, "text-anchor": "middle" }, short(at)),
    ]);
    const name = draw("text", { x: (left + width) / 2, y: bottom + 34, "text-anchor": "middle" },
      "tokens of the completion");
    return { height: bottom + 40, marks: [...axis, name, ...rows.map((one, place) =>
      span(one, x, place * BAR.row + BAR.row / 2, left, width))] };
  });
}

function span(one, x, y, left, width) {
  const rest = { y1: y, y2: y };
  return draw("g", {},
    clipped(one.label, y + 4, left - 10),
    draw("line", { ...rest, class: `stroke thin ${one.kind}`, x1: x(one.median), x2: x(one.maximum) }),
    draw("line", { ...rest, class: `stroke thick ${one.kind}`, x1: x(one.median), x2: x(one.p95) }),
    draw("line", { class: `stroke ${one.kind}`, x1: x(one.maximum), x2: x(one.maximum), y1: y - 5, y2: y + 5 }),
    draw("circle", { class: `fill ${one.kind}`, cx: x(one.median), cy: y, r: 5 }),
    telling(0, y - BAR.row / 2, width, BAR.row, one.hover));
}
