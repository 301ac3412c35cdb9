// One word: its neighbours, its use through time, its topics. Without one, the words that tell the chosen documents apart.

import { element, fill } from "../elements.js";
import { periodsBetween } from "../periods.js";
import { count, documents, share } from "../wording.js";
import { wordCurve } from "./word_curve.js";

const NEIGHBOURS = 14, TOPICS = 6, TELLING = 36, FORMS = 6;
const FEWEST = 5; // documents of a topic that must hold a word before the topic is named

export class WordsPanel {
  /** @param {import("../explorer.js").Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.input = element("input", {
      type: "search", class: "word-field", placeholder: "Look up a word", "aria-label": "Look up a word", autocomplete: "off", spellcheck: "false",
    });
    const look = (event) => {
      event.preventDefault();
      if (this.input.value.trim()) explorer.lookAt(this.input.value.trim());
      else explorer.state.change({ word: null });
    };
    this.crumbs = element("div", { class: "crumbs" });
    this.body = element("div", { class: "word-body" });
    this.root = element("section", { class: "panel words-panel", id: "panel-words", "aria-label": "Words" },
      element("form", { class: "groups-head", on: { submit: look } }, this.input, this.crumbs), this.body);
    this.time = this.timeOfCorpus();
    explorer.state.listen(["word", "panel"], () => this.draw());
    explorer.listen(["ready", "selection", "cut", "colours"], () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.root);
    this.draw();
  }

  timeOfCorpus() {
    const { dates, manifest } = this.explorer.corpus;
    if (!dates) return null;
    const { first, last } = manifest.date, periods = periodsBetween(first, last);
    return { first, last, periods, places: Int32Array.from(dates, periods.place) };
  }

  draw() {
    if (!this.root.isConnected || this.root.hidden || !this.root.offsetParent) return;
    const { explorer } = this, { uses } = explorer.answers ?? {}, asked = explorer.view.word;
    if (document.activeElement !== this.input) this.input.value = asked ?? "";
    fill(this.crumbs, asked !== null && element("button", { type: "button", class: "quiet", on: { click: () => explorer.state.change({ word: null }) } }, explorer.selection.active ? "← Words of the chosen documents" : "← Words of all topics"));
    if (!uses) return fill(this.body, element("p", { class: "facts" }, explorer.answers === null ? "This page was made without its words." : "Reading the words …"));
    if (asked === null) return this.drawTelling(uses);
    const word = uses.find(asked);
    if (word === undefined || !uses.documentsWith(word).length) return this.drawUnknown(asked);
    return this.drawWord(uses, word);
  }

  drawWord(uses, word) {
    const { explorer } = this, name = uses.readable(word), rows = uses.documentsWith(word);
    const forms = uses.formsOf(word).filter((form) => form !== name).slice(0, FORMS);
    const neighbours = uses.neighbours(word, NEIGHBOURS);
    const about = element("div", { class: "word-about" },
      element("h3", { dir: "auto", lang: "" }, name),
      element("p", { class: "facts" }, `in ${documents(rows.length)}, ${share(rows.length / explorer.corpus.n)} of all`, forms.length > 0 && [" · also ", element("span", { dir: "auto", lang: "" }, forms.join(", "))]),
      element("p", { class: "acts" }, element("button", { type: "button", class: "quiet", on: { click: () => explorer.state.change({ query: name }) } }, "Search for it")),
      element("h4", {}, "Words like it"),
      neighbours.length ? element("p", { class: "words", lang: "" }, neighbours.map(({ word: other, cosine }) => this.chip(uses, other, Math.max(cosine, 0), `likeness ${cosine.toFixed(2)}`)))
        : element("p", { class: "facts" }, "The model does not know this word: it is too rare, or says too little."),
    );
    fill(this.body, about, element("div", { class: "word-where" }, this.curve(rows, name), this.topicsOf(rows)));
  }

  chip(uses, word, weight, title, colour = null) {
    const name = uses.readable(word);
    return element("button", {
      type: "button", class: "word", title, style: { "--weight": weight.toFixed(2), ...(colour ? { "--c": colour } : {}) }, on: { click: () => this.explorer.lookAt(name) },
    }, name);
  }

  curve(rows, name) {
    if (!this.time) return null;
    const width = Math.max(220, Math.min(this.root.clientWidth - 32, this.root.clientWidth < 620 ? 2000 : 0.54 * this.root.clientWidth));
    return [element("h4", {}, "Through time"), wordCurve(this.time, rows, Math.floor(width), name)];
  }

  /** The topics whose documents hold the word most often. */
  topicsOf(rows) {
    const { explorer } = this, { cut } = explorer;
    const held = new Uint32Array(cut.codes);
    for (const row of rows) if (cut.assignments[row] < cut.codes) held[cut.assignments[row]]++;
    const found = cut.topics.map((topic) => ({ topic, n: held[topic.number], part: topic.size ? held[topic.number] / topic.size : 0 }))
      .filter(({ n }) => n >= Math.min(FEWEST, rows.length)).sort((one, other) => other.part - one.part).slice(0, TOPICS);
    if (!found.length) return null;
    const most = Math.max(found[0].part, 1e-9);
    return [element("h4", {}, "Topics that use it most"), element("ul", { class: "topic-shares word-topics" }, found.map(({ topic, n, part }) =>
      element("li", { style: { "--c": explorer.css(topic.number) } },
        element("button", {
          type: "button", class: "topic-share", title: `${count(n)} of ${documents(topic.size)}`, on: {
            click: () => explorer.chooseTopic(topic.number), pointerenter: () => explorer.light(topic.number), pointerleave: () => explorer.light(null),
          },
        }, element("i", { class: "dot" }), element("span", { class: "name", lang: "" }, topic.name), element("span", { class: "part" }, share(part)),
          element("span", { class: "bar" }, element("span", { style: { width: `${(100 * part) / most}%` } }))))))];
  }

  /** What the chosen documents have more of than all; without a choice the words of each topic. */
  drawTelling(uses) {
    const { explorer } = this, { selection, cut } = explorer;
    if (!selection.active) {
      const topics = cut.topics.slice(0, 40).map((topic) => element("p", { class: "words", lang: "", style: { "--c": explorer.css(topic.number) } },
        topic.words.slice(0, 8).map(([word], at) => element("button", { type: "button", class: "word", style: { "--weight": (1 - at / 10).toFixed(2) }, on: { click: () => explorer.lookAt(word) } }, word))));
      return fill(this.body, element("div", { class: "word-telling" }, element("p", { class: "facts" }, "Choose a word of a topic, or documents, to see the words that tell them from all others."), topics));
    }
    const found = uses.telling(selection.rows(), TELLING);
    const most = Math.max(1e-9, ...found.map(({ score }) => score));
    return fill(this.body, element("div", { class: "word-telling" },
      element("p", { class: "facts" }, found.length ? `What tells ${selection.size() === 1 ? "this document" : `these ${documents(selection.size())}`} from all others:` : "No word tells these documents from all others."),
      element("p", { class: "words", lang: "" }, found.map(({ word, times, score }) => this.chip(uses, word, Math.sqrt(score / most), `${times < 10 ? times.toFixed(1) : Math.round(times)} times as often as in all documents`)))));
  }

  drawUnknown(asked) {
    const close = this.explorer.answers.suggestions(asked);
    fill(this.body, element("div", { class: "word-telling" },
      element("p", {}, "No document holds ", element("b", { dir: "auto" }, asked), close.words.length ? "; did you mean one of these?" : "."),
      element("p", { class: "words", lang: "" }, close.words.map((word) => element("button", { type: "button", class: "word", on: { click: () => this.explorer.lookAt(word) } }, word)))));
  }
}
