// Lines over one pair of axes, with bands for intervals. Series differ in colour, dash and mark.

const DASHES = ["", "7 4", "2 4", "9 3 2 3"];
const MARGIN = { left: 52, right: 14, top: 10, bottom: 44 };

// series: {name, points: [{x, y, low, high}]}; `shares` writes y as percent, from 0 to 1 at most.
function lines({ title, xLabel, yLabel, series, shares = false, whole: wholeSteps = false }) {
  const kept = series
    .map(({ name, points }) => ({ name, points: points.filter((one) =>
      Number.isFinite(one.x) && Number.isFinite(one.y)) }))
    .filter(({ points }) => points.length);
  if (!kept.length) return make("p", { class: "dim" }, "Nothing to draw: no point has two numbers.");
  const spans = { x: extent(kept, (one) => [one.x]), y: yExtent(kept, shares) };
  const label = `${visible(title)}: ${visible(yLabel)} over ${visible(xLabel)}`;
  const drawn = plot(label, (width) => chart(kept, spans, { width, xLabel, yLabel, shares, wholeSteps }));
  return make("div", {}, drawn, kept.length > 1 ? legend(kept) : null,
    valuesTable(kept, xLabel, shares));
}

function extent(series, values) {
  let [from, to] = [Infinity, -Infinity];
  for (const { points } of series) {
    for (const point of points) {
      for (const value of values(point)) {
        if (Number.isFinite(value)) [from, to] = [Math.min(from, value), Math.max(to, value)];
      }
    }
  }
  return from === to ? [from - 0.5, to + 0.5] : [from, to];
}

function yExtent(series, shares) {
  const [from, to] = extent(series, (one) => [one.y, one.low, one.high]);
  if (shares) return [Math.min(0, from), to > 0.6 ? Math.max(1, to) : to * 1.1];
  const room = (to - from) * 0.06;
  return [from >= 0 && from < to / 2 ? 0 : from - room, to + room];
}

function chart(series, spans, { width, xLabel, yLabel, shares, wholeSteps }) {
  const height = Math.min(330, Math.max(230, width * 0.46));
  const area = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top,
    bottom: height - MARGIN.bottom };
  const x = scale(spans.x, [area.left + 6, area.right - 6]);
  const y = scale(spans.y, [area.bottom, area.top]);
  const marks = [
    ...axes(spans, { x, y, area, shares, wholeSteps }),
    draw("text", { x: (area.left + area.right) / 2, y: height - 6, "text-anchor": "middle" },
      oneLine(xLabel, Math.floor((area.right - area.left) / 7))),
    draw("text", { x: -(area.top + area.bottom) / 2, y: 12, "text-anchor": "middle", transform: "rotate(-90)" },
      oneLine(yLabel, Math.floor((area.bottom - area.top) / 7))),
    ...series.map(({ points }, place) => band(points, x, y, place)),
    ...series.map(({ points }, place) => line(points, x, y, place)),
    nearest(series, { x, y, area, xLabel, shares }),
  ];
  return { height, marks };
}

function axes(spans, { x, y, area, shares, wholeSteps }) {
  const across = ticks(...spans.x, (area.right - area.left) / 75)
    .filter((at) => !wholeSteps || Number.isInteger(at));
  return [
    ...ticks(...spans.y, (area.bottom - area.top) / 38).flatMap((at) => [
      draw("line", { class: "grid", x1: area.left, x2: area.right, y1: y(at), y2: y(at) }),
      draw("text", { x: area.left - 7, y: y(at) + 4, "text-anchor": "end" },
        shares ? `${short(100 * at)}%` : short(at)),
    ]),
    ...across.flatMap((at) => [
      draw("line", { class: "axis", x1: x(at), x2: x(at), y1: area.bottom, y2: area.bottom + 4 }),
      draw("text", { x: x(at), y: area.bottom + 18, "text-anchor": "middle" }, short(at)),
    ]),
    draw("line", { class: "axis", x1: area.left, x2: area.right, y1: area.bottom, y2: area.bottom }),
  ];
}

function band(points, x, y, place) {
  const known = points.filter((one) => Number.isFinite(one.low) && Number.isFinite(one.high));
  const there = known.map((one) => `${x(one.x)},${y(one.high)}`);
  const back = known.map((one) => `${x(one.x)},${y(one.low)}`).reverse();
  return draw("polygon", { class: `band series-${place % 8}`, points: [...there, ...back].join(" ") });
}

function line(points, x, y, place) {
  const path = points.map((one) => `${x(one.x)},${y(one.y)}`).join(" ");
  const marked = points.length <= 60 ? points : [];
  return draw("g", { class: `series-${place % 8}` },
    draw("polyline", { class: "stroke", points: path, "stroke-dasharray": dashes(place) }),
    ...marked.map((one) => mark(x(one.x), y(one.y), place)));
}

function dashes(place) {
  return DASHES[Math.floor(place / 2) % 4];
}

// A circle, square, triangle or diamond.
function mark(x, y, place) {
  const shapes = [
    `M${x - 4},${y}a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z`,
    `M${x - 3.5},${y - 3.5}h7v7h-7Z`,
    `M${x},${y - 4.6}l4.4,8h-8.8Z`,
    `M${x},${y - 5}l5,5l-5,5l-5,-5Z`,
  ];
  return draw("path", { class: "fill", d: shapes[place % 4] });
}

function nearest(series, { x, y, area, xLabel, shares }) {
  const all = series.flatMap(({ name, points }) => points.map((one) => ({ ...one, name })));
  const show = (event) => {
    const frame = event.target.ownerSVGElement.getBoundingClientRect();
    const [px, py] = [event.clientX - frame.left, event.clientY - frame.top];
    const far = (one) => (x(one.x) - px) ** 2 + (y(one.y) - py) ** 2;
    const near = all.reduce((best, one) => (far(one) < far(best) ? one : best));
    tell(event, `${visible(near.name)}\n${visible(xLabel)} ${short(near.x)}: ${written(near, shares)}`);
  };
  return draw("rect", { class: "hit", x: area.left, y: area.top, width: area.right - area.left,
    height: area.bottom - area.top, onpointermove: show, onpointerleave: hush });
}

function written(point, shares) {
  if (!shares) return short(point.y);
  return Number.isFinite(point.low) ? `${percent(point.y)} (${interval(point)})` : percent(point.y);
}

function legend(series) {
  return make("ul", { class: "legend" }, ...series.map(({ name }, place) => make("li", {},
    draw("svg", { class: `plot series-${place % 8}`, viewBox: "0 0 26 12", "aria-hidden": "true" },
      draw("line", { class: "stroke", x1: 1, x2: 25, y1: 6, y2: 6, "stroke-dasharray": dashes(place) }),
      mark(13, 6, place)), named(name))));
}

const MOST_VALUES = 400;

function valuesTable(series, xLabel, shares) {
  const rows = series.flatMap(({ name, points }) =>
    points.map((one) => [name, short(one.x), written(one, shares)]));
  if (rows.length > MOST_VALUES) return null;
  return make("details", { class: "small" }, make("summary", {}, "Values"),
    plainTable(["series", xLabel, "value"], rows, [1, 2]));
}
