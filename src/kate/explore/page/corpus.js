// The corpus of a page: what its parts hold, read when it is first asked for.

import { NO_DATE, readAssignments, readDates, readPositions, readTexts } from "./page_data.js";
import { count, longDate, shortened, withLines } from "./wording.js";

const N_NUMBER_GROUPS = 8;

export class Corpus {
  /** What the map and the topics need; everything else comes later. */
  static async open(manifest, parts) {
    const [places, topics, assignments, documents, dates] = await Promise.all([
      readPositions(parts), parts.json("topics"), readAssignments(parts, manifest), parts.json("documents"), readDates(parts),
    ]);
    const corpus = new this();
    const cuts = new Map(topics.cuts.map((cut) => [cut.n, { ...cut, assignments: assignments.of(cut.n) }]));
    return Object.assign(corpus, {
      manifest, parts, n: manifest.n_documents, x: places.x, y: places.y, dates, cuts, splits: topics.splits,
      columns: documents.columns, texts: readTexts(parts, manifest), groupings: new Map(),
    });
  }

  /** Rows of all arrays: one for each document of the page, and more where a service lets others in. */
  get nRows() {
    return this.n;
  }

  /** The tree cut at n topics. */
  cut(n) {
    return this.cuts.get(n);
  }

  sizesOfLargestCut() {
    const largest = this.cut(Math.max(...this.cuts.keys()));
    const sizes = new Array(this.splits.length + 1).fill(0);
    for (const topic of largest.topics) if (topic.number < sizes.length) sizes[topic.number] = topic.size;
    return sizes;
  }

  column(name) {
    return this.columns.find((column) => column.name === name) ?? null;
  }

  columnOfRole(role) {
    return this.columns.find((column) => column.role === role) ?? null;
  }

  /** The value of a column for a document, as text; empty for none. */
  value(column, row) {
    const value = column.categories ? column.categories[column.codes[row]] : column.values[row];
    if (value === null || value === undefined) return "";
    return typeof value === "number" ? numberText(value, column) : value;
  }

  hasDate(row) {
    return this.dates !== null && this.dates[row] !== NO_DATE;
  }

  dateText(row) {
    return this.hasDate(row) ? longDate(this.dates[row], this.manifest.date.resolution === "year") : "";
  }

  /** What a document is called: its title, else null. */
  title(row) {
    const column = this.columnOfRole("title");
    return (column && this.value(column, row)) || null;
  }

  /** A name for a document without a title. */
  idText(row) {
    const column = this.columnOfRole("id");
    return column ? this.value(column, row) : count(row + 1);
  }

  /** The text of a document as far as the page has it; empty where it has none. */
  async text(row) {
    return (await this.texts.text(row)) ?? "";
  }

  /** What search reads of a document: its title, an empty line, its text. */
  async searchedText(row) {
    const title = this.title(row), text = await this.text(row);
    return title === null ? text : `${title}\n\n${text}`;
  }

  async snippet(row, length = 220) {
    return shortened(withLines(await this.text(row)), length);
  }

  /** Columns that documents can be grouped by, the most telling first. */
  groupColumns() {
    const suits = (column) => {
      if (column.role === "id" || column.kind === "date") return false;
      if (column.kind === "number") return true;
      return this.grouping(column.name).names.length >= 2 && this.grouping(column.name).telling;
    };
    // a label is what documents are sorted by already; few large groups tell more than many small ones
    const rank = (column) => (column.role === "label" ? -1 : column.role === "title" ? Infinity : this.grouping(column.name).names.length);
    const suited = this.columns.filter(suits);
    return suited.map((column) => ({ column, rank: rank(column) })).sort((one, other) => (one.rank > other.rank) - (one.rank < other.rank)).map(({ column }) => column);
  }

  /**
   * Groups of documents by a column: names, and the group of every document (-1: none).
   * @returns {{names: string[], codes: ArrayLike<number>, telling: boolean, ordered: boolean}|null}
   */
  grouping(name) {
    if (!this.groupings.has(name)) {
      const column = this.column(name);
      this.groupings.set(name, column && makeGrouping(column));
    }
    return this.groupings.get(name);
  }
}

function makeGrouping(column) {
  if (column.kind === "number") return numberGroups(column);
  if (column.categories) {
    const telling = column.categories.length >= 2 && column.categories.length <= Math.max(column.codes.length / 2, 2);
    return { names: column.categories, codes: column.codes, telling, ordered: false };
  }
  const places = new Map();
  const codes = column.values.map((value) => {
    if (value === null || value === "") return -1;
    if (!places.has(value)) places.set(value, places.size);
    return places.get(value);
  });
  return { names: [...places.keys()], codes, telling: places.size <= column.values.length / 2, ordered: false };
}

/** Numbers in groups of equal sizes; few different ones are groups of their own. */
function numberGroups(column) {
  const sorted = column.values.filter((value) => value !== null).sort((one, other) => one - other);
  const distinct = [...new Set(sorted)];
  if (distinct.length <= 2 * N_NUMBER_GROUPS) {
    const place = new Map(distinct.map((value, at) => [value, at]));
    const names = distinct.map((value) => numberText(value, column));
    return { names, codes: column.values.map((value) => place.get(value) ?? -1), telling: distinct.length > 1, ordered: true };
  }
  const wanted = Array.from({ length: N_NUMBER_GROUPS }, (_, at) => sorted[Math.floor((at * sorted.length) / N_NUMBER_GROUPS)]);
  const starts = [...new Set(wanted)];
  const place = (value) => {
    let at = starts.length - 1;
    while (at > 0 && value < starts[at]) at--;
    return at;
  };
  const last = sorted.at(-1);
  const names = starts.map((start, at) => {
    const below = starts[at + 1] ?? last;
    const end = at + 1 < starts.length ? sorted[lowerBound(sorted, below) - 1] : last;
    return start === end ? numberText(start, column) : `${numberText(start, column)} – ${numberText(end, column)}`;
  });
  return { names, codes: column.values.map((value) => (value === null ? -1 : place(value))), telling: true, ordered: true };
}

function lowerBound(sorted, value) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A number as it is read: years without a comma. */
function numberText(value, column) {
  if (!Number.isInteger(value)) return String(Number(value.toPrecision(4)));
  const isYear = /year|jahr|année|año/i.test(column.name) || (value >= 1000 && value <= 2100);
  return isYear ? String(value) : count(value);
}
