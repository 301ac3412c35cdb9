// A text with words marked: those that put it into its topic, and those that were searched.

import { element } from "../elements.js";
import { share, withLines } from "../wording.js";

/**
 * @param {string} text
 * @param {import("../word_marks.js").Span[]} spans in their order
 * @param {?(word: string) => void} act what a click on a marked word does
 * @returns {(Node|string)[]}
 */
export function markedText(text, spans, act = null) {
  const found = [];
  let at = 0;
  for (const { start, end, weight, word, part, asked } of spans) {
    if (start < at || end > text.length) continue;
    if (start > at) found.push(withLines(text.slice(at, start)));
    found.push(element("mark", {
      class: asked ? "asked" : null, style: { "--weight": weight.toFixed(3) }, title: part > 0 ? `${share(part)} of what speaks for its topic` : null,
      on: act ? { click: () => act(word) } : {},
    }, text.slice(start, end)));
    at = end;
  }
  found.push(withLines(text.slice(at)));
  return found;
}
