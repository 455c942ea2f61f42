// What every plot needs: a width to draw at, scales, round ticks, a box that tells values.

// A plot that is drawn again whenever its width changes.
function plot(label, drawAt) {
  const holder = make("div", { class: "plot-holder" });
  let drawn = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry.contentRect.width);
    if (width < 40 || width === drawn) return;
    drawn = width;
    const { height, marks } = drawAt(width);
    holder.replaceChildren(draw("svg", {
      class: "plot", viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
      "aria-label": label,
    }, ...marks));
  }).observe(holder);
  return holder;
}

function scale([from, to], [start, end]) {
  const span = to - from || 1;
  return (value) => start + ((value - from) / span) * (end - start);
}

function ticks(from, to, wanted) {
  const raw = (to - from || 1) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= raw * 0.999);
  const found = [];
  for (let at = Math.ceil(from / step - 1e-9) * step; at <= to + step * 1e-9; at += step) {
    found.push(Number(at.toPrecision(12)));
  }
  return found;
}

const box = make("div", { class: "hover", hidden: true, "aria-hidden": "true" });

function tell(event, text) {
  if (!box.isConnected) document.body.append(box);
  box.textContent = text;
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, document.documentElement.clientWidth - width - 8);
  const above = event.clientY - height - 12;
  box.style.left = `${Math.max(8, left)}px`;
  box.style.top = `${above > 4 ? above : event.clientY + 18}px`;
}

function hush() {
  box.hidden = true;
}

// A transparent area that tells `text` while the pointer is over it.
function telling(x, y, width, height, text) {
  return draw("rect", {
    class: "hit", x, y, width: Math.max(0, width), height,
    onpointermove: (event) => tell(event, text), onpointerleave: hush,
  });
}
