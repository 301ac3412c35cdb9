/**
 * All that thinks about words in the page, behind one door: search, similar documents, similar words, what puts a
 * document into its topic, marks in texts. Knows nothing of what the page looks like.
 */

import { cutSections, readVarints } from "./byte_sections.js";
import { DocumentVectors } from "./document_vectors.js";
import { DocumentWords } from "./document_words.js";
import { Encoder } from "./encoder.js";
import { Phrases } from "./phrases.js";
import { Postings, WordLists } from "./postings.js";
import { search } from "./search.js";
import { stemmerOf } from "./stemming.js";
import { Tokenizer } from "./tokenizer.js";
import { WordTable } from "./word_table.js";

/**
 * Open the words of a page: reads the parts `words`, `forms`, `word_map` and `postings`, and encodes the documents.
 * @param {{has?: (name: string) => boolean, bytes: (name: string) => Promise<Uint8Array>,
 *   text: (name: string) => Promise<string>, json: (name: string) => Promise<any>}} parts
 * @param {{textOf?: ((document: number) => Promise<string | null>) | null}} [options] `textOf` gives a document's title,
 *   an empty line and its whole text, as search reads it; leave it out where the page holds no whole texts
 * @returns {Promise<CorpusFinder>}
 */
export async function openFinder(parts, { textOf = null } = {}) {
  const [facts, forms, map, lists] = await Promise.all([
    parts.json("words"),
    parts.text("forms"),
    parts.bytes("word_map"),
    parts.bytes("postings"),
  ]);
  const finder = new CorpusFinder(facts, forms, map, lists, textOf);
  await finder.encodeDocuments();
  return finder;
}

/** Whether the data of a page hold what {@link openFinder} needs. */
export function hasWords(parts) {
  return ["words", "forms", "word_map", "postings"].every((name) => parts.has(name));
}

export class CorpusFinder {
  /** Use {@link openFinder}. */
  constructor(facts, forms, map, lists, textOf) {
    this.facts = facts;
    this.table = new WordTable(forms, facts.n_columns);
    const stemOf = this.table.stemming(stemmerOf(facts.tokens.stemmer));
    this.tokenizer = new Tokenizer(facts.tokens, stemOf, { entities: facts.entities, forms: this.table });
    const sections = cutSections(lists, facts.sections.postings);
    const words = WordLists.read(sections, facts.n_words);
    this.postings = new Postings(words, readVarints(sections.lengths, facts.n_documents));
    const changed = WordLists.read(sections, facts.n_columns, "changed_");
    this.documentWords = DocumentWords.of(words, changed, facts.n_documents);
    this.encoder = Encoder.read(map, facts);
    this.hasPhrases = this.table.stems.slice(0, facts.n_columns).some((stem) => stem.includes(" "));
    this.phrases = new Phrases(this, textOf);
  }

  /** Make the vectors of the documents; {@link openFinder} has done it. */
  async encodeDocuments() {
    this.vectors = await DocumentVectors.of(this.encoder, this.documentWords);
  }

  get nDocuments() {
    return this.facts.n_documents;
  }

  /**
   * The number of the word with a stem, if some document holds it.
   * @param {string} stem
   * @returns {number | undefined}
   */
  numberOf(stem) {
    const number = this.table.ofStem.get(stem);
    return number !== undefined && this.postings.nDocumentsWith(number) > 0 ? number : undefined;
  }

  /**
   * The words of a text that the model counts.
   * @param {string} text
   * @returns {{columns: number[], counts: number[]}} columns rising
   */
  count(text) {
    const found = new Map();
    const add = (column) => column !== undefined && found.set(column, (found.get(column) ?? 0) + 1);
    let before;
    const isOwn = this.facts.tokens.kind !== "letters" && this.facts.tokens.language === null;
    const breaks = this.hasPhrases && !isOwn;
    for (const { words } of this.tokenizer.modelTokens(text, breaks)) {
      for (const { stem } of words) add(this.table.column(stem));
      // a word and the one that stands beside it may be a phrase, which is a word of its own
      if (breaks && before !== undefined && words.length) add(this.table.column(`${before} ${words[0].stem}`));
      before = words.at(-1)?.stem;
    }
    const columns = [...found.keys()].sort((a, b) => a - b);
    return { columns, counts: columns.map((column) => found.get(column)) };
  }

  /**
   * The vector of a text, of length 1; null if the model knows no word of it.
   * @param {string} text
   * @returns {Float32Array | null}
   */
  encode(text) {
    return this.encoder.vector(this.count(text));
  }

  /**
   * The documents that answer a query best. Throws a QueryError whose message is a sentence for the user.
   * @param {string} query
   * @param {{top?: number, by?: "both" | "words" | "meaning", isAllowed?: ((document: number) => boolean) | null}} [options]
   * @returns {Promise<import("./search.js").Found>}
   */
  search(query, options) {
    return search(this, query, options);
  }

  /**
   * The documents nearest in meaning to one, itself left out; none where the model knows no word of it.
   * @param {number} document
   * @param {number} [top]
   * @param {((document: number) => boolean) | null} [isAllowed]
   * @returns {import("./ranking.js").Ranking}
   */
  similarDocuments(document, top = 10, isAllowed = null) {
    return this.vectors.similarTo(document, top, isAllowed);
  }

  /**
   * The documents nearest in meaning to a text, which is read as a document and not as a query.
   * @param {string} text
   * @returns {import("./ranking.js").Ranking}
   */
  similarToText(text, top = 10, isAllowed = null) {
    const vector = this.encode(text);
    return vector === null ? { rows: [], scores: [] } : this.vectors.nearest(vector, top, isAllowed);
  }
}
