// Line charts with bands for intervals. Series differ in colour, dash and marker.

const DASHES = ["", "7 4", "2 4", "9 3 2 3"];
const MARGIN = { left: 52, right: 14, top: 10, bottom: 44 };

const MOST_MARKED = 20;  // a line with more points has no markers

// series: {name, points: [{x, y, low, high}], colour}; `colour` is a run's number, else each series has its own.
// `shares` writes y in percent, on an axis from 0 to 1. Ticks are at whole numbers of x only, if all points are.
function lineChart({ title, xLabel, yLabel, series, shares = false }) {
  const drawable = series
    .map(({ name, points, colour }, index) => ({ name, colour: (colour ?? index) % 8, points: points.filter(({ x, y }) =>
      Number.isFinite(x) && Number.isFinite(y)) }))
    .filter(({ points }) => points.length);
  if (!drawable.length) return make("p", { class: "dim" }, "Nothing to draw: no point has two numbers.");
  const extents = { x: extent(drawable, ({ x }) => [x]), y: yExtent(drawable, shares) };
  const label = `${visible(title)}: ${visible(yLabel)} over ${visible(xLabel)}`;
  const integers = drawable.every(({ points }) => points.every(({ x }) => Number.isInteger(x)));
  const options = { xLabel, yLabel, shares, integers };
  const drawn = plot(label, (width) => chart(drawable, extents, { width, ...options }));
  return make("div", {}, drawn, drawable.length > 1 ? legend(drawable) : null,
    valuesTable(drawable, xLabel, shares));
}

function extent(series, valuesOf) {
  let [from, to] = [Infinity, -Infinity];
  for (const { points } of series) {
    for (const point of points) {
      for (const value of valuesOf(point)) {
        if (Number.isFinite(value)) [from, to] = [Math.min(from, value), Math.max(to, value)];
      }
    }
  }
  return from === to ? [from - 0.5, to + 0.5] : [from, to];
}

function yExtent(series, shares) {
  if (shares) return [0, 1];
  const [from, to] = extent(series, ({ y, low, high }) => [y, low, high]);
  const room = (to - from) * 0.06;
  return [from >= 0 && from < to / 2 ? 0 : from - room, to + room];
}

function chart(series, extents, { width, xLabel, yLabel, shares, integers }) {
  const height = Math.min(330, Math.max(170, width * 0.46));
  const labels = yTicks(extents, height - MARGIN.bottom - MARGIN.top).map((value) => tickText(value, shares));
  const left = Math.max(MARGIN.left, 26 + 6.6 * Math.max(...labels.map(({ length }) => length)));
  const area = { left, right: width - MARGIN.right, top: MARGIN.top,
    bottom: height - MARGIN.bottom };
  const x = scale(extents.x, [area.left + 6, area.right - 6]);
  const y = scale(extents.y, [area.bottom, area.top]);
  const shapes = [
    ...axes(extents, { x, y, area, shares, integers }),
    draw("text", { x: (area.left + area.right) / 2, y: height - 6, "text-anchor": "middle" },
      oneLine(xLabel, Math.floor((area.right - area.left) / 7))),
    draw("text", { x: -(area.top + area.bottom) / 2, y: 12, "text-anchor": "middle", transform: "rotate(-90)" },
      oneLine(yLabel, Math.floor((area.bottom - area.top) / 7))),
    ...series.map(({ points, colour }) => band(points, x, y, colour)),
    ...series.map(({ points, colour }, index) => line(points, x, y, colour, index)),
    nearestPoint(series, { x, y, area, xLabel, shares }),
  ];
  return { height, shapes };
}

function yTicks(extents, height) {
  return ticks(...extents.y, height / 38);
}

function tickText(value, shares) {
  return shares ? `${rounded(100 * value)}%` : rounded(value);
}

function axes(extents, { x, y, area, shares, integers }) {
  const xTicks = ticks(...extents.x, (area.right - area.left) / 75)
    .filter((value) => !integers || Number.isInteger(value));
  return [
    ...yTicks(extents, area.bottom - area.top).flatMap((value) => [
      draw("line", { class: "grid", x1: area.left, x2: area.right, y1: y(value), y2: y(value) }),
      draw("text", { x: area.left - 7, y: y(value) + 4, "text-anchor": "end" },
        tickText(value, shares)),
    ]),
    ...xTicks.flatMap((value) => [
      draw("line", { class: "axis", x1: x(value), x2: x(value), y1: area.bottom, y2: area.bottom + 4 }),
      draw("text", { x: x(value), y: area.bottom + 18, "text-anchor": "middle" }, rounded(value)),
    ]),
    draw("line", { class: "axis", x1: area.left, x2: area.right, y1: area.bottom, y2: area.bottom }),
  ];
}

function band(points, x, y, colour) {
  const bounded = points.filter(({ low, high }) => Number.isFinite(low) && Number.isFinite(high));
  const upper = bounded.map((point) => `${x(point.x)},${y(point.high)}`);
  const lower = bounded.map((point) => `${x(point.x)},${y(point.low)}`).reverse();
  return draw("polygon", { class: `band series-${colour}`, points: [...upper, ...lower].join(" ") });
}

function line(points, x, y, colour, index) {
  const path = points.map((point) => `${x(point.x)},${y(point.y)}`).join(" ");
  const markers = points.length <= MOST_MARKED ? points : [];
  return draw("g", { class: `series-${colour}` },
    draw("polyline", { class: "stroke", points: path, "stroke-dasharray": dashes(index) }),
    ...markers.map((point) => marker(x(point.x), y(point.y), index)));
}

function dashes(index) {
  return DASHES[(Math.floor(index / 2) + Math.floor(index / 8)) % 4];  // with the colour, 32 are different
}

// A circle, square, triangle or diamond.
function marker(x, y, index) {
  const paths = [
    `M${x - 4},${y}a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z`,
    `M${x - 3.5},${y - 3.5}h7v7h-7Z`,
    `M${x},${y - 4.6}l4.4,8h-8.8Z`,
    `M${x},${y - 5}l5,5l-5,5l-5,-5Z`,
  ];
  return draw("path", { class: "fill", d: paths[index % 4] });
}

// An area over the chart that shows the values of the point nearest to the pointer.
function nearestPoint(series, { x, y, area, xLabel, shares }) {
  const points = series.flatMap(({ name, points: own }) => own.map((point) => ({ ...point, name })));
  const show = (event) => {
    const frame = event.target.ownerSVGElement.getBoundingClientRect();
    const [pointerX, pointerY] = [event.clientX - frame.left, event.clientY - frame.top];
    const distance = (point) => (x(point.x) - pointerX) ** 2 + (y(point.y) - pointerY) ** 2;
    const nearest = points.reduce((best, point) => (distance(point) < distance(best) ? point : best));
    showHover(event,
      `${visible(nearest.name)}\n${visible(xLabel)} ${rounded(nearest.x)}: ${valueText(nearest, shares)}`);
  };
  return draw("rect", { class: "hit", x: area.left, y: area.top, width: area.right - area.left,
    height: area.bottom - area.top, onpointermove: show, onpointerleave: hideHover });
}

function valueText(point, shares) {
  const bounded = Number.isFinite(point.low) && Number.isFinite(point.high);
  if (!shares) return rounded(point.y) + (bounded ? ` (${bounds(point)})` : "");
  return bounded ? `${percent(point.y)} (${interval(point)})` : percent(point.y);
}

function legend(series) {
  return make("ul", { class: "legend" }, ...series.map(({ name, colour }, index) => make("li", {},
    draw("svg", { class: `plot series-${colour}`, viewBox: "0 0 26 12", "aria-hidden": "true" },
      draw("line", { class: "stroke", x1: 1, x2: 25, y1: 6, y2: 6, "stroke-dasharray": dashes(index) }),
      marker(13, 6, index)), isolated(name))));
}

const MOST_VALUES = 400;

function valuesTable(series, xLabel, shares) {
  const rows = series.flatMap(({ name, points }) =>
    points.map((point) => [name, rounded(point.x), valueText(point, shares)]));
  if (rows.length > MOST_VALUES) return null;
  return make("details", { class: "small" }, make("summary", {}, "Values"),
    plainTable(["series", xLabel, "value"], rows, [1, 2]));
}
