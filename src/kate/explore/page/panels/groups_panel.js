// Topics by the values of a column: one bar for each group, cut as its documents are.

import { element, fill } from "../elements.js";
import { BITS, countPairs } from "../selection.js";
import { treeOrder } from "../topic_tree.js";
import { count, documents, share } from "../wording.js";

const MOST = 40;

export class GroupsPanel {
  /** @param {import("../explorer.js").Explorer} explorer */
  constructor(explorer) {
    Object.assign(this, { explorer, columns: explorer.corpus.groupColumns(), whole: false });
    this.choice = element("select", { id: "group-column", on: { change: (event) => explorer.state.change({ by: event.target.value, group: null }) } },
      this.columns.map((column) => element("option", { value: column.name }, column.name)));
    this.said = element("p", { class: "said" });
    this.list = element("ol", { class: "groups" });
    this.root = element("section", { class: "panel groups-panel", id: "panel-groups", "aria-label": "Groups" },
      element("div", { class: "groups-head" }, element("label", { for: "group-column" }, "Topics by "), this.choice, this.said),
      this.list,
    );
    explorer.listen(["cut", "selection", "colours"], () => this.draw());
    explorer.listen("light", () => this.light());
    explorer.state.listen(["by", "panel"], () => this.draw());
    this.draw();
  }

  get column() {
    const { by } = this.explorer.view;
    return this.columns.find((column) => column.name === by) ?? this.columns[0];
  }

  draw() {
    if (!this.columns.length || !this.root.isConnected || this.root.hidden) return;
    const { explorer, column } = this, { cut, selection } = explorer;
    this.choice.value = column.name;
    const grouping = explorer.corpus.grouping(column.name);
    const counts = countPairs(grouping.codes, grouping.names.length, cut.assignments, cut.codes, selection, BITS.group | BITS.topics);
    const chosen = explorer.view.topics;
    const rows = grouping.names.map((name, code) => {
      const topics = counts.subarray(code * cut.codes, (code + 1) * cut.codes);
      const total = topics.reduce((sum, one) => sum + one, 0);
      const part = chosen.reduce((sum, number) => sum + (topics[number] ?? 0), 0);
      return { name, topics, total, part: total ? part / total : 0 };
    }).filter((row) => row.total > 0 || row.name === explorer.view.group);
    if (chosen.length) rows.sort((one, other) => other.part - one.part || other.total - one.total);
    else if (!grouping.ordered) rows.sort((one, other) => other.total - one.total);
    const shown = this.whole ? rows : rows.slice(0, MOST);
    this.order = treeOrder(explorer.corpus.splits, cut.n).filter((number) => cut.byNumber.has(number));
    this.order.push(...cut.topics.map((topic) => topic.number).filter((number) => !this.order.includes(number)));
    const most = Math.max(1, ...shown.map((row) => row.total));
    fill(this.list, shown.map((row) => this.row(row, chosen, most)), rows.length > shown.length && this.moreButton(rows.length));
    this.said.textContent = chosen.length ? "by the share of the chosen topics" : "";
    this.light();
  }

  moreButton(n) {
    const act = () => {
      this.whole = true;
      this.draw();
    };
    return element("li", {}, element("button", { type: "button", class: "quiet", on: { click: act } }, `Show all ${count(n)}`));
  }

  row({ name, topics, total, part }, chosen, most) {
    const { explorer, column } = this;
    const pressed = explorer.view.by === column.name && explorer.view.group === name;
    const numbers = chosen.length ? this.order.filter((number) => chosen.includes(number)) : this.order;
    const bar = element("span", { class: "stack", "aria-hidden": "true" },
      numbers.filter((number) => topics[number]).map((number) => element("span", {
        data: { topic: number }, title: `${explorer.cut.byNumber.get(number).name}: ${share(topics[number] / total)}`,
        style: { "flex-grow": topics[number] / total, background: explorer.css(number) },
        on: { pointerenter: () => explorer.light(number), pointerleave: () => explorer.light(null) },
      })),
      chosen.length > 0 && element("span", { class: "rest", style: { "flex-grow": 1 - part } }),
    );
    const choose = () => explorer.state.change({ by: column.name, group: pressed ? null : name });
    const first = [...numbers].sort((one, other) => topics[other] - topics[one])[0];
    const topic = explorer.cut.byNumber.get(first);
    const tells = chosen.length ? share(part) : count(total);
    return element("li", { class: pressed ? "chosen" : "" },
      element("button", {
        type: "button", class: "group", "aria-pressed": String(pressed), on: { click: choose },
        "aria-label": `${name}: ${documents(total)}${topic ? `, mostly ${topic.name}` : ""}`,
      },
        element("span", { class: "name", dir: "auto" }, name), bar,
        element("span", { class: "part", title: documents(total) }, tells),
        element("span", { class: "size", "aria-hidden": "true" }, element("span", { style: { width: `${(100 * total) / most}%` } })),
      ));
  }

  light() {
    const { litOfChosen: lit } = this.explorer;
    this.list.classList.toggle("some-lit", lit !== null);
    for (const part of this.list.querySelectorAll(".stack > span")) part.classList.toggle("lit", Number(part.dataset.topic) === lit);
  }
}
