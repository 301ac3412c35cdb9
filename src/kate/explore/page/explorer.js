// What all panels share: the corpus, the view, the topics as they are cut and edited now, and which documents are chosen.

import { NO_DATE } from "./page_data.js";
import { isInside, Selection } from "./selection.js";
import { css, huePlaces, topicColour } from "./topic_colours.js";
import { applyEdits } from "./topic_edits.js";

/**
 * @typedef {Object} ShownCut
 * @property {number} n topics of the tree
 * @property {Object[]} topics after edits, the largest first
 * @property {Map<number, Object>} byNumber
 * @property {ArrayLike<number>} assignments topic of every document
 * @property {Map<number, number[]>} colours
 * @property {number} codes one more than the largest number
 */

export class Explorer {
  /** @param {import("./corpus.js").Corpus} corpus @param {import("./view_state.js").ViewState} state */
  constructor(corpus, state) {
    Object.assign(this, { corpus, state, lit: null, dark: false, hits: [], answers: undefined, typical: null, listeners: new Map() });
    this.selection = new Selection(corpus.nRows, corpus.n);
    this.huePlace = huePlaces(corpus.splits, corpus.sizesOfLargestCut());
    this.recut();
    this.filterAll();
    state.listen(["cut", "edits"], () => {
      this.recut();
      this.keepTopicsThatAre();
      this.filterTopics();
      this.findTypical();
      this.tell("cut", "selection");
    });
    const filters = { topics: "filterTopics", period: "filterPeriod", group: "filterGroup", by: "filterGroup", lasso: "filterLasso" };
    state.listen(Object.keys(filters), (_, changed) => {
      for (const [field, act] of Object.entries(filters)) if (changed.has(field)) this[act]();
      this.tell("selection");
    });
  }

  get view() {
    return this.state.now;
  }

  /** Hear of "cut" (other topics), "selection" (other documents), "light" (a topic is pointed at), "colours", "hits". */
  listen(what, listener) {
    for (const one of [].concat(what)) this.listeners.set(one, [...(this.listeners.get(one) ?? []), listener]);
  }

  /** Whoever hears of several of these is told once. */
  tell(...what) {
    for (const listener of new Set(what.flatMap((one) => this.listeners.get(one) ?? []))) listener();
  }

  /** The topics of the cut that the view asks for, with the reader's changes. */
  recut() {
    const { cut: n, edits } = this.view;
    const found = this.corpus.cut(n);
    const { topics, moved } = applyEdits(found.topics, edits[n] ?? []);
    let { assignments } = found;
    if (moved.size) {
      assignments = assignments.slice();
      for (let row = 0; row < assignments.length; row++) assignments[row] = moved.get(assignments[row]) ?? assignments[row];
    }
    topics.sort((one, other) => other.size - one.size || one.number - other.number);
    this.cut = { ...found, topics, assignments, moved, byNumber: new Map(topics.map((topic) => [topic.number, topic])) };
    this.cut.codes = Math.max(0, ...topics.map((topic) => topic.number)) + 1;
    this.colour();
  }

  colour() {
    const { n, topics } = this.cut;
    this.cut.colours = new Map(topics.map(({ number }) => [number, topicColour(this.huePlace(n, number), number, this.dark)]));
  }

  setDark(dark) {
    if (dark === this.dark) return;
    this.dark = dark;
    this.colour();
    this.tell("colours");
  }

  /** The colour of a topic, for styles; grey for none. */
  css(number, alpha = 1) {
    const colour = this.cut.colours.get(number);
    return colour ? css(colour, alpha) : `rgb(128 136 146 / ${alpha})`;
  }

  topicOf(row) {
    return this.cut.byNumber.get(this.cut.assignments[row]) ?? null;
  }

  keepTopicsThatAre() {
    const topics = this.view.topics.filter((number) => this.cut.byNumber.has(number));
    if (topics.length !== this.view.topics.length) this.state.change({ topics }, { remember: false });
  }

  filterAll() {
    this.filterTopics();
    this.filterPeriod();
    this.filterGroup();
    this.filterLasso();
  }

  filterTopics() {
    const chosen = new Set(this.view.topics.filter((number) => this.cut.byNumber.has(number)));
    const { assignments } = this.cut;
    this.selection.filter("topics", chosen.size ? (row) => chosen.has(assignments[row]) : null);
  }

  filterPeriod() {
    const { period } = this.view, { dates } = this.corpus;
    this.selection.filter("period", period && dates ? (row) => dates[row] !== NO_DATE && dates[row] >= period[0] && dates[row] <= period[1] : null);
  }

  filterGroup() {
    const { by, group } = this.view;
    const grouping = by !== null && group !== null ? this.corpus.grouping(by) : null;
    const code = grouping ? grouping.names.indexOf(group) : -1;
    this.selection.filter("group", code >= 0 ? (row) => grouping.codes[row] === code : null);
  }

  filterLasso() {
    const { lasso } = this.view, { x, y } = this.corpus;
    this.selection.filter("lasso", lasso ? (row) => isInside(lasso, x[row] / 65535, y[row] / 65535) : null);
  }

  /** From now on words can be asked about; null where the page has none. */
  setAnswers(answers) {
    this.answers = answers;
    this.findTypical();
    this.tell("ready", "typical");
  }

  /** The order of the list, most typical first, belongs to the cut. */
  findTypical() {
    const { cut } = this.view;
    this.typical = this.answers?.typical(cut, this.corpus.cut(cut).assignments) ?? null;
  }

  /** What a search found, the best first; null for no search. */
  setHits(rows) {
    this.hits = rows ?? [];
    const found = new Set(this.hits);
    // what a search found outside the page has come in since the filters were set
    if (this.selection.reveal(this.hits)) {
      if (this.cut.moved.size) this.recut();
      this.filterAll();
    }
    this.selection.filter("query", rows ? (row) => found.has(row) : null);
    this.tell("hits", "selection");
  }

  /** Choose a topic, or one more; choosing the only chosen one again chooses all. */
  chooseTopic(number, add = false) {
    const { topics } = this.view;
    const had = topics.includes(number);
    if (add) this.state.change({ topics: had ? topics.filter((one) => one !== number) : [...topics, number] });
    else this.state.change({ topics: had && topics.length === 1 ? [] : [number] });
  }

  light(number) {
    if (number === this.lit) return;
    this.lit = number;
    this.tell("light");
  }

  /** The topic that is pointed at, if it has documents among those that are chosen: otherwise nothing would stay in the light. */
  get litOfChosen() {
    const { lit, selection } = this, { assignments } = this.cut;
    if (lit === null || !selection.active) return lit;
    for (let row = 0; row < assignments.length; row++) if (assignments[row] === lit && selection.holds(row)) return lit;
    return null;
  }

  open(row) {
    this.state.change({ document: row, panel: "documents" });
  }

  lookAt(word) {
    this.state.change({ word, panel: "words" });
  }

  /** Show everything again. */
  clear() {
    this.state.change({ topics: [], period: null, group: null, lasso: null, query: "" });
  }
}
