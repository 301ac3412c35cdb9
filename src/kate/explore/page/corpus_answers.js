/** What the panels ask about words and meaning, for the corpus and the cut that they show. */

import { hasWords, openFinder } from "./corpus_finder.js";
import { QueryError } from "./query.js";
import { suggestedWords } from "./suggested_words.js";
import { TopicCentres } from "./topic_centres.js";
import { askedSpans, bestPassage, mergedSpans, partsOfWords, topicSpans } from "./word_marks.js";
import { WordUses } from "./word_uses.js";

export const MOST_HITS = 300;
const LEAST_SCORE = 0.4; // of the best hit: what lies below has little to do with the query
const PASSAGE = 220;

export class CorpusAnswers {
  /**
   * Read what the page knows about words; null where it holds nothing of that.
   * @param {import("./corpus.js").Corpus} corpus
   * @returns {Promise<CorpusAnswers|null>}
   */
  static async open(corpus) {
    const { parts, manifest } = corpus;
    if (!hasWords(parts)) return null;
    const finder = await openFinder(parts, { textOf: manifest.texts === "whole" ? (row) => corpus.searchedText(row) : null });
    // the centres are those of vectors that are one linear map of the words, and of no others
    const linear = finder.facts.encoder.output === "projection";
    const centres = linear ? await TopicCentres.read(parts, [...corpus.cuts.values()], finder.facts.n_components) : null;
    return new this(finder, centres, corpus);
  }

  /** Use {@link CorpusAnswers.open}. */
  constructor(finder, centres, corpus) {
    Object.assign(this, { finder, centres, corpus, uses: new WordUses(finder), searched: new Map() });
  }

  /**
   * The documents that answer a query, the best first, and a sentence for the reader where there is something to say.
   * @param {string} query
   * @returns {Promise<{rows: number[], note: string}>}
   */
  async search(query) {
    try {
      const { rows, scores, words, suggestions, notes } = await this.finder.search(query, { top: MOST_HITS });
      this.searched = this.weighed(words);
      const kept = this.worthwhile(rows.map((row, at) => ({ row, score: scores[at] })));
      return { rows: kept.map(({ row }) => row), note: [...this.suggested([...suggestions]), ...notes].join(" ") };
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      this.searched = new Map();
      return { rows: [], note: error.message };
    }
  }

  /** The words of a query by their stems, and how rare each is. */
  weighed(words) {
    return new Map(words.filter(({ number }) => number !== undefined).map(({ stem, number }) => [stem, this.rarity(number)]));
  }

  /** Hits that have something to do with the query. */
  worthwhile(hits) {
    return hits.filter(({ score }) => score >= LEAST_SCORE * hits[0].score);
  }

  suggested(suggestions) {
    return suggestions.filter(([, close]) => close.length).map(([word, close]) => `“${word}”: did you mean ${close.join(", ")}?`);
  }

  rarity(word) {
    return Math.log(1 + this.finder.nDocuments / Math.max(this.finder.postings.nDocumentsWith(word), 1));
  }

  /** The passage of a document that the last search is about; null where it has none of its words. */
  passage(text) {
    return this.searched.size ? bestPassage(this.finder.tokenizer, text, this.searched, PASSAGE) : null;
  }

  /** Marks of a text, and those of the words that the last search was for. */
  withAsked(text, spans) {
    return this.searched.size ? mergedSpans(spans, askedSpans(this.finder.tokenizer, text, this.searched)) : spans;
  }

  suggestions(typed) {
    return suggestedWords(this.finder, this.uses, typed);
  }

  /**
   * The words that put a document into its topic: where they stand in its text, and the strongest of them.
   * @returns {{spans: import("./word_marks.js").Span[], strongest: {word: string, part: number}[]}|null}
   */
  contributions(row, text, cut) {
    const { finder, centres } = this;
    if (centres === null || !finder.vectors.isKnown(row)) return null;
    const parts = partsOfWords(finder, row, centres.directionOf(finder.vectors.of(row), cut));
    const strongest = [...parts].sort((one, other) => other[1] - one[1]).slice(0, 8).map(([column, part]) => ({ word: this.uses.readable(column), part }));
    return { spans: topicSpans(finder, text, parts), strongest };
  }

  /** The topics of a document and their shares; null where the page cannot tell them. */
  topicShares(row, cut, moved) {
    const { finder, centres } = this;
    if (centres === null || !finder.vectors.isKnown(row)) return null;
    return centres.shares(finder.vectors.of(row), cut, moved);
  }

  /** How typical every document is of its topic; null where the page cannot tell. */
  typical(cut, assignments) {
    return this.centres?.typical(this.finder.vectors, cut, assignments) ?? null;
  }

  similarDocuments(row, top) {
    const { rows, scores } = this.finder.similarDocuments(row, top);
    return rows.map((found, at) => ({ row: found, score: scores[at] }));
  }
}
