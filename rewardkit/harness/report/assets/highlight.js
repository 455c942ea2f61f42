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

// The completion as elements, and a sentence on the answer and whether it is highlighted.
function highlighted(text, answer, flexible) {
  const strictAt = lastPosition(text, answer);
  const flexibleAt = flexible === answer ? -1 : lastPosition(text, flexible);
  const spans = [];
  if (strictAt >= 0) spans.push({ from: strictAt, to: strictAt + answer.length, kind: null });
  const overlaps = strictAt >= 0 && flexibleAt < strictAt + answer.length
    && flexibleAt + (flexible?.length ?? 0) > strictAt;
  if (flexibleAt >= 0 && !overlaps) {
    spans.push({ from: flexibleAt, to: flexibleAt + flexible.length, kind: "flexible" });
  }
  spans.sort((left, right) => left.from - right.from);
  return { body: pieces(text, spans), explanation: explain(strictAt, answer) };
}

function explain(at, answer) {
  if (answer === null) return "no answer was read";
  if (answer === "") return "an empty answer was read";
  if (at >= 0) return "the answer is highlighted";
  return "the answer does not appear here letter for letter, so nothing is highlighted";
}

function pieces(text, spans) {
  const elements = [];
  let end = 0;
  for (const { from, to, kind } of spans) {
    elements.push(...plainPiece(text, end, from));
    elements.push(make("mark", { class: kind }, ...plainPiece(text, from, to)));
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
