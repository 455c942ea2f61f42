// A completion with its answer highlighted, where the answer appears in it letter for letter.

const WORD = /[\p{L}\p{N}]/u;

// The position of the last occurrence of `part` that is not inside a longer word or number, else of
// the last occurrence; -1 if there is none.
function lastPosition(text, part) {
  if (!part) return -1;
  const last = text.lastIndexOf(part);
  for (let at = last, tries = 0; at >= 0 && tries < 1000; tries += 1) {
    if (isWholeWord(text, part, at)) return at;
    at = at > 0 ? text.lastIndexOf(part, at - 1) : -1;
  }
  return last;
}

function isWholeWord(text, part, at) {
  const before = at > 0 && WORD.test(text[at - 1]) && WORD.test(part[0]);
  const after = at + part.length < text.length && WORD.test(text[at + part.length]) && WORD.test(part.at(-1));
  return !before && !after;
}

const LONGEST_SHOWN = 40_000;
const SHOWN_EACH_SIDE = 15_000;

// The completion as elements, and a sentence on the answer and whether it is highlighted. The parts
// of the text that the verdict scores go before the answers.
function highlighted(text, answer, flexible, scored) {
  const spans = [];
  const add = (span) => {
    const isFree = span.from >= 0 && spans.every(({ from, to }) => span.to <= from || to <= span.from);
    if (isFree) spans.push(span);
    return isFree;
  };
  const addAnswer = (part, kind) => {
    const at = lastPosition(text, part);
    return add({ from: at, to: at + (part?.length ?? 0), kind });
  };
  scored.forEach(add);
  const isShown = addAnswer(answer, null);
  if (flexible !== answer) addAnswer(flexible, "flexible");
  spans.sort((left, right) => left.from - right.from);
  const parts = scored.length ? `${plural(scored.length, "part")} scored; ` : "";
  return { body: pieces(text, spans), explanation: parts + explain(isShown, answer) };
}

// The scored parts of a text that begins at `start` of the completion. Scores count characters, as
// Python does; JavaScript counts those beyond the first 65,536 twice.
function scoredParts(completion, start, scores) {
  if (!scores.length) return [];
  const ends = [0];
  for (const character of completion) ends.push(ends.at(-1) + character.length);
  const kinds = (score) => (score === 1 ? "holds" : score === 0 ? "fails" : "partly");
  return scores.map(([from, to, score]) => ({
    from: ends[from] - start, to: ends[to] - start, kind: kinds(score), title: `score ${rounded(score)}`,
  }));
}

function explain(isShown, answer) {
  if (answer === null) return "no answer was read";
  if (answer === "") return "an empty answer was read";
  if (isShown) return "the answer is highlighted";
  return "the answer does not appear here letter for letter, so it is not highlighted";
}

function pieces(text, spans) {
  const elements = [];
  let end = 0;
  for (const { from, to, kind, title = null } of spans) {
    elements.push(...plainPiece(text, end, from));
    elements.push(make("mark", { class: kind, title }, ...plainPiece(text, from, to)));
    end = to;
  }
  return [...elements, ...plainPiece(text, end, text.length)];
}

// A long stretch shows its two ends; a button shows the rest.
function plainPiece(text, from, to) {
  if (to - from <= LONGEST_SHOWN) return [visible(text.slice(from, to))];
  const [start, end] = [from + SHOWN_EACH_SIDE, to - SHOWN_EACH_SIDE];
  const button = make("button", { type: "button" }, `… show ${integer(end - start)} more characters`);
  button.addEventListener("click", () => button.replaceWith(visible(text.slice(start, end))));
  return [visible(text.slice(from, start)), button, visible(text.slice(end, to))];
}
