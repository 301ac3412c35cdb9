// The corpus of a page that a service gave: a sample of its documents as in any page, texts that are asked for one by
// one, and visitors: documents outside the sample, which a search found. They have rows behind those of the sample, are
// hidden until they are found, and give their rows to others after a while.

import { Corpus } from "./corpus.js";
import { NO_DATE } from "./page_data.js";
import { askService, fetched } from "./service.js";

const VISITORS = 1000;
const TEXTS_KEPT = 400;

export class ServedCorpus extends Corpus {
  static async open(manifest, parts) {
    const corpus = await super.open(manifest, parts);
    corpus.makeRoom();
    return corpus;
  }

  /** Rows for the visitors, in every array that has a row for each document. */
  makeRoom() {
    const longer = (array, empty) => {
      const found = new array.constructor(array.length + VISITORS).fill(empty, array.length);
      found.set(array);
      return found;
    };
    this.x = longer(this.x, 0);
    this.y = longer(this.y, 0);
    if (this.dates) this.dates = longer(this.dates, NO_DATE);
    for (const cut of this.cuts.values()) {
      this.none = cut.assignments.BYTES_PER_ELEMENT === 2 ? 65535 : 255;
      cut.assignments = longer(cut.assignments, this.none);
    }
    const rows = new Array(VISITORS);
    for (const column of this.columns) {
      if (column.codes) column.codes.push(...rows.fill(-1));
      else column.values.push(...rows.fill(null));
    }
    Object.assign(this, { rowOfId: new Map(), idOfRow: new Map(), next: this.n, kept: new Map(), moves: 0, heardTexts: [] });
  }

  get nRows() {
    return this.n + VISITORS;
  }

  isVisitor(row) {
    return row >= this.n;
  }

  /**
   * The rows of documents by their ids, in this order. Those that the page does not have yet are asked for and let in.
   * @param {string[]} ids
   * @returns {Promise<number[]>}
   */
  async rowsOf(ids) {
    const { documents } = await askService("documents", { ids });
    let moved = false;
    const rows = documents.map((found) => {
      if (found.row !== null) return found.row;
      if (this.rowOfId.has(found.id)) return this.rowOfId.get(found.id);
      moved = true;
      return this.letIn(found);
    });
    if (moved) {
      this.groupings.clear();
      this.moves++;
    }
    return rows;
  }

  /** Give a document the row that was given away longest ago. */
  letIn({ id, place, topics, day, columns }) {
    const row = this.next;
    this.next = row + 1 < this.nRows ? row + 1 : this.n;
    this.rowOfId.delete(this.idOfRow.get(row));
    this.rowOfId.set(id, row);
    for (const listener of this.heardTexts) listener(row, null);
    this.idOfRow.set(row, id);
    this.kept.delete(row);
    [this.x[row], this.y[row]] = place ?? [0, 0];
    if (this.dates) this.dates[row] = day ?? NO_DATE;
    this.manifest.cuts.forEach((n, at) => { this.cut(n).assignments[row] = topics[at] ?? this.none; });
    for (const column of this.columns) this.write(column, row, columns[column.name] ?? null);
    return row;
  }

  write(column, row, value) {
    if (!column.codes) {
      column.values[row] = value;
      return;
    }
    if (value !== null && !column.categories.includes(value)) column.categories.push(value);
    column.codes[row] = value === null ? -1 : column.categories.indexOf(value);
  }

  idOf(row) {
    return this.idOfRow.get(row) ?? this.idText(row);
  }

  /** Hear of the texts of visitors: `listener(row, text)`; null where another document takes the row. */
  listenToTexts(listener) {
    this.heardTexts.push(listener);
  }

  /** The text of a document, from the service. */
  text(row) {
    if (!this.kept.has(row)) {
      const reading = this.readText(row);
      // what failed may be asked for again
      reading.catch(() => this.kept.delete(row));
      this.kept.set(row, reading);
      if (this.kept.size > TEXTS_KEPT) this.kept.delete(this.kept.keys().next().value);
    }
    return this.kept.get(row);
  }

  async readText(row) {
    const id = this.idOf(row);
    const { text } = await (await fetched(`../documents/${encodeURIComponent(id)}`)).json();
    if (this.isVisitor(row) && this.idOf(row) === id) for (const listener of this.heardTexts) listener(row, text);
    return text;
  }
}
