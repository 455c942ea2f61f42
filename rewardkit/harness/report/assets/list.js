// The list of samples. Only the rows in sight are elements, however many samples there are. In a narrow window the
// selected sample opens below its row.

const ROW_HEIGHT = 56;
const BAR_HEIGHT = 64;
const ROWS_AROUND = 8;
const narrow = matchMedia("(max-width: 40rem)");
const list = { shown: [], selected: -1, against: -1, order: null, box: null, rows: null, drawn: new Map(), open: -1, room: 0 };

function openList(box, onSelect) {
  list.box = box;
  list.rows = make("div", { role: "presentation" });
  box.append(list.rows);
  addEventListener("scroll", () => requestAnimationFrame(drawRows), { passive: true, capture: true });
  box.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (row) onSelect(Number(row.dataset.sample));
  });
  narrow.addEventListener("change", placeDetail);
  const observer = new ResizeObserver(placeDetail);
  observer.observe(box);
  observer.observe(byId("detail"));
}

function fillList(shown, against, order) {
  Object.assign(list, { shown, against, order, open: -1, room: 0 });
  clearRows();
}

function clearRows() {
  for (const row of list.drawn.values()) row.remove();
  list.drawn.clear();
  drawRows();
}

// The detail below its row in a narrow window, else beside the list.
function placeDetail() {
  const detail = byId("detail");
  const home = narrow.matches ? list.rows : list.box.parentElement.parentElement;
  if (detail.parentElement !== home) home.append(detail);
  list.open = narrow.matches ? list.shown.indexOf(list.selected) : -1;
  detail.hidden = narrow.matches && list.open < 0;
  detail.style.top = narrow.matches ? `${(list.open + 1) * ROW_HEIGHT}px` : "";
  list.room = list.open < 0 ? 0 : detail.offsetHeight;
  for (const [index, row] of list.drawn) row.style.top = `${topOf(index)}px`;
  drawRows();
}

function topOf(index) {
  return index * ROW_HEIGHT + (list.open >= 0 && index > list.open ? list.room : 0);
}

function drawRows() {
  const above = -list.rows.getBoundingClientRect().top;
  const below = above + innerHeight;
  list.rows.style.height = `${list.shown.length * ROW_HEIGHT + list.room}px`;
  const first = Math.max(0, Math.floor((above - list.room) / ROW_HEIGHT) - ROWS_AROUND);
  const last = Math.min(list.shown.length, Math.ceil(below / ROW_HEIGHT) + ROWS_AROUND);
  for (const [index, row] of list.drawn) {
    if (index >= first && index < last) continue;
    row.remove();
    list.drawn.delete(index);
  }
  for (let index = first; index < last; index += 1) {
    if (list.drawn.has(index)) continue;
    const row = listRow(list.shown[index], index);
    list.drawn.set(index, row);
    list.rows.append(row);
  }
}

function outcomeOf(sample) {
  return OUTCOMES[table.outcome[sample]];
}

function listRow(sample, index) {
  const outcome = outcomeOf(sample);
  const answer = table.answer[sample] === null ? "no answer" : oneLine(table.answer[sample], 48);
  const row = make("div", {
    class: `row ${outcome.word}`, role: "option", id: `row-${sample}`, "data-sample": sample,
    "aria-selected": String(sample === list.selected), "aria-setsize": list.shown.length, "aria-posinset": index + 1,
    "aria-label": `${outcome.word}, ${visible(keyOf(sample))}`,
  },
    make("span", { class: "sign", "aria-hidden": "true" }, outcome.sign),
    make("span", { class: "what" }, isolated(answer), make("span", { class: "dim" }, " · ref. "),
      isolated(oneLine(table.reference[sample], 40))),
    make("span", { class: "side" }, lengthText(sample)),
    make("span", { class: "under" }, isolated(oneLine(rowName(sample), 60))),
    make("span", { class: "side" }, sideText(sample)));
  row.style.top = `${topOf(index)}px`;
  return row;
}

function rowName(sample) {
  const run = page.runs.length > 1 ? ` · ${page.runs[table.run[sample]].name}` : "";
  const own = noteOf(sample);
  const noted = own.note || own.tags.length ? [" · ✎", ...own.tags].join(" ") : "";
  return `${keyOf(sample)}${noted}${run}`;
}

// The tokens of a completion, or what the list is sorted by.
function lengthText(sample) {
  const { name, valueOf } = list.order ?? { name: "tokens", valueOf: () => table.tokens[sample] };
  const value = name === "id" ? null : valueOf(sample);
  if (value === null) return "";
  return name === "tokens" ? `${integer(value)} tok` : rounded(value);
}

// The kind of failure; when runs are compared, the outcome in the other run.
function sideText(sample) {
  if (list.against >= 0) {
    const partner = partnerOf(sample, list.against);
    if (partner >= 0) return `→ ${outcomeOf(partner).word}`;
  }
  if (table.truncated[sample]) return "truncated";
  return words(visible(table.failures[table.failure[sample]]));
}

// Marks a sample as selected and scrolls it into sight. In a narrow window its row stays where it is, although the
// sample above it closes.
function markInList(sample) {
  const index = list.shown.indexOf(sample);
  const before = topInWindow(index);
  byId(`row-${list.selected}`)?.setAttribute("aria-selected", "false");
  list.selected = sample;
  placeDetail();
  if (index < 0) return;
  if (narrow.matches) {
    scrollBy(0, topInWindow(index) - before);
    const top = topInWindow(index);
    if (top < BAR_HEIGHT || top + ROW_HEIGHT > innerHeight) scrollBy(0, top - BAR_HEIGHT);
  } else {
    const [top, { scrollTop, clientHeight }] = [topOf(index), list.box];
    if (top < scrollTop) list.box.scrollTop = top;
    else if (top + ROW_HEIGHT > scrollTop + clientHeight) list.box.scrollTop = top + ROW_HEIGHT - clientHeight;
  }
  drawRows();
  byId(`row-${sample}`)?.setAttribute("aria-selected", "true");
  list.box.setAttribute("aria-activedescendant", `row-${sample}`);
}

function topInWindow(index) {
  return list.rows.getBoundingClientRect().top + topOf(index);
}

// The sample that many rows below the selected one, or above for a negative step.
function neighbour(step) {
  if (!list.shown.length) return -1;
  const index = list.shown.indexOf(list.selected);
  if (index < 0) return list.shown[0];
  return list.shown[Math.min(list.shown.length - 1, Math.max(0, index + step))];
}
