// The page put together.

import { CorpusAnswers } from "./corpus_answers.js";
import { element, fill, tool } from "./elements.js";
import { Explorer } from "./explorer.js";
import { CorpusMap } from "./map/corpus_map.js";
import { HoverCard } from "./map/hover_card.js";
import { PaperMap } from "./map/paper_map.js";
import { DocumentsPanel } from "./panels/documents_panel.js";
import { filterChips } from "./panels/filter_chips.js";
import { GroupsPanel } from "./panels/groups_panel.js";
import { helpSheet } from "./panels/help_sheet.js";
import { Reader } from "./panels/reader.js";
import { SearchBox } from "./panels/search_box.js";
import { TimePanel } from "./panels/time_panel.js";
import { undo } from "./panels/topic_changes.js";
import { TopicsPanel } from "./panels/topics_panel.js";
import { WordsPanel } from "./panels/words_panel.js";
import { ServedAnswers } from "./served_answers.js";
import { listenToKeys } from "./shortcuts.js";
import { followTheme, isDark, toggleTheme } from "./theme.js";
import { emptyView, followAddress, readAddress, ViewState } from "./view_state.js";
import { documents, longDate } from "./wording.js";

const ICONS = {
  lasso: "M8 3c3.6 0 6 1.6 6 3.8S11.6 10.6 8 10.6c-1 0-2-.1-2.8-.4M5.2 10.2C3.3 9.600 2 8.400 2 6.800 2 4.600 4.400 3 8 3M4.600 9.300c1 0 1.600.7 1.600 1.500 0 1.500-1.500 2.700-3.200 2.700",
  whole: "M2.500 6V2.500H6M10 2.500h3.500V6M13.500 10v3.500H10M6 13.500H2.500V10",
  inward: "M8 3v10M3 8h10", outward: "M3 8h10",
  view: "M2.500 4.500v7h11v-7zM5 8l2 2 4-4",
  theme: "M8 2.500a5.500 5.500 0 1 0 0 11zM8 2.500a5.500 5.500 0 0 1 0 11",
  help: "M6 6.200a2 2 0 1 1 2.900 1.900c-.6.3-.9.7-.9 1.400M8 12v.2",
};

export class App {
  /** @param {import("./corpus.js").Corpus} corpus @param {HTMLElement} root */
  constructor(corpus, root) {
    const { manifest } = corpus;
    followTheme(() => this.explorer.setDark(isDark()));
    const usual = emptyView(manifest.initial_cut);
    const limits = { cuts: manifest.cuts, nDocuments: corpus.n, columns: corpus.columns.map((column) => column.name) };
    const state = new ViewState(readAddress(location.hash, usual, limits), usual);
    const explorer = (this.explorer = new Explorer(corpus, state));
    explorer.dark = isDark();
    explorer.colour();
    explorer.zoomTopic = (number) => this.map.fly(this.map.placeOf(this.rowsOf(number)));
    explorer.flyTo = (rows) => this.flyTo(rows);
    this.help = helpSheet(manifest);
    this.build(root, corpus);
    followAddress(state, limits);
    state.listen(["panel"], () => this.showPanel());
    state.listen(["camera"], () => this.followCamera());
    this.keys();
    this.showPanel();
  }

  /** Read the words, which takes longer than to draw the map: until then the page cannot search. */
  async openAnswers() {
    const { corpus } = this.explorer;
    this.explorer.setAnswers(await (corpus.manifest.served ? ServedAnswers : CorpusAnswers).open(corpus));
  }

  build(root, corpus) {
    const { explorer } = this;
    this.search = new SearchBox(explorer);
    this.topics = new TopicsPanel(explorer);
    this.documents = new DocumentsPanel(explorer);
    this.reader = new Reader(explorer, this.documents);
    this.groups = new GroupsPanel(explorer);
    this.words = new WordsPanel(explorer);
    this.time = corpus.dates ? new TimePanel(explorer) : null;
    this.frame = element("div", {
      class: "map", tabindex: "0", role: "application", "aria-roledescription": "map",
      "aria-label": "Map of the documents. Arrow keys move it, plus and minus zoom, Enter opens the document in the middle.",
    });
    this.panels = {
      topics: this.topics.root,
      documents: element("section", { class: "panel reading-panel", id: "panel-documents", "aria-label": "Documents" }, this.documents.root, this.reader.root),
      time: this.time?.root, groups: this.groups.columns.length ? this.groups.root : null, words: this.words.root,
    };
    this.tabs = this.makeTabs();
    const below = element("div", { class: "below" }, this.panels.time, this.panels.groups, this.panels.words);
    fill(root,
      element("a", { class: "skip", href: "#panel-documents", on: { click: (event) => { event.preventDefault(); this.documents.list.querySelector("button")?.focus(); } } }, "To the documents"),
      this.header(corpus),
      element("main", { class: "desk" },
        this.panels.topics,
        element("div", { class: "map-frame" }, this.frame, filterChips(explorer), this.mapTools()),
        this.tabs, below, this.panels.documents,
      ),
      this.help,
    );
    this.makeMap(corpus);
    const showing = () => { this.reader.root.hidden = explorer.view.document === null; this.documents.root.hidden = explorer.view.document !== null; };
    explorer.state.listen(["document"], showing);
    showing();
  }

  header({ manifest, n }) {
    const { date, sample } = manifest;
    const years = date && [...new Set([longDate(date.first, true), longDate(date.last, true)])].join("–");
    const facts = [documents(n), years].filter(Boolean).join(", ") + (sample ? `, a sample of ${documents(sample.total)}` : "");
    return element("header", { class: "top" },
      element("div", { class: "named" }, element("h1", { dir: "auto" }, manifest.title), element("p", { class: "facts" }, facts)),
      this.search.root,
      element("div", { class: "tools" },
        tool("Light or dark (t)", ICONS.theme, () => this.changeTheme()),
        tool("Help and keys (?)", ICONS.help, () => this.help.showModal()),
      ),
    );
  }

  mapTools() {
    this.lassoTool = tool("Draw around documents (l)", ICONS.lasso, () => this.map.gestures.arm(!this.map.gestures.lassoing), { "aria-pressed": "false" });
    return element("div", { class: "map-tools", role: "toolbar", "aria-label": "Map" },
      tool("Zoom in (+)", ICONS.inward, () => this.map.gestures.zoomBy(1.8)),
      tool("Zoom out (−)", ICONS.outward, () => this.map.gestures.zoomBy(1 / 1.8)),
      tool("Show the whole map (0)", ICONS.whole, () => this.map.fly(null)),
      this.lassoTool,
      tool("Choose what the screen shows (v)", ICONS.view, () => this.chooseView()),
    );
  }

  makeMap(corpus) {
    const { explorer } = this;
    this.card = new HoverCard(explorer);
    this.map = new CorpusMap(this.frame, corpus, {
      open: (row) => explorer.open(row),
      nowhere: () => {},
      hover: (row, x, y) => this.card.show(row, x, y, this.map?.camera.width ?? 1, this.map?.camera.height ?? 1),
      lasso: (corners) => explorer.state.change({ lasso: corners }),
      lassoing: (on) => this.lassoTool.setAttribute("aria-pressed", String(on)),
      camera: (camera) => explorer.state.change({ camera }, { remember: false }),
      chooseTopic: (number, add) => explorer.chooseTopic(number, add),
      zoomTopic: (number) => explorer.zoomTopic(number),
      lightTopic: (number) => explorer.light(number),
    });
    this.frame.append(this.card.root);
    this.map.camera.move(explorer.view.camera);
    explorer.listen(["cut", "selection", "light", "colours", "hits"], () => this.askMap());
    explorer.state.listen(["document"], () => this.askMap());
    this.showMap();
    this.printWell(new PaperMap(this.map));
  }

  /** Paper is light, and has a picture of the map of its own. */
  printWell(paper) {
    const { explorer } = this;
    addEventListener("beforeprint", () => { explorer.setDark(false); this.showMap(); paper.begin(); });
    addEventListener("afterprint", () => { paper.end(); explorer.setDark(isDark()); });
  }

  /** Paint the map once, however many things changed. */
  askMap() {
    this.painting ??= requestAnimationFrame(() => {
      this.painting = null;
      this.showMap();
    });
  }

  showMap() {
    this.map.follow(this.explorer.corpus);
    const { explorer } = this, { cut, view } = explorer;
    this.map.show({
      topics: cut.assignments, colours: cut.colours, names: cut.topics.map(({ number, name, size }) => ({ number, name, size })),
      selection: explorer.selection, lit: explorer.litOfChosen, hits: explorer.hits, current: view.document, lasso: view.lasso, dark: explorer.dark,
    });
  }

  makeTabs() {
    const names = { topics: "Topics", documents: "Documents", time: "Time", groups: "Groups", words: "Words" };
    const tab = (name) => element("button", {
      type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, data: { panel: name },
      on: { click: () => this.choosePanel(name), keydown: (event) => this.tabKey(event) },
    }, names[name]);
    return element("nav", { class: "tabs", role: "tablist", "aria-label": "Panels" }, Object.keys(names).filter((name) => this.panels[name]).map(tab));
  }

  choosePanel(name) {
    // a second tap on the tab of a document goes back to the list
    if (name === "documents" && this.explorer.view.panel === "documents") this.explorer.state.change({ document: null });
    this.explorer.state.change({ panel: name });
  }

  tabKey(event) {
    const to = { ArrowRight: "nextElementSibling", ArrowLeft: "previousElementSibling" }[event.key];
    let next = to && event.target[to];
    while (next && next.offsetParent === null) next = next[to];
    if (!next) return;
    next.focus();
    next.click();
    event.preventDefault();
  }

  /** On a wide screen topics and documents are always there, and one of the others; on a phone one of all. */
  showPanel() {
    const { panel, document: row } = this.explorer.view;
    const lower = ["time", "groups", "words"].filter((name) => this.panels[name]);
    if (lower.includes(panel)) this.lower = panel;
    this.lower ??= lower[0];
    const open = panel && this.panels[panel] ? panel : row === null ? "topics" : "documents";
    for (const [name, root] of Object.entries(this.panels)) {
      if (!root) continue;
      root.classList.toggle("open", name === open);
      if (lower.includes(name)) root.hidden = name !== this.lower;
    }
    for (const tab of this.tabs.children) {
      const name = tab.dataset.panel;
      tab.classList.toggle("open", name === open);
      tab.classList.toggle("lower", name === this.lower);
      tab.setAttribute("aria-selected", String(name === open || name === this.lower));
    }
    this.time?.draw();
    this.groups.draw();
  }

  followCamera() {
    const { camera } = this.explorer.view;
    if (JSON.stringify(camera) !== JSON.stringify(this.map.camera.kept)) this.map.fly(camera, false);
  }

  rowsOf(number) {
    const { assignments } = this.explorer.cut, found = [];
    for (let row = 0; row < assignments.length; row++) if (assignments[row] === number) found.push(row);
    return found;
  }

  flyTo(rows) {
    const place = this.map.placeOf(rows);
    if (place) this.map.fly({ ...place, zoom: Math.min(place.zoom, 8) });
  }

  chooseView() {
    this.explorer.state.change({ lasso: this.map.corners() });
  }

  changeTheme() {
    toggleTheme();
    this.explorer.setDark(isDark());
  }

  escape() {
    const { explorer, map } = this;
    if (map.gestures.lassoing) return map.gestures.arm(false);
    if (explorer.view.document !== null) return this.reader.close();
    return explorer.clear();
  }

  keys() {
    const { gestures } = this.map, { explorer } = this;
    const panels = ["topics", "documents", "time", "groups", "words"];
    listenToKeys({
      "/": () => { this.search.input.focus(); this.search.input.select(); },
      "?": () => this.help.showModal(), Escape: () => this.escape(),
      j: () => this.documents.step(1), k: () => this.documents.step(-1),
      "[": () => this.topics.step(-1), "]": () => this.topics.step(1),
      "+": () => gestures.zoomBy(1.8), "=": () => gestures.zoomBy(1.8), "-": () => gestures.zoomBy(1 / 1.8), 0: () => this.map.fly(null),
      l: () => gestures.arm(!gestures.lassoing), v: () => this.chooseView(),
      r: () => { explorer.state.change({ panel: "topics" }); this.topics.rename(); },
      u: () => undo(explorer), t: () => this.changeTheme(),
      ...Object.fromEntries(panels.map((name, at) => [at + 1, () => this.panels[name] && this.choosePanel(name)])),
    });
  }
}
