// Asking the server: JSON, streams of lines, files. What it refuses becomes a Refusal with its sentence.

const token = document.querySelector("meta[name=mapdag-token]").content;

/** This tab, for the server: a newer request of a tab takes the place of an older one. */
export const tab = crypto.randomUUID?.() ?? String(Math.random()).slice(2);

/** What the server would not do, with the sentence that says why. */
export class Refusal extends Error {
  constructor(told, status) {
    super(told.error || "The server did not answer.");
    Object.assign(this, { details: told.details, advice: told.advice || [], status });
  }
}

async function ask(path, options = {}) {
  const headers = { "X-Mapdag-Token": token, ...options.headers };
  let answer;
  try {
    answer = await fetch(path, { ...options, headers, credentials: "same-origin" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal({ error: "The server does not answer: it may have been stopped." });
  }
  if (answer.ok) return answer;
  let told = {};
  try { told = await answer.json(); } catch { told = { error: `The server answered ${answer.status}.` }; }
  throw new Refusal(told, answer.status);
}

const json = (body, signal) => ({ method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" }, signal });

/** Get JSON. */
export const get = async (path) => (await ask(path)).json();

/** Post JSON, get JSON. */
export const post = async (path, body, signal) => (await ask(path, json(body, signal))).json();

/** Post the bytes of a file. */
export const upload = async (path, file) => (await ask(path, { method: "POST", body: file, headers: { "Content-Type": "application/octet-stream" } })).json();

/** Post JSON, get a file: its name and content. */
export async function download(path, body) {
  const answer = await ask(path, json(body)), said = answer.headers.get("Content-Disposition") || "";
  const coded = /filename\*=UTF-8''([^;]+)/.exec(said), plain = /filename="?([^";]+)"?/.exec(said);
  return { name: coded ? decodeURIComponent(coded[1]) : plain ? plain[1] : "graph", content: await answer.blob() };
}

/** Post JSON, and call `each` with every line of the answer as it comes. */
export async function stream(path, body, each, signal) {
  const answer = await ask(path, json(body, signal));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) tellLine(JSON.parse(line), each);
  }
  if (rest.trim()) tellLine(JSON.parse(rest), each);
}

function tellLine(line, each) {
  if (line.kind === "error") throw new Refusal(line);
  each(line);
}
