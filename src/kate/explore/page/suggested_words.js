/** Words for somebody who is typing a query: how the word may go on, or words that mean something like all of it. */

import { closeWords } from "./suggestions.js";

const COMPLETIONS = 7;
const SIMILAR = 10;

/**
 * @param {import("./corpus_finder.js").CorpusFinder} finder
 * @param {import("./word_uses.js").WordUses} uses
 * @param {string} typed
 * @returns {{kind: string, words: string[], replaces: string}} `replaces` is the end of the query that a word takes the
 *   place of; words are added where it is empty
 */
export function suggestedWords(finder, uses, typed) {
  const last = /[\p{L}\p{N}\p{M}'’·-]+$/u.exec(typed)?.[0] ?? "";
  const known = last && uses.find(last);
  if (last && (known === undefined || finder.postings.nDocumentsWith(known) === 0)) {
    const longer = completions(last, finder);
    if (longer.length) return { kind: "Words", words: longer, replaces: last };
    return { kind: "Did you mean", words: closeWords(last.toLowerCase(), finder), replaces: last };
  }
  const query = finder.encode(typed);
  if (query === null) return { kind: "", words: [], replaces: "" };
  const asked = new Set(finder.count(typed).columns);
  return { kind: "Similar", words: uses.nearest(query, SIMILAR, asked).map(({ word }) => uses.readable(word)), replaces: "" };
}

/** The most frequent words that begin so, each once. */
function completions(start, { table, postings }) {
  const folded = start.toLowerCase();
  const found = [];
  table.readable.forEach((word, number) => {
    if (word.length > folded.length && word.toLowerCase().startsWith(folded) && postings.nDocumentsWith(number) > 0) found.push(number);
  });
  found.sort((one, other) => postings.nDocumentsWith(other) - postings.nDocumentsWith(one));
  return found.slice(0, COMPLETIONS).map((number) => table.readable[number]);
}
