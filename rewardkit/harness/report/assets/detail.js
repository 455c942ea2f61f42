// One sample, whole: what was asked, said, read and judged; beside another run's where one is chosen.

let detailFor = 0;

async function showDetail(sample, against) {
  const turn = (detailFor += 1);
  const pane = byId("detail");
  if (sample < 0) {
    pane.replaceChildren(make("p", { class: "empty" }, emptyWords(place().chosen.get("sample"))));
    return;
  }
  const partner = against >= 0 ? partnerOf(sample, against) : -1;
  const chosen = partner >= 0 && partner !== sample ? [sample, partner] : [sample];
  const read = await Promise.all(chosen.map(textOf));
  if (turn !== detailFor) return;  // another was chosen meanwhile
  pane.replaceChildren(detailHeader(sample), ...differing(read),
    make("div", { class: "sides" }, ...chosen.map((one, place) => oneSide(one, read[place]))),
    ...promptBlocks(read), ...othersBlocks(sample));
  pane.scrollTop = 0;
}

function emptyWords(key) {
  if (!key) return "No sample is chosen.";
  const perhaps = page.leftOut ? "; it may be one of those that are only in samples.jsonl" : "";
  return `This page holds no sample ${oneLine(key, 80)}${perhaps}.`;
}

function detailHeader(sample) {
  return make("header", {}, make("h2", {}, named(keyOf(sample))),
    make("button", { type: "button", onclick: () => stepTo(-1), "aria-label": "Previous sample" }, "↑"),
    make("button", { type: "button", onclick: () => stepTo(1), "aria-label": "Next sample" }, "↓"),
    copying("Copy link", () => location.href, null));
}

function differing(read) {
  if (read.length < 2 || read[0].reference === read[1].reference) return [];
  return [make("p", { class: "warning" },
    "The references differ: under this id the two runs asked different problems.")];
}

const OUTCOMES_TOO = ["", "wrong", "error"];  // failures that say no more than the outcome does

function oneSide(sample, text) {
  const { body, said } = marked(text.completion, text.answer, text.flexible);
  const outcome = outcomeOf(sample);
  const failure = table.failures[table.failure[sample]];
  return make("article", { class: "side-run" },
    make("h3", {}, badge(outcome),
      OUTCOMES_TOO.includes(failure) ? null : badge(outcome, spaced(failure)),
      table.truncated[sample] && failure !== "truncated" ? badge(TRUNCATED) : null,
      page.runs.length > 1 ? named(page.runs[table.run[sample]].name) : null),
    answers(sample, text), make("p", { class: "facts" }, facts(sample, text)),
    text.message ? make("p", { class: "facts" }, ...pieces(text.message, [])) : null,
    partsBlock(text.parts),
    block("Completion", said, make("pre", {}, ...(text.completion ? body : ["(empty)"]))));
}

function answers(sample, text) {
  const told = [["read", text.answer], ["reference", text.reference]];
  if (table.flexible[sample] < 3) {
    told.push([`flexible reading: ${OUTCOMES[table.flexible[sample]].word}`, text.flexible]);
  }
  return make("dl", { class: "answers" }, ...told.map(([name, value]) =>
    make("div", {}, make("dt", {}, name), answerCell(value))));
}

function answerCell(value) {
  if (value === null) return make("dd", { class: "none" }, "nothing");
  return make("dd", {}, ...(value === "" ? ["(empty)"] : pieces(value, [])));
}

function facts(sample, text) {
  const finish = table.finishes[table.finish[sample]];
  return [
    text.score === null ? null : `score ${short(text.score)}`,
    table.tokens[sample] === null ? null : many(table.tokens[sample], "token"),
    text.promptTokens === null ? null : `${whole(text.promptTokens)} in the prompt`,
    finish === "length" ? "ended at the token limit" : `finish reason ${visible(finish)}`,
    ...table.groups[sample].map((group) => table.groupNames[group].map(visible).join(" ")),
  ].filter((one) => one !== null).join(" · ");
}

function partsBlock(parts) {
  if (!parts.length) return null;
  return make("div", { class: "parts" }, ...parts.flatMap(([name, score]) => [named(name),
    make("meter", { min: 0, max: 1, value: score, "aria-label": visible(name) }),
    make("span", {}, short(score))]));
}

function block(title, said, ...children) {
  const beside = said ? make("span", { class: "dim" }, said) : null;
  return make("section", { class: "block" }, make("h4", {}, title, beside), ...children);
}

// One prompt where the runs asked alike, or one for each.
function promptBlocks(read) {
  const prompts = [...new Set(read.map(({ prompt }) => prompt))];
  return prompts.map((prompt, place) => block(prompts.length > 1 ? `Prompt of run ${place + 1}` : "Prompt",
    prompt ? null : "none is recorded", prompt ? make("pre", {}, ...pieces(prompt, [])) : null));
}

const MOST_OTHERS = 64;

function othersBlocks(sample) {
  const same = [];
  for (let other = 0; other < table.count && same.length <= MOST_OTHERS; other += 1) {
    if (table.problem[other] === table.problem[sample]) same.push(other);
  }
  if (same.length < 2) return [];
  const button = (other) => make("button", { type: "button", "aria-current": other === sample ? "true" : null,
    class: outcomeOf(other).word, onclick: () => pick(other) },
    make("span", { class: "sign", "aria-hidden": "true" }, outcomeOf(other).sign),
    make("span", {}, `${outcomeOf(other).word} · ${table.index[other]}`),
    page.runs.length > 1 ? named(page.runs[table.run[other]].name) : null);
  return [block("Samples of this problem", same.length > MOST_OTHERS ? `the first ${MOST_OTHERS}` : null,
    make("div", { class: "others" }, ...same.slice(0, MOST_OTHERS).map(button)))];
}
