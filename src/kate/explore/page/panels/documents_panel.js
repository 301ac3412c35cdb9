// The list of the chosen documents.

import { element, fill } from "../elements.js";
import { NO_DATE } from "../page_data.js";
import { count, documents } from "../wording.js";
import { markedText } from "./marked_text.js";
import { download } from "./topic_changes.js";

const AT_ONCE = 30;
const SHOWN = { typical: "Most typical", newest: "Newest first", oldest: "Oldest first", corpus: "In their order" };

export class DocumentsPanel {
  /** @param {import("../explorer.js").Explorer} explorer */
  constructor(explorer) {
    Object.assign(this, { explorer, rows: [], shown: 0 });
    this.heading = element("h2", { class: "how-many", "aria-live": "polite" });
    this.sort = this.makeSort();
    this.list = element("ol", { class: "documents" });
    this.more = element("div", { class: "more", "aria-hidden": "true" });
    this.save = element("button", { type: "button", class: "quiet", title: "The listed documents as a table", on: { click: () => this.saveTable() } }, "Save as CSV");
    this.root = element("section", { class: "documents-panel", "aria-label": "Documents" },
      element("div", { class: "list-head" }, this.heading, element("div", { class: "list-acts" }, this.sort, this.save)),
      this.list, this.more,
    );
    explorer.listen(["selection", "cut", "colours", "typical"], () => this.draw());
    explorer.state.listen(["sort"], () => this.draw());
    explorer.state.listen(["document"], () => this.mark());
    new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && this.grow(), { rootMargin: "400px" }).observe(this.more);
    this.draw();
  }

  makeSort() {
    return element("select", {
      "aria-label": "Order of the documents", on: { change: (event) => this.explorer.state.change({ sort: event.target.value }) },
    });
  }

  /** The order that is asked for, or the one that suits. */
  get order() {
    const { view, corpus, typical } = this.explorer;
    const possible = this.possible();
    if (view.sort && possible.includes(view.sort)) return view.sort;
    return typical ? "typical" : "corpus";
  }

  possible() {
    const { corpus, typical } = this.explorer;
    return ["typical", "newest", "oldest", "corpus"].filter((one) => (one === "typical" ? typical : one === "corpus" || corpus.dates));
  }

  draw() {
    const { explorer } = this, { selection, corpus, view } = explorer;
    const rows = selection.rows();
    this.rows = this.sorted(rows);
    const searched = Boolean(view.query) && explorer.hits.length > 0;
    const what = searched ? (rows.length === 1 ? "1 hit" : `${count(rows.length)} hits`) : documents(rows.length);
    fill(this.heading, element("b", {}, what));
    const usual = searched ? [element("option", { value: "", selected: !view.sort }, "Best first")] : [];
    fill(this.sort, usual, this.possible().map((name) => element("option", { value: name, selected: searched ? view.sort === name : this.order === name }, SHOWN[name])));
    this.sort.hidden = this.save.hidden = rows.length < 2;
    this.shown = 0;
    fill(this.list);
    if (!rows.length) this.list.append(element("li", { class: "nothing" }, this.emptySentence()));
    this.grow();
  }

  emptySentence() {
    return this.explorer.corpus.n ? "No document is chosen: take a filter away." : "There are no documents in this page.";
  }

  sorted(rows) {
    const { explorer } = this, { view, hits, corpus } = explorer;
    if (view.query && hits.length && !view.sort) {
      const place = new Map(hits.map((row, at) => [row, at]));
      return rows.sort((one, other) => (place.get(one) ?? 1e9) - (place.get(other) ?? 1e9));
    }
    const { order } = this;
    if (order === "typical") return rows.sort((one, other) => explorer.typical[other] - explorer.typical[one]);
    if (order === "corpus" || !corpus.dates) return rows;
    const sign = order === "newest" ? -1 : 1;
    const day = (row) => (corpus.dates[row] === NO_DATE ? Infinity : sign * corpus.dates[row]);
    return rows.sort((one, other) => day(one) - day(other) || one - other);
  }

  grow() {
    const until = Math.min(this.shown + AT_ONCE, this.rows.length);
    for (; this.shown < until; this.shown++) this.list.append(this.item(this.rows[this.shown]));
    this.mark();
  }

  item(row) {
    const { explorer } = this, { corpus } = explorer;
    const topic = explorer.topicOf(row), title = corpus.title(row);
    const snippet = element("span", { class: "snippet", dir: "auto" });
    this.write(snippet, row, title);
    const facts = [corpus.dateText(row), ...labelTexts(corpus, row)].filter(Boolean);
    return element("li", { data: { row } },
      element("button", {
        type: "button", class: "document", style: { "--c": explorer.css(topic?.number ?? -1) }, on: { click: () => explorer.open(row) },
      },
        element("span", { class: "about" }, element("i", { class: "dot" }), element("span", { class: "of", lang: "" }, topic?.name ?? "no topic"), element("span", { class: "when" }, facts.join(" · "))),
        title && element("span", { class: "title", dir: "auto", lang: "" }, title),
        snippet,
      ));
  }

  /** The passage that was searched for; the beginning of a document that has none. */
  async write(snippet, row, title) {
    const { corpus, answers, view } = this.explorer;
    const passage = view.query && answers?.passage(await corpus.text(row));
    if (passage) return fill(snippet, markedText(passage.text, passage.spans));
    snippet.textContent = (await corpus.snippet(row, 200)) || (title ? "" : corpus.idText(row));
  }

  mark() {
    for (const item of this.list.children) {
      item.classList.toggle("current", Number(item.dataset.row) === this.explorer.view.document && item.dataset.row !== undefined);
    }
  }

  /** The next document of the list, up or down. */
  step(by) {
    if (!this.rows.length) return;
    const at = this.rows.indexOf(this.explorer.view.document);
    const to = at < 0 ? 0 : Math.min(Math.max(at + by, 0), this.rows.length - 1);
    while (this.shown <= to && this.shown < this.rows.length) this.grow();
    this.explorer.open(this.rows[to]);
  }

  saveTable() {
    const { corpus } = this.explorer;
    const quoted = (value) => `"${String(value).replaceAll('"', '""')}"`;
    const head = ["row", "topic", ...corpus.columns.map((column) => column.name)];
    const lines = Array.from(this.rows, (row) => [row, this.explorer.topicOf(row)?.name ?? "", ...corpus.columns.map((column) => corpus.value(column, row))]);
    download("documents.csv", "text/csv", [head, ...lines].map((line) => line.map(quoted).join(",")).join("\r\n") + "\r\n");
  }
}

/** What stands beside the date of a document: its label. */
function labelTexts(corpus, row) {
  const label = corpus.columnOfRole("label");
  return label ? [corpus.value(label, row)] : [];
}
