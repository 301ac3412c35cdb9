// Answers of a page that a service gave: documents are looked for among all of the index, by the service; words and
// topics are those of the sample.

import { CorpusAnswers, MOST_HITS } from "./corpus_answers.js";
import { QueryError } from "./query.js";
import { askService, Refused } from "./service.js";

export class ServedAnswers extends CorpusAnswers {
  /** Use {@link CorpusAnswers.open}. */
  constructor(finder, centres, corpus) {
    super(finder, centres, corpus);
    this.met = new Map(); // visitors whose text was read: their words and vectors
    this.letVisitorsIn();
    corpus.listenToTexts((row, text) => this.meet(row, text));
  }

  /** The finder answers about visitors, too, as far as they were read. */
  letVisitorsIn() {
    const { finder, corpus, met } = this, { vectors, documentWords } = finder;
    const none = { words: { columns: [], counts: [] }, vector: new Float32Array(vectors.nComponents) };
    const with_ = (base, own) => Object.assign(Object.create(base), own);
    finder.vectors = with_(vectors, {
      of: (row) => (corpus.isVisitor(row) ? (met.get(row) ?? none).vector : vectors.of(row)),
      isKnown: (row) => (corpus.isVisitor(row) ? met.get(row)?.vector !== undefined : vectors.isKnown(row)),
    });
    finder.documentWords = with_(documentWords, {
      of: (row) => (corpus.isVisitor(row) ? (met.get(row) ?? none).words : documentWords.of(row)),
    });
  }

  meet(row, text) {
    this.met.delete(row);
    if (text === null) return;
    const words = this.finder.count(text), vector = this.finder.encoder.vector(words);
    if (vector !== null) this.met.set(row, { words, vector });
  }

  typical(cut, assignments) {
    const found = super.typical(cut, assignments);
    if (found === null) return null;
    const all = new Float32Array(assignments.length).fill(-1);
    all.set(found);
    return all;
  }

  async search(query) {
    await this.readQuery(query);
    try {
      const { hits, suggestions } = await askService("../search", { q: query, top: MOST_HITS });
      return { rows: await this.rowsOf(this.worthwhile(hits)), note: this.suggested(Object.entries(suggestions)).join(" ") };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { rows: [], note: error.message };
    }
  }

  /** The words of a query, by which passages are chosen. */
  async readQuery(query) {
    try {
      const { words } = await this.finder.search(query, { top: 1 });
      this.searched = this.weighed(words);
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      this.searched = new Map(); // no document of the sample has them: there may be others
    }
  }

  rowsOf(hits) {
    return this.corpus.rowsOf(hits.map(({ id }) => id));
  }

  async similarDocuments(row, top) {
    const { hits } = await askService("../similar", { id: this.corpus.idOf(row), top });
    const rows = await this.rowsOf(hits);
    return rows.map((found, at) => ({ row: found, score: hits[at].score }));
  }
}
