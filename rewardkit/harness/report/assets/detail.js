// One sample in full: prompt, completion, answer and verdict; beside another run's where one is selected.

let detailRequests = 0;

async function showDetail(sample, against) {
  const request = (detailRequests += 1);
  const pane = byId("detail");
  if (sample < 0) {
    pane.replaceChildren(make("p", { class: "empty" }, emptyText(readAddress().query.get("sample"))));
    return;
  }
  const partner = against >= 0 ? partnerOf(sample, against) : -1;
  const samples = partner >= 0 && partner !== sample ? [sample, partner] : [sample];
  const texts = await Promise.all(samples.map(textOf));
  if (request !== detailRequests) return;  // another sample was selected meanwhile
  pane.replaceChildren(detailHeader(sample), ...samples.map(noteBlock).filter(Boolean), ...referenceWarning(texts),
    ...promptBlocks(texts),
    make("div", { class: "sides" }, ...samples.map((one, index) => sideOf(one, texts[index]))),
    ...dataBlock(sample), ...siblingsBlock(sample));
  pane.scrollTop = 0;
}

function emptyText(key) {
  if (!key) return "No sample matches these filters.";
  const hint = page.leftOut ? "; it may be one of those that are only in the files of the run" : "";
  return `This page has no sample ${oneLine(key, 80)}${hint}.`;
}

function detailHeader(sample) {
  return make("header", {}, make("h2", {}, isolated(keyOf(sample))),
    make("button", { type: "button", onclick: () => moveSelection(-1), "aria-label": "Previous sample" }, "↑", make("kbd", {}, "k")),
    make("button", { type: "button", onclick: () => moveSelection(1), "aria-label": "Next sample" }, "↓", make("kbd", {}, "j")),
    copyButton("Copy link", () => location.href, null));
}

function referenceWarning(texts) {
  if (texts.length < 2 || texts[0].reference === texts[1].reference) return [];
  return [make("p", { class: "warning" },
    "The references differ: the two runs have different problems under this id.")];
}

const PLAIN_FAILURES = ["", "wrong", "error"];  // these say no more than the outcome does

function sideOf(sample, text) {
  const { thinking, answer } = parted(text);
  const scored = scoredParts(text.completion, text.completion.length - answer.length, text.spans);
  const { body, explanation } = highlighted(answer, text.answer, text.flexible, scored);
  const drawn = scored.length ? null : typesetOrNull(answer);
  const outcome = outcomeOf(sample);
  const failure = table.failures[table.failure[sample]];
  return make("article", { class: "side-run" },
    make("h3", {}, badge(outcome),
      PLAIN_FAILURES.includes(failure) ? null : badge(outcome, words(failure)),
      table.truncated[sample] && failure !== "truncated" ? badge(TRUNCATED) : null,
      page.runs.length > 1 ? isolated(page.runs[table.run[sample]].name) : null),
    answers(sample, text), make("p", { class: "facts" }, facts(sample, text)),
    ...messageBlocks(text.message),
    rewardsBlock(sample),
    thinkingBlock(thinking, text.thinkingTokens),
    text.toolCalls.length ? block("Tool calls", null, make("pre", {}, ...pieces(text.toolCalls.join("\n"), []))) : null,
    block("Completion", drawn ? "m shows it as written" : explanation, drawn ?? make("pre", {}, ...(answer ? body : ["(empty)"]))));
}

// The text with its Markdown and LaTeX drawn; null where the reader wants it as it is, or it can't be drawn.
function typesetOrNull(text) {
  return text && isTypeset() ? typeset(text) : null;
}

// The thinking of a completion, which may be a field of its own or end with the last closing tag, and the rest.
function parted({ completion, reasoning }) {
  if (reasoning) return { thinking: reasoning, answer: completion };
  const end = completion.lastIndexOf("</think");
  const after = end < 0 ? 0 : completion.indexOf(">", end) + 1 || completion.length;
  return { thinking: completion.slice(0, after), answer: completion.slice(after) };
}

function thinkingBlock(thinking, tokens) {
  if (!thinking) return null;
  const title = tokens === null ? "Thinking" : `Thinking, ${plural(tokens, "token")}`;
  return make("details", { class: "block" }, make("summary", {}, title),
    typesetOrNull(thinking) ?? make("pre", {}, ...pieces(thinking, [])));
}

function answers(sample, text) {
  const cells = [["answer", text.answer], ["reference", text.reference]];
  if (table.flexible[sample] < 3) {
    cells.push([`flexible reading: ${OUTCOMES[table.flexible[sample]].word}`, text.flexible]);
  }
  return make("dl", { class: "answers" }, ...cells.map(([name, value]) =>
    make("div", {}, make("dt", {}, name), answerCell(value))));
}

function answerCell(value) {
  if (value === null) return make("dd", { class: "none" }, "none");
  return make("dd", {}, ...(value === "" ? ["(empty)"] : pieces(value, [])));
}

// A message; lines of the form "expected  7" after its first one are cells beside each other.
function messageBlocks(message) {
  if (!message) return [];
  const [first, ...lines] = message.split("\n");
  const cells = lines.map((line) => line.match(/^(\S+) {2,}(.*)$/));
  if (!cells.length || !cells.every(Boolean)) return [make("p", { class: "facts" }, ...pieces(message, []))];
  return [make("p", { class: "facts" }, ...pieces(first, [])),
    make("dl", { class: "answers" }, ...cells.map(([, name, value]) =>
      make("div", {}, make("dt", {}, name), answerCell(value.replaceAll("⏎", "\n")))))];
}

function facts(sample, text) {
  const finish = table.finishes[table.finish[sample]];
  return [
    ...["score", "advantage"].map((name) => (table[name][sample] === null ? null : `${name} ${rounded(table[name][sample])}`)),
    table.tokens[sample] === null ? null : plural(table.tokens[sample], "token"),
    text.promptTokens === null ? null : `${integer(text.promptTokens)} in the prompt`,
    text.promptEnds ? `prompt's token ids ${text.promptEnds[0].join(" ")} … ${text.promptEnds[1].join(" ")}` : null,
    text.thinkingTokens === null ? null : `${integer(text.thinkingTokens)} of them in thinking`,
    finish === "length" ? "ended at the token limit" : finish && `finish reason ${visible(finish)}`,
  ].filter(Boolean).join(" · ");
}

// The columns of the data.
function dataBlock(sample) {
  const own = table.columns.filter(([, , of]) => of[sample] >= 0);
  if (!own.length) return [];
  return [make("details", { class: "block" }, make("summary", {}, "Data"),
    plainTable(["column", "value"], own.map(([name, values, of]) => [name, values[of[sample]]])))];
}

function rewardsBlock(sample) {
  const own = table.rewards.filter(([, values]) => values[sample] !== null);
  if (!own.length) return null;
  return make("div", { class: "parts" }, ...own.flatMap(([name, { [sample]: value }]) => [isolated(rewardWords(name)),
    make("progress", { value: Math.max(0, Math.min(1, value)), "aria-label": visible(rewardWords(name)) }), make("span", {}, rounded(value))]));
}

function block(title, remark, ...children) {
  const beside = remark ? make("span", { class: "dim" }, remark) : null;
  return make("section", { class: "block" }, make("h4", {}, title, beside), ...children);
}

// One prompt where both runs used the same, or one for each run.
function promptBlocks(texts) {
  const prompts = [...new Set(texts.map(({ prompt }) => prompt))];
  return prompts.map((prompt, index) => block(prompts.length > 1 ? `Prompt of run ${index + 1}` : "Prompt",
    prompt ? null : "not recorded", prompt ? promptText(prompt) : null));
}

function promptText(prompt) {
  const turns = turnsOf(prompt).flatMap(([role, text]) => [role && make("h5", {}, isolated(role)),
    typesetOrNull(text) ?? make("pre", {}, ...pieces(text, []))]);
  return make("div", { class: "prompt", tabindex: "0" }, ...turns.filter(Boolean));
}

// The tools and turns of a prompt that is the JSON of a conversation, as [role, text]; else its text without a role.
function turnsOf(prompt) {
  try {
    const sent = /^[[{]/.test(prompt) ? JSON.parse(prompt) : null;
    const messages = sent?.messages ?? sent;
    if (messages.length && messages.every(({ role }) => typeof role === "string")) {
      const tools = sent.tools?.length ? [["tools", JSON.stringify(sent.tools, null, 1)]] : [];
      return [...tools, ...messages.map(({ role, ...turn }) => [role, contentOf(turn)])];
    }
  } catch {
    // no conversation
  }
  return [[null, prompt]];
}

// A turn's text, then its other fields, such as calls of tools.
function contentOf({ content, ...others }) {
  const rest = Object.entries(others).filter(([, value]) => value !== null).map(([name, value]) =>
    `${name}: ${typeof value === "string" ? value : JSON.stringify(value, null, 1)}`);
  const text = Array.isArray(content) ? content.map((part) => part?.text ?? JSON.stringify(part)).join("") : content;
  return [text, ...rest].filter(Boolean).join("\n");
}

const MOST_SIBLINGS = 64;

function siblingsBlock(sample) {
  const siblings = [];
  for (let other = 0; other < table.count && siblings.length <= MOST_SIBLINGS; other += 1) {
    if (table.problem[other] === table.problem[sample]) siblings.push(other);
  }
  if (siblings.length < 2) return [];
  const button = (other) => make("button", { type: "button", "aria-current": other === sample ? "true" : null,
    class: outcomeOf(other).word, onclick: () => selectSample(other) },
    make("span", { class: "sign", "aria-hidden": "true" }, outcomeOf(other).sign),
    make("span", {}, `${outcomeOf(other).word} · ${table.index[other]}`),
    page.runs.length > 1 ? isolated(page.runs[table.run[other]].name) : null);
  return [block("Samples of this problem", siblings.length > MOST_SIBLINGS ? `the first ${MOST_SIBLINGS}` : null,
    make("div", { class: "others" }, ...siblings.slice(0, MOST_SIBLINGS).map(button)))];
}
