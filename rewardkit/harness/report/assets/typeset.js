// Markdown and LaTeX as elements. markdown-it splits a text into tokens, which become elements here, and
// KaTeX draws the formulas: neither turns a text into HTML, so a text can bring no element of its own.

const LONGEST_TYPESET = 40_000;
const MOST_FORMULAS = 300;   // more are shown as they are written
const LONGEST_FORMULA = 5_000;
const LONGEST_AFTER_DOLLAR = 1_000;

const canTypeset = typeof globalThis.markdownit === "function";
let parser = null;

// The text as an element, or null where it is too long or too deeply nested.
function typeset(text) {
  if (!canTypeset || text.length > LONGEST_TYPESET) return null;
  try {
    parser ??= markdownParser();
    const counts = { formulas: 0 };
    return make("div", { class: "typeset" }, ...elementsOf(parser.parse(visible(text), {}), counts));
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function markdownParser() {
  const made = globalThis.markdownit({ html: false, linkify: false, breaks: true });
  made.inline.ruler.before("escape", "formula", inlineFormula);
  made.block.ruler.before("fence", "formula", blockFormula,
    { alt: ["paragraph", "reference", "blockquote", "list"] });
  return made;
}

function inlineFormula(state, silent) {
  const formula = formulaAt(state.src, state.pos);
  if (formula === null) return false;
  if (!silent) Object.assign(state.push("formula", "", 0), formula);
  state.pos = formula.end;
  return true;
}

// A formula that takes whole lines, so that no line of it is read as a list or a heading.
function blockFormula(state, startLine, endLine, silent) {
  const start = state.bMarks[startLine] + state.tShift[startLine];
  const formula = formulaAt(state.src, start);
  if (formula === null || !formula.display) return false;
  let line = startLine;
  while (line < endLine && state.eMarks[line] < formula.end) line += 1;
  if (line === endLine || state.src.slice(formula.end, state.eMarks[line]).trim()) return false;
  if (!silent) {
    Object.assign(state.push("formula", "", 0), formula);
    state.line = line + 1;
  }
  return true;
}

// The formula that begins at this position, as {content, display, end}; null if none does.
function formulaAt(text, at) {
  if (text[at] === "$") {
    return text[at + 1] === "$" ? between(text, at, "$$", "$$", true) : afterDollar(text, at);
  }
  if (text[at] !== "\\") return null;
  return between(text, at, "\\(", "\\)", false) ?? between(text, at, "\\[", "\\]", true)
    ?? environmentAt(text, at) ?? boxAt(text, at);
}

function between(text, at, opening, closing, display) {
  if (!text.startsWith(opening, at)) return null;
  const from = at + opening.length;
  const to = text.slice(from, from + LONGEST_FORMULA).indexOf(closing);
  if (to < 1) return null;
  return { content: text.slice(from, from + to), display, end: from + to + closing.length };
}

// $x$: no space inside the dollars and no digit after them, or it is a price.
function afterDollar(text, at) {
  const [, content] = /^\$([^\s$](?:[^$\n]*[^\s$\\])?)\$(?!\d)/.exec(text.slice(at, at + LONGEST_AFTER_DOLLAR)) ?? [];
  return content === undefined ? null : { content, display: false, end: at + content.length + 2 };
}

function environmentAt(text, at) {
  const [opening, name] = /^\\begin\{([a-zA-Z]+\*?)\}/.exec(text.slice(at, at + 40)) ?? [];
  const formula = opening === undefined ? null : between(text, at, opening, `\\end{${name}}`, true);
  return formula && { ...formula, content: text.slice(at, formula.end) };
}

// \boxed{…} that stands alone in a sentence.
function boxAt(text, at) {
  if (!text.startsWith("\\boxed{", at)) return null;
  let depth = 0;
  for (let end = at + 6; end < Math.min(text.length, at + LONGEST_AFTER_DOLLAR); end += 1) {
    if (text[end] === "\\") end += 1;
    else if (text[end] === "{") depth += 1;
    else if (text[end] === "}" && (depth -= 1) === 0) {
      return { content: text.slice(at, end + 1), display: false, end: end + 1 };
    }
  }
  return null;
}

const TAGS = {
  paragraph_open: "p", heading_open: "h5", blockquote_open: "blockquote", strong_open: "strong", em_open: "em",
  s_open: "s", bullet_list_open: "ul", ordered_list_open: "ol", list_item_open: "li", table_open: "table",
  thead_open: "thead", tbody_open: "tbody", tr_open: "tr", th_open: "th", td_open: "td", link_open: "span",
};

// The elements of markdown-it's tokens, of which some open an element and others close it.
function elementsOf(tokens, counts) {
  const open = [document.createDocumentFragment()];
  const addresses = [];
  for (const token of tokens) {
    const parent = open.at(-1);
    if (token.type === "link_open") addresses.push(token.attrGet("href"));
    if (token.type === "link_close") parent.append(address(addresses.pop()));
    if (token.nesting < 0) open.pop();
    else if (token.nesting === 0) parent.append(...leaves(token, counts));
    else if (token.hidden) open.push(parent);
    else {
      const isRight = token.attrGet("style") === "text-align:right";
      open.push(make(TAGS[token.type] ?? "div",
        { start: token.attrGet("start"), class: isRight ? "number" : null }));
      parent.append(open.at(-1));
    }
  }
  return [open[0]];
}

// Addresses are shown, and lead nowhere: a text may have written them for whoever clicks.
function address(href) {
  return make("span", { class: "dim" }, ` (${visible(decoded(href))})`);
}

function decoded(href) {
  try {
    return decodeURI(href);
  } catch {
    return href;
  }
}

const LEAVES = {
  inline: ({ children }, counts) => elementsOf(children, counts),
  text: ({ content }) => [visible(content)],  // it may have decoded an entity
  softbreak: () => [make("br")],
  hardbreak: () => [make("br")],
  hr: () => [make("hr")],
  code_inline: ({ content }) => [make("code", {}, content)],
  code_block: ({ content }) => [make("pre", {}, content)],
  fence: ({ content }) => [make("pre", {}, content)],
  image: (token) => [make("em", {}, `image: ${visible(token.content)}`), address(token.attrGet("src"))],
  formula: (token, counts) => [drawnFormula(token, counts)],
};

function leaves(token, counts) {
  return Object.hasOwn(LEAVES, token.type) ? LEAVES[token.type](token, counts) : [token.content];
}

function drawnFormula({ content, display }, counts) {
  const box = make("span", { class: display ? "formula display" : "formula" });
  counts.formulas += 1;
  if (!globalThis.katex || counts.formulas > MOST_FORMULAS) return make("code", {}, content);
  try {
    globalThis.katex.render(content, box,
      { displayMode: display, strict: "ignore", trust: false, maxSize: 20, maxExpand: 200 });
    if (box.textContent.search(INVISIBLE) < 0) return box;
  } catch {
    // KaTeX can't read it
  }
  return make("code", {}, content);
}
