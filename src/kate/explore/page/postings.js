/**
 * Postings: for each word the documents that hold it and how often, and BM25 over them (kate.search.postings):
 *
 *   score(document, word) = idf · tf (k1 + 1) / (tf + k1 (1 − b + b |d| / mean |d|)),   k1 = 1.2, b = 0.75
 *   idf = log(1 + (N − df + 0.5) / (df + 0.5))
 */

import { readSignedVarints, readVarints } from "./byte_sections.js";

const K1 = 1.2;
const B = 0.75;

/** Lists of documents by word, one after another. */
export class WordLists {
  /**
   * @param {Uint32Array} starts (n_words + 1), where the list of each word begins
   * @param {Uint32Array} documents rising in each list
   * @param {Int32Array} counts how often
   */
  constructor(starts, documents, counts) {
    this.starts = starts;
    this.documents = documents;
    this.counts = counts;
  }

  /**
   * @param {Record<string, Uint8Array>} sections
   * @param {number} nWords
   * @param {string} prefix of the names of the sections
   */
  static read(sections, nWords, prefix = "") {
    const sizes = readVarints(sections[`${prefix}sizes`], nWords);
    const starts = new Uint32Array(nWords + 1);
    for (let word = 0; word < nWords; word++) starts[word + 1] = starts[word] + sizes[word];
    const nEntries = starts[nWords];
    const documents = readVarints(sections[`${prefix}steps`], nEntries);
    for (let word = 0; word < nWords; word++) {
      let last = -1;
      for (let i = starts[word]; i < starts[word + 1]; i++) {
        last += documents[i] + 1;
        documents[i] = last;
      }
    }
    const counts = readSignedVarints(sections[`${prefix}counts`], nEntries);
    for (let i = 0; i < nEntries; i++) counts[i] += 1;
    return new WordLists(starts, documents, counts);
  }

  get nWords() {
    return this.starts.length - 1;
  }
}

/** The words of the documents as search counts them. */
export class Postings {
  /**
   * @param {WordLists} lists
   * @param {Uint32Array} lengths words of each document
   */
  constructor(lists, lengths) {
    this.lists = lists;
    this.nDocuments = lengths.length;
    let total = 0;
    for (const length of lengths) total += length;
    this.lengths = lengths;
    const mean = total > 0 ? total / lengths.length : 1;
    /** k1 (1 − b + b |d| / mean |d|) of each document */
    this.norms = Float64Array.from(lengths, (length) => K1 * (1 - B + (B * length) / mean));
  }

  /** How many documents hold a word. */
  nDocumentsWith(word) {
    return this.lists.starts[word + 1] - this.lists.starts[word];
  }

  /**
   * The documents that hold a word, rising.
   * @returns {Uint32Array}
   */
  documentsWith(word) {
    return this.lists.documents.subarray(this.lists.starts[word], this.lists.starts[word + 1]);
  }

  /** How often each of these documents holds it. */
  countsOf(word) {
    return this.lists.counts.subarray(this.lists.starts[word], this.lists.starts[word + 1]);
  }

  /**
   * The score of every document.
   * @param {number[]} words
   * @returns {Float32Array}
   */
  scores(words) {
    const total = new Float32Array(this.nDocuments);
    for (const word of words) {
      const documents = this.documentsWith(word);
      const counts = this.countsOf(word);
      const df = documents.length;
      const idf = Math.log1p((this.nDocuments - df + 0.5) / (df + 0.5));
      for (let i = 0; i < df; i++) {
        const document = documents[i];
        const tf = counts[i];
        total[document] += Math.fround((idf * tf * (K1 + 1)) / (tf + this.norms[document]));
      }
    }
    return total;
  }
}
