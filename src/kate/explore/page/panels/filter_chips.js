// What the view is narrowed to, each with a button that takes it away.

import { element, fill, icon } from "../elements.js";
import { count, longDate } from "../wording.js";

/** @param {import("../explorer.js").Explorer} explorer */
export function filterChips(explorer) {
  const root = element("div", { class: "chips", role: "group", "aria-label": "What is chosen" });
  const draw = () => drawChips(root, explorer);
  explorer.listen(["selection", "cut", "colours", "hits"], draw);
  draw();
  return root;
}

function drawChips(root, explorer) {
  const { view, cut, state, corpus, selection } = explorer;
  const chips = view.topics.filter((number) => cut.byNumber.has(number)).map((number) =>
    chip(cut.byNumber.get(number).name, () => explorer.chooseTopic(number, true), explorer.css(number)));
  if (view.period && corpus.dates) chips.push(chip(periodText(view.period, corpus), () => state.change({ period: null })));
  if (view.by !== null && view.group !== null) chips.push(chip(`${view.by}: ${view.group}`, () => state.change({ group: null })));
  if (view.lasso) chips.push(chip("drawn on the map", () => state.change({ lasso: null })));
  if (view.query) chips.push(chip(`“${view.query}”`, () => state.change({ query: "" })));
  if (chips.length > 1) chips.push(element("button", { type: "button", class: "quiet clear", on: { click: () => explorer.clear() } }, "Clear all"));
  if (chips.length) chips.unshift(element("span", { class: "chosen-count" }, element("b", {}, count(selection.size())), ` of ${count(corpus.n)}`));
  fill(root, chips);
}

function periodText([first, last], corpus) {
  const { resolution } = corpus.manifest.date;
  const long = last - first > 1000 || resolution === "year";
  const [from, to] = [longDate(first, long), longDate(last, long)];
  return from === to ? from : `${from} – ${to}`;
}

function chip(text, act, colour = null) {
  return element("button", {
    type: "button", class: "chip", "aria-label": `Take away: ${text}`, on: { click: act }, style: colour ? { "--c": colour } : {},
  }, colour && element("i", { class: "dot" }), element("span", { dir: "auto" }, text.length > 44 ? text.slice(0, 42) + "…" : text), icon("M4.5 4.5l7 7M11.5 4.5l-7 7"));
}
