// What the reader changed: how much, undo, and the file that `kate topics --apply` takes.

import { element, fill } from "../elements.js";
import { editsFile } from "../topic_edits.js";

/** @param {import("../explorer.js").Explorer} explorer */
export function changeBar(explorer) {
  const root = element("div", { class: "changes", hidden: true });
  return { root, draw: () => drawChanges(root, explorer) };
}

function drawChanges(root, explorer) {
  const { cut, edits } = explorer.view, steps = edits[cut] ?? [];
  root.hidden = steps.length === 0;
  if (!steps.length) return;
  const button = (text, act, title) => element("button", { type: "button", class: "quiet", title, on: { click: act } }, text);
  fill(root,
    element("span", {}, steps.length === 1 ? "1 change" : `${steps.length} changes`),
    button("Undo", () => undo(explorer), "Take the last change back (u)"),
    button("Save changes", () => saveEdits(explorer), "A file for: kate topics MODEL --apply edits.json"),
  );
}

/** Take the last change back; a merge and the name it was given are one. */
export function undo(explorer) {
  const { cut, edits } = explorer.view, steps = edits[cut] ?? [];
  if (!steps.length) return;
  const [before, last] = steps.slice(-2);
  const together = steps.length > 1 && last.kind === "rename" && before.kind === "merge" && before.topics[0] === last.topics[0];
  explorer.state.change({ edits: { ...edits, [cut]: steps.slice(0, together ? -2 : -1) } });
}

/** Offer the changes of this cut as a file. */
export function saveEdits(explorer) {
  const { cut, edits } = explorer.view;
  const kept = explorer.corpus.cut(cut).edits ?? [];
  download("edits.json", "application/json", editsFile(cut, [...kept, ...(edits[cut] ?? [])]));
}

export function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
