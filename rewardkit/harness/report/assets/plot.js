// What every plot needs: a width to draw at, scales, round ticks, a box with the values under the pointer.

// A plot that is redrawn whenever its width changes. `drawAt` returns its height and its shapes.
function plot(label, drawAt) {
  const holder = make("div", { class: "plot-holder" });
  let drawnWidth = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry.contentRect.width);
    if (width < 40 || width === drawnWidth) return;
    drawnWidth = width;
    const { height, shapes } = drawAt(width);
    holder.replaceChildren(draw("svg", {
      class: "plot", viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
      "aria-label": label,
    }, ...shapes));
  }).observe(holder);
  return holder;
}

function scale([from, to], [start, end]) {
  const span = to - from || 1;
  return (value) => start + ((value - from) / span) * (end - start);
}

// About `count` round numbers between `from` and `to`.
function ticks(from, to, count) {
  const raw = (to - from || 1) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((digit) => digit * power).find((size) => size >= raw * 0.999);
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  // multiples of the step: adding steps up would give -1.388e-17 for 0
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)) || 0);
}

const hoverBox = make("div", { class: "hover", hidden: true, "aria-hidden": "true" });

function showHover(event, text) {
  if (!hoverBox.isConnected) document.body.append(hoverBox);
  hoverBox.textContent = text;
  hoverBox.hidden = false;
  const { width, height } = hoverBox.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, document.documentElement.clientWidth - width - 8);
  const above = event.clientY - height - 12;
  hoverBox.style.left = `${Math.max(8, left)}px`;
  hoverBox.style.top = `${above > 4 ? above : event.clientY + 18}px`;
}

function hideHover() {
  hoverBox.hidden = true;
}

// A transparent area that shows `text` while the pointer is over it.
function hoverArea(x, y, width, height, text) {
  return draw("rect", {
    class: "hit", x, y, width: Math.max(0, width), height,
    onpointermove: (event) => showHover(event, text), onpointerleave: hideHover,
  });
}
