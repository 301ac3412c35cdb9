// The topics: how many, their tree, shares and words; choosing, renaming, merging.

import { element, fill, drawn, tool } from "../elements.js";
import { BITS, countCodes } from "../selection.js";
import { nestedTree, treeOrder } from "../topic_tree.js";
import { count, documents, share } from "../wording.js";
import { changeBar } from "./topic_changes.js";
import { renameForm, mergeForm } from "./topic_forms.js";

const TREE_WIDTH = 52;
const N_WORDS = 12;

export class TopicsPanel {
  /** @param {import("../explorer.js").Explorer} explorer */
  constructor(explorer) {
    Object.assign(this, { explorer, order: "tree", form: null });
    this.number = element("output", { class: "cut-number", for: "cut-slider" });
    this.slider = this.makeSlider();
    this.cut = element("div", { class: "cut-slider" }, this.slider,
      tool("Fewer topics ([)", "M4 8h8", () => this.step(-1)), tool("More topics (])", "M4 8h8M8 4v8", () => this.step(1)));
    this.reason = element("p", { class: "reason" });
    this.changes = changeBar(explorer);
    this.tree = drawn("svg", { class: "tree", "aria-hidden": "true" });
    this.list = element("ol", { class: "topics", "aria-label": "Topics" });
    this.sorts = this.makeSorts();
    this.root = element(
      "section", { class: "panel topics-panel", id: "panel-topics", "aria-label": "Topics" },
      element("div", { class: "cut" }, element("label", { for: "cut-slider" }, this.number), this.cut),
      this.reason, this.changes.root, this.sorts,
      element("div", { class: "topics-scroll" }, this.tree, this.list),
    );
    explorer.listen(["cut", "colours", "selection"], () => this.draw());
    explorer.listen("light", () => this.light());
    new ResizeObserver(() => this.drawTree()).observe(this.list);
    this.draw();
  }

  makeSlider() {
    const { cuts } = this.explorer.corpus.manifest;
    return element("input", {
      type: "range", id: "cut-slider", min: 0, max: Math.max(cuts.length - 1, 0), step: 1, "aria-label": "Number of topics",
      disabled: cuts.length < 2, on: { input: (event) => this.take(cuts[Number(event.target.value)]) },
    });
  }

  take(cut) {
    this.form = null;
    this.explorer.state.change({ cut }, { remember: false });
  }

  /** The next number of topics up or down. */
  step(by) {
    const { cuts } = this.explorer.corpus.manifest;
    const at = cuts.indexOf(this.explorer.view.cut) + by;
    if (at >= 0 && at < cuts.length) this.take(cuts[at]);
  }

  makeSorts() {
    const choose = (order) => {
      this.order = order;
      this.draw();
    };
    const button = (order, text) => element("button", { type: "button", data: { order }, on: { click: () => choose(order) } }, text);
    return element("div", { class: "sorts segmented", role: "group", "aria-label": "Order of the topics" }, button("tree", "Tree"), button("size", "Size"));
  }

  draw() {
    const { explorer } = this, { cut, view, corpus } = explorer;
    this.cut.hidden = corpus.manifest.cuts.length < 2;
    this.sorts.hidden = cut.topics.length < 2;
    this.slider.value = corpus.manifest.cuts.indexOf(cut.n);
    const n = cut.topics.length;
    this.slider.setAttribute("aria-valuetext", `${n} topics`);
    fill(this.number, element("b", {}, count(n)), n === 1 ? " topic" : " topics");
    fill(this.reason, cut.suggested ? "As many as the documents suggest" : "");
    this.reason.title = cut.reason ?? "";
    this.reason.hidden = !cut.suggested;
    for (const button of this.sorts.children) button.setAttribute("aria-pressed", String(button.dataset.order === this.order));
    this.changes.draw();
    const counts = countCodes(cut.assignments, cut.codes, explorer.selection, BITS.topics);
    const total = counts.reduce((sum, one) => sum + one, 0);
    const most = Math.max(1, ...counts);
    const rows = this.ordered(counts).map((topic) => this.row(topic, counts[topic.number], total, most));
    fill(this.list, rows);
    this.list.classList.toggle("with-tree", this.order === "tree");
    this.list.classList.toggle("some", view.topics.length > 0);
    this.drawTree();
    this.light();
  }

  ordered(counts) {
    const { cut, corpus } = this.explorer;
    if (this.order === "size") return [...cut.topics].sort((one, other) => counts[other.number] - counts[one.number]);
    const order = treeOrder(corpus.splits, cut.n);
    // what was split by hand has a number that is not in the tree
    const others = cut.topics.map((topic) => topic.number).filter((number) => !order.includes(number));
    return [...order, ...others].map((number) => cut.byNumber.get(number)).filter(Boolean);
  }

  row(topic, size, total, most) {
    const { explorer } = this, { number } = topic;
    const chosen = explorer.view.topics.includes(number);
    const part = total ? size / total : 0;
    const button = element("button", {
      type: "button", class: "topic", "aria-pressed": String(chosen),
      "aria-label": `${topic.name}: ${documents(size)}, ${share(part)}`,
      on: { click: (event) => explorer.chooseTopic(number, event.shiftKey || event.ctrlKey || event.metaKey) },
    },
      element("i", { class: "dot" }),
      element("span", { class: "name" }, topic.name),
      element("span", { class: "part" }, share(part)),
      element("span", { class: "bar", "aria-hidden": "true" }, element("span", { style: { width: `${(100 * size) / most}%` } })),
    );
    const item = element("li", {
      class: chosen ? "chosen" : size ? "" : "empty", data: { topic: number }, style: { "--c": explorer.css(number) },
      on: { pointerenter: () => explorer.light(number), pointerleave: () => explorer.light(null) },
    }, button);
    if (chosen) item.append(this.details(topic, size));
    return item;
  }

  details(topic, size) {
    const { explorer } = this;
    const words = topic.words.slice(0, N_WORDS).map(([word], at) => element("button", {
      type: "button", class: "word", style: { "--weight": (1 - at / N_WORDS).toFixed(2) }, on: { click: () => explorer.lookAt(word) },
    }, word));
    const facts = [size === topic.size ? documents(size) : `${count(size)} of ${documents(topic.size)}`];
    if (topic.size_of_all !== undefined) facts.push(`${count(topic.size_of_all)} in all of the index`);
    if (topic.coherence !== null && topic.coherence !== undefined) facts.push(`coherence ${topic.coherence.toFixed(2)}`);
    const act = (text, form) => element("button", { type: "button", class: "quiet", on: { click: () => this.openForm(topic, form) } }, text);
    const form = this.form?.number === topic.number ? this.form.make() : null;
    return element("div", { class: "details" },
      element("p", { class: "words", lang: "" }, words),
      element("p", { class: "facts" }, facts.join(" · ")),
      form ?? element("p", { class: "acts" },
        act("Rename", renameForm), act("Merge", mergeForm),
        element("button", { type: "button", class: "quiet", on: { click: () => explorer.zoomTopic(topic.number) } }, "Zoom to it"),
      ),
    );
  }

  openForm(topic, form) {
    const close = () => {
      this.form = null;
      this.draw();
      this.list.querySelector(".chosen .topic")?.focus();
    };
    this.form = form && { number: topic.number, make: () => form(this.explorer, topic, close) };
    this.draw();
    this.list.querySelector("form input, form select")?.focus();
    this.list.querySelector("form input[type=text]")?.select();
  }

  /** Rename the chosen topic, or the first. */
  rename() {
    const { view, cut } = this.explorer;
    const number = view.topics[0] ?? cut.topics[0]?.number;
    if (number === undefined) return;
    if (!view.topics.includes(number)) this.explorer.state.change({ topics: [number] });
    this.openForm(cut.byNumber.get(number), renameForm);
  }

  light() {
    const { lit } = this.explorer;
    for (const item of this.list.children) item.classList.toggle("lit", lit !== null && Number(item.dataset.topic) === lit);
  }

  /** The tree beside the list: lines that join topics, early splits on the left. */
  drawTree() {
    const { cut, corpus } = this.explorer;
    this.tree.style.display = this.order === "tree" && cut.n > 1 ? "" : "none";
    if (this.order !== "tree" || cut.n < 2) return;
    const middle = new Map();
    for (const item of this.list.children) {
      const button = item.firstElementChild;
      middle.set(Number(item.dataset.topic), button.offsetTop + button.offsetHeight / 2);
    }
    const height = this.list.offsetHeight;
    const at = (made) => 4 + (TREE_WIDTH - 12) * (Math.log(made - 1) / Math.log(Math.max(cut.n, 3)));
    const marks = [];
    const visit = (node, from) => {
      if (!node.children.length) {
        const y = middle.get(node.topics[0]);
        if (y !== undefined) marks.push(drawn("path", { d: `M${from} ${y}H${TREE_WIDTH - 3}`, class: "twig", style: { stroke: this.explorer.css(node.topics[0]) } }));
        return y;
      }
      const x = at(node.made);
      const ends = node.children.map((child) => visit(child, x)).filter((y) => y !== undefined);
      if (!ends.length) return undefined;
      const y = (Math.min(...ends) + Math.max(...ends)) / 2;
      marks.unshift(drawn("path", { d: `M${from} ${y}H${x}M${x} ${Math.min(...ends)}V${Math.max(...ends)}`, class: "branch" }));
      marks.push(this.knot(node, x, y));
      return y;
    };
    visit(nestedTree(corpus.splits, cut.n), 0);
    this.tree.setAttribute("viewBox", `0 0 ${TREE_WIDTH} ${height}`);
    this.tree.setAttribute("width", TREE_WIDTH);
    this.tree.setAttribute("height", height);
    fill(this.tree, marks);
  }

  /** Where a branch divides: a click chooses all topics under it. */
  knot(node, x, y) {
    const { explorer } = this;
    const topics = node.topics.filter((number) => explorer.cut.byNumber.has(number));
    const choose = () => explorer.state.change({ topics: topics.length === explorer.cut.topics.length ? [] : topics });
    return drawn("circle", { class: "knot", cx: x, cy: y, r: 3, on: { click: choose } }, drawn("title", {}, `these ${topics.length} topics`));
  }
}
