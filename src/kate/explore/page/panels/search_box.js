// The search box: words or a sentence; similar words while typing.

import { element, fill, icon } from "../elements.js";

const WAIT = 220; // milliseconds after the last letter

export class SearchBox {
  /** @param {import("../explorer.js").Explorer} explorer */
  constructor(explorer) {
    Object.assign(this, { explorer, timer: null });
    this.input = element("input", {
      type: "search", id: "search", name: "q", placeholder: "Search words or a sentence", autocomplete: "off", spellcheck: "false",
      enterkeyhint: "search", "aria-label": "Search words or a sentence", "aria-describedby": "search-said",
      on: { input: () => this.typed(), keydown: (event) => this.key(event), focus: () => this.suggest() },
    });
    this.words = element("div", { class: "similar-words", role: "group", "aria-label": "Similar words", hidden: true });
    this.said = element("p", { id: "search-said", class: "search-said", role: "status" });
    this.root = element("form", { class: "search", role: "search", on: { submit: (event) => { event.preventDefault(); this.take(); this.input.blur(); } } },
      element("label", { for: "search", class: "search-icon" }, icon("M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.4 10.4l3.6 3.6")),
      this.input, element("kbd", { "aria-hidden": "true" }, "/"), this.words, this.said,
    );
    this.root.addEventListener("focusout", (event) => !this.root.contains(event.relatedTarget) && this.hideWords());
    explorer.state.listen(["query"], () => this.run());
    explorer.listen("ready", () => this.run());
    this.run();
  }

  typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.take(false), WAIT);
    this.suggest();
  }

  take(remember = true) {
    clearTimeout(this.timer);
    this.explorer.state.change({ query: this.input.value.trim() }, { remember });
  }

  key(event) {
    if (event.key === "ArrowDown" && !this.words.hidden) {
      this.words.querySelector("button")?.focus();
      event.preventDefault();
    }
    if (event.key !== "Escape") return;
    event.stopPropagation();
    if (this.input.value) {
      this.input.value = "";
      this.take();
    }
    this.hideWords();
    this.input.blur();
  }

  /** Search for what the view says. */
  async run() {
    const { explorer } = this, { query } = explorer.view;
    if (document.activeElement !== this.input) this.input.value = query;
    const asked = (this.asked = (this.asked ?? 0) + 1);
    if (!query) {
      this.said.textContent = "";
      if (explorer.hits.length || explorer.selection.active & 16) explorer.setHits(null);
      return;
    }
    if (!explorer.answers) return;
    const found = await explorer.answers.search(query);
    if (asked !== this.asked) return;
    explorer.setHits(found.rows);
    this.said.textContent = found.note ?? "";
  }

  async suggest() {
    const { explorer } = this, typed = this.input.value;
    if (!explorer.answers || !typed.trim()) return this.hideWords();
    const found = await explorer.answers.suggestions(typed);
    if (typed !== this.input.value || document.activeElement !== this.input) return;
    const shown = found.words.slice(0, 10);
    this.words.hidden = !shown.length;
    fill(this.words, element("span", { class: "kind" }, found.kind), shown.map((word) => this.wordButton(word, found.replaces)));
  }

  wordButton(word, replaces) {
    const take = () => {
      const text = this.input.value;
      this.input.value = replaces ? text.slice(0, text.length - replaces.length) + word : `${text.trimEnd()} ${word}`;
      this.input.focus();
      this.take();
      this.suggest();
    };
    const move = (event) => {
      const to = { ArrowRight: "nextElementSibling", ArrowDown: "nextElementSibling", ArrowLeft: "previousElementSibling", ArrowUp: "previousElementSibling" }[event.key];
      const next = to && event.target[to];
      if (next?.tagName === "BUTTON") next.focus();
      else if (event.key === "ArrowUp" || event.key === "Escape") this.input.focus();
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    return element("button", { type: "button", class: "word", lang: "", on: { click: take, keydown: move } }, word);
  }

  hideWords() {
    this.words.hidden = true;
  }
}
