// The data that the page carries: JSON, and JSON gzipped and in base64.

function readPage() {
  return JSON.parse(byId("page-data").textContent);
}

async function unpack(element) {
  const bytes = fromBase64(element.textContent);
  element.remove();
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function fromBase64(text) {
  return Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
