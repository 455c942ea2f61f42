// A completion with the part that was read marked in it, where that can be found.

const WORD = /[\p{L}\p{N}]/u;

// The place of the last occurrence of `part` that isn't inside a longer word or number, or else of
// the last at all; -1 where there is none.
function lastPlace(text, part) {
  if (!part) return -1;
  const last = text.lastIndexOf(part);
  for (let at = last, tries = 0; at >= 0 && tries < 1000; tries += 1) {
    if (standsAlone(text, part, at)) return at;
    at = at > 0 ? text.lastIndexOf(part, at - 1) : -1;
  }
  return last;
}

function standsAlone(text, part, at) {
  const before = at > 0 && WORD.test(text[at - 1]) && WORD.test(part[0]);
  const after = at + part.length < text.length && WORD.test(text[at + part.length]) && WORD.test(part.at(-1));
  return !before && !after;
}

const LONGEST_SHOWN = 40_000;
const SHOWN_EACH_SIDE = 15_000;

// The completion as elements, and a sentence on what was read and whether it is marked.
function marked(text, answer, flexible) {
  const at = lastPlace(text, answer);
  const forgiven = flexible === answer ? -1 : lastPlace(text, flexible);
  const marks = [];
  if (at >= 0) marks.push({ from: at, to: at + answer.length, kind: null });
  if (forgiven >= 0 && !(at >= 0 && forgiven < at + answer.length && forgiven + flexible.length > at)) {
    marks.push({ from: forgiven, to: forgiven + flexible.length, kind: "flexible" });
  }
  marks.sort((one, other) => one.from - other.from);
  return { body: pieces(text, marks), said: readingWords(at, answer) };
}

function readingWords(at, answer) {
  if (answer === null) return "nothing was read";
  if (answer === "") return "an empty answer was read";
  if (at >= 0) return "the part that was read is marked";
  return "what was read does not stand in it letter for letter, so nothing is marked";
}

function pieces(text, marks) {
  const found = [];
  let at = 0;
  for (const { from, to, kind } of marks) {
    found.push(...plainPiece(text, at, from));
    found.push(make("mark", { class: kind }, ...plainPiece(text, from, to)));
    at = to;
  }
  return [...found, ...plainPiece(text, at, text.length)];
}

// A long stretch is shown by its ends; a button puts the rest in.
function plainPiece(text, from, to) {
  if (to - from <= LONGEST_SHOWN) return [visible(text.slice(from, to))];
  const [start, end] = [from + SHOWN_EACH_SIDE, to - SHOWN_EACH_SIDE];
  const button = make("button", { type: "button" },
    `… ${whole(end - start)} characters are left out; show them`);
  button.addEventListener("click", () => button.replaceWith(visible(text.slice(start, end))));
  return [visible(text.slice(from, start)), button, visible(text.slice(end, to))];
}
