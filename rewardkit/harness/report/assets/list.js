// The list of samples. Only the rows in sight are elements, however many samples there are.

const ROW_HEIGHT = 56;
const ROWS_AROUND = 8;
const list = { shown: [], selected: -1, against: -1, box: null, rows: null, drawn: new Map() };

function openList(box, onSelect) {
  list.box = box;
  list.rows = make("div", { role: "presentation" });
  box.append(list.rows);
  box.addEventListener("scroll", () => requestAnimationFrame(drawRows), { passive: true });
  box.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (row) onSelect(Number(row.dataset.sample));
  });
  new ResizeObserver(drawRows).observe(box);
}

function fillList(shown, against) {
  list.shown = shown;
  list.against = against;
  list.rows.style.height = `${shown.length * ROW_HEIGHT}px`;
  list.rows.replaceChildren();
  list.drawn.clear();
  if (!shown.length) list.rows.append(make("p", { class: "empty" }, "No sample matches these filters."));
  drawRows();
}

function drawRows() {
  const { scrollTop, clientHeight } = list.box;
  const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - ROWS_AROUND);
  const last = Math.min(list.shown.length, Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT) + ROWS_AROUND);
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
  row.style.top = `${index * ROW_HEIGHT}px`;
  return row;
}

function rowName(sample) {
  const run = page.runs.length > 1 ? ` · ${page.runs[table.run[sample]].name}` : "";
  const own = noteOf(sample);
  const noted = own.note || own.tags.length ? [" · ✎", ...own.tags].join(" ") : "";
  return `${keyOf(sample)}${noted}${run}`;
}

function lengthText(sample) {
  const length = table.tokens[sample] === null ? "" : `${integer(table.tokens[sample])} tok`;
  return [advantageText(sample), length].filter(Boolean).join(" · ");
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

// Marks a sample as selected and scrolls it into sight.
function markInList(sample) {
  const before = byId(`row-${list.selected}`);
  if (before) before.setAttribute("aria-selected", "false");
  list.selected = sample;
  const index = list.shown.indexOf(sample);
  if (index < 0) return;
  const top = index * ROW_HEIGHT;
  const { scrollTop, clientHeight } = list.box;
  if (top < scrollTop) list.box.scrollTop = top;
  else if (top + ROW_HEIGHT > scrollTop + clientHeight) list.box.scrollTop = top + ROW_HEIGHT - clientHeight;
  drawRows();
  byId(`row-${sample}`)?.setAttribute("aria-selected", "true");
  list.box.setAttribute("aria-activedescendant", `row-${sample}`);
}

// The sample that many rows below the selected one, or above for a negative step.
function neighbour(step) {
  if (!list.shown.length) return -1;
  const index = list.shown.indexOf(list.selected);
  if (index < 0) return list.shown[0];
  return list.shown[Math.min(list.shown.length - 1, Math.max(0, index + step))];
}
