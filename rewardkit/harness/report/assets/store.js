// The samples: a table at once, and the long texts as their blocks are unpacked.

const page = readPage();
let table = null;
const texts = [];      // by sample: [prompt or an earlier sample's place, completion, …]
const searched = [];   // by sample: what a search reads, in lower case
const prompts = [];    // by sample: its own part of the prompt, in lower case, or null
const prefixes = [];   // by run and task: what all its prompts begin with
const unpacking = [];  // by block: the promise of its texts
let elements = [];
let textsRead = 0;

async function openTable() {
  table = await unpack(byId("table-data"));
  table.count = table.run.length;
  elements = [...document.querySelectorAll(".block-data")];
  for (const [run, task, prefix] of table.prefixes) {
    prefixes[prefixPlace(run, task)] = { text: prefix, lower: prefix.toLowerCase() };
  }
}

function prefixPlace(run, task) {
  return run * table.tasks.length + task;
}

function openBlock(block) {
  unpacking[block] ??= unpack(elements[block]).then((rows) => {
    const start = table.starts[block];
    rows.forEach((row, offset) => keepTexts(start + offset, row));
    textsRead += rows.length;
  });
  return unpacking[block];
}

function keepTexts(sample, row) {
  texts[sample] = row;
  prompts[sample] = typeof row[0] === "string" ? row[0].toLowerCase() : null;
  searched[sample] = `${row[1]}\n${row[2] ?? ""}\n${problemId(sample)}`.toLowerCase();
}

// All texts, block by block, leaving the page free to answer in between.
async function openAllBlocks(progressed) {
  for (let block = 0; block < elements.length; block += 1) {
    await openBlock(block);
    if (block % 8 < 7) continue;
    await new Promise((resume) => setTimeout(resume));
    if (block % 32 === 31) progressed();
  }
  progressed();
}

function blockOf(sample) {
  let block = table.starts.length - 1;
  while (table.starts[block] > sample) block -= 1;
  return block;
}

async function textOf(sample) {
  await openBlock(blockOf(sample));
  const [own, completion, answer, reference, score, message, parts, flexible, promptTokens] =
    texts[sample];
  if (typeof own === "number") await openBlock(blockOf(own));
  const prefix = prefixes[prefixPlace(table.run[sample], table.task[sample])]?.text ?? "";
  const rest = typeof own === "number" ? texts[own][0] : own;
  return { prompt: prefix + rest, completion, answer, reference, score, message, parts, flexible,
    promptTokens };
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
  const run = runName === null ? ANY : placeOf(page.runs.map((one) => one.name), runName);
  for (let sample = 0; sample < table.count; sample += 1) {
    if ((run === ANY || table.run[sample] === run) && key.endsWith(`/${table.index[sample]}`)
        && (keyOf(sample) === key || addressable(keyOf(sample)) === key)) return sample;
  }
  return -1;
}
