/** Ranks documents for a query as kate.Index does: by their words, by their meaning, and by both together. */

import { joinHalves, POOL } from "./joining.js";
import { QueryError, readQuery } from "./query.js";
import { bestRows, ordered } from "./ranking.js";
import { suggestionsFor } from "./suggestions.js";

/**
 * @typedef {object} Found
 * @property {number[]} rows documents, the best first
 * @property {number[]} scores
 * @property {{stem: string, word: string, number: number | undefined}[]} words what was asked for; `number` of a word
 *   that some document holds
 * @property {Map<string, string[]>} suggestions for words that no document holds, or hardly one
 * @property {string[]} notes sentences for the user: what could not be looked up
 */

/**
 * The `top` documents that answer a query best; throws a QueryError, whose message is for the user.
 * @param {import("./corpus_finder.js").CorpusFinder} finder
 * @param {string} given words; "a phrase" must occur, a -word or -"phrase" must not
 * @param {{top?: number, by?: "both" | "words" | "meaning", isAllowed?: ((document: number) => boolean) | null}} [options]
 * @returns {Promise<Found>}
 */
export async function search(finder, given, { top = 10, by = "both", isAllowed = null } = {}) {
  const query = readQuery(given, finder.tokenizer);
  const words = [...query.words].map(([stem, word]) => ({ stem, word, number: finder.numberOf(stem) }));
  const suggestions = suggestionsFor(words, finder);
  const { may, notes } = await selection(finder, query, isAllowed);
  const known = words.filter(({ number }) => number !== undefined).map(({ number }) => number);
  const ranking = rank(finder, query, known, may, by, top);
  if (ranking === null) throw new QueryError(nothingKnown(words, suggestions, by));
  return { ...ranking, words, suggestions, notes };
}

/** The best documents; null if neither half knows a word of the query. */
function rank(finder, query, known, may, by, top) {
  let byWords = null;
  if (by !== "meaning" && known.length) {
    const scores = finder.postings.scores(known);
    const held = (row) => scores[row] > 0 && (may === null || may(row));
    byWords = { ranking: bestRows(scores, Math.max(POOL, top), held), score: (row) => scores[row] };
  }
  const vector = by === "words" ? null : finder.encode(query.text);
  let meaning = null;
  if (vector !== null) {
    const ranking = finder.vectors.nearest(vector, by === "meaning" ? top : Math.max(POOL, top), may);
    meaning = { ranking, query: vector, vectors: finder.vectors };
  }
  if (by === "both" && byWords !== null) return joinHalves(byWords, meaning, known.length, top);
  const found = byWords ?? meaning;
  return found === null ? null : ordered(found.ranking.rows, found.ranking.scores, top);
}

/** Which documents may be found (null for all), by phrases, words left out and what the page has chosen. */
async function selection(finder, query, isAllowed) {
  const notes = [];
  const tests = isAllowed === null ? [] : [isAllowed];
  const held = async (stems) => {
    const { documents, isExact } = await finder.phrases.documentsWith(stems);
    if (!isExact) notes.push(`“${stems.join(" ")}” is looked up word by word: this page does not hold whole texts.`);
    return documents;
  };
  for (const stems of query.phrases) {
    const documents = await held(stems);
    tests.push((document) => documents.has(document));
  }
  for (const stems of query.without) {
    const documents = await held(stems);
    tests.push((document) => !documents.has(document));
  }
  for (const stems of query.joined) {
    // F-16 is a phrase where there is one
    const { documents, isExact } = await finder.phrases.documentsWith(stems);
    if (isExact && [...documents].some((document) => tests.every((test) => test(document)))) {
      tests.push((document) => documents.has(document));
    }
  }
  return { may: tests.length ? (document) => tests.every((test) => test(document)) : null, notes };
}

function nothingKnown(words, suggestions, by) {
  const asked = words.map(({ word }) => word);
  const what = by === "meaning" ? "among the words of the model" : "in a document";
  const found = asked.length === 1 ? `“${asked[0]}” is not ${what}` : `No word of “${asked.join(" ")}” is ${what}`;
  const close = [...new Set([...suggestions.values()].flat())].slice(0, 5);
  return `${found}; ${close.length ? `did you mean ${close.join(", ")}?` : "try another word."}`;
}
