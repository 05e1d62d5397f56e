// Export what is seen: files, and the lines that make the same graph again.
import { download, tab } from "./api.js";
import { makeMenu, openDialog, save } from "./dialog.js";
import { make } from "./elements.js";
import { question, state, tell } from "./state.js";

const FORMATS = [
  ["bif", "BIF", "network with its probabilities"], ["svg", "SVG", "the drawing"], ["png", "PNG", "the drawing"], ["report", "Report", "one page of HTML to send"],
  ["dot", "DOT", "for Graphviz"], ["graphml", "GraphML", "for other tools"], ["command", "Command", "the mapdag learn line for this graph"], ["python", "Python", "the same as a script"],
];

async function act(format) {
  if (!state.graph) return;
  try {
    const { name, content } = await download("/api/export", { ...question(), tab, format, title: state.data.name });
    if (format !== "command" && format !== "python") { save(name, content); return; }
    const text = await content.text(), copy = make("button", { type: "button", class: "primary", id: "copy" }, "Copy");
    copy.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(text); copy.textContent = "Copied"; } catch { getSelection().selectAllChildren(document.getElementById("lines")); copy.textContent = "Selected"; }
    });
    openDialog(format === "python" ? "This graph in Python" : "This graph from a shell", make("pre", { id: "lines", class: "lines", tabindex: 0 }, text), make("p", { class: "actions" }, copy, make("button", { type: "button", click: () => save(name, content) }, "Save as a file")));
  } catch (error) { tell("trouble", error); }
}

/** Begin. */
export function startExports() {
  makeMenu(document.getElementById("export"), document.getElementById("export-menu"), () => FORMATS.map(([format, text, hint]) => [text, () => act(format), hint]));
}
