// The samples: a small table that is read at once, and the long texts, read block by block.

const page = readPage();
let table = null;
const texts = [];        // by sample: [own prompt or the sample that has it, completion, …]
const searchTexts = [];  // by sample: the text that a search reads, in lower case
const promptTexts = [];  // by sample: its own part of the prompt in lower case, or null
const prefixes = [];     // by run and task: the common start of all its prompts
const unpacking = [];    // by block: the promise of its texts
let blockElements = [];
let textsRead = 0;

async function openTable() {
  table = await unpack(byId("table-data"));
  table.count = table.run.length;
  table.notes = new Map(table.notes.map(([sample, note, tags, isOfEarlier]) => [sample, { note, tags, isOfEarlier }]));
  for (const [name, values] of Object.entries(table.kinds)) {
    table[name] = table.kind.map((kind) => values[kind]);
  }
  blockElements = [...document.querySelectorAll(".block-data")];
  for (const [run, task, prefix] of table.prefixes) {
    prefixes[prefixIndex(run, task)] = { text: prefix, lower: prefix.toLowerCase() };
  }
}

function prefixIndex(run, task) {
  return run * table.tasks.length + task;
}

function openBlock(block) {
  unpacking[block] ??= unpack(blockElements[block]).then((rows) => {
    const start = table.starts[block];
    rows.forEach((row, offset) => keepTexts(start + offset, row));
    textsRead += rows.length;
  });
  return unpacking[block];
}

function keepTexts(sample, row) {
  texts[sample] = row;
  promptTexts[sample] = typeof row[0] === "string" ? row[0].toLowerCase() : null;
  searchTexts[sample] = `${row[1]}\n${row[2] ?? ""}\n${problemId(sample)}`.toLowerCase();
}

// Reads all texts block by block, with pauses in which the page can respond.
async function openAllBlocks(onProgress) {
  for (let block = 0; block < blockElements.length; block += 1) {
    await openBlock(block);
    if (block % 8 < 7) continue;
    await new Promise((resume) => setTimeout(resume));
    if (block % 32 === 31) onProgress();
  }
  onProgress();
}

function blockOf(sample) {
  let block = table.starts.length - 1;
  while (table.starts[block] > sample) block -= 1;
  return block;
}

async function textOf(sample) {
  await openBlock(blockOf(sample));
  const [ownPrompt, completion, answer, reference, message, flexible, promptTokens, reasoning, thinkingTokens,
    promptEnds, toolCalls, spans] = texts[sample];
  const shared = typeof ownPrompt === "number";
  if (shared) await openBlock(blockOf(ownPrompt));
  const prefix = prefixes[prefixIndex(table.run[sample], table.task[sample])]?.text ?? "";
  const prompt = prefix + (shared ? texts[ownPrompt][0] : ownPrompt);
  return { prompt, completion, answer, reference, message, flexible, promptTokens, reasoning, thinkingTokens,
    promptEnds, toolCalls, spans };
}

function taskName(sample) {
  return table.tasks[table.task[sample]];
}

function problemId(sample) {
  return table.problems[table.problem[sample]];
}

function keyOf(sample) {
  return `${taskName(sample)}/${problemId(sample)}/${table.index[sample]}`;
}

function sampleWithKey(key, runName) {
  const run = runName === null ? ANY : indexOfName(page.runs.map(({ name }) => name), runName);
  for (let sample = 0; sample < table.count; sample += 1) {
    if ((run === ANY || table.run[sample] === run) && key.endsWith(`/${table.index[sample]}`)
        && (keyOf(sample) === key || addressable(keyOf(sample)) === key)) return sample;
  }
  return -1;
}
