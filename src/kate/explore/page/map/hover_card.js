// What the document under the pointer is, in a few lines.

import { element, fill } from "../elements.js";

export class HoverCard {
  /** @param {import("../explorer.js").Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.row = -1;
    this.root = element("div", { class: "hover-card", role: "status", hidden: true });
  }

  /** @param {number} row -1 for none @param {number} x where the pointer is in the map @param {number} y */
  show(row, x, y, width, height) {
    this.root.hidden = row < 0;
    if (row < 0) {
      this.row = -1;
      return;
    }
    if (row !== this.row) this.write(row);
    // beside the pointer, on the side where there is room
    const right = x > width / 2, below = y > height / 2;
    this.root.style.transform = `translate(${(right ? x - 14 : x + 14).toFixed(0)}px, ${(below ? y - 10 : y + 10).toFixed(0)}px) translate(${right ? "-100%" : "0"}, ${below ? "-100%" : "0"})`;
  }

  async write(row) {
    this.row = row;
    const { explorer } = this, { corpus } = explorer;
    const topic = explorer.topicOf(row), title = corpus.title(row);
    const snippet = element("p", { class: "snippet", dir: "auto" });
    const label = corpus.columnOfRole("label");
    const facts = [corpus.dateText(row), label && corpus.value(label, row)].filter(Boolean).join(" · ");
    fill(this.root,
      element("p", { class: "about", style: { "--c": explorer.css(topic?.number ?? -1) } }, element("i", { class: "dot" }), element("span", { class: "of" }, topic?.name ?? "no topic")),
      title && element("p", { class: "title", dir: "auto" }, title),
      facts && element("p", { class: "when" }, facts),
      snippet,
    );
    const text = await corpus.snippet(row, 180);
    if (this.row === row) snippet.textContent = text || (title ? "" : corpus.idText(row));
  }
}
