// Elements from values. Text always stays text: nothing here parses markup.

const SVG = "http://www.w3.org/2000/svg";

// Attributes come from the page's own script; text from models and users comes in as children.
function make(tag, attributes = {}, ...children) {
  return complete(document.createElement(tag), attributes, children);
}

function draw(tag, attributes = {}, ...children) {
  return complete(document.createElementNS(SVG, tag), attributes, children);
}

function complete(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? "" : value);
    }
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function byId(id) {
  return document.getElementById(id);
}

// Control characters, and those that change the direction of text, which would act unseen.
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ufeff]/g;

// The text with its invisible characters shown by their names.
function visible(text) {
  return String(text).replace(INVISIBLE, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return `⟦U+${code.toString(16).toUpperCase().padStart(4, "0")}⟧`;
  });
}

// Text of unknown direction, which does not change the direction of the text around it.
function isolated(text) {
  return make("bdi", {}, visible(text));
}

function oneLine(text, most) {
  const line = visible(text).replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

function badge(outcome, text = outcome.word) {
  return make("span", { class: `badge ${outcome.word}` },
    make("span", { "aria-hidden": "true" }, outcome.sign), isolated(text));
}
