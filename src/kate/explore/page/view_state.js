// What is being looked at, and the address that says so: whoever opens the address sees the same view.

import { readSteps } from "./topic_edits.js";
import { dayFromIso, isoDay } from "./wording.js";

export const PANELS = ["topics", "documents", "time", "groups", "words"];
export const SORTS = ["typical", "newest", "oldest", "corpus"];

/**
 * @typedef {Object} View
 * @property {number} cut how many topics
 * @property {number[]} topics those that are chosen
 * @property {?[number, number]} period first and last day
 * @property {?string} by the column of groups
 * @property {?string} group the value of it that is chosen
 * @property {?number[][]} lasso corners on the map, 0 to 1
 * @property {string} query
 * @property {?number} document the row of the one that is read
 * @property {?string} word the one that is looked at
 * @property {?{x: number, y: number, zoom: number}} camera null shows everything
 * @property {?string} panel the one that is open
 * @property {?string} sort of the list of documents; null takes what suits
 * @property {Object<number, Object[]>} edits steps by cut
 */

/** @returns {View} */
export function emptyView(cut) {
  return {
    cut, topics: [], period: null, by: null, group: null, lasso: null, query: "", document: null, word: null,
    camera: null, panel: null, sort: null, edits: {},
  };
}

const rounded = (value, digits = 4) => String(Number(value.toFixed(digits)));

/** The part of the address after #; what is as usual is left out. */
export function writeAddress(view, usual) {
  const address = new URLSearchParams();
  const say = (name, value) => value !== null && value !== "" && address.set(name, value);
  if (view.cut !== usual.cut) say("cut", String(view.cut));
  say("topics", view.topics.join("."));
  say("period", view.period && `${isoDay(view.period[0])}..${isoDay(view.period[1])}`);
  say("by", view.by);
  say("group", view.group);
  say("q", view.query);
  say("doc", view.document === null ? null : String(view.document));
  say("word", view.word);
  say("panel", view.panel);
  say("sort", view.sort);
  say("lasso", view.lasso && view.lasso.map((corner) => corner.map((one) => rounded(one)).join("_")).join("."  + "."));
  const { camera } = view;
  say("view", camera && `${rounded(camera.x)}_${rounded(camera.y)}_${rounded(camera.zoom, 3)}`);
  const edited = Object.entries(view.edits).filter(([, steps]) => steps.length);
  say("edits", edited.length ? JSON.stringify(Object.fromEntries(edited)) : null);
  return address.toString();
}

/**
 * The view of an address; whatever cannot be in this corpus is left out.
 * @param {string} text
 * @param {View} usual
 * @param {{cuts: number[], nDocuments: number, columns: string[]}} limits
 * @returns {View}
 */
export function readAddress(text, usual, limits) {
  const address = new URLSearchParams(text.replace(/^#/, ""));
  const view = { ...usual };
  const cut = Number(address.get("cut"));
  if (limits.cuts.includes(cut)) view.cut = cut;
  view.topics = (address.get("topics") ?? "").split(".").filter(Boolean).map(Number).filter((one) => Number.isInteger(one) && one >= 0);
  const days = (address.get("period") ?? "").split("..").map(dayFromIso);
  if (days.length === 2 && days[0] !== null && days[1] !== null && days[0] <= days[1]) view.period = days;
  const by = address.get("by");
  if (by && limits.columns.includes(by)) {
    view.by = by;
    view.group = address.get("group");
  }
  view.query = (address.get("q") ?? "").slice(0, 2000);
  const row = address.get("doc") === null ? NaN : Number(address.get("doc"));
  if (Number.isInteger(row) && row >= 0 && row < limits.nDocuments) view.document = row;
  view.word = address.get("word")?.slice(0, 100) || null;
  if (PANELS.includes(address.get("panel"))) view.panel = address.get("panel");
  if (SORTS.includes(address.get("sort"))) view.sort = address.get("sort");
  const corners = (address.get("lasso") ?? "").split("..").filter(Boolean).map((one) => one.split("_").map(Number));
  if (corners.length >= 3 && corners.every((one) => one.length === 2 && one.every(Number.isFinite))) view.lasso = corners;
  const [x, y, zoom] = (address.get("view") ?? "").split("_").map(Number);
  if ([x, y, zoom].every(Number.isFinite) && zoom > 0) view.camera = { x, y, zoom };
  view.edits = readEdits(address.get("edits"), limits.cuts);
  return view;
}

function readEdits(text, cuts) {
  try {
    const found = JSON.parse(text ?? "{}");
    const kept = Object.entries(found ?? {}).map(([cut, steps]) => [Number(cut), readSteps(steps)]);
    return Object.fromEntries(kept.filter(([cut, steps]) => cuts.includes(cut) && steps.length));
  } catch {
    return {};
  }
}

/** The view, with listeners that hear which of its fields changed. */
export class ViewState {
  /** @param {View} first @param {View} usual */
  constructor(first, usual) {
    this.now = first;
    this.usual = usual;
    this.listeners = [];
  }

  /** Call `listener(view, changed)` whenever one of the fields changes. */
  listen(fields, listener) {
    this.listeners.push({ fields, listener });
  }

  /** Change fields; `remember` makes a step that the browser's Back takes back. */
  change(fields, { remember = true } = {}) {
    const changed = new Set(Object.keys(fields).filter((name) => !same(this.now[name], fields[name])));
    if (!changed.size) return;
    this.now = { ...this.now, ...fields };
    this.remember = remember && [...changed].some((name) => name !== "camera");
    for (const { fields: heard, listener } of this.listeners) {
      if (heard.some((name) => changed.has(name))) listener(this.now, changed);
    }
  }
}

const same = (one, other) => one === other || JSON.stringify(one) === JSON.stringify(other);

/** Keep address and view the same. */
export function followAddress(state, limits) {
  let writing = null;
  const write = () => {
    writing = null;
    const address = "#" + writeAddress(state.now, state.usual);
    if (address === (location.hash || "#")) return;
    // pages of a sandbox may not touch their history: the view works all the same
    try {
      if (state.remember) history.pushState(null, "", address);
      else history.replaceState(null, "", address);
    } catch { /* the address stays as it is */ }
  };
  state.listen(Object.keys(state.now), () => {
    // many small changes, of a drag say, are written once
    if (writing !== null) clearTimeout(writing);
    writing = setTimeout(write, 120);
  });
  const read = () => state.change(readAddress(location.hash, state.usual, limits), { remember: false });
  addEventListener("popstate", read);
  addEventListener("hashchange", read);
  addEventListener("pagehide", () => writing !== null && (clearTimeout(writing), write()));
}
