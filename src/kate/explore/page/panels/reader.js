// One document: its topics, its words, its columns, and those that are like it.

import { element, fill, tool } from "../elements.js";
import { markedText } from "./marked_text.js";
import { share } from "../wording.js";

const LONGEST = 20_000; // characters that are shown at first

export class Reader {
  /** @param {import("../explorer.js").Explorer} explorer @param {{step: (by: number) => void}} list */
  constructor(explorer, list) {
    Object.assign(this, { explorer, list });
    this.head = element("div", { class: "reader-head" },
      element("button", { type: "button", class: "quiet back", on: { click: () => this.close() } }, "← All documents"),
      element("span", { class: "room" }),
      tool("Show on the map", "M8 1.5a4.5 4.5 0 0 1 4.5 4.5C12.5 9.5 8 14.5 8 14.5S3.5 9.5 3.5 6A4.5 4.5 0 0 1 8 1.5zM8 7.6a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2z", () => explorer.flyTo([this.row])),
      tool("Previous document (k)", "M4 10l4-4 4 4", () => list.step(-1)),
      tool("Next document (j)", "M4 6l4 4 4-4", () => list.step(1)),
    );
    this.body = element("article", { class: "reading", tabindex: "-1" });
    this.root = element("section", { class: "reader", "aria-label": "Document", hidden: true }, this.head, this.body);
    explorer.state.listen(["document"], () => this.show());
    explorer.listen(["cut", "colours", "ready", "hits"], () => this.show());
    this.show();
  }

  close() {
    this.explorer.state.change({ document: null });
  }

  async show() {
    const { explorer } = this, { corpus, view } = explorer;
    const row = view.document;
    this.root.hidden = row === null;
    if (row === null) return;
    const fresh = row !== this.row;
    this.row = row;
    const asked = (this.asked = (this.asked ?? 0) + 1);
    const text = await corpus.text(row);
    if (asked !== this.asked) return;
    const marks = explorer.answers?.contributions(row, text, view.cut) ?? null;
    const title = corpus.title(row);
    fill(this.body,
      element("h2", { class: title ? "title" : "title plain", dir: "auto", lang: "" }, title ?? corpus.idText(row)),
      this.facts(row),
      this.topics(row),
      this.textOf(text, marks),
      this.similar(row),
    );
    this.body.dataset.row = row;
    if (fresh) this.root.scrollTop = 0;
  }

  facts(row) {
    const { corpus } = this.explorer;
    // what stands in the heading is not said again
    const heading = corpus.title(row) ? "title" : "id";
    const shown = corpus.columns.filter((column) => column.role !== heading && corpus.value(column, row) !== "");
    return element("dl", { class: "columns" }, shown.map((column) => {
      const value = column.kind === "date" && corpus.hasDate(row) ? corpus.dateText(row) : corpus.value(column, row);
      return element("div", {}, element("dt", {}, column.name), element("dd", { dir: "auto" }, value));
    }));
  }

  /** The topics of the document, the nearest first. */
  topics(row) {
    const { explorer } = this;
    const own = explorer.topicOf(row);
    const shares = explorer.answers?.topicShares(row, explorer.view.cut, explorer.cut.moved) ?? (own ? [[own.number, null]] : []);
    if (!shares.length) return element("p", { class: "facts" }, "No word of this document is known to the model: it has no topic.");
    return element("ul", { class: "topic-shares" }, shares.slice(0, 4).map(([number, part]) => {
      const topic = explorer.cut.byNumber.get(number);
      return topic && element("li", { style: { "--c": explorer.css(number) } },
        element("button", {
          type: "button", class: "topic-share", on: {
            click: () => explorer.chooseTopic(number), pointerenter: () => explorer.light(number), pointerleave: () => explorer.light(null),
          },
        }, element("i", { class: "dot" }), element("span", { class: "name", lang: "" }, topic.name),
          part !== null && element("span", { class: "part" }, share(part)),
          part !== null && element("span", { class: "bar" }, element("span", { style: { width: `${100 * part}%` } }))));
    }));
  }

  textOf(text, marks) {
    const { explorer } = this, { texts } = explorer.corpus.manifest;
    if (!text) return element("p", { class: "facts" }, texts === "none" ? "This page was made without the texts of its documents." : "This document is empty.");
    const colour = explorer.css(explorer.topicOf(this.row)?.number ?? -1);
    const spans = (explorer.view.query && explorer.answers?.withAsked(text, marks?.spans ?? [])) || (marks?.spans ?? []);
    const body = element("div", { class: "text", dir: "auto", lang: explorer.corpus.manifest.language_code ?? "", style: { "--c": colour } });
    const draw = (length) => fill(body, markedText(text.slice(0, length), spans, (word) => explorer.lookAt(word)));
    draw(LONGEST);
    if (text.length > LONGEST) {
      const rest = element("button", { type: "button", class: "quiet", on: { click: () => { draw(text.length); rest.remove(); } } }, `Show all ${text.length.toLocaleString("en-US")} letters`);
      return [this.strongest(marks), body, rest];
    }
    return [
      this.strongest(marks), body, texts === "snippet" ? element("p", { class: "facts" }, "The page holds the beginning of each document only.") : null,
    ];
  }

  /** The words that put the document into its topic, and how much each adds. */
  strongest(marks) {
    if (!marks?.strongest.length) return null;
    const word = ({ word, part }) => element("button", {
      type: "button", class: "word", lang: "", title: `${share(part)} of what speaks for its topic`, style: { "--weight": (part / marks.strongest[0].part).toFixed(2) },
      on: { click: () => this.explorer.lookAt(word) },
    }, word);
    return element("p", { class: "legend words", style: { "--c": this.explorer.css(this.explorer.topicOf(this.row)?.number ?? -1) } },
      element("span", {}, "Put there by"), marks.strongest.map(word));
  }

  similar(row) {
    const section = element("section", { class: "similar", hidden: true });
    // a service answers after a while: the text is there before
    Promise.resolve(this.explorer.answers?.similarDocuments(row, 6) ?? []).then((found) => {
      section.hidden = !found.length;
      fill(section, element("h3", {}, "Similar documents"),
        element("ol", { class: "documents" }, found.map(({ row: other }) => this.list.item(other))));
    });
    return section;
  }
}
